"""Tables before, between and after their matches, with several gateways, on all twins: seats, start, owner, rematch."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from kangtou.v1 import game_pb2 as pb
from kangtou_services.agreement import Agreement
from kangtou_services.identity import Account
from kangtou_services.lobby import StartRule, Table, TableState, Terms
from kangtou_services.lobby import board as boards
from kangtou_services.lobby import lobby as lobbies
from kangtou_services.lobby.rematch import Tally, tally

from .halls import Ended, Gateway, Hall, anything, code_of, new_command, opened, person, sat
from .rooms import choose, eventually

READY, OWNER = Terms(start=StartRule.READY), Terms(start=StartRule.OWNER)


def table_of(answer: Table | pb.Refusal) -> Table:
    """What must not be refused."""
    assert isinstance(answer, Table), answer
    return answer


async def owned(
    hall: Hall, gateway: Gateway, terms: Terms | None = None, seats: int = 2, *, private: bool = False
) -> tuple[Account, Table]:
    """A new table and who owns it."""
    owner = person("owner")
    table = table_of(await gateway.lobby.open_table(owner, choose(seats), new_command(), terms, private=private))
    hall.made.append(table.table_id)
    return owner, table


async def played(hall: Hall, gateway: Gateway, table: Table, people: list[Account]) -> Table:
    """All sit down, and the match ends by the rules."""
    for account in people:
        await sat(gateway, table, account)
    return await ended(hall, gateway, table.table_id)


async def ended(hall: Hall, gateway: Gateway, table_id: str) -> Table:
    """The match that plays ends: the last seat wins."""
    now = table_of(await gateway.lobby.table(table_id))
    assert now.state is TableState.PLAYING
    seats = now.choice.seats
    hall.results.of[now.match_id] = Ended(tuple(range(seats)), tuple(range(seats, 0, -1)))
    await hall.matches.retire(now.match_id, 60_000)
    found = await eventually(lambda: gateway.lobby.table(table_id), lambda it: it.state is TableState.OVER)  # type: ignore[union-attr]
    return table_of(found)


async def test_another_seat(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        _, table = await owned(hall, one, seats=3)
        ann, bob = person("ann"), person("bob")
        await sat(one, table, ann, 0)
        await sat(two, table, bob, 1)
        command = new_command()
        for gateway in (one, two):
            now = table_of(await gateway.lobby.change_seat(ann, table.table_id, 2, command))
            assert [member and member.name for member in now.members] == [None, "bob", "ann"]
        assert code_of(await one.lobby.change_seat(ann, table.table_id, 1, new_command())) == "seat_taken"
        assert code_of(await one.lobby.change_seat(ann, table.table_id, 3, new_command())) == "bad_seat"
        assert code_of(await one.lobby.change_seat(person(), table.table_id, 0, new_command())) == "not_seated"
        assert code_of(await one.lobby.change_seat(ann, table.table_id, 0, command)) == "id_reused"


async def test_all_must_be_ready(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        _, table = await owned(hall, one, READY)
        ann, bob = person("ann"), person("bob")
        await sat(one, table, ann)
        now = table_of(await one.lobby.set_ready(ann, table.table_id, new_command(), ready=True))
        assert (now.state, now.ready, now.ready_until_ms) == (TableState.OPEN, (ann.account_id,), 0)
        _, now = await sat(two, table, bob)
        assert (now.state, now.ready_until_ms) == (TableState.OPEN, hall.now + 30_000)
        now = table_of(await two.lobby.set_ready(bob, table.table_id, new_command(), ready=True))
        assert now.state is TableState.PLAYING
        assert two.tables.opened == [table.table_id]
        refused = await one.lobby.set_ready(ann, table.table_id, new_command(), ready=False)
        assert code_of(refused) == "match_started"


async def test_who_stands_clears_the_check(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        _, table = await owned(hall, gateway, READY)
        ann, bob = person("ann"), person("bob")
        for account in (ann, bob):
            await sat(gateway, table, account)
        await gateway.lobby.set_ready(ann, table.table_id, new_command(), ready=True)
        now = table_of(await gateway.lobby.stand(ann, table.table_id, new_command()))
        assert (now.ready, now.ready_until_ms, now.owner) == ((), 0, table.owner)
        await sat(gateway, table, ann)
        now = table_of(await gateway.lobby.set_ready(bob, table.table_id, new_command(), ready=True))
        assert now.state is TableState.OPEN


async def test_who_is_not_ready_in_time_stands_up(hall: Hall) -> None:
    async with hall.gateway() as gateway, hall.gateway(sweeps=True):
        _, table = await owned(hall, gateway, READY)
        ann, bob = person("ann"), person("bob")
        for account in (ann, bob):
            await sat(gateway, table, account)
        await gateway.lobby.set_ready(bob, table.table_id, new_command(), ready=True)
        hall.now += 30_000
        stored = await eventually(
            lambda: hall.store.tables([table.table_id]), lambda rows: rows[0] is not None and len(rows[0].taken) == 1
        )
        assert stored[0] is not None
        assert (stored[0].arrived, stored[0].ready_until_ms) == ((bob.account_id,), 0)
        assert stored[0].ready == (bob.account_id,)


async def test_the_owner_starts(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        owner, table = await owned(hall, one, OWNER)
        ann = person("ann")
        await sat(one, table, owner)

        async def start(account: Account) -> Table | pb.Refusal:
            return await two.lobby.start(account, table.table_id, new_command())

        assert code_of(await start(owner)) == "seats_free"
        await sat(two, table, ann)
        assert code_of(await start(ann)) == "not_owner"
        assert code_of(await start(owner)) == "not_ready"
        await two.lobby.set_ready(ann, table.table_id, new_command(), ready=True)
        command = new_command()
        for gateway in (one, two):
            now = table_of(await gateway.lobby.start(owner, table.table_id, command))
            assert now.state is TableState.PLAYING
        assert code_of(await start(owner)) == "match_started"


async def test_an_owner_who_lets_wait_is_owner_no_more(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        owner, table = await owned(hall, gateway, OWNER)
        people = [person(name) for name in "ab"]
        for account in people:
            await sat(gateway, table, account)
            await gateway.lobby.set_ready(account, table.table_id, new_command(), ready=True)
        hall.now += 30_000
        now = table_of(await gateway.lobby.table(table.table_id))
        assert now.owner == people[0].account_id
        assert code_of(await gateway.lobby.start(owner, table.table_id, new_command())) == "not_owner"
        assert table_of(await gateway.lobby.start(people[0], table.table_id, new_command())).state is TableState.PLAYING


async def test_the_owner_removes(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        owner, table = await owned(hall, one, READY)
        ann = person("ann")
        await sat(one, table, owner)
        await sat(two, table, ann)

        async def remove(who: Account, whom: Account) -> Table | pb.Refusal:
            return await one.lobby.remove(who, table.table_id, whom.account_id, new_command())

        assert code_of(await remove(ann, owner)) == "not_owner"
        assert code_of(await remove(owner, person())) == "nobody_there"
        assert code_of(await remove(owner, owner)) == "not_yourself"
        assert table_of(await remove(owner, ann)).arrived == (owner.account_id,)
        assert code_of(await two.lobby.sit(ann, table.table_id, None, "", new_command())) == "removed"
        assert code_of(await two.lobby.allow(ann, table.table_id, ann.account_id, new_command())) == "not_owner"
        assert table_of(await two.lobby.allow(owner, table.table_id, ann.account_id, new_command())).removed == ()
        await sat(two, table, ann)
        for account in (owner, ann):
            await one.lobby.set_ready(account, table.table_id, new_command(), ready=True)
        assert code_of(await remove(owner, ann)) == "match_started"


async def test_ownership_passes_on(hall: Hall) -> None:
    async with hall.gateway(idle_ms=1_000) as gateway:
        owner, table = await owned(hall, gateway, seats=4)
        people = [owner, *(person(name) for name in "ab")]
        for account in people:
            await sat(gateway, table, account)
        for leaving, heir in zip(people, [*(one.account_id for one in people[1:]), ""], strict=True):
            now = table_of(await gateway.lobby.stand(leaving, table.table_id, new_command()))
            assert now.owner == heir
        late = person("late")
        _, now = await sat(gateway, table, late)
        assert now.owner == late.account_id
        hall.now += 5_000
        await gateway.lobby.stand(late, table.table_id, new_command())
        await gateway.sweeper.sweep()
        assert await hall.listed(gateway) == [table.table_id]  # idle since the last one left, not since it was opened
        hall.now += 1_001
        await gateway.sweeper.sweep()
        assert await hall.listed(gateway) == []


async def test_an_owner_without_a_seat_gives_the_table_up(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        owner, table = await owned(hall, one)
        command = new_command()
        assert table_of(await one.lobby.stand(owner, table.table_id, command)).state is TableState.CLOSED
        assert await hall.listed(two) == []
        assert code_of(await two.lobby.table(table.table_id)) == "unknown_table"
        assert code_of(await two.lobby.sit(person(), table.table_id, None, "", new_command())) == "unknown_table"
        assert table_of(await two.lobby.stand(owner, table.table_id, command)).state is TableState.CLOSED
        hall.now += 60_001
        await two.sweeper.sweep()
        assert await hall.store.tables([table.table_id]) == [None]
        owner, table = await owned(hall, one)
        await sat(one, table, owner)
        for state in (TableState.OPEN, TableState.CLOSED):  # the seat, then the table
            assert table_of(await one.lobby.stand(owner, table.table_id, new_command())).state is state
        owner, table = await owned(hall, one)
        ann = person("ann")
        await sat(one, table, ann)
        assert table_of(await one.lobby.stand(owner, table.table_id, new_command())).owner == ann.account_id


async def test_private_tables(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway(guesses=5) as two:
        owner, table = await owned(hall, one, private=True)
        code, ann = table.terms.code, person("ann")
        assert len(code) == 10
        assert await hall.listed(one) == []
        assert code_of(await two.lobby.table(table.table_id, ann)) == "code_needed"
        assert code_of(await two.lobby.sit(ann, table.table_id, None, "", new_command())) == "code_needed"
        assert table_of(await two.lobby.table(table.table_id, owner)).table_id == table.table_id
        assert table_of(await two.lobby.table("", ann, code)).table_id == table.table_id
        assert code_of(await two.lobby.table("", ann, "abcdefghjk")) == "bad_code"
        assert code_of(await two.lobby.sit(ann, "another", None, "", new_command(), code)) == "bad_code"
        sitting = await two.lobby.sit(ann, "", None, "", new_command(), code)
        assert isinstance(sitting, tuple)
        bob = person("bob")
        for number in range(6):
            said = code_of(await two.lobby.table("", bob, f"abcdefgh{number}"))
            assert said == ("bad_code" if number < 5 else "throttled")
        assert code_of(await two.lobby.table("", bob, code)) == "throttled"
        _, now = await sat(one, table, owner)
        assert now.state is TableState.PLAYING
        assert table_of(await two.lobby.table(table.table_id, bob)).state is TableState.PLAYING


async def test_who_may_sit(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        _, table = await owned(hall, gateway, Terms(kind="human"))
        bot = Account("bot-1", "bot", "bot")
        assert code_of(await gateway.lobby.sit(bot, table.table_id, None, "", new_command())) == "kind_not_allowed"
        await sat(gateway, table, person())


async def test_open_tables_of_an_account_are_limited(hall: Hall) -> None:
    async with hall.gateway(open_most=2) as one, hall.gateway(open_most=2) as two:
        host = person("host")
        answers = await asyncio.gather(
            *((one, two)[n % 2].lobby.open_table(host, choose(), new_command()) for n in range(10))
        )
        tables = [answer for answer in answers if isinstance(answer, Table)]
        hall.made += [table.table_id for table in tables]
        assert len(tables) == 2
        assert {code_of(answer) for answer in answers if isinstance(answer, pb.Refusal)} == {"too_many_tables"}
        await sat(one, tables[0], person())
        await sat(one, tables[0], person())  # it plays: it counts no more
        third = table_of(await two.lobby.open_table(host, choose(), new_command()))
        assert code_of(await one.lobby.open_table(host, choose(), new_command())) == "too_many_tables"
        await one.lobby.stand(host, third.table_id, new_command())
        assert isinstance(await one.lobby.open_table(host, choose(), new_command()), Table)


async def test_another_match(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that comes again is answered at once, though the next match is in play by then."""
    monkeypatch.setattr(lobbies, "_END_S", 3_600.0)
    async with hall.gateway() as one, hall.gateway() as two:
        table = await opened(hall, one)
        ann, bob = person("ann"), person("bob")
        over = await played(hall, one, table, [ann, bob])
        assert [member.commitment for member in over.taken] == ["", ""]
        assert (over.rematch_until_ms, over.matches[0].scores) == (hall.now + 60_000, (0, 1))
        first = table_of(await one.lobby.rematch(ann, table.table_id, "a" * 64, new_command()))
        assert (first.state, first.wants) == (TableState.OVER, (ann.account_id,))
        command = new_command()
        answers = [await gateway.lobby.rematch(bob, table.table_id, "b" * 64, command) for gateway in (two, one)]
        for now in map(table_of, answers):
            assert (now.state, now.match_id) == (TableState.PLAYING, first.match_id)
        now = table_of(answers[0])
        assert now.match_id != table.table_id
        text = await hall.matches.agreement(now.match_id)
        assert text is not None
        agreement = Agreement.from_json(text)
        assert [member.commitment[:1] for member in agreement.members] == ["a", "b"]
        assert agreement.tags == {"table": table.table_id}
        assert table_of(await two.lobby.table(now.match_id)).table_id == table.table_id  # by any of its matches
        over = await ended(hall, two, table.table_id)
        assert [one.match_id for one in over.matches] == [table.table_id, now.match_id]
        assert tally(over) == [
            Tally(ann.account_id, "ann", 2, 0, (0, 2)),
            Tally(bob.account_id, "bob", 2, 2, (2, 0)),
        ]


