"""What a game says of the hands as dealt, and of who won a round: for statistics over records. docs/study.md.

A game gives an `Opening` in its GameSpec, made in its own folder (`games/<name>/opening.py`); without one its records
are counted all the same, only without tables of hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .cards import Cards, Seat
from .events import Event
from .match.events import RoundBegan, Scored
from .match.state import Config

Dealing = Sequence[Event]  # the events of a round of the types in `Opening.events`, in order


def best_points(scored: Scored, better: int) -> tuple[Seat, ...]:
    """The seats with better points than the round's mean: what games mean by winning it unless they say otherwise."""
    total, seats = sum(scored.points), len(scored.points)
    return tuple(seat for seat, own in enumerate(scored.points) if (own * seats - total) * better > 0)


def hands_dealt(began: RoundBegan, dealing: Dealing) -> tuple[Cards, ...] | None:
    """For games that deal at once: `hands` of the first event that has them."""
    for event in dealing:
        hands: tuple[Cards, ...] | None = getattr(event, "hands", None)
        if hands is not None:
            return hands
    return None


def rank_counts(hand: Iterable[str]) -> Mapping[str, int]:
    """How many cards of each rank; jokers are left out."""
    counts: dict[str, int] = {}
    for card in hand:
        if card[1] != "J" or card[0] not in "BR":
            counts[card[1]] = counts.get(card[1], 0) + 1
    return counts


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands out in hands as dealt.

    events    the types of event of a round that it wants to see besides `RoundBegan`
    hands     by seat, as dealt; None if the deal was broken off
    features  of one hand: a whole number by name, the same names for every hand (but for what was never fixed, such
              as trumps); each has a text `hand.<name>` in the game's words
    winners   who won a scored round
    """

    events: tuple[type[Event], ...]
    features: Callable[[Config, RoundBegan, Dealing, Cards], Mapping[str, int]]
    hands: Callable[[RoundBegan, Dealing], tuple[Cards, ...] | None] = hands_dealt
    winners: Callable[[Scored, int], tuple[Seat, ...]] = best_points


def winners_named(key: str) -> Callable[[Scored, int], tuple[Seat, ...]]:
    """For games whose result lists the winners under a key."""

    def winners(scored: Scored, better: int) -> tuple[Seat, ...]:
        found: Any = scored.result.get(key, ())
        return tuple(found)

    return winners
