"""The runner on a whole server: entrants of all kinds, boards withheld, bad bots. Issue: tournaments, 1, 5."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from kangtou_clients.api import CallFailed, Client, Match, Refused, Session, connect
from kangtou_clients.api.archive import Archive
from kangtou_clients.api.tournaments import Tournaments
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_engine.boards import read_board, tournament_commitment
from kangtou_engine.record import read_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify
from kangtou_services.tournament.events import State
from kangtou_services.tournament.model import Blame

from ..conftest import Counts
from ..faults.server import Server
from ..faults.tournaments import Store
from .zoo import BAD

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]

ZOO = [sys.executable, "-m", "tests.tournament.zoo"]
PATIENCE_S = 300.0  # of a test, for what a busy machine may take
UNHURRIED_MS = 60_000  # to move, where clocks are not what is looked at
# What each bad bot is found guilty of.
GUILT = {
    "late": {Blame.TIMEOUT},
    "silent": {Blame.TIMEOUT},
    "illegal": {Blame.ILLEGAL},
    "wrong_seat": {Blame.TIMEOUT},
    "crash": {Blame.CRASH},
    "garbage": {Blame.DISCONNECTED, Blame.CRASH},
    "half_closed": {Blame.TIMEOUT},
    "huge": {Blame.DISCONNECTED, Blame.CRASH, Blame.TIMEOUT},
}


def spec_of(name: str, *entrants: dict[str, Any], **given: Any) -> dict[str, Any]:
    """A spec as a file has it."""
    usual = {"game": "hongshi", "sets": 1, "concurrency": 4, "turn_ms": UNHURRIED_MS}
    return {"name": name, "entrants": list(entrants), **usual, **given}


def bot(name: str, policy: str = "greedy") -> dict[str, Any]:
    """A built-in entrant."""
    return {"name": name, "bot": policy}


async def finished(api: Tournaments, tournament: str, seconds: float = PATIENCE_S) -> str:
    """Wait for the end; how it was closed."""
    state = ""
    async with asyncio.timeout(seconds):
        async for progress in api.watch(tournament):
            state = progress.summary.state
    return state


async def newcomer(client: Client, name: str = "tester") -> Tournaments:
    """A new account's way to tournaments."""
    await client.accounts.register(name, "bot")
    return Tournaments(client)


async def test_a_board_is_withheld_and_verified_afterwards(server: Server) -> None:
    """No record and no watching until the set is complete; the seed comes at the end and explains every deal."""
    async with connect(server.address, retry_s=PATIENCE_S) as client:
        api = await newcomer(client)
        slow = {"name": "Slow", "command": [*ZOO, "good"]}
        tournament = await api.submit(spec_of("withheld", bot("A"), slow, game="duizhu", concurrency=1))
        assert isinstance(tournament, str), tournament
        async with Store(server) as store, client.play() as session:
            while not ((state := await store.state(tournament)) and state.results):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            first = state.results[0].match
            if state.counted[state.results[0].game.set_id] < state.results[0].game.of:
                with pytest.raises(CallFailed, match="withheld"):
                    await Archive(client).record(first)
            watched = await session.watch(first)
            assert isinstance(watched, Refused)
            assert watched.code == "withheld"
            assert await finished(api, tournament) == "complete"
            closed = await store.closed(tournament, 60)
        assert tournament_commitment(tournament, closed.seed) == closed.commitment
        for result in closed.results:
            while (found := await Archive(client).record(result.match)) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            text = found[1].decode()
            report = verify(text, REGISTRY, tournament_seed=closed.seed)
            assert (report.findings, report.deals) == ([], 1)
            terms = read_record(text).head.terms
            assert read_board(terms.board) == (tournament, result.game.board)
            assert terms.tags["game"] == result.game.id


def guilty(entrants: tuple[int, ...], faults: tuple[str, ...]) -> set[tuple[int, str]]:
    """Who has faulted, and how."""
    return {(entrant, fault) for entrant, fault in zip(entrants, faults, strict=True) if fault}


async def by_account(server: Server) -> State:
    """A tournament of two accounts and a bot; one of the accounts never comes."""
    async with (
        connect(server.address, retry_s=PATIENCE_S) as host,
        connect(server.address, retry_s=PATIENCE_S) as here,
        connect(server.address, retry_s=PATIENCE_S) as away,
    ):
        api = await newcomer(host)
        await newcomer(here, "present")
        await newcomer(away, "absent")
        present, absent = (await here.accounts.who_am_i()).account_id, (await away.accounts.who_am_i()).account_id
        spec = spec_of(
            "accounts", {"name": "P", "account": present}, {"name": "X", "account": absent}, bot("G"), turn_ms=10_000
        )
        refused = await api.submit(spec)
        assert not isinstance(refused, str)
        assert [(one.name, one.value) for one in refused] == [("rotation", "full")]
        tournament = await api.submit({**spec, "rotation": "cross"})
        assert isinstance(tournament, str), tournament
        async with here.play() as session:
            playing = asyncio.create_task(play_all(Tournaments(here), session, tournament))
            assert await finished(api, tournament) == "complete"
            await playing
        async with Store(server) as store:
            return await store.closed(tournament, 60)


