"""A table from its opening to the last one who leaves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from kangtou.v1 import lobby_pb2 as pb
from kangtou_clients.api import Place, Refused, Rematch, TableFilter, TableTerms, Wanted

from ...contract.rooms import eventually
from .habits import PLAYS, Does
from .ledger import Ledger
from .looking_on import from_a_seat, looking_on
from .people import HANDS_UP_MOST, Person
from .seats import player
from .talking import talking

ANY_STATE = TableFilter(states=())


@dataclass(frozen=True)
class Plan:
    """What happens at one table. `people` sit, the first owns it; `removed` sat there before and had to go.

    talks  there is talk before the cards are dealt
    fill   a house bot takes the seat that is left
    """

    title: str
    wanted: Wanted
    people: Sequence[Person]
    terms: TableTerms = field(default_factory=TableTerms)
    does: Mapping[int, Does] = field(default_factory=dict)
    matches: int = 1
    watchers: Sequence[Person] = ()
    removed: Person | None = None
    talks: bool = False
    fill: bool = False

    @property
    def everybody(self) -> list[Person]:
        """Who is busy with it."""
        everybody = (*self.people, *self.watchers, *([self.removed] if self.removed else []))
        return list({person.account_id: person for person in everybody}.values())


def table_of(answer: pb.Table | Refused) -> pb.Table:
    """What must not be refused."""
    assert isinstance(answer, pb.Table), answer
    return answer


async def hold(plan: Plan, ledger: Ledger, seed: int) -> None:
    """Open, sit down, play, play again, leave."""
    chance = random.Random(seed)
    owner = plan.people[0]
    opened = table_of(await owner.client.lobby.open(plan.wanted, terms=plan.terms))
    table, code = opened.match_id, opened.code
    assert bool(code) == plan.terms.private
    if plan.removed:
        await _removed(plan, plan.removed, table, ledger)
    if code:
        await _private(plan, table, ledger)
    places = await _sit(plan, table, code, chance, ledger)
    for number in range(plan.matches):
        if number:
            places = await _again(plan, table)
        assert len({place.match_id for place in places}) == 1
        await _play(plan, places, ledger, chance)
    await _leave(plan, table, ledger)


async def _sit(plan: Plan, table: str, code: str, chance: random.Random, ledger: Ledger) -> list[Place]:
    """Everybody takes a seat of their own choice, in any order; then the match starts as was agreed."""
    seats = list(range(len(plan.people) + plan.fill))
    chance.shuffle(seats)
    order = list(zip(plan.people, seats, strict=False))
    chance.shuffle(order)
    places: dict[str, Place] = {}
    for number, (person, seat) in enumerate(order):
        place = await person.client.lobby.sit(table, seat, code=code)
        assert isinstance(place, Place), place
        places[person.account_id] = place
        if number == 0:
            twice = await person.elsewhere.lobby.sit(table, code=code)
            assert isinstance(twice, Refused)
            ledger.refusals[twice.code] += 1
    if plan.fill:
        table_of(await plan.people[0].client.tables.fill(table))
        await eventually(partial(_state, plan, table), lambda state: state == pb.TABLE_STATE_PLAYING, HANDS_UP_MOST)
    if plan.terms.start == "ready":
        await asyncio.gather(*(person.client.tables.ready(table) for person in plan.people))
    elif plan.terms.start == "owner":
        early = await plan.people[0].client.tables.start(table)
        assert isinstance(early, Refused)
        ledger.refusals[early.code] += 1
        await asyncio.gather(*(person.client.tables.ready(table) for person in plan.people[1:]))
        table_of(await plan.people[0].client.tables.start(table))
    return [places[person.account_id] for person in plan.people]


async def _removed(plan: Plan, guest: Person, table: str, ledger: Ledger) -> None:
    """Somebody sits down, is removed, cannot come back, and cannot remove anybody."""
    owner = plan.people[0]
    assert isinstance(await guest.client.lobby.sit(table), Place)
    tried = [
        await guest.client.tables.remove(table, owner.account_id),
        await owner.client.tables.remove(table, owner.account_id),
    ]
    table_of(await owner.client.tables.remove(table, guest.account_id))
    tried += [await guest.client.lobby.sit(table), await guest.client.lobby.stand(table)]  # type: ignore[list-item]
    for no in tried:
        assert isinstance(no, Refused), no
        assert no.text_en
        assert no.text_zh
        ledger.refusals[no.code] += 1


async def _private(plan: Plan, table: str, ledger: Ledger) -> None:
    """Who has no code neither finds the table nor sits at it."""
    guest = plan.people[1]
    assert table not in [one.match_id async for one in guest.client.lobby.tables(wanted=ANY_STATE)]
    for no in (await guest.client.lobby.sit(table), await guest.client.lobby.table(table)):
        assert isinstance(no, Refused), no
        ledger.refusals[no.code] += 1


async def _play(plan: Plan, places: Sequence[Place], ledger: Ledger, chance: random.Random) -> None:
    """One match, with people looking on."""
    match_id = places[0].match_id
    if plan.terms.rated:
        ledger.rated.add(match_id)
    if plan.fill:
        ledger.filled.add(match_id)
    if plan.talks:
        await talking(plan.people, plan.watchers[0], match_id, ledger)
    async with asyncio.TaskGroup() as group:
        for number, (person, place) in enumerate(zip(plan.people, places, strict=True)):
            does = plan.does.get(number, PLAYS)
            group.create_task(player(person, place, does, ledger, chance.randrange(1 << 30)).play())
        for person in plan.watchers:
            group.create_task(looking_on(person, match_id, plan.terms.watch, ledger))
        group.create_task(from_a_seat(plan.people[-1], match_id, ledger))


async def _state(plan: Plan, table: str) -> int:
    return table_of(await plan.people[0].client.lobby.table(table)).state


async def _again(plan: Plan, table: str) -> list[Place]:
    """Everybody agrees on another match; it has begun when this returns."""

    async def one(person: Person) -> Place:
        agreed = await person.client.tables.rematch(table, person.account_id)
        assert isinstance(agreed, Rematch), agreed
        settled = table_of(await person.client.tables.settled(agreed))
        assert (settled.state, settled.current_match_id) == (pb.TABLE_STATE_PLAYING, agreed.match_id)
        return Place(agreed.match_id, agreed.seat, agreed.entropy)

    return list(await asyncio.gather(*map(one, plan.people)))


async def _leave(plan: Plan, table: str, ledger: Ledger) -> None:
    """The tally is taken down, and everybody stands up."""
    owner = plan.people[0]

    async def over() -> pb.Table:
        return table_of(await owner.client.lobby.table(table))

    ledger.tables.append(await eventually(over, lambda it: it.state == pb.TABLE_STATE_OVER, HANDS_UP_MOST))
    for person in plan.people:
        table_of(await person.client.lobby.stand(table))
    if isinstance(left := await owner.client.lobby.table(table), pb.Table):
        mine = {person.account_id for person in plan.people}
        assert not mine & {seat.account_id for seat in left.seats}
        if left.owner_id in ("", owner.account_id):
            table_of(await owner.client.lobby.stand(table))

    async def gone() -> bool:
        async with aclosing(owner.client.tables.watch(ANY_STATE, match_id=table)) as changes:
            change = await anext(changes)
        return isinstance(change, Refused) and change.code == "unknown_table"

    await eventually(gone, bool, HANDS_UP_MOST)  # bots of the house leave when they see that all are gone
