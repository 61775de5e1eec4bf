"""What a game may tell a bot that searches: what a seat knows besides its view, and full states that fit it.

A view offers no look back at closed tricks, as the books want it; whoever has watched may remember. `Known` is such a
memory, built from the events that the seat was sent, and `sample` makes a whole state out of view and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from .actions import Action
from .cards import Card, Cards, Seat
from .events import Event
from .match.state import State

R = TypeVar("R")
Pick = Callable[[int], int]
Allowed = Callable[[int, Card], bool]
TRIES = 8


@dataclass(frozen=True, slots=True)
class Known:
    """What a seat remembers of the round in play. All of it is certain.

    gone   cards that nobody can play any more, where each card is there once
    held   cards that are in a certain hand
    void   suits that a seat does not have: (seat, suit)
    kept   a part of an earlier view that the game does not show any more
    """

    gone: frozenset[Card] = frozenset()
    held: Mapping[Card, Seat] = field(default_factory=dict)
    void: frozenset[tuple[Seat, str]] = frozenset()
    kept: Any = None

    def left(self, cards: Cards) -> Known:
        """These cards are gone."""
        held = {card: seat for card, seat in self.held.items() if card not in cards} if self.held else self.held
        return Known(self.gone.union(cards), held, self.void, self.kept)

    def with_held(self, seat: Seat, cards: Cards) -> Known:
        """These cards are in this hand."""
        return Known(self.gone.difference(cards), {**self.held, **dict.fromkeys(cards, seat)}, self.void, self.kept)


NOTHING = Known()


class Recall(Protocol[R]):
    """One event as the seat was sent it, on its view before the event. A new round begins with NOTHING."""

    def __call__(self, known: Known, view: State[R], event: Event) -> Known:
        """The memory after it."""
        ...


class Sample(Protocol[R]):
    """A full state that looks to `seat` exactly like its view, by chance among those that fit what it knows.

    What was played in closed tricks is not made up. Works in every phase that a seat can see.
    """

    def __call__(self, view: State[R], seat: Seat, pick: Pick, known: Known = NOTHING) -> State[R]:
        """The state; ready to be played on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning(Generic[R]):
    """A game's part in a search.

    quick       a fast sensible action in a full state, for playing out
    candidates  actions worth comparing for a seat that may act, from its view; few, legal, each once. () or one: there
                is nothing to think about
    worth       what a round that was played out is worth to a seat, from before (a view) and after
    """

    sample: Sample[R]
    quick: Callable[[State[R], Seat, Pick], Action]
    candidates: Callable[[State[R], Seat, Pick], tuple[Action, ...]]
    recall: Recall[R] = lambda known, view, event: known
    worth: Callable[[State[R], State[R], Seat], float]


def shuffled(cards: Sequence[Card], pick: Pick) -> list[Card]:
    """In a random order."""
    mixed = list(cards)
    for last in range(len(mixed) - 1, 0, -1):
        other = pick(last + 1)
        mixed[last], mixed[other] = mixed[other], mixed[last]
    return mixed


def deal_out(
    pool: Sequence[Card], wants: Sequence[int], pick: Pick, allowed: Allowed | None = None
) -> tuple[list[list[Card]], list[Card]]:
    """`wants[n]` cards for each place, and what is left. The pool must hold enough.

    `allowed(place, card)`: kept to if that can be done in a few tries.
    """
    mixed = shuffled(pool, pick)
    if allowed is not None:
        for _ in range(TRIES):
            found = _deal_within(mixed, wants, pick, allowed)
            if found is not None:
                return found
            mixed = shuffled(mixed, pick)
    places: list[list[Card]] = []
    start = 0
    for want in wants:
        places.append(mixed[start : start + want])
        start += want
    return places, mixed[start:]


def _deal_within(
    mixed: list[Card], wants: Sequence[int], pick: Pick, allowed: Allowed
) -> tuple[list[list[Card]], list[Card]] | None:
    """The cards with the fewest places first; each place as likely as it has room. None if one finds no place."""
    count = len(wants)
    room = [*wants, len(mixed) - sum(wants)]
    fits = [(card, [place for place in range(count) if allowed(place, card)]) for card in mixed]
    fits.sort(key=lambda one: len(one[1]))
    dealt: list[list[Card]] = [[] for _ in room]
    for card, places in fits:
        open_places = [*places, count]
        total = sum(room[place] for place in open_places)
        if not total:
            return None
        number = pick(total)
        for place in open_places:
            number -= room[place]
            if number < 0:
                dealt[place].append(card)
                room[place] -= 1
                break
    return dealt[:count], dealt[count]


def gained(before: State[Any], after: State[Any], seat: Seat) -> float:
    """By how much a seat's points grew more than those of the others on average."""
    grown = [new - old for old, new in zip(before.sheet.scores, after.sheet.scores, strict=True)]
    return grown[seat] - (sum(grown) - grown[seat]) / max(1, len(grown) - 1)
