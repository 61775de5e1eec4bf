"""What players do at a table before its match starts: pure steps from one table to the next.

Every step gives the new table and a seat, or says why not. The store lets one of several steps at once win; the others
are taken again from what came of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..agreement import Member
from . import filling
from .table import StartRule, Table, TableState, without


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was taken; the seat that it was about."""

    table: Table
    seat: int = -1


@dataclass(frozen=True, slots=True)
class No:
    """The code of a refusal, and the seat that it is about."""

    code: str
    seat: int = -1


Step: TypeAlias = Callable[[Table, int], Done | No]  # the time in Unix ms

_STARTED = (TableState.FULL, TableState.PLAYING)


def sit(table: Table, member: Member, seat: int | None, code: str, now_ms: int, *, house: bool = False) -> Done | No:
    """Take a seat (None: the lowest that is free). A bot of the `house` sits where one is wanted (filling.py)."""
    account = member.account_id
    if table.seat_of(account) is not None:
        return No("already_seated")
    if table.state is not TableState.OPEN:
        return No("table_full")
    if account in table.removed:
        return No("removed")
    if house:
        return _helped(table, member, seat, now_ms)
    if table.terms.code and account != table.owner and code != table.terms.code:
        return No("code_needed")
    if table.terms.kind and member.kind != table.terms.kind:
        return No("kind_not_allowed")
    if not table.free:
        return No("table_full")
    wanted = table.members.index(None) if seat is None else seat
    if wanted >= len(table.members):
        return No("bad_seat")
    if table.members[wanted] is not None:
        return No("seat_taken", wanted)
    seated = replace(table.put(wanted, member), arrived=(*table.arrived, account), owner=table.owner or account)
    if table.terms.fill_after_ms and not table.fill_ms:
        seated = replace(seated, fill_ms=now_ms + table.terms.fill_after_ms)
    return Done(settled(seated, now_ms), wanted)


def _helped(table: Table, member: Member, seat: int | None, now_ms: int) -> Done | No:
    wanted = filling.wanted(table, now_ms)
    if seat is not None and seat not in wanted:
        taken = seat in range(len(table.members)) and table.members[seat] is not None
        return No("seat_taken" if taken else "no_bot_wanted", seat)
    if not wanted:
        return No("no_bot_wanted")
    chosen, account = wanted[0] if seat is None else seat, member.account_id
    seated = replace(table.put(chosen, member), arrived=(*table.arrived, account), house=(*table.house, account))
    return Done(settled(seated, now_ms), chosen)


def fill(table: Table, owner: str, now_ms: int) -> Done | No:
    """The owner has bots of the house take the free seats. A repeat changes nothing."""
    if owner != table.owner:
        return No("not_owner")
    if table.state is not TableState.OPEN:
        return No("match_started")
    if not filling.may_be_filled(table):
        return No("no_bots_here")
    return Done(replace(table, fill_ms=min(table.fill_ms or now_ms, now_ms)))


def stand(table: Table, account: str, now_ms: int) -> Done | No:
    """Give a seat back. An owner without one gives the table up: to who came first, or for good.

    A table that nobody owns any more is its opener's to give up.
    """
    seat = table.seat_of(account)
    if seat is None and account != (table.owner or table.opener):
        return No("not_seated")
    if table.state in _STARTED:
        return No("match_started", -1 if seat is None else seat)
    if seat is not None:
        return Done(vacated(table, seat, now_ms), seat)
    if table.guests:
        return Done(replace(table, owner=table.guests[0]))
    nobody = (None,) * len(table.members)
    return Done(replace(table, state=TableState.CLOSED, since_ms=now_ms, members=nobody, arrived=(), house=()))


def change_seat(table: Table, account: str, seat: int, now_ms: int) -> Done | No:
    """Take another free seat; who was ready is so no more."""
    now = table.seat_of(account)
    if now is None:
        return No("not_seated")
    if table.state is not TableState.OPEN:
        return No("match_started", now)
    if not 0 <= seat < len(table.members):
        return No("bad_seat", seat)
    if seat == now:
        return Done(table, seat)
    if table.members[seat] is not None:
        return No("seat_taken", seat)
    moved = table.put(now, None).put(seat, table.members[now])
    return Done(replace(moved, ready=without(table.ready, account)), seat)