@pytest.fixture(scope="module", autouse=True)
def by_accounts(server: Server) -> Iterator[list[Future[State]]]:
    """It is played beside the other tests of this module: for most of the time somebody is waited for."""
    with ThreadPoolExecutor(1) as beside:
        yield [beside.submit(asyncio.run, by_account(server))]


async def play_all(api: Tournaments, session: Session, tournament: str) -> None:
    """What an entrant by account does."""
    async with asyncio.TaskGroup() as group:
        async for place in api.enter(tournament):
            match = await session.attach(place.match_id, seat=place.seat)
            if isinstance(match, Match):
                group.create_task(_one(match))


async def _one(match: Match) -> None:
    await play(match, "greedy", dice(1), Tally())


async def test_pause_resume_cancel(server: Server) -> None:
    """A ladder goes on until it is cancelled; then it has a final table."""
    async with connect(server.address, retry_s=PATIENCE_S) as client:
        api = await newcomer(client)
        tournament = await api.submit(spec_of("ladder", bot("A"), bot("B"), bot("C"), format="ladder"))
        assert isinstance(tournament, str), tournament
        states = []
        async with asyncio.timeout(PATIENCE_S):
            async for progress in api.watch(tournament):
                states.append(progress.summary.state)
                if progress.summary.games_done and "paused" not in states:
                    await api.cancel(tournament, pause=True)
                if states[-1] == "paused" and not progress.running:
                    await api.resume(tournament)
                if states[-1] == "playing" and "paused" in states:
                    await api.cancel(tournament)
        assert states[-1] == "cancelled"
        assert "paused" in states
        report = await api.report(tournament)
        assert len(report["table"]) == 3
        async with connect(server.address, retry_s=PATIENCE_S) as other:
            await other.accounts.register("other", "bot")
            with pytest.raises(CallFailed, match="closed"):
                await Tournaments(other).resume(tournament)


async def test_the_zoo(server: Server, counts: Counts) -> None:
    """Each kind of bad bot among three good ones: typed, contained, and the good ones are not blamed."""
    full = bool(counts(0, 1))
    kinds = BAD if full else ("illegal", "crash", "huge")
    given = {"turn_ms": 1_500} if full else {"table": 4, "turn_ms": 4_000}
    one_after_another = asyncio.Semaphore(1 if full else len(kinds))
    async with connect(server.address, retry_s=PATIENCE_S) as client, Store(server) as store:
        api = await newcomer(client)

        async def seen(kind: str) -> str:
            async with one_after_another:
                return await in_company(client, api, store, kind, given)

        for line in await asyncio.gather(*map(seen, kinds)):
            print(line)


async def in_company(client: Client, api: Tournaments, store: Store, kind: str, given: Mapping[str, Any]) -> str:
    """A tournament of a bad bot and three good ones: what became of it."""
    bad = {"name": kind, "command": [*ZOO, kind]}
    tournament = await api.submit(spec_of(kind, bad, bot("A"), bot("B", "random"), bot("C"), **given))
    assert isinstance(tournament, str), tournament
    assert await finished(api, tournament) == "complete"
    state = await store.closed(tournament, 60)
    its = [one for one in state.results if 0 in one.game.encounter]
    blamed: set[tuple[int, str]] = set()
    for result in state.results:
        found = guilty(result.game.entrants, result.faults)
        assert {entrant for entrant, _ in found} == ({0} if result in its else set()), "a bad bot has finished a game"
        blamed |= found
    for result in its:
        seats = zip(result.game.entrants, result.scores, strict=True)
        assert all((entrant == 0) is (score == min(result.scores)) for entrant, score in seats)
    assert {Blame(fault) for _, fault in blamed} <= GUILT[kind]
    if kind == "crash":
        outputs = await api.output(tournament, its[0].game.id)
        assert any("an assertion of mine has failed" in text for text in outputs.values())
    delays = await delays_of(client, [one.match for one in its])
    return (
        f"{kind}: {', '.join(sorted(fault for _, fault in blamed))} in {len(its)} games; match over "
        f"{statistics.median(delays):.1f} s after its beginning, at most {max(delays):.1f} s; good ones blamed: 0; "
        f"played again: {len(state.replays)}"
    )


async def delays_of(client: Client, matches: list[str]) -> list[float]:
    """Seconds from the beginning of each match to its end."""
    found = []
    for match in matches:
        until = time.monotonic() + PATIENCE_S
        while (record := await Archive(client).record(match)) is None and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        assert record is not None
        outcome = read_record(record[1].decode()).head.outcome
        found.append((outcome.ended_ms - (outcome.started_ms or outcome.ended_ms)) / 1000)
    return found


async def test_entrants_by_account_and_one_who_never_comes(server: Server, by_accounts: list[Future[State]]) -> None:
    """They are told of their games; who is not there forfeits, and the tournament closes."""
    begun = asyncio.wrap_future(by_accounts.pop()) if by_accounts else by_account(server)  # in a second run: anew
    state = await begun
    faults = {fault for result in state.results for fault in guilty(result.game.entrants, result.faults)}
    assert {entrant for entrant, _ in faults} == {1}
    assert {fault for _, fault in faults} == {"disconnected"}
