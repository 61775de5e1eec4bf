"""A seat that goes away, is played for, and comes back through another gateway. Lobby, acceptance 5."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from kangtou_clients.api import Ending, Gone, Match, Prompt, Refused, Session, connect
from kangtou_clients.bots.player import Tally, dice, play, policy_of
from kangtou_engine.events import to_text
from kangtou_engine.match.clocks import Ledger
from kangtou_engine.record import read_record
from kangtou_engine.record.moments import TRICK_ENDS
from kangtou_engine.registry import REGISTRY, Registry
from kangtou_engine.replay import Replay
from kangtou_engine.timing import clocks_of
from kangtou_engine.verify import verify
from kangtou_services.games import load_registry
from kangtou_services.house import MemoryHouse
from kangtou_services.table.core import Table
from tests.conftest import Counts
from tests.inprocess import Server, until, whole_server

NAMES = ("ann", "bob", "cat", "dan")
GAMES: Registry = load_registry("tests.games.parrot:GAME")
CLOCKS: dict[str, Any] = {
    "turn_ms": 900,
    "window_ms": 150,
    "bank_ms": 300,
    "increment_ms": 20,
    "late_most": 2,
    "substitute_ms": 100,
}


def table_of(server: Server, match: str = "m1") -> Table:
    """The table where it lives now."""
    return max(tables(server, match), key=lambda table: table.epoch)


def tables(server: Server, match: str = "m1") -> list[Table]:
    """Of one match at all hosts: none while it is being taken over."""
    return [host.host.slots[match].table for host in server.hosts if match in host.host.slots]


def mid_trick(table: Table) -> bool:
    """Whether the last thing that happened ended no trick and began no round."""
    kinds = [to_text(event).partition(" ")[0] for event in table.history[-1][2]] if table.history else []
    return bool(kinds) and kinds[-1] not in TRICK_ENDS and "round_began" not in kinds


def told(table: Table) -> int:
    """The last entry that had events: of the others nobody is told."""
    return max((seq for seq, _, events in table.history if events), default=0)


@dataclass
class Seen:
    """What was looked at."""

    views: int = 0
    prompts: int = 0
    ledgers: int = 0


class Stand:
    """A match with a person at seat 0 and bots elsewhere, on two gateways and two hosts."""

    def __init__(self, server: Server, house: MemoryHouse) -> None:
        self.server = server
        self.house = house
        self.seen = Seen()

    @property
    def table(self) -> Table:
        """The table."""
        return table_of(self.server)

    async def same_view(self, match: Match) -> None:
        """The client has what the table shows its seat, of the entry that it has come to."""
        await until(lambda: match.seq >= told(self.table) and not self.table.busy)
        table = self.table
        assert match.view == table.game.view(table.state, 0)
        self.seen.views += 1

    def same_prompt(self, prompt: Prompt) -> None:
        """Number and deadline are the table's, and what is left adds up."""
        asked = self.table.prompts.asked[0]
        assert asked is not None
        assert (prompt.number, prompt.deadline_ms) == (asked.number, asked.deadline_ms)
        assert prompt.turn_ms + prompt.bank_ms == prompt.left_ms
        self.seen.prompts += 1

    async def bot(self, number: int) -> Match:
        """One of the others, to the end."""
        address = self.server.gateways[number % 2].address
        async with connect(address, f"t-{NAMES[number]}", registry=GAMES) as client, client.play() as session:
            match = await session.attach("m1")
            assert isinstance(match, Match)
            await play(match, "greedy", dice(), Tally())
            return match

    async def owner_plays(self, turns: int) -> None:
        """The person plays some turns, and then her connection is gone in the middle of a question."""
        server = self.server
        async with connect(server.gateways[0].address, "t-ann", registry=GAMES) as client, client.play() as session:
            match = await session.attach("m1")
            assert isinstance(match, Match)
            async for prompt in match.prompts():
                if turns <= 0 and len(match.game.to_act(match.view)) == 1 and mid_trick(self.table):
                    self.same_prompt(prompt)
                    return
                turns -= len(match.game.to_act(match.view)) == 1
                await prompt.answer(policy_of(match.game, "greedy")(match.view, 0, prompt.legal, dice()))
        raise AssertionError("the match ended too early")

    async def substitute_plays(self, session: Session, turns: int) -> Prompt:
        """A house bot takes the seat and plays; then it holds a question that it is asked alone, in mid-trick."""
        await until(lambda: self.house.wanted.get(("m1", 0)))
        match = await session.attach("m1", seat=0, delegate=True)
        assert isinstance(match, Match), match
        await self.same_view(match)
        async for prompt in match.prompts():
            turn = len(match.game.to_act(match.view)) == 1
            if turns <= 0 and turn and mid_trick(self.table):
                await self.same_view(match)
                return prompt
            turns -= turn
            answer = await prompt.answer(policy_of(match.game, "greedy")(match.view, 0, prompt.legal, dice()))
            # Another seat may have ended the window meanwhile, and perhaps nobody asks this one any more.
            assert not isinstance(answer, Refused) or answer.code in ("stale_prompt", "not_your_turn"), answer
        raise AssertionError("the match ended too early")


def same_clocks(stand: Stand, match: Match) -> None:
    """Banks as everybody is told are those of the table."""
    ledger = stand.table.prompts.ledger
    assert ledger is not None
    told = tuple(one.bank_ms for one in match.seats), tuple(one.delegated for one in match.seats)
    assert told == (ledger.bank_ms, ledger.away)
    stand.seen.ledgers += 1


