"""What happens at a table from the end of a match to the next one, and when a time is over. Pure steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..agreement import Member
from .seating import Done, No, check_over, full, vacated
from .table import Played, Table, TableState


class Result(Protocol):
    """How a match ended, by seat."""

    @property
    def cause(self) -> str:
        """A word."""
        ...

    @property
    def scores(self) -> Sequence[int]:
        """At the end."""
        ...

    @property
    def places(self) -> Sequence[int]:
        """From 1; ties share one."""
        ...


def over(table: Table, match_id: str, result: Result | None, next_id: str, now_ms: int) -> Table:
    """Its match has ended. The next one would have the id `next_id`; entropies are committed to anew."""
    if table.state is not TableState.PLAYING or table.match_id != match_id:
        return table
    members = table.taken
    played = Played(match_id, tuple(m.account_id for m in members), tuple(m.name for m in members))
    return replace(
        table,
        state=TableState.OVER,
        since_ms=now_ms,
        members=tuple(replace(member, commitment="") for member in members),
        match_id=next_id,
        matches=(*table.matches, _with(played, result)),
        wants=(),
        rematch_until_ms=now_ms + table.terms.rematch_ms,
    )


def told(table: Table, match_id: str, result: Result) -> Table:
    """The result of a match has become known."""
    matches = tuple(_with(one, result) if one.match_id == match_id and not one.scores else one for one in table.matches)
    return replace(table, matches=matches)


def agree(table: Table, member: Member, now_ms: int) -> Done | No:
    """Agree on another match with the same seats and options. The last one makes it start."""
    seat = table.seat_of(member.account_id)
    if seat is None:
        return No("not_seated")
    if table.state is not TableState.OVER:
        return No("no_rematch_now", seat)
    if not table.rematch_until_ms:
        return No("rematch_late", seat)
    if member.account_id in table.wants:
        return Done(table.put(seat, member), seat)
    return Done(agreed(replace(table.put(seat, member), wants=(*table.wants, member.account_id)), now_ms), seat)


def agreed(table: Table, now_ms: int) -> Table:
    """When all who are there want another match it starts, or the seats of those who left are open again."""
    agree = {*table.wants, *table.house}
    if table.state is not TableState.OVER or not table.wants or len(agree) < len(table.taken):
        return table
    return reopened(table, now_ms) if table.free else full(table, now_ms)


def reopened(table: Table, now_ms: int) -> Table:
    """Those who agreed keep their seats; the other seats are free."""
    wants = (*table.wants, *table.house)
    for seat, member in enumerate(table.members):
        if member is not None and member.account_id not in wants:
            table = vacated(table, seat, now_ms)
    after = table.terms.fill_after_ms
    return replace(
        table,
        state=TableState.OPEN,
        since_ms=now_ms,
        ready=(),
        wants=(),
        rematch_until_ms=0,
        fill_ms=now_ms + after if after else 0,
    )


def due(table: Table, now_ms: int) -> Table:
    """The table as the clock has it: times that are over have had their effect."""
    if table.state is TableState.OPEN and table.ready_until_ms and now_ms >= table.ready_until_ms:
        return check_over(table, now_ms)
    if table.state is TableState.OVER and table.rematch_until_ms and now_ms >= table.rematch_until_ms:
        return reopened(table, now_ms) if table.wants else replace(table, rematch_until_ms=0)
    return table


@dataclass(frozen=True, slots=True)
class Tally:
    """One account over the matches of a table. `places`: how often first, second …"""

    account_id: str
    name: str
    matches: int
    points: int
    places: tuple[int, ...]


def tally(table: Table) -> list[Tally]:
    """Over the matches whose result is known, in order of first coming."""
    rows: dict[str, Tally] = {}
    for played in table.matches:
        if not played.scores:
            continue
        for seat, account in enumerate(played.accounts):
            row = rows.get(account) or Tally(account, "", 0, 0, (0,) * len(table.members))
            places = list(row.places)
            if seat < len(played.places):
                places[played.places[seat] - 1] += 1
            rows[account] = Tally(
                account, played.names[seat], row.matches + 1, row.points + played.scores[seat], tuple(places)
            )
    return list(rows.values())


def _with(played: Played, result: Result | None) -> Played:
    if result is None:
        return played
    return replace(played, cause=result.cause, scores=tuple(result.scores), places=tuple(result.places))
