"""Answers that seats leave with the table. Design §5, "Windows".

Which of them hold follows from the log alone: whoever loads a table comes to the same. Nobody else is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kangtou_engine.actions import Action
from kangtou_engine.cards import Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.match.match import AnyState, Game


@dataclass(frozen=True, slots=True)
class Standing:
    """An answer that a seat left, and the word of the game that ends it by itself ("": none)."""

    action: Action = field(repr=False)  # it may name cards
    until: str = ""

    def fits(self, game: Game, state: AnyState, seat: Seat) -> bool | None:
        """Whether it is the answer to what the seat is asked; False ends it, None: this is no question for it."""
        fits = game.spec.standing(state, seat, self.action, self.until)
        if not fits:
            return fits
        try:
            game.check(state, seat, self.action)
        except IllegalAction:
            return False  # the seat decides itself
        return True


class Moments:
    """When people's standing answers are given: drawn once for each prompt, without looking at the hand, so that timing
    tells nothing. `delay_ms` draws."""

    def __init__(self, delay_ms: Callable[[], int]) -> None:
        self.delay_ms = delay_ms
        self._at: dict[Seat, tuple[int, int]] = {}  # by seat: to which prompt, when

    def of(self, seat: Seat, prompt: int, now_ms: int) -> int:
        """The moment (Unix ms) for the answer to that prompt."""
        number, at_ms = self._at.get(seat, (0, 0))
        if number != prompt:
            at_ms = now_ms + self.delay_ms()
            self._at[seat] = (prompt, at_ms)
        return at_ms

    def due(self, prompts: Mapping[Seat, int]) -> list[int]:
        """The moments that were drawn for these open prompts (numbers by seat)."""
        return [at_ms for seat, (number, at_ms) in self._at.items() if prompts.get(seat) == number]


def kept(game: Game, state: AnyState, standing: Mapping[Seat, Standing]) -> dict[Seat, Standing]:
    """Those that go on holding after something has happened; to be asked after each action and each answer left."""
    if not standing:
        return {}
    asked = game.to_act(state)
    return {
        seat: one for seat, one in standing.items() if seat not in asked or one.fits(game, state, seat) is not False
    }
