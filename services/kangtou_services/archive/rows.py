"""What the index holds of a record: a row, and the terms under which the row can be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from kangtou_engine.errors import BadOptions
from kangtou_engine.record import Record
from kangtou_engine.record.text import show_json
from kangtou_engine.registry import REGISTRY, Registry

from ..agreement import BOT

BOTS, RATED, UNRATED = "bots", "rated", "unrated"


@dataclass(frozen=True, slots=True)
class Listed:
    """A record as a list shows it.

    options     house options as given, canonical JSON
    full        all options with the book's defaults filled in, ` name=value name=value ` in the order of names
    kind        for how long it is kept: `bots` (no person had a seat), else `rated` or `unrated`
    started_ms  0 if the match ended before it began
    """

    match: str
    path: str
    game: str
    version: int
    variant: str
    options: str
    full: str
    kind: str
    started_ms: int
    ended_ms: int
    cause: str
    rounds: int
    moves: int
    rated: bool
    pool: str
    tournament: str
    accounts: tuple[str, ...]
    scores: tuple[int, ...]
    places: tuple[int, ...]


FIELDS = tuple(field.name for field in fields(Listed))


@dataclass(frozen=True, slots=True)
class Posting:
    """A term under which a row is found. For an account: its best place and score (a bot may have several seats)."""

    term: str
    place: int | None = None
    score: int | None = None


def listed(record: Record, path: str, registry: Registry = REGISTRY) -> Listed:
    """What the index holds of a record."""
    terms, outcome = record.head.terms, record.head.outcome
    given = show_json(terms.options)
    full = _full(registry, terms.game, terms.version, len(terms.seats), terms.options)
    people = any(place.kind != BOT for place in terms.seats)
    return Listed(
        match=terms.match,
        path=path,
        game=terms.game,
        version=terms.version,
        variant=full.get("variant", ""),
        options=given,
        full=_flat(full),
        kind=(RATED if terms.rated else UNRATED) if people else BOTS,
        started_ms=outcome.started_ms or 0,
        ended_ms=outcome.ended_ms,
        cause=outcome.cause,
        rounds=outcome.rounds,
        moves=outcome.moves,
        rated=terms.rated,
        pool=terms.pool,
        tournament=terms.tags.get("tournament", ""),
        accounts=tuple(place.account for place in terms.seats),
        scores=outcome.scores,
        places=outcome.places or (),
    )


def postings(row: Listed, registry: Registry = REGISTRY) -> Iterator[Posting]:
    """The terms of a row, each once. Options that are not as the book has them are terms; defaults are not."""
    yield Posting(f"game {row.game}")
    if row.variant:
        yield Posting(f"variant {row.variant}")
    if row.tournament:
        yield Posting(f"tournament {row.tournament}")
    if row.cause != "rules":
        yield Posting(f"cause {row.cause}")
    for pair in row.full.split():
        if pair not in defaults(registry, row.game):
            yield Posting(f"option {row.game} {pair}")
    for account in dict.fromkeys(row.accounts):
        seats = [seat for seat, one in enumerate(row.accounts) if one == account]
        place = min((row.places[seat] for seat in seats if seat < len(row.places)), default=None)
        score = max((row.scores[seat] for seat in seats if seat < len(row.scores)), default=None)
        yield Posting(f"player {account}", place, score)


def show_value(value: object) -> str:
    """An option's value as it is typed at a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=256)
def defaults(registry: Registry, game: str) -> frozenset[str]:
    """`name=value` of what a game's options are if nothing is said, in any of its versions that are known here.

    They are found by looking at rows, not by a term: nearly every row has them.
    """
    found: set[str] = set()
    version = 1
    while True:
        try:
            one = registry.game(game, version)
        except BadOptions:
            return frozenset(found)
        config = one.config({})
        found |= {f"{name}={value}" for name, value in _values(config.options, config.seats).items()}
        version += 1


def _full(registry: Registry, game: str, version: int, seats: int, given: Mapping[str, object]) -> Mapping[str, str]:
    try:
        config = registry.game(game, version).config(given, seats)
    except BadOptions:  # a game or an option of another program: as given
        return {**{name: show_value(value) for name, value in given.items()}, "seats": str(seats)}
    return _values(config.options, config.seats)


def _values(options: object, seats: int) -> dict[str, str]:
    names = getattr(options, "__dataclass_fields__", {})
    return {**{name: show_value(getattr(options, name)) for name in names}, "seats": str(seats)}


def _flat(full: Mapping[str, str]) -> str:
    return f" {' '.join(f'{name}={full[name]}' for name in sorted(full))} "