async def test_another_match_waits_for_the_end_of_the_last(hall: Hall) -> None:
    """Players hear of the end before the table does; seconds pass if all actors have died in between."""
    async with hall.gateway() as one, hall.gateway() as two:
        table = await opened(hall, one)
        ann, bob = person("ann"), person("bob")
        for account in (ann, bob):
            await sat(one, table, account)
        agreeing = [
            asyncio.create_task(gateway.lobby.rematch(account, table.table_id, "", new_command()))
            for gateway, account in ((one, ann), (two, bob))
        ]
        done, _ = await asyncio.wait(agreeing, timeout=3.5)
        assert not done
        await ended(hall, one, table.table_id)
        last = [table_of(await task) for task in agreeing]
        assert TableState.PLAYING in [now.state for now in last]
        assert all(now.match_id != table.table_id for now in last)


async def test_those_who_want_another_match_keep_their_seats(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        ann, bob, cat = (person(name) for name in ("ann", "bob", "cat"))
        await played(hall, gateway, table, [ann, bob])
        agreed = table_of(await gateway.lobby.rematch(bob, table.table_id, "", new_command()))
        hall.now += 60_000
        now = table_of(await gateway.lobby.table(table.table_id))
        assert (now.state, now.arrived, now.owner) == (TableState.OPEN, (bob.account_id,), table.owner)
        assert await hall.listed(gateway, TableState.OPEN) == [table.table_id]
        assert code_of(await gateway.lobby.rematch(ann, table.table_id, "", new_command())) == "not_seated"
        assert code_of(await gateway.lobby.rematch(bob, table.table_id, "", new_command())) == "no_rematch_now"
        _, now = await sat(gateway, table, cat)
        assert (now.state, now.match_id) == (TableState.PLAYING, agreed.match_id)
        assert [member.name for member in now.taken] == ["cat", "bob"]


async def test_nobody_wants_another_match(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        ann, bob = person("ann"), person("bob")
        await played(hall, gateway, table, [ann, bob])
        hall.now += 60_000
        assert code_of(await gateway.lobby.rematch(ann, table.table_id, "", new_command())) == "rematch_late"
        assert code_of(await gateway.lobby.rematch(person(), table.table_id, "", new_command())) == "not_seated"
        assert table_of(await gateway.lobby.table(table.table_id)).state is TableState.OVER


async def test_leaving_instead_of_another_match(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway, choose(3))
        ann, bob, cat = people = [person(name) for name in ("ann", "bob", "cat")]
        await played(hall, gateway, table, people)
        for account in (ann, bob):
            await gateway.lobby.rematch(account, table.table_id, "", new_command())
        now = table_of(await gateway.lobby.stand(cat, table.table_id, new_command()))
        assert (now.state, now.arrived) == (TableState.OPEN, (ann.account_id, bob.account_id))  # nobody else is awaited


async def test_another_match_after_one_of_the_queue(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        _, table = await owned(hall, one)
        ann, bob = person("ann"), person("bob")
        over = await played(hall, one, table, [ann, bob])
        assert await hall.store.forget(over)  # as if it had been made by a matcher
        await hall.store.unlist([over.place])
        answers = await asyncio.gather(
            *(
                gateway.lobby.rematch(account, table.table_id, "", new_command())
                for account, gateway in ((ann, one), (bob, two))
            )
        )
        now = table_of(await one.lobby.table(table.table_id))
        assert now.state is TableState.PLAYING, answers
        assert now.match_id != table.table_id


async def test_a_result_that_comes_late(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        table = await opened(hall, gateway)
        for name in "ab":
            await sat(gateway, table, person(name))
        await hall.matches.retire(table.table_id, 60_000)
        over = table_of(
            await eventually(lambda: gateway.lobby.table(table.table_id), lambda it: it.state is TableState.OVER)  # type: ignore[union-attr]
        )
        assert over.matches[0].scores == ()
        hall.results.of[table.table_id] = Ended((3, 4), (2, 1))
        await gateway.sweeper.sweep()
        assert table_of(await gateway.lobby.table(table.table_id)).matches[0].scores == (3, 4)


# ---- the list as it changes ----


async def test_a_list_as_it_changes(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        before = await opened(hall, one)
        mine = hall.made

        def wanted(table: Table) -> bool:
            return table.state is TableState.OPEN and table.table_id in mine

        async with aclosing(two.lobby.board.watch(wanted)) as changes, asyncio.timeout(60):
            first = await anext(changes)
            assert [table.table_id for table in first.snapshot or ()] == [before.table_id]
            table = table_of(await one.lobby.open_table(person(), choose(), "open"))
            mine.append(table.table_id)
            # Somebody else's notice may have come before it was wanted here.
            await sat(one, table, person(), 0)
            seen = await anext(changes)
            while seen.table is None or not seen.table.taken:
                seen = await anext(changes)
            assert seen.table_id == table.table_id
            await sat(one, table, person(), 1)
            gone = await anext(changes)
            while gone.table is not None:
                gone = await anext(changes)
            assert gone.table_id == table.table_id


async def test_a_watcher_that_lags_gets_a_new_snapshot(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "DIRTY_MOST", 3)
    async with hall.gateway() as one, hall.gateway() as two:
        mine = hall.made
        async with aclosing(two.lobby.board.watch(lambda table: table.table_id in mine)) as changes:
            assert (await anext(changes)).snapshot == ()
            tables = [await opened(hall, one) for _ in range(5)]
            for table in tables:
                await sat(one, table, person(), 0)
            await two.lobby.board.sync()
            async with asyncio.timeout(60):
                change = await anext(changes)
                while change.snapshot is None:
                    change = await anext(changes)
            assert {table.table_id for table in change.snapshot} == set(mine)


async def test_a_lost_notice_is_made_good(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        table = await opened(hall, one)
        assert table.table_id in await hall.listed(two)
        cursor = await hall.store.cursor()

        async def nothing(before: str, most: int) -> tuple[list[str] | None, str]:
            return [], cursor

        monkeypatch.setattr(hall.store, "notices", nothing)
        await sat(one, table, person(), 0)
        await two.lobby.board.reread()
        page, _ = await two.lobby.page(anything, 1_000, "")
        (found,) = [one for one in page if one.table_id == table.table_id]
        assert len(found.taken) == 1
