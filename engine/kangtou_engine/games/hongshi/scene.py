"""The table by places, from a view. HS-13."""

from __future__ import annotations

from ...cards import Seat
from ...errors import Param
from ...match.state import BETWEEN, OVER
from ...scene import Place, Scene, open_hand
from ...words import say
from .options import options_of
from .show import by_rank, result_line
from .state import PLAY, REVEAL, Hongshi, Laid, is_open, top_of
from .words import WORDS


def draw(view: Hongshi, seat: Seat | None, lang: str) -> Scene:
    """Round and phase; each seat with its last play of the trick; the result of a round. HS-13."""
    return _Scene(view, lang).scene()


class _Scene:
    def __init__(self, view: Hongshi, lang: str) -> None:
        self.view, self.lang = view, lang
        self.options = options_of(view.config)

    def say(self, code: str, **params: Param) -> str:
        return say(WORDS, code, params, self.lang)

    def scene(self) -> Scene:
        view = self.view
        head = [self.say("round", round=view.sheet.round, rounds=self.options.rounds), self.say(f"phase.{view.phase}")]
        if is_open(view.game):
            head.append(self.say("open"))
        return Scene(tuple(head), tuple(map(self.place, range(len(view.game.hands)))), (), self.lines())

    def place(self, seat: Seat) -> Place:
        own = self.view.game
        laid = next((one for one in reversed(own.trick) if one.seat == seat), None)
        top = top_of(own)
        return Place(
            marks=self.marks(seat),
            laid=laid.cards if laid else (),
            said=self.said(laid) if laid else "",
            best=laid is not None and laid is top,
            shown=own.sides.revealed[seat],
            hand=by_rank(self.options.top, open_hand(own.hands[seat])),
        )

    def said(self, laid: Laid) -> str:
        if not laid.cards:
            return self.say("passes")
        return self.say("as_ten") if laid.as_ten else ""

    def marks(self, seat: Seat) -> tuple[str, ...]:
        view, own = self.view, self.view.game
        marks = [self.say("dealer")] if seat == view.sheet.dealer else []
        if seat in own.sides.known or (own.sides.up and seat in own.sides.up):
            marks.append(self.say("up"))
        if seat in own.out:
            marks.append(self.say("out", place=own.out.index(seat) + 1))
        if own.penalties[seat]:
            marks.append(self.say("penalized", count=own.penalties[seat]))
        if view.phase == REVEAL and own.answered[seat]:
            marks.append(self.say("answered"))
        if view.sheet.places:
            marks.append(self.say("place", place=view.sheet.places[seat]))
        return tuple(marks)

    def lines(self) -> tuple[str, ...]:
        view = self.view
        if view.phase in (BETWEEN, OVER) and view.sheet.last_round is not None:
            return (result_line(view.sheet.last_round, self.lang),)
        if view.phase == PLAY and not view.game.trick:
            return (self.say("leads", seat=view.game.turn),)
        return ()
