"""Who plays with whom: groups from those who wait, and who sits where.

Where nobody has a rating, a party or blocks, groups are formed in order of waiting alone (`in_order`): so it is in the
pools of bots, and it must be fast. Elsewhere the one who has waited longest is served first: its group are the nearest
by rating within its window, which grows while it waits, of those whom nobody in the group has blocked.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from .base import Ticket

T = TypeVar("T")
_ANCHORS_MOST = 128  # groups are sought for so many of those who wait, in one go


@dataclass(frozen=True, slots=True)
class Shape:
    """What a group of a pool must be. `sides` are seats of partners, () where there are none."""

    seats: int
    distinct: bool
    sides: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Windows:
    """How far ratings may lie apart, as people see them: at first, so much more each second, all after that."""

    points: int = 200
    per_s: int = 20
    open_s: int = 60

    def of(self, waited_ms: int) -> float:
        """The window of somebody who has waited for so long."""
        if waited_ms >= self.open_s * 1000:
            return math.inf
        return self.points + self.per_s * max(0, waited_ms) / 1000


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    """One ticket, or the two of a party. Compared by identity."""

    tickets: tuple[Ticket, ...]
    accounts: frozenset[str]
    blocks: frozenset[str]
    rating: float | None
    since_ms: int

    @classmethod
    def of(cls, *tickets: Ticket) -> _Unit:
        ratings = [ticket.rating for ticket in tickets if ticket.rating is not None]
        return cls(
            tickets,
            frozenset(ticket.account_id for ticket in tickets),
            frozenset(one for ticket in tickets for one in ticket.blocks),
            sum(ratings) / len(ratings) if ratings else None,
            min(ticket.since_ms for ticket in tickets),
        )

    def goes_with(self, other: _Unit, distinct: bool) -> bool:
        """Whether the two may meet at all."""
        if distinct and self.accounts & other.accounts:
            return False
        return not (self.blocks & other.accounts or other.blocks & self.accounts)

    def may_be_filled(self, now_ms: int) -> bool:
        """Whether it has waited long enough for bots."""
        waited = now_ms - self.since_ms
        return all(ticket.fill_after_ms and waited >= ticket.fill_after_ms for ticket in self.tickets)

    def distance(self, other: _Unit) -> float:
        """Between ratings; 0 where one has none."""
        return 0.0 if self.rating is None or other.rating is None else abs(self.rating - other.rating)


def groups(waiting: Sequence[Ticket], shape: Shape, now_ms: int, windows: Windows) -> list[tuple[Ticket, ...]]:
    """Full groups of those who wait, given in order of waiting. Which seat is whose is not said: see `seated`.

    Bots of the house only fill up the groups of those who have waited long enough for them.
    """
    helpers = [ticket for ticket in waiting if ticket.house]
    if not helpers:
        return _without_helpers(waiting, shape, now_ms, windows)
    waiting = [ticket for ticket in waiting if not ticket.house]
    formed = _without_helpers(waiting, shape, now_ms, windows)
    gone = {ticket.ref for group in formed for ticket in group}
    left = [ticket for ticket in waiting if ticket.ref not in gone]
    return formed + _filled_up(left, helpers, shape, now_ms, windows)


def _without_helpers(
    waiting: Sequence[Ticket], shape: Shape, now_ms: int, windows: Windows
) -> list[tuple[Ticket, ...]]:
    if not any(ticket.party or ticket.blocks or ticket.rating is not None for ticket in waiting):
        return in_order(waiting, shape.seats, distinct=shape.distinct)
    left = _units(waiting, shape)
    formed: list[tuple[Ticket, ...]] = []
    for anchor in left[:_ANCHORS_MOST]:
        if anchor not in left:
            continue
        chosen = _around(anchor, left, shape, windows.of(now_ms - anchor.since_ms))
        if _size(chosen) == shape.seats:
            formed.append(tuple(ticket for unit in chosen for ticket in unit.tickets))
            left = [unit for unit in left if unit not in chosen]
    return formed


def _filled_up(
    waiting: Sequence[Ticket], helpers: Sequence[Ticket], shape: Shape, now_ms: int, windows: Windows
) -> list[tuple[Ticket, ...]]:
    left, free = _units(waiting, shape), [_Unit.of(ticket) for ticket in helpers]
    formed: list[tuple[Ticket, ...]] = []
    for anchor in left[:_ANCHORS_MOST]:
        if anchor not in left or not anchor.may_be_filled(now_ms):
            continue
        chosen = _around(anchor, left, shape, windows.of(now_ms - anchor.since_ms))
        added: list[_Unit] = []
        for helper in free:
            if _size([*chosen, *added]) < shape.seats and all(helper.goes_with(one, True) for one in (*chosen, *added)):
                added.append(helper)
        if _size([*chosen, *added]) == shape.seats:
            formed.append(tuple(ticket for unit in (*chosen, *added) for ticket in unit.tickets))
            left = [unit for unit in left if unit not in chosen]
            free = [unit for unit in free if unit not in added]
    return formed


def lacking(waiting: Sequence[Ticket], shape: Shape, now_ms: int, windows: Windows) -> int:
    """How many bots the one needs who has waited longest for a group that bots may fill, with those of the house who
    wait already; 0: nobody has.
    """
    units = _units([ticket for ticket in waiting if not ticket.house], shape)
    for anchor in units:
        if anchor.may_be_filled(now_ms):
            return shape.seats - _size(_around(anchor, units, shape, windows.of(now_ms - anchor.since_ms)))
    return 0


def in_order(waiting: Sequence[Ticket], size: int, *, distinct: bool) -> list[tuple[Ticket, ...]]:
    """Full groups in order of waiting; with `distinct`, of different accounts."""
    left = list(waiting)
    formed: list[tuple[Ticket, ...]] = []
    while len(left) >= size:
        chosen: list[Ticket] = []
        accounts: set[str] = set()
        for ticket in left:
            if not distinct or ticket.account_id not in accounts:
                chosen.append(ticket)
                accounts.add(ticket.account_id)
            if len(chosen) == size:
                break
        else:
            break  # too few accounts, then for whatever comes after too
        formed.append(tuple(chosen))
        taken = {ticket.ref for ticket in chosen}
        left = [ticket for ticket in left if ticket.ref not in taken]
    return formed


def seated(group: Sequence[Ticket], sides: tuple[tuple[int, ...], ...] = ()) -> tuple[Ticket, ...]:
    """Who sits where: drawn, so that the order of waiting tells nothing; parties on a side of their own."""
    seats: dict[int, Ticket] = {}
    free = [list(side) for side in sides]
    alone: list[Ticket] = []
    parties: dict[str, list[Ticket]] = {}
    for ticket in group:
        (parties.setdefault(ticket.party, []) if ticket.party else alone).append(ticket)
    for party in parties.values():
        side = _drawn(free)
        for ticket in party:
            seats[_drawn(side)] = ticket
    left = [seat for seat in range(len(group)) if seat not in seats]
    for seat in left:
        seats[seat] = _drawn(alone)
    return tuple(seats[seat] for seat in range(len(group)))


def _drawn(bag: list[T]) -> T:
    return bag.pop(secrets.randbelow(len(bag)))


def _units(waiting: Sequence[Ticket], shape: Shape) -> list[_Unit]:
    """In order of waiting: a party stands where its first ticket does; half a party waits for the other."""
    halves: dict[str, Ticket] = {}
    partners: dict[str, tuple[Ticket, Ticket]] = {}
    for ticket in waiting:
        if ticket.party and halves.setdefault(ticket.party, ticket).account_id != ticket.account_id:
            partners.setdefault(ticket.party, (halves[ticket.party], ticket))
    found: list[_Unit] = []
    for ticket in waiting:
        if not ticket.party:
            found.append(_Unit.of(ticket))
        elif shape.sides and halves[ticket.party] is ticket and ticket.party in partners:
            found.append(_Unit.of(*partners[ticket.party]))
    return found


def _around(anchor: _Unit, units: Sequence[_Unit], shape: Shape, window: float) -> list[_Unit]:
    """The anchor with whoever goes with it and with each other, the nearest first, as many as there are seats."""
    near = [(anchor.distance(unit), number, unit) for number, unit in enumerate(units) if unit is not anchor]
    chosen, size = [anchor], len(anchor.tickets)
    for distance, _, unit in sorted(near, key=lambda row: row[:2]):
        if size == shape.seats or distance > window:
            break
        if size + len(unit.tickets) <= shape.seats and all(unit.goes_with(one, shape.distinct) for one in chosen):
            chosen.append(unit)
            size += len(unit.tickets)
    return chosen


def _size(units: Sequence[_Unit]) -> int:
    return sum(len(unit.tickets) for unit in units)
