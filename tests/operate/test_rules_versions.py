"""A server replaced under play by a release with newer rules: a match ends under those with which it began."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from kangtou.v1 import lobby_pb2 as pb
from kangtou_clients.api import Client, Match, Place, Refused, Session, Wanted
from kangtou_engine.cards import ORDER
from kangtou_engine.events import from_text
from kangtou_engine.notation import Step, read_body
from kangtou_engine.record import Record, write_record
from kangtou_engine.verify import verify
from kangtou_services.archive.store import RecordStore
from tests.games import parrot
from tests.inprocess import until

from .releases import NEW_GAMES, OLD_GAMES, Releases, two_releases

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PAIR = Wanted("parrot", seats=2, options={"rounds": 2}, bank_ms=60_000)
MOVES = 20


async def seats_at_a_table(clients: list[Client], stack: AsyncExitStack) -> tuple[pb.Table, list[Match | Refused]]:
    """A new table of two, both seats attached: whoever is refused is so with a reason."""
    table = await clients[0].lobby.open(PAIR)
    assert isinstance(table, pb.Table), table
    found: list[Match | Refused] = []
    places = [await client.lobby.sit(table.match_id) for client in clients]
    for client, place in zip(clients, places, strict=True):
        assert isinstance(place, Place), place
        session: Session = await stack.enter_async_context(client.play())
        found.append(await session.attach(place.match_id, entropy=place.entropy))
    return table, found


async def moves(seats: list[Match], count: int) -> None:
    """The default action of whoever is asked, so often or to the end."""
    done = 0
    async with asyncio.timeout(120):
        while done < count and not all(seat.over for seat in seats):
            for seat in seats:
                prompt = seat.prompt
                if prompt is not None and done < count:
                    answer = await prompt.answer(prompt.default)
                    assert not isinstance(answer, Refused), answer
                    done += 1
            await asyncio.sleep(0.005)


def asked(seats: list[Match]) -> Match:
    """The seat to move."""
    return next(seat for seat in seats if seat.prompt is not None)


async def given_back(server: Releases, match: str, after_seq: int) -> int:
    """Time that entries behind one have given back, ms."""
    entries = await server.new.log.read(match, after_seq + 1)
    return sum(read_body(entry.body).given_ms for entry in entries)


def record_of(data: Path, match: str) -> Record | None:
    """From the archive, once it is there."""
    store = RecordStore(str(data / "archive"))
    return next((store.get(path) for path in store.paths() if match in path), None)


def tricks(record: Record, *, highest: bool) -> list[bool]:
    """For each trick whether its highest (or lowest) card has won it."""
    events, found = NEW_GAMES.game("parrot").events, []
    trick: list[tuple[int, int]] = []
    for entry in record.entries:
        for item in entry.body.items:
            for line in item.events if isinstance(item, Step) else ():
                event = from_text(events, line)
                if isinstance(event, parrot.Played):
                    trick.append((ORDER[event.cards[0]], event.seat))
                elif isinstance(event, parrot.TrickWon):
                    found.append((max if highest else min)(trick)[1] == event.seat)
                    trick = []
    return found


async def test_a_match_ends_under_the_rules_with_which_it_began(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All actors, then all gateways, become those of a release that has a newer version of the game's rules."""
    async with two_releases(tmp_path) as server, AsyncExitStack() as stack:
        older = [await server.actor(server.old, f"old{number}") for number in range(2)]
        gateway = await server.gateway(server.old, "old")
        ann = await stack.enter_async_context(server.client("Ann", NEW_GAMES))
        bob = await stack.enter_async_context(server.client("Bob", OLD_GAMES))
        first, joined = await seats_at_a_table([ann, bob], stack)
        seats = [seat for seat in joined if isinstance(seat, Match)]
        assert first.choice.version == 1
        await moves(seats, 7)
        await until(lambda: any(seat.prompt for seat in seats), 60)
        before, seq = asked(seats).prompt, seats[0].seq
        assert before is not None

        for number, member in enumerate(older):
            await server.actor(server.new, f"new{number}")
            await server.end_actor(member)
        await server.gateway(server.new, "new")
        await server.end_gateway(gateway)

        owner = await server.owner(first.match_id)
        assert owner is not None
        assert owner.served.host.registry.game("parrot").spec.version == 2
        slots = owner.served.host.slots
        await until(lambda: first.match_id in slots and slots[first.match_id].seats.keys() == {0, 1}, 60)
        given = await given_back(server, first.match_id, seq)
        await until(lambda: (now := asked(seats).prompt) and now.deadline_ms == before.deadline_ms + given, 60)
        after = asked(seats).prompt
        assert after is not None
        assert after.number == before.number
        await moves(seats, MOVES)
        await until(lambda: all(seat.over for seat in seats), 60)
        assert {seat.ending.cause for seat in seats if seat.ending is not None} == {"rules"}

        second, joined = await seats_at_a_table([ann, bob], stack)
        assert second.choice.version == 2
        known, unknown = joined
        assert isinstance(known, Match)
        assert isinstance(unknown, Refused)
        assert unknown.code == "unknown_rules"
        assert "parrot@2" in unknown.text_en
        assert "parrot@2" in unknown.text_zh

        cat = await stack.enter_async_context(server.client("Cat", NEW_GAMES))
        third, joined = await seats_at_a_table([ann, cat], stack)
        await moves([seat for seat in joined if isinstance(seat, Match)], MOVES)
        for table, version in ((first, 1), (third, 2)):
            await until(lambda table=table: record_of(tmp_path, table.match_id), 60)  # type: ignore[misc]
            record = record_of(tmp_path, table.match_id)
            assert record is not None
            assert record.head.outcome.cause == "rules"
            assert record.head.terms.version == version
            assert verify(write_record(record).encode(), NEW_GAMES).ok
            assert all(tricks(record, highest=version == 1))
            assert not any(tricks(record, highest=version == 2))
            assert len(tricks(record, highest=True)) == MOVES // 2
            steps = [item for entry in record.entries for item in entry.body.items if isinstance(item, Step)]
            assert sum(step.seat is not None for step in steps) == MOVES
            assert not any(step.action.verb == "timeout" for step in steps)
    with capsys.disabled():
        print(
            f"\nreplaced under play by a release with newer rules: 2 actors, 1 gateway; 1 match went on, ended under "
            f"parrot@1 with its clock ({given} ms given back), 2 began under parrot@2, 1 older client was told"
        )


async def test_an_actor_without_the_rules_leaves_a_match_to_those_that_have_them(tmp_path: Path) -> None:
    """While releases are mixed: it is not stopped as if it could not be loaded."""
    async with two_releases(tmp_path) as server, AsyncExitStack() as stack:
        old = await server.actor(server.old, "old")
        await server.gateway(server.new, "new")
        await server.actor(server.new, "new")
        ann = await stack.enter_async_context(server.client("Ann", NEW_GAMES))
        bob = await stack.enter_async_context(server.client("Bob", NEW_GAMES))
        table, joined = await seats_at_a_table([ann, bob], stack)
        assert table.choice.version == 2
        with capture_logs() as logs:
            assert await old.served.opener.open(table.match_id) == "not_here"
        assert not any(line["event"] == "table_cannot_load" for line in logs)
        seats = [seat for seat in joined if isinstance(seat, Match)]
        await moves(seats, MOVES)
        await until(lambda: all(seat.over for seat in seats), 60)
        owner = await server.owner(table.match_id)
        assert owner is None or owner is not old
