"""What happens at once at one table has one outcome that everybody is told, on all twins and with several gateways."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter

from kangtou.v1 import game_pb2 as pb
from kangtou_services.identity import Account
from kangtou_services.lobby import StartRule, Table, TableState, Terms

from ..conftest import Counts
from .halls import Ended, Hall, code_of, new_command, person, sat
from .rooms import choose, eventually


def won(answers: list[Table | pb.Refusal]) -> int:
    """How many were not refused."""
    return sum(isinstance(answer, Table) for answer in answers)


async def test_a_hundred_starts_at_once(hall: Hall, counts: Counts) -> None:
    async with hall.gateway() as one, hall.gateway() as two, hall.gateway() as three:
        for _ in range(counts(2, 20)):
            owner = person("owner")
            terms = Terms(start=StartRule.OWNER)
            table = await one.lobby.open_table(owner, choose(2), new_command(), terms)
            assert isinstance(table, Table)
            guest = person("guest")
            for account in (owner, guest):
                await sat(one, table, account)
            await one.lobby.set_ready(guest, table.table_id, new_command(), ready=True)
            gateways = itertools.cycle((one, two, three))
            answers = await asyncio.gather(
                *(next(gateways).lobby.start(owner, table.table_id, new_command()) for _ in range(100))
            )
            assert won(answers) == 1
            assert {code_of(answer) for answer in answers if isinstance(answer, pb.Refusal)} == {"match_started"}
            opened = Counter(one.tables.opened + two.tables.opened + three.tables.opened)
            assert opened[table.table_id] >= 1


async def test_another_match_against_leaving(hall: Hall, counts: Counts) -> None:
    """The last who agrees and the same one who leaves: the match is made with all, or the seat is free."""
    outcomes = Counter[str]()
    async with hall.gateway() as one, hall.gateway() as two:
        for number in range(counts(6, 60)):
            ann, bob = person("ann"), person("bob")
            table = await one.lobby.open_table(person(), choose(2), new_command())
            assert isinstance(table, Table)
            table_id = table.table_id
            for account in (ann, bob):
                await sat(one, table, account)
            hall.results.of[table_id] = Ended((1, 0), (1, 2))
            await hall.matches.retire(table_id, 60_000)
            await eventually(
                lambda table_id=table_id: one.lobby.table(table_id),  # type: ignore[misc]
                lambda it: isinstance(it, Table) and it.state is TableState.OVER,
            )
            await one.lobby.rematch(ann, table_id, "", new_command())
            delay = number % 6 * 0.002  # agreeing looks at the table first, so leaving at once always wins

            async def leave(table_id: str = table_id, bob: Account = bob, delay: float = delay) -> Table | pb.Refusal:
                await asyncio.sleep(delay)
                return await two.lobby.stand(bob, table_id, new_command())

            agreed, left = await asyncio.gather(one.lobby.rematch(bob, table_id, "", new_command()), leave())
            assert won([agreed, left]) == 1
            now = await two.lobby.table(table_id)
            assert isinstance(now, Table)
            outcomes[str(now.state)] += 1
            if isinstance(agreed, Table):
                assert code_of(left) == "match_started"
                assert (now.state, now.arrived) == (TableState.PLAYING, (ann.account_id, bob.account_id))
                assert await hall.matches.agreement(now.match_id) is not None
            else:
                assert code_of(agreed) == "not_seated"
                assert (now.state, now.arrived) == (TableState.OPEN, (ann.account_id,))
                assert await hall.matches.agreement(now.match_id) is None
    print(f"another match against leaving: {dict(outcomes)}")


async def test_everything_at_once(hall: Hall, counts: Counts) -> None:
    """Thirty accounts sit, move, get ready, stand and remove at random: nobody sits twice, no seat is lost."""
    async with hall.gateway() as one, hall.gateway() as two, hall.gateway() as three:
        for _ in range(counts(1, 10)):
            owner = person("owner")
            terms = Terms(start=StartRule.READY)
            table = await one.lobby.open_table(owner, choose(4), new_command(), terms)
            assert isinstance(table, Table)
            table_id = table.table_id
            people = [owner, *(person(f"p{number}") for number in range(29))]

            async def live(number: int, people: list = people, table_id: str = table_id) -> None:  # type: ignore[type-arg]
                account, lobby = people[number], (one, two, three)[number % 3].lobby
                whom = people[(number * 7) % len(people)].account_id
                for turn in range(4):
                    await lobby.sit(account, table_id, (number + turn) % 4, "", new_command())
                    await lobby.change_seat(account, table_id, (number + turn + 1) % 4, new_command())
                    await lobby.remove(account, table_id, whom, new_command())
                    await lobby.set_ready(account, table_id, new_command(), ready=turn % 2 == 0)
                    await lobby.stand(account, table_id, new_command())

            async def look(table_id: str = table_id, owner_id: str = owner.account_id) -> None:
                while True:
                    (now,) = await hall.store.tables([table_id])
                    assert now is not None
                    seated = [member.account_id for member in now.taken]
                    assert len(set(seated)) == len(seated)
                    assert set(seated) == set(now.arrived)
                    assert set(now.ready) <= set(seated)
                    assert (now.owner in seated) or now.owner in ("", owner_id)
                    await asyncio.sleep(0.01)

            looking = asyncio.create_task(look())
            await asyncio.gather(*(live(number) for number in range(len(people))))
            looking.cancel()
            assert isinstance((await asyncio.gather(looking, return_exceptions=True))[0], asyncio.CancelledError)
            now = await two.lobby.table(table_id)
            assert isinstance(now, Table)
            assert now.state in (TableState.PLAYING, TableState.OPEN)
