"""The table by places, from a view: the show area in the middle. EB-3, EB-11."""

from __future__ import annotations

from ...cards import HIDDEN, Seat
from ...errors import Param
from ...match.state import BETWEEN, OVER
from ...scene import Area, Place, Scene, open_hand
from ...words import say
from .pack import hand_value, in_order
from .score import losers
from .show import result_line
from .state import SIDES, Position, Run, from_low_to_high, lock_of
from .words import WORDS

_IN_TURN = ("first", "turn", "must_draw", "discard")


def draw(view: Position, seat: Seat | None, lang: str) -> Scene:
    """Round, piles; runs, sets and black cards in the middle; totals and marks of the seats. EB-11."""
    return _Scene(view, lang).scene()


class _Scene:
    def __init__(self, view: Position, lang: str) -> None:
        self.view, self.lang = view, lang

    def say(self, code: str, **params: Param) -> str:
        return say(WORDS, code, params, self.lang)

    def scene(self) -> Scene:
        places = tuple(map(self.place, range(self.view.config.seats)))
        return Scene(self.head(), places, self.areas(), self.lines())

    def head(self) -> tuple[str, ...]:
        view, own = self.view, self.view.game
        dealer = "?" if view.sheet.dealer is None else view.sheet.dealer
        piles = [
            self.say("stock", count=len(own.closed.stock)),
            self.say("discards", count=len(own.closed.pile) + (own.top is not None)),
        ]
        return (self.say("round", round=view.sheet.round, dealer=dealer), self.say(f"phase.{view.phase}"), *piles)

    def areas(self) -> tuple[Area, ...]:
        own, found = self.view.game, []
        if own.top is not None:
            found.append(Area(self.say("area.top"), (own.top,)))
        for run in own.area.runs:
            found += self.run(run)
        found += [Area(self.say("area.set"), cards) for cards in own.area.sets]
        if own.area.black:
            found.append(Area(self.say("area.black"), own.area.black))
        if own.closed.pile and HIDDEN not in own.closed.pile:
            found.append(Area(self.say("area.pile"), in_order(own.closed.pile)))
        return tuple(found)

    def run(self, run: Run) -> list[Area]:
        """A run, and what locks its ends. EB-3.4, EB-5.4."""
        locks = [
            Area(self.say("area.lock", side=self.say(f"side.{side}")), cards)
            for side in SIDES
            if (cards := lock_of(run, side))
        ]
        return [Area(self.say("area.run", suit=self.say(f"run.{run.suit}")), from_low_to_high(run)), *locks]

    def place(self, seat: Seat) -> Place:
        own = self.view.game
        hand = open_hand(own.hands[seat])
        said = self.say("mark.passed") if self.view.phase == "window" and seat in own.turn.passed else ""
        return Place(marks=self.marks(seat), said=said, hand=hand)

    def marks(self, seat: Seat) -> tuple[str, ...]:
        view, own = self.view, self.view.game
        marks = [self.say("mark.dealer")] if seat == view.sheet.dealer else []
        if view.phase in _IN_TURN and seat == own.turn.seat:
            marks.append(self.say("mark.turn"))
        if own.extras[seat]:
            marks.append(self.say("mark.extras", extras=own.extras[seat]))
        hand = open_hand(own.hands[seat])
        if hand:
            marks.append(self.say("mark.value", value=hand_value(hand, own.area.black)))
        return tuple(marks)

    def lines(self) -> tuple[str, ...]:
        view, lines = self.view, []
        if view.phase in (BETWEEN, OVER) and view.sheet.last_round is not None:
            lines.append(result_line(view.sheet.last_round, self.lang))
        if view.phase == OVER and (over := losers(view)):
            lines.append(self.say("losers", seats=", ".join(map(str, over))))
        return tuple(lines)
