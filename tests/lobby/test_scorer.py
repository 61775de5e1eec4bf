"""The scorer: awards the books' penalties, nothing else; logged, once, also over a takeover. HS-11, DZ-5.9"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from kangtou.v1 import game_pb2 as pb
from kangtou_clients.api import Match, Refused, Spectating
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify
from kangtou_services.gateway import spectate_service
from kangtou_services.lobby.table import Terms, new_table
from kangtou_services.opening import Clocks, check_choice
from tests.inprocess import until, whole_server
from tests.lobby.test_spectators import NAMES, bot, client_of


async def test_penalties_are_logged_once_and_verified() -> None:
    """By the scorer alone; a repeat gets the first answer, through another gateway and after a takeover."""
    extras = [spectate_service.add]
    async with whole_server(hosts=2, gateways=2, extras=extras, heartbeat_ms=200) as server, AsyncExitStack() as stack:
        await server.make(
            "m1", NAMES[:4], game="hongshi", options={"rounds": 2}, scorer="ref", watch="none", turn_ms=60_000
        )
        one, session = await stack.enter_async_context(client_of(server, "ref"))
        other, _ = await stack.enter_async_context(client_of(server, "ref", 1))
        bob, _ = await stack.enter_async_context(client_of(server, "bob"))
        seats = {}
        for number, name in enumerate(NAMES[:4]):
            _, own = await stack.enter_async_context(client_of(server, name, number))
            seats[name] = await own.attach("m1")
        watched = await session.watch("m1")
        assert isinstance(watched, Match)
        seated = [match for match in seats.values() if isinstance(match, Match)]
        assert len(seated) == 4
        await until(lambda: any(match.prompt for match in seated))

        async def code(who: Spectating, action: str, command_id: str = "") -> str:
            answer = await who.award("m1", action, command_id)
            return answer.code if isinstance(answer, Refused) else ""

        referee, again, player = Spectating(one), Spectating(other), Spectating(bob)
        assert await code(player, "penalize seat=0") == "not_scorer"
        assert await code(referee, "penalize seat=0") == "no_penalty_now"  # in the cut: HS-11.2
        cutter = next(match for match in seated if match.prompt)
        assert cutter.prompt is not None
        await cutter.act(cutter.prompt.default)
        await until(lambda: watched.view.phase == "reveal" and all(match.seq == watched.seq for match in seated))
        await until(lambda: any(match.prompt for match in seated))
        asked = [match.prompt and match.prompt.number for match in seated]
        first = await referee.award("m1", "penalize seat=1", "p1")
        assert not isinstance(first, Refused)
        await until(lambda: watched.view.sheet.scores[1] == -8)
        assert watched.view.game.penalties[1] == 1
        await until(lambda: all(match.seq == first.seq for match in seated))
        assert [match.prompt and match.prompt.number for match in seated] == asked  # nobody is asked anew
        assert await again.award("m1", "penalize seat=1", "p1") == first
        assert await code(again, "penalize seat=2", "p1") == "id_reused"
        assert await code(referee, "timeout seat=1") == "not_scorers"
        assert await code(referee, "play H3") == "unknown_verb"
        assert await code(referee, "penalize seat=9") == "bad_seat"
        assert await code(referee, "annul") == "unknown_verb"
        await server.crash_host(server.host_of("m1"))
        assert await again.award("m1", "penalize seat=1", "p1") == first
        assert await code(again, "penalize seat=1", "p2") == ""
        await asyncio.gather(*(play(match, "random", dice(), Tally()) for match in seated))
        ending = await watched.finished()
        assert not isinstance(ending, Refused)
        assert sum(ending.scores) == -16
        row = None
        async with asyncio.timeout(60):
            while row is None:
                row = server.backend.archiver.index.find("m1")
                await asyncio.sleep(0.05)
        text = server.backend.archiver.records.text(row.path)
        report = verify(text, REGISTRY, ending.receipt)
        assert report.findings == []
        assert report.rerun
        assert report.record is not None
        assert report.record.head.terms.scorer == "ref"
        assert text.count("penalize seat=1") == 2
        assert "\nwatched policy=none delay=0 scorer=ref\n" in text


async def test_the_burying_of_jokers_is_annulled_once() -> None:
    """DZ-5.9, by whoever keeps the score."""
    async with whole_server(extras=[spectate_service.add]) as server, AsyncExitStack() as stack:
        await server.make("m1", NAMES[:4], game="duizhu", options={"rounds": 1}, scorer="ref", turn_ms=60_000)
        client, session = await stack.enter_async_context(client_of(server, "ref"))
        watched = await session.watch("m1")
        assert isinstance(watched, Match)
        referee = Spectating(client)
        early = await referee.award("m1", "annul")
        assert isinstance(early, Refused)
        assert (early.rule, early.code) == ("DZ-5.9", "annul_phase")
        players = [asyncio.create_task(bot(server, name)) for name in NAMES[:4]]
        codes: list[str] = []
        while not watched.over and len(codes) < 2:
            answer = await referee.award("m1", "annul")
            code = answer.code if isinstance(answer, Refused) else ""
            if code not in ("annul_phase", "match_over", "annul_gabaguo"):
                codes.append(code)
            if code in ("match_over", "annul_gabaguo"):
                break
        assert codes in (["", "annul_twice"], [""], [])
        await asyncio.gather(*players)


@pytest.mark.parametrize(
    ("rated", "named", "scorer"), [(False, "", "own"), (True, "", ""), (True, "ref", "ref"), (False, "ref", "ref")]
)
def test_who_keeps_the_score(rated: bool, named: str, scorer: str) -> None:
    """Who was named; else the host (HS-11.3), but not where ratings are at stake."""
    choice = check_choice(REGISTRY, Clocks(), pb.GameChoice(game="hongshi"), pb.Clock(), rated=rated)
    assert not isinstance(choice, pb.Refusal)
    table = new_table("t1", choice, Terms(scorer=named), "own", 1)
    assert table.company.scorer == scorer
    assert table.company.owner == "own"
