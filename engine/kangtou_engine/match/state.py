"""The state of a match: what was agreed, the score sheet, the phase, and the game's own part.

A few small parts, so that a move replaces one. All are immutable values; a seat's view is a State too, with
hidden cards in place of what the seat may not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..cards import Cards, Seat

R = TypeVar("R")

# Phases common to all games (CM-1.4), and two that no seat ever sees: the table acts in them at once.
CUT, BETWEEN, OVER = "cut", "between", "over"
SCORED, SHUFFLE = "scored", "shuffle"


@dataclass(frozen=True, slots=True)
class Config:
    """What was agreed before the match: game and rules version, seats, the game's options object."""

    game: str
    version: int
    seats: int
    options: Any


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the table keeps beside the cards.

    round, deals  rounds begun (CM-1.2) and packs shuffled in this match
    dealer        of the round in play or just ended; None while unknown (DZ-1.3)
    first         who draws first
    next_dealer   fixed by the score until the next round begins (CM-5.3)
    lot           the draws of the lot (CM-2), by attempt
    cut           the N of this round's cut
    pile          the shuffled pack before the deal, () in views
    answers       by seat in `between`: `ready`, `vote_end` or "" (CM-6.1)
    last_round    results of the round last scored
    places        by seat when the match is over (CM-7.2)
    redeal        the round was made void: the next shuffle keeps its number (DZ-3.6)
    """

    scores: tuple[int, ...]
    round: int = 0
    deals: int = 0
    dealer: Seat | None = None
    first: Seat = 0
    next_dealer: Seat | None = None
    lot: tuple[Cards, ...] = ()
    cut: int | None = None
    pile: Cards = ()
    answers: tuple[str, ...] = ()
    last_round: Mapping[str, Any] | None = None
    places: tuple[int, ...] | None = None
    redeal: bool = False


@dataclass(frozen=True, slots=True)
class State(Generic[R]):
    """A position of a match, or one viewer's view of it."""

    config: Config
    sheet: Sheet
    phase: str
    game: R = field(kw_only=True)

    def with_game(self, game: R, phase: str | None = None) -> State[R]:
        """The same with another game part (and phase)."""
        return State(self.config, self.sheet, self.phase if phase is None else phase, game=game)

    def with_phase(self, phase: str) -> State[R]:
        """The same in another phase."""
        return State(self.config, self.sheet, phase, game=self.game)

    def with_sheet(self, sheet: Sheet, phase: str | None = None) -> State[R]:
        """The same with another sheet (and phase)."""
        return State(self.config, sheet, self.phase if phase is None else phase, game=self.game)
