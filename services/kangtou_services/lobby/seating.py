"""What players do at a table before its match starts: pure steps from one table to the next.

Every step gives the new table and a seat, or says why not. The store lets one of several steps at once win; the others
are taken again from what came of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..agreement import Member
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


def sit(table: Table, member: Member, seat: int | None, code: str, now_ms: int) -> Done | No:
    """Take a seat (None: the lowest that is free)."""
    account = member.account_id
    if table.seat_of(account) is not None:
        return No("already_seated")
    if table.state is not TableState.OPEN:
        return No("table_full")
    if account in table.removed:
        return No("removed")
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
    return Done(settled(seated, now_ms), wanted)


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
    if table.arrived:
        return Done(replace(table, owner=table.arrived[0]))
    return Done(replace(table, state=TableState.CLOSED, since_ms=now_ms))


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
    if any(member.account_id not in (*table.ready, account) for member in table.taken):
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
    return Done(replace(gone, removed=(*without(gone.removed, account), account)), seat)


def allow(table: Table, owner: str, account: str, now_ms: int) -> Done | No:
    """The owner lets somebody come back. A repeat changes nothing."""
    if owner != table.owner:
        return No("not_owner")
    return Done(replace(table, removed=without(table.removed, account)))


# ---- what follows by itself ----


def vacated(table: Table, seat: int, now_ms: int) -> Table:
    """Somebody has left: a ready check is over, ownership passes to who came first of those who stay."""
    member = table.members[seat]
    assert member is not None
    account = member.account_id
    arrived = without(table.arrived, account)
    owner = table.owner
    if owner == account:
        owner = arrived[0] if arrived else ""
    return replace(
        table.put(seat, None),
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
    everybody = all(member.account_id in table.ready for member in table.taken)
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
        if member.account_id not in table.ready
        and not (table.terms.start is StartRule.OWNER and member.account_id == table.owner)
    ]
    ready = table.ready
    if not waited_for:
        others = without(table.arrived, table.owner)
        return replace(table, owner=others[0], ready_until_ms=now_ms + table.terms.ready_ms)
    for account in waited_for:
        seat = table.seat_of(account)
        assert seat is not None
        table = vacated(table, seat, now_ms)
    return replace(table, ready=without(ready, *waited_for))
