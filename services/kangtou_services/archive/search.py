"""From a query to statements: which term leads the walk, and what is asked of each row on the way.

All walks go from the newest end to the oldest, in the order (ended, match). The rarest term leads; the others are
looked up row by row. A request looks at a bounded number of rows, so a page may be short, or empty, and have another
behind it.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TypeAlias

from kangtou_engine.registry import REGISTRY, Registry

from .rows import FIELDS, defaults

Key: TypeAlias = tuple[int, str]  # when it ended (ms), match
LAST: Key = ((1 << 63) - 1, "")
FIRST: Key = (0, "")


class BadPage(ValueError):
    """A page token that no answer gave."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for; what is empty does not matter. `from_ms` to `to_ms` is when it ended, the latter left out.

    account          had a seat; `place`, `least`, `most` are its place and score (the best of its seats)
    others           had seats too
    won_by, lost_by  had seats and the first place, or another one
    options          `name=value` as typed; what was not said counts as the book's default
    kind             `bots`, `rated` or `unrated`, as in `rows`
    """

    game: str = ""
    account: str = ""
    tournament: str = ""
    from_ms: int = 0
    to_ms: int = 0
    others: tuple[str, ...] = ()
    won_by: str = ""
    lost_by: str = ""
    place: int = 0
    least: int | None = None
    most: int | None = None
    variant: str = ""
    options: tuple[str, ...] = ()
    cause: str = ""
    kind: str = ""
    pool: str = ""

    @property
    def bounds(self) -> tuple[Key, Key]:
        """Below the first, not below the second."""
        return (self.to_ms, "") if self.to_ms else LAST, (self.from_ms, "")


@dataclass(frozen=True, slots=True)
class Posted:
    """A term that a row must have, and tests of its posting (with `{}` for its alias)."""

    term: str
    tests: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query as terms and as tests of the row (alias r)."""

    terms: tuple[Posted, ...]
    tests: tuple[tuple[str, str], ...]


def wanted(query: Query, registry: Registry = REGISTRY) -> Wanted:
    """What a row must have."""
    terms = [Posted(f"{name} {value}") for name, value in _plain(query) if value]
    if query.account:
        terms.append(Posted(f"player {query.account}", tuple(_result(query))))
    terms += [Posted(f"player {account}") for account in query.others]
    if query.won_by:
        terms.append(Posted(f"player {query.won_by}", (("{}.place = ?", 1),)))
    if query.lost_by:
        terms.append(Posted(f"player {query.lost_by}", (("{}.place > ?", 1),)))
    tests: list[tuple[str, str]] = []
    for pair in query.options:
        if query.game and pair not in defaults(registry, query.game):
            terms.append(Posted(f"option {query.game} {pair}"))
        else:
            tests.append(("instr(r.full, ?)", f" {pair} "))
    if query.cause == "rules":
        tests.append(("r.cause = ?", "rules"))
    tests += [(f"r.{name} = ?", value) for name, value in (("kind", query.kind), ("pool", query.pool)) if value]
    return Wanted(tuple(terms), tuple(tests))


def _plain(query: Query) -> tuple[tuple[str, str], ...]:
    cause = "" if query.cause == "rules" else query.cause
    return (("game", query.game), ("variant", query.variant), ("tournament", query.tournament), ("cause", cause))


def _result(query: Query) -> list[tuple[str, int]]:
    found = [("{}.place = ?", query.place)] if query.place else []
    found += [("{}.score >= ?", query.least)] if query.least is not None else []
    return found + ([("{}.score <= ?", query.most)] if query.most is not None else [])


@dataclass(frozen=True, slots=True)
class Walk:
    """Statements for one query. `lead` is the id and tests of the term that leads; None: all rows."""

    lead: tuple[int, Posted] | None
    others: tuple[tuple[int, Posted], ...]
    tests: tuple[tuple[str, str], ...]

    @property
    def filters(self) -> bool:
        """Whether rows on the way may be left out."""
        return bool(self.others or self.tests or (self.lead and self.lead[1].tests))

    def rows(self, below: Key, down_to: Key, size: int) -> tuple[str, list[int | str]]:
        """The next rows that fit, in order."""
        columns = ", ".join(f"r.{name}" for name in FIELDS)
        at = "r.ended_ms, r.match" if self.lead is None else "d.ended, d.match"
        tests = [f"({at}) < (?, ?)", f"({at}) >= (?, ?)"]
        values: list[int | str] = [*below, *down_to]
        source = "records AS r"
        if self.lead is not None:
            source = "postings AS d CROSS JOIN records AS r ON r.match = d.match"
            tests.append("d.term = ?")
            values.append(self.lead[0])
            for test, value in self.lead[1].tests:
                tests.append(test.format("d"))
                values.append(value)
        ended, match = at.split(", ")
        for number, posted in self.others:
            inner = " AND ".join(
                [
                    "p.term = ?",
                    f"p.ended = {ended}",
                    f"p.match = {match}",
                    *(one.format("p") for one, _ in posted.tests),
                ]
            )
            tests.append(f"EXISTS (SELECT 1 FROM postings AS p WHERE {inner})")
            values += [number, *(value for _, value in posted.tests)]
        for test, text in self.tests:
            tests.append(test)
            values.append(text)
        order = f"ORDER BY {ended} DESC, {match} DESC LIMIT ?"
        return f"SELECT {columns} FROM {source} WHERE {' AND '.join(tests)} {order}", [*values, size]

    def end(self, below: Key, down_to: Key, count: int) -> tuple[str, list[int | str]]:
        """The key of the last of the next `count` rows that the walk comes by, whether they fit or not."""
        if self.lead is None:
            source, ended, first = "records WHERE", "ended_ms", []
        else:
            source, ended, first = "postings WHERE term = ? AND", "ended", [self.lead[0]]
        sql = (
            f"SELECT {ended}, match FROM {source} ({ended}, match) < (?, ?) AND ({ended}, match) >= (?, ?)"
            f" ORDER BY {ended} DESC, match DESC LIMIT 1 OFFSET ?"
        )
        return sql, [*first, *below, *down_to, count - 1]


def token_of(key: Key) -> str:
    """A page token: behind this key."""
    return base64.urlsafe_b64encode(f"{key[0]} {key[1]}".encode()).decode()


def position(token: str) -> Key | None:
    """The key of a token, None for "". Raises BadPage."""
    if not token:
        return None
    try:
        ended, match = base64.urlsafe_b64decode(token.encode()).decode().split(" ")
        return int(ended), match
    except (ValueError, binascii.Error) as error:
        raise BadPage(token[:80]) from error
