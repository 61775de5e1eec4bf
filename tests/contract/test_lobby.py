"""The contract of LobbyStore, and of the Lobby on top of it, with several gateways, on all twins."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from kangtou.v1 import game_pb2 as pb
from kangtou_engine.shuffle import entropy_commitment, seed_commitment
from kangtou_services.agreement import Agreement, Member
from kangtou_services.identity import Account
from kangtou_services.lobby import (
    BadPage,
    Table,
    TableState,
    Terms,
)
from kangtou_services.lobby.base import COMMANDS_MOST, Answer
from kangtou_services.lobby.table import new_table
from kangtou_services.opening import Opening

from .halls import Hall, anything, code_of, fill, new_command, opened, person, sat
from .rooms import CLOCKS, choose, eventually


async def test_a_table_is_opened(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway, choose(3, turn_ms=500))
        assert table == new_table(table.table_id, choose(3, turn_ms=500), Terms(), table.owner, hall.now)
        assert table.owner.startswith("host-")
        assert await gateway.lobby.table(table.table_id) == table
        assert gateway.tables.opened == []
        for unknown in ("", "nothere", "../x", "X" * 70):
            assert code_of(await gateway.lobby.table(unknown)) == "unknown_table"


async def test_opening_again_is_the_same_table(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        host, command = person(), new_command()
        answers = await asyncio.gather(
            *((one, two)[number % 2].lobby.open_table(host, choose(), command) for number in range(20))
        )
        tables = {answer.table_id for answer in answers if isinstance(answer, Table)}
        assert len(tables) == 1
        hall.made += tables
        hall.now += 1_000
        assert isinstance(await one.lobby.open_table(host, choose(), command), Table)
        assert await hall.listed(one) == list(tables)
        assert code_of(await one.lobby.open_table(host, choose(3), command)) == "id_reused"
        other = await one.lobby.open_table(person(), choose(), command)  # ids are an account's own
        assert isinstance(other, Table)
        assert other.table_id not in tables
        assert code_of(await one.lobby.open_table(host, choose(), "no id")) == "bad_id"


async def test_tables_that_an_account_opens_are_counted(hall: Hall) -> None:
    async with hall.gateway(opens=2) as gateway:
        host = person()
        answers = [await gateway.lobby.open_table(host, choose(), new_command()) for _ in range(3)]
        assert code_of(answers[2]) == "throttled"
        assert isinstance(await gateway.lobby.open_table(person(), choose(), new_command()), Table)


async def test_a_full_table_plays_by_itself(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        table = await opened(hall, one, choose(3))
        people = [person(name) for name in "abc"]
        entropies = [b"x", b"y", b""]
        seats, now = [], table
        for account, entropy, wanted in zip(people, entropies, (2, None, None), strict=True):
            commitment = entropy_commitment(entropy) if entropy else ""
            seat, now = await sat(two, table, account, wanted, commitment)
            seats.append(seat)
        assert seats == [2, 0, 1]
        assert now.state is TableState.PLAYING
        assert [member.account_id for member in now.taken] == [people[place].account_id for place in (1, 2, 0)]
        assert two.tables.opened == [table.table_id]
        text = await hall.matches.agreement(table.table_id)
        assert text is not None
        agreement = Agreement.from_json(text)
        assert agreement.members == now.members
        assert agreement.members[0].commitment == entropy_commitment(b"y")
        assert (agreement.game, agreement.seats, agreement.rated, agreement.pool) == ("parrot", 3, False, "")
        seed = await hall.matches.seed(table.table_id)
        assert seed is not None
        assert agreement.seed_commitment == seed_commitment(table.table_id, seed)
        assert await hall.listed(one, TableState.PLAYING) == [table.table_id]
        assert await hall.listed(one, TableState.OPEN) == []
        await hall.matches.retire(table.table_id, 60_000)
        over = await eventually(lambda: one.lobby.table(table.table_id), lambda it: it.state is TableState.OVER)  # type: ignore[union-attr]
        assert isinstance(over, Table)
        assert await hall.listed(one, TableState.OVER) == [table.table_id]


async def test_refusals(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        lobby, ann = gateway.lobby, person("ann")
        await sat(gateway, table, ann, 1)

        async def sit(account: Account, seat: int | None, commitment: str = "", where: str = table.table_id) -> str:
            return code_of(await lobby.sit(account, where, seat, commitment, new_command()))

        assert await sit(ann, 0) == "already_seated"
        assert await sit(ann, None) == "already_seated"
        assert await sit(person(), 1) == "seat_taken"
        assert await sit(person(), 2) == "bad_seat"
        assert await sit(person(), -1) == "bad_seat"
        assert await sit(person(), 0, "AB") == "bad_commitment"
        assert await sit(person(), 0, "", "nothere") == "unknown_table"
        assert await sit(person(), 0, "", "{x}") == "unknown_table"
        assert code_of(await lobby.sit(ann, table.table_id, None, "", "")) == "bad_id"
        assert code_of(await lobby.stand(person(), table.table_id, new_command())) == "not_seated"
        assert code_of(await lobby.stand(ann, "nothere", new_command())) == "unknown_table"
        assert code_of(await lobby.stand(ann, table.table_id, "x y")) == "bad_id"
        assert (await lobby.table(table.table_id)).taken[0].account_id == ann.account_id  # type: ignore[union-attr]
        await sat(gateway, table, person())
        assert await sit(person(), None) == "table_full"
        assert await sit(person(), 0) == "table_full"
        assert await sit(ann, 0) == "already_seated"
        assert code_of(await lobby.stand(ann, table.table_id, new_command())) == "match_started"


async def test_standing_up(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        ann, bob = person("ann"), person("bob")
        await sat(gateway, table, ann, 0)
        command = new_command()
        for _ in range(2):
            after = await gateway.lobby.stand(ann, table.table_id, command)
            assert isinstance(after, Table)
            assert after.members == (None, None)
        await sat(gateway, table, bob, 0)
        seat, now = await sat(gateway, table, ann)
        assert (seat, now.state) == (1, TableState.PLAYING)
        again = await gateway.lobby.stand(ann, table.table_id, command)  # the first answer; she keeps her seat
        assert isinstance(again, Table)
        assert again.state is TableState.PLAYING


async def test_a_repeat_gets_the_first_answer(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        table = await opened(hall, one)
        ann, command = person("ann"), new_command()
        answers = await asyncio.gather(
            *((one, two)[number % 2].lobby.sit(ann, table.table_id, None, "", command) for number in range(20))
        )
        assert {answer[0] for answer in answers if isinstance(answer, tuple)} == {0}
        assert len(answers) == 20
        assert code_of(await one.lobby.sit(ann, table.table_id, 0, "", command)) == "id_reused"
        assert code_of(await one.lobby.stand(ann, table.table_id, command)) == "id_reused"
        bob, refused = person("bob"), new_command()
        assert code_of(await one.lobby.sit(bob, table.table_id, 0, "", refused)) == "seat_taken"
        assert isinstance(await one.lobby.stand(ann, table.table_id, new_command()), Table)
        assert code_of(await two.lobby.sit(bob, table.table_id, 0, "", refused)) == "seat_taken"
        assert (await one.lobby.sit(ann, table.table_id, None, "", command))[0] == 0  # type: ignore[index]
        now = await one.lobby.table(table.table_id)
        assert isinstance(now, Table)
        assert now.taken == ()


async def test_a_hundred_clients_race_for_the_last_seat(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two, hall.gateway() as three:
        gateways = (one, two, three)
        table = await opened(hall, one)
        await sat(one, table, person("first"), 0)
        racers = [person(f"r{number}") for number in range(100)]
        answers = await asyncio.gather(
            *(
                gateways[number % 3].lobby.sit(racer, table.table_id, 1 if number % 2 else None, "", new_command())
                for number, racer in enumerate(racers)
            )
        )
        won = [number for number, answer in enumerate(answers) if isinstance(answer, tuple)]
        assert len(won) == 1
        assert {code_of(answer) for answer in answers if isinstance(answer, pb.Refusal)} <= {"table_full", "seat_taken"}
        (winner,) = won
        assert answers[winner][0] == 1  # type: ignore[index]
        text = await hall.matches.agreement(table.table_id)
        assert text is not None
        assert Agreement.from_json(text).members[1].account_id == racers[winner].account_id
        assert set(one.tables.opened + two.tables.opened + three.tables.opened) == {table.table_id}


async def test_all_seats_in_one_race(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        table = await opened(hall, one, choose(4))
        racers = [person(f"r{number}") for number in range(100)]
        answers = await asyncio.gather(
            *(
                (one, two)[number % 2].lobby.sit(racer, table.table_id, None, "", new_command())
                for number, racer in enumerate(racers)
            )
        )
        assert sorted(answer[0] for answer in answers if isinstance(answer, tuple)) == [0, 1, 2, 3]
        assert {code_of(answer) for answer in answers if isinstance(answer, pb.Refusal)} == {"table_full"}


async def test_a_gateway_that_dies_with_the_last_seat(hall: Hall) -> None:
    """The table is full, the match was not made: whoever looks makes it."""
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        await fill(hall, table)
        assert await hall.matches.agreement(table.table_id) is None
        found = await gateway.lobby.table(table.table_id)
        assert isinstance(found, Table)
        assert found.state is TableState.PLAYING
        assert gateway.tables.opened == [table.table_id]


async def test_a_sweep_makes_what_was_left_over(hall: Hall) -> None:
    async with hall.gateway() as dying:
        table = await opened(hall, dying)
        await fill(hall, table)
    hall.now += 1_000
    async with hall.gateway(sweeps=True) as living:
        await eventually(lambda: hall.matches.agreement(table.table_id))
        await eventually(
            lambda: hall.store.tables([table.table_id]),
            lambda rows: rows[0].state is TableState.PLAYING,  # type: ignore[union-attr]
        )
        assert living.tables.opened == [table.table_id]


async def test_a_crash_between_making_and_marking(hall: Hall) -> None:
    async with hall.gateway() as dying:
        table = await opened(hall, dying)
        dying.tables.hold.clear()
        await sat(dying, table, person(), 0)
        last = asyncio.create_task(dying.lobby.sit(person(), table.table_id, 1, "", new_command()))
        seed = await eventually(lambda: hall.matches.seed(table.table_id))
        await dying.lobby.stop()
        await asyncio.wait([last], timeout=10)
    async with hall.gateway() as living:
        found = await living.lobby.table(table.table_id)
        assert isinstance(found, Table)
        assert found.state is TableState.PLAYING
        assert await hall.matches.seed(table.table_id) == seed


async def test_pages(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        tables = []
        for _ in range(10):
            tables.append(await opened(hall, gateway))
            hall.now += 1
        newest_first = [table.table_id for table in reversed(tables)]
        assert await hall.listed(gateway) == newest_first
        page, token = await gateway.lobby.page(anything, 4, "")
        assert [table.table_id for table in page] == newest_first[:4]
        await opened(hall, gateway)  # what comes meanwhile does not move the others
        page, _ = await gateway.lobby.page(anything, 4, token)
        assert [table.table_id for table in page] == newest_first[4:8]
        assert await gateway.lobby.page(lambda table: False, 4, "") == ([], "")
        for bad in ("x", "[0", "9" * 200, "1800000000000:"):
            with pytest.raises(BadPage):
                await gateway.lobby.page(anything, 4, bad)


async def test_old_tables_go(hall: Hall) -> None:
    async with hall.gateway(idle_ms=1_000, show_over_ms=1_000) as gateway:
        empty, taken, played = [await opened(hall, gateway) for _ in range(3)]
        await sat(gateway, taken, person())
        await sat(gateway, played, person())
        await sat(gateway, played, person())
        await hall.matches.retire(played.table_id, 60_000)
        await eventually(lambda: gateway.lobby.table(played.table_id), lambda it: it.state is TableState.OVER)  # type: ignore[union-attr]
        await gateway.sweeper.sweep()
        assert set(await hall.listed(gateway)) == {empty.table_id, taken.table_id, played.table_id}
        hall.now += 1_001
        await gateway.sweeper.sweep()
        assert await hall.listed(gateway) == [taken.table_id]
        assert code_of(await gateway.lobby.table(empty.table_id)) == "unknown_table"
        over = await gateway.lobby.table(played.table_id)  # its match is still known
        assert isinstance(over, Table)
        assert over.state is TableState.OVER


async def test_places_without_a_table_go(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        place = table.place
        assert await hall.store.forget(table)
        await gateway.lobby.board.reread()
        await gateway.sweeper.sweep()
        assert place in await hall.store.places("", 1_000)
        assert await hall.listed(gateway) == []
        hall.now += 60_001
        await gateway.lobby.board.reread()
        await gateway.sweeper.sweep()
        assert place not in await hall.store.places("", 1_000)


async def test_one_gateway_sweeps_at_a_time(hall: Hall) -> None:
    assert await hall.store.lead("one", 60)
    assert await hall.store.lead("one", 60)
    assert not await hall.store.lead("two", 60_000)
    await eventually(lambda: hall.store.lead("two", 40))


async def test_commands_of_a_table_are_bounded(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        ann = person("ann")
        assert code_of(await gateway.lobby.stand(ann, table.table_id, "c0")) == "not_seated"
        commands = [f"x/c{number}" for number in range(COMMANDS_MOST - 1)]
        for begin in range(0, len(commands), 20):
            answer = Answer("stand", "not_seated")
            await asyncio.gather(
                *(hall.store.put(table, False, command, answer) for command in commands[begin : begin + 20])
            )
        assert code_of(await gateway.lobby.stand(ann, table.table_id, "more")) == "too_many_commands"
        assert code_of(await gateway.lobby.stand(ann, table.table_id, "c0")) == "not_seated"


async def test_a_table_of_matchmaking_can_be_looked_at(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        opening = Opening(hall.matches, gateway.tables, CLOCKS)
        match = uuid4().hex[:16]
        members = [Member(name, name, "bot") for name in "ab"]
        await opening.start(match, choose(rated=True), members, "demo")
        found = await gateway.lobby.table(match)
        assert isinstance(found, Table)
        assert (found.state, found.choice.rated, list(found.members)) == (TableState.PLAYING, True, members)
        assert await hall.listed(gateway) == []
