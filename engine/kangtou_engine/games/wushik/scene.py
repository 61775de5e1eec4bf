"""The table by places, from a view. WK-13."""

from __future__ import annotations

from ...cards import HIDDEN, Cards, Seat
from ...errors import Param
from ...match.state import BETWEEN, OVER
from ...scene import Place, Scene, open_hand
from ...words import say
from .show import by_rank, name_of, result_lines
from .state import WushikState
from .variants import ALL
from .words import WORDS


def draw(view: WushikState, seat: Seat | None, lang: str) -> Scene:
    """Round, variant, phase; each seat with its last play of the trick; the points at stake; the result. WK-13.2."""
    return _Scene(view, lang).scene()


class _Scene:
    def __init__(self, view: WushikState, lang: str) -> None:
        self.view, self.lang = view, lang

    def say(self, code: str, **params: Param) -> str:
        return say(WORDS, code, params, self.lang)

    def scene(self) -> Scene:
        view = self.view
        variant = ALL[view.config.options.variant].title[0 if self.lang == "en" else 1]
        head = self.say("head", round=view.sheet.round, variant=variant, phase=self.say(f"phase.{view.phase}"))
        return Scene((head,), tuple(map(self.place, range(view.config.seats))), (), self.lines())

    def place(self, seat: Seat) -> Place:
        own = self.view.game
        laid, said = self.laid(seat)
        best = own.trick is not None and own.trick.by == seat and bool(laid)
        hand = own.hands[seat]
        shown = tuple(card for card in hand if card != HIDDEN) if HIDDEN in hand else ()
        return Place(self.marks(seat), by_rank(laid), said, best, by_rank(shown), by_rank(open_hand(hand)))

    def laid(self, seat: Seat) -> tuple[Cards, str]:
        """The seat's last play of the trick, and what is to be said of it."""
        trick = self.view.game.trick
        if trick is None:
            return (), ""
        if seat in trick.passed:
            return (), self.say("passed")
        cards = next((cards for by, cards in reversed(trick.laid) if by == seat), ())
        if seat == trick.by:
            return cards, name_of(self.view.config.options.variant, trick.combo, self.lang)
        return cards, ""

    def marks(self, seat: Seat) -> tuple[str, ...]:
        view, own = self.view, self.view.game
        marks = [self.say("dealer")] if seat == view.sheet.dealer else []
        marks.append(self.say("mark.captured", points=own.tally.captured[seat]))
        if seat in own.tally.out:
            marks.append(self.say("out", place=own.tally.out.index(seat) + 1))
        if ranks := own.announced.ranks[seat]:
            marks.append(self.say("announced", ranks=" ".join(ranks)))
        if view.phase == "show" and seat in own.announced.passed:
            marks.append(self.say("done"))
        return tuple(marks)

    def lines(self) -> tuple[str, ...]:
        view, trick = self.view, self.view.game.trick
        if view.phase in (BETWEEN, OVER):
            last = view.sheet.last_round
            return () if last is None else result_lines(last, self.lang)
        if view.phase != "play":
            return ()
        if trick is None:
            return (self.say("leads", seat=view.game.turn),)
        return (self.say("stake", points=trick.points),)