def ledger_of(table: Table) -> Ledger:
    """What is kept of time."""
    assert table.prompts.ledger is not None
    return table.prompts.ledger


async def _kill(server: Server) -> None:
    """The process at the table vanishes; another takes it over."""
    before = ledger_of(table_of(server))
    gone = server.host_of("m1")
    epoch = table_of(server).epoch
    await server.crash_host(gone)
    await until(lambda: any(table.epoch > epoch for table in tables(server)))
    assert ledger_of(table_of(server)).away[0] == before.away[0]


async def _evening(game: str, kill: bool) -> Seen:
    house = MemoryHouse({"house"})
    async with whole_server(hosts=2, gateways=2, house=house, heartbeat_ms=100) as server:
        options = {"rounds": {"parrot": 4, "erbaiwu": 6}.get(game, 2)}  # long enough for all that happens below
        await server.make("m1", game=game, people=("ann",), options=options, **CLOCKS)
        stand = Stand(server, house)
        others = [asyncio.create_task(stand.bot(number)) for number in (1, 2, 3)]
        await asyncio.wait_for(stand.owner_plays(2), 60)
        number, deadline = _asked(stand.table)
        async with (
            connect(server.gateways[1].address, "t-house", registry=GAMES) as lent,
            lent.play() as session,
            connect(server.gateways[1].address, "t-ann", registry=GAMES) as client,
            client.play() as mine,
        ):
            held = await asyncio.wait_for(stand.substitute_plays(session, 2), 60)
            assert held.number > number
            assert held.deadline_ms > deadline
            if kill:
                await _kill(server)
                await stand.same_view(held.match)
            match = await mine.attach("m1")
            assert isinstance(match, Match)
            await stand.same_view(match)
            same_clocks(stand, match)
            assert match.delegated == "timeouts"
            assert match.prompt is None  # it is the substitute's
            assert isinstance(refused := await match.act(held.default, held.number), Refused)
            assert refused.code == "seat_delegated"
            before = ledger_of(stand.table)
            both = await asyncio.gather(mine.take_back(match), held.answer(held.default), return_exceptions=True)
            assert not isinstance(both[0], (Refused, BaseException))
            late = both[1]
            assert not isinstance(late, Refused) or late.code == "seat_taken_back", late
            await until(lambda: not ledger_of(stand.table).away[0])
            assert ledger_of(stand.table).bank_ms[0] == before.bank_ms[0]
            with pytest.raises(Gone):
                await asyncio.wait_for(held.match.finished(), 60)
            assert isinstance(too_late := await _says(session, held), Refused)
            assert too_late.code == "seat_taken_back"
            await asyncio.wait_for(_rest(stand, match), 60)
            for other in await asyncio.gather(*others):
                assert other.ending == match.ending
            assert isinstance(match.ending, Ending)
            assert match.ending.cause == "rules"
            assert match.view == stand.table.game.view(stand.table.state, 0)
            same_clocks(stand, match)
            await _record_agrees(server, stand, match.ending.receipt)
            await until(lambda: not house.wanted)
        return stand.seen


def _asked(table: Table) -> tuple[int, int]:
    asked = table.prompts.asked[0]
    assert asked is not None
    return asked.number, asked.deadline_ms


async def _says(session: Session, held: Prompt) -> object:
    """A command of a substitute that was let go."""
    return await session._act(held.match, held.number, held.default)


async def _rest(stand: Stand, match: Match) -> None:
    """The owner plays on to the end; her view is compared whenever she alone is asked."""
    async for prompt in match.prompts():
        if match.game.to_act(match.view) == (0,):
            await stand.same_view(match)
            if match.prompt is prompt:  # else its time ran out meanwhile, on a busy machine
                stand.same_prompt(prompt)
                same_clocks(stand, match)
        await prompt.answer(policy_of(match.game, "greedy")(match.view, 0, prompt.legal, dice()))
    await match.finished()


async def _record_agrees(server: Server, stand: Stand, receipt: str) -> None:
    """The record is in order, tells of the substitute, and its clocks are those that the table had."""
    records = server.backend.archiver.records
    await until(lambda: server.backend.archiver.index.find("m1"))
    found = server.backend.archiver.index.find("m1")
    assert found is not None
    text = records.text(found.path)
    report = verify(text, GAMES, receipt)
    assert report.ok, report.findings
    record = read_record(text)
    table = stand.table
    assert clocks_of(Replay(table.game, record))[-1].prompts == table.prompts
    written = "\n".join(entry.text for entry in record.entries)
    assert "\n- delegate seat=0 cause=timeouts" in written
    assert "\n- retake seat=0 command=" in written


@pytest.mark.parametrize("kill", [False, True], ids=["", "killed"])
@pytest.mark.parametrize("game", ["parrot", *REGISTRY.names()])
async def test_a_seat_comes_back_through_another_gateway(game: str, kill: bool, counts: Counts) -> None:
    """It sees exactly what it may see, before, while a substitute plays, and after; clocks agree with the log."""
    seen = Seen()
    for _ in range(counts(1, 8)):
        one = await _evening(game, kill)
        seen = Seen(seen.views + one.views, seen.prompts + one.prompts, seen.ledgers + one.ledgers)
    print(f"{game}: {seen.views} views, {seen.prompts} prompts, {seen.ledgers} clocks compared")
    assert min(seen.views, seen.prompts, seen.ledgers) >= 3
