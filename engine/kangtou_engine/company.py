"""What may be shown beside the seats' own views: to spectators who see all hands, and to whoever comes late.

Built up: what is open to such spectators is what the seats see between them, and nothing more. The order of the pile
is not in it, nor what lies face down for everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from .cards import HIDDEN
from .events import Event, kind_of
from .match.events import RoundBegan, Scored, Voided
from .match.match import AnyState, Game
from .match.state import Config

_T = TypeVar("_T")


def open_view(game: Game, state: AnyState) -> AnyState:
    """The view of a spectator who sees all hands: what the seats see, put together."""
    return together([game.view(state, seat) for seat in (None, *range(state.config.seats))])


def open_event(event: Event, seats: int) -> Event:
    """An event as such a spectator is told of it."""
    return together([event.seen_by(seat) for seat in (None, *range(seats))])


def together(seen: Sequence[_T]) -> _T:
    """One value from what several viewers see of it: wherever one of them knows more, his."""
    first: Any = seen[0]
    if all(one == first for one in seen):
        return seen[0]
    known: list[Any] = [one for one in seen if one is not None]
    first = known[0]
    if len(known) == 1 or any(type(one) is not type(first) for one in known):
        return max(known, key=_known)  # type: ignore[no-any-return]
    if is_dataclass(first):
        parts = {item.name: together([getattr(one, item.name) for one in known]) for item in fields(first)}
        made: Any = type(first)
        return made(**parts)  # type: ignore[no-any-return]
    if isinstance(first, Mapping):
        first = {key: together([one[key] for one in known if key in one]) for key in first}
        return first  # type: ignore[no-any-return]
    if isinstance(first, tuple) and _side_by_side(known):
        return tuple(map(together, zip(*known, strict=True)))  # type: ignore[return-value]
    return max(known, key=_known)  # type: ignore[no-any-return]


def _side_by_side(values: Sequence[tuple[Any, ...]]) -> bool:
    """Whether tuples can be put together place by place. A hand cannot: its owner's order is not that of the others."""
    if len({len(value) for value in values}) != 1:
        return False
    for part in zip(*values, strict=True):
        cards = {one for one in part if isinstance(one, str) and one != HIDDEN}
        if len(cards) > 1:
            return False
    return True


def _known(value: Any) -> int:
    """How much of a value is not hidden."""
    if isinstance(value, tuple):
        return sum(map(_known, value))
    if is_dataclass(value):
        return sum(_known(getattr(value, item.name)) for item in fields(value))
    return int(value is not None and value != HIDDEN)


def covered(game: Game, config: Config, events: Sequence[Event]) -> frozenset[int]:
    """Which of a match's events nobody may look at again now, by their places: `GameSpec.covered` of the round in play.

    Empty once the round is scored. HS-13.3, DZ-12.3, EB-11.3.
    """
    start = 0
    for place, event in enumerate(events):
        if isinstance(event, RoundBegan):
            start = place
        elif isinstance(event, (Scored, Voided)):
            start = len(events)
    found: set[int] = set()
    for rule in game.spec.covered(config):
        waiting: list[int] = []
        for place in range(start, len(events)):
            kind = kind_of(type(events[place]))
            if kind in rule.by:
                found.update(waiting)
                waiting.clear()
            if kind in rule.kinds:
                waiting.append(place)
    return frozenset(found)
