"""The course of a recorded match, one thing after another, with round and trick: for replay and seeking."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from ..notation import Body, Item, Step
from .text import head_lines
from .values import Record

# A trick ends with an event of one of these kinds. Games without tricks have none: their rounds are one trick.
TRICK_ENDS = frozenset(("trick_won", "trick_over", "trick_taken"))
ROUND_BEGINS = "round_began"


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened: the beginning, an action, a standing answer, a note on seats and clocks, the end.

    line          of the record, counted from 1, where it is written; its events are on the lines after it
    round, trick  in play when it happened, counted from 1; 0 before the first round
    cause         of the end, "" for everything else
    """

    number: int
    seq: int
    line: int
    time_ms: int
    round: int
    trick: int
    item: Item | None = None
    events: tuple[str, ...] = ()
    cause: str = ""
    begin: bool = False


def moments_of(record: Record) -> tuple[Moment, ...]:
    """All of them, in order. Claims alone (an opening, a takeover) are none: nothing happened on the table."""
    found: list[Moment] = []
    line = len(head_lines(record.head)) + 2
    round_, trick = 0, 0
    for entry in record.entries:
        for where, item, events, cause, begin in _parts(entry.body, line + 1):
            found.append(
                Moment(len(found), entry.seq, where, entry.body.time_ms, round_, trick, item, events, cause, begin)
            )
            for event in events:
                kind = event.partition(" ")[0]
                if kind == ROUND_BEGINS:
                    round_, trick = _round(event), 1
                elif kind in TRICK_ENDS:
                    trick += 1
        line += 1 + entry.text.count("\n") + 1
    return tuple(found)


_Part = tuple[int, Item | None, tuple[str, ...], str, bool]


def _parts(body: Body, line: int) -> Iterator[_Part]:
    """`line` is the entry's `@` line."""
    line += 1 + (body.claim is not None)
    if body.begin is not None:
        yield line, None, body.events, "", True
        line += 1 + len(body.events)
    for item in body.items:
        events = item.events if isinstance(item, Step) else ()
        yield line, item, events, "", False
        line += 1 + len(events)
    if body.end is not None:
        yield line, None, (), body.end, False


def _round(event: str) -> int:
    for word in event.split(" "):
        if word.startswith("round="):
            return int(word.removeprefix("round="))
    return 0


def first_of(moments: tuple[Moment, ...], round_: int, trick: int = 1) -> int:
    """How many moments come before that trick of that round; all of them if there is no such trick."""
    return bisect_left(moments, (round_, trick), key=lambda moment: (moment.round, moment.trick))