def set_ready(table: Table, account: str, ready: bool, now_ms: int) -> Done | No:
    """Say that one is ready, or not. The last one may make the match start."""
    seat = table.seat_of(account)
    if seat is None:
        return No("not_seated")
    if table.state is not TableState.OPEN:
        return No("match_started", seat)
    others = without(table.ready, account)
    return Done(settled(replace(table, ready=(*others, account) if ready else others), now_ms), seat)


def start(table: Table, account: str, now_ms: int) -> Done | No:
    """The owner starts; that says that he is ready too."""
    if account != table.owner:
        return No("not_owner")
    if table.state is not TableState.OPEN:
        return No("match_started")
    if table.free:
        return No("seats_free")
    if any(member.account_id != account and not table.is_ready(member.account_id) for member in table.taken):
        return No("not_ready")
    return Done(full(table, now_ms))


def remove(table: Table, owner: str, account: str, now_ms: int) -> Done | No:
    """The owner removes somebody, who may not come back."""
    if owner != table.owner:
        return No("not_owner")
    seat = table.seat_of(account)
    if table.state is not TableState.OPEN:
        return No("match_started", -1 if seat is None else seat)
    if account == owner:
        return No("not_yourself")
    if seat is None:
        return No("nobody_there")
    gone = vacated(table, seat, now_ms)
    if account in table.house:
        gone = replace(gone, fill_ms=0)  # he wants no other one in its place
    return Done(replace(gone, removed=(*without(gone.removed, account), account)), seat)


def allow(table: Table, owner: str, account: str, now_ms: int) -> Done | No:
    """The owner lets somebody come back. A repeat changes nothing."""
    if owner != table.owner:
        return No("not_owner")
    return Done(replace(table, removed=without(table.removed, account)))


# ---- what follows by itself ----


def vacated(table: Table, seat: int, now_ms: int) -> Table:
    """Somebody has left: a ready check is over, ownership passes to who came first of those who stay.

    Bots of the house own no table, and leave when nobody is there for whom they came.
    """
    member = table.members[seat]
    assert member is not None
    account = member.account_id
    arrived = without(table.arrived, account)
    guests = without(table.guests, account)
    owner = table.owner
    if owner == account:
        owner = guests[0] if guests else ""
    left = table.put(seat, None)
    house = without(table.house, account)
    if not guests and not owner:
        left = replace(left, members=(None,) * len(left.members))
        arrived = house = ()
    return replace(
        left,
        house=house,
        fill_ms=left.fill_ms if guests or owner else 0,
        arrived=arrived,
        owner=owner,
        ready=() if table.ready_until_ms else without(table.ready, account),
        ready_until_ms=0,
        wants=without(table.wants, account),
        empty_ms=table.empty_ms if arrived else now_ms,
    )


def settled(table: Table, now_ms: int) -> Table:
    """With all seats taken the match starts, or the ready check does."""
    if table.state is not TableState.OPEN or table.free:
        return table
    everybody = all(table.is_ready(member.account_id) for member in table.taken)
    if table.terms.start is StartRule.SEATED or (table.terms.start is StartRule.READY and everybody):
        return full(table, now_ms)
    return table if table.ready_until_ms else replace(table, ready_until_ms=now_ms + table.terms.ready_ms)


def full(table: Table, now_ms: int) -> Table:
    """The match is to be made."""
    return replace(
        table, state=TableState.FULL, since_ms=now_ms, ready=(), ready_until_ms=0, wants=(), rematch_until_ms=0
    )


def check_over(table: Table, now_ms: int) -> Table:
    """The time for getting ready is over: who is not stands up. An owner who lets the others wait is owner no more."""
    waited_for = [
        member.account_id
        for member in table.taken
        if not table.is_ready(member.account_id)
        and not (table.terms.start is StartRule.OWNER and member.account_id == table.owner)
    ]
    ready = table.ready
    if not waited_for:
        others = without(table.guests, table.owner)
        if not others:
            return replace(table, ready_until_ms=now_ms + table.terms.ready_ms)
        return replace(table, owner=others[0], ready_until_ms=now_ms + table.terms.ready_ms)
    for account in waited_for:
        seat = table.seat_of(account)
        assert seat is not None
        table = vacated(table, seat, now_ms)
    return replace(table, ready=without(ready, *waited_for))
