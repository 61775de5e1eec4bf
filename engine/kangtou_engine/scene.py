"""The table as it lies before a viewer: what stands at each place, what lies in the middle.

`show` says the same in lines; a Scene keeps it by place, for programs that draw the table. It holds what the view holds
and no more. Texts are in the language that was asked for; cards stay cards, so that each program shows them its way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .cards import HIDDEN, Cards, Seat
from .match.state import State


@dataclass(frozen=True, slots=True)
class Place:
    """One seat.

    marks  short words: dealer, side, place in going out …
    laid   its play of the current trick; a joker that stands for a card is `BJ=D8`
    said   a word beside its play, or in place of one: pass, the name of a combination
    best   its play is the one to beat
    shown  cards of its hand that all may see
    hand   the cards in hand as players hold them, () for a hand that is closed to this viewer
    """

    marks: tuple[str, ...] = ()
    laid: Cards = ()
    said: str = ""
    best: bool = False
    shown: Cards = ()
    hand: Cards = ()


@dataclass(frozen=True, slots=True)
class Area:
    """Cards that lie in the middle, such as a kitty or a run. `title` says what they are."""

    title: str
    cards: Cards = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """The table.

    head    short facts of the round: number, phase, trumps …
    places  by seat
    areas   what lies in the middle
    lines   what else is to be said there: who leads, what the round came to
    """

    head: tuple[str, ...]
    places: tuple[Place, ...]
    areas: tuple[Area, ...] = ()
    lines: tuple[str, ...] = ()


Draw: TypeAlias = Callable[[State[Any], "Seat | None", str], Scene]


def open_hand(hand: Cards) -> Cards:
    """A hand that the viewer may see whole, else ()."""
    return () if HIDDEN in hand else hand


def scene_of_lines(view: State[Any], lines: tuple[str, ...]) -> Scene:
    """The scene of a game that draws none: its lines in the middle, the open hands at their places."""
    places = tuple(Place(hand=open_hand(hand)) for hand in view.game.hands)
    return Scene(lines[:1], places, (), lines[1:])
