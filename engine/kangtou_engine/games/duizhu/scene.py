"""The table by places, from a view. DZ-12."""

from __future__ import annotations

from ...cards import Cards, Seat
from ...errors import Param
from ...match.state import BETWEEN, OVER
from ...scene import Area, Place, Scene, open_hand
from ...words import say
from .levels import level_text
from .score import winning_side
from .show import result_line
from .state import ALL, Table, dealer_of, is_up, ranking_of
from .tricks import best_play
from .words import WORDS

_ENDED = frozenset(("recover", BETWEEN, OVER))


def draw(view: Table, seat: Seat | None, lang: str) -> Scene:
    """Levels and trumps; each seat's play of the trick; the six and the defenders' points in the middle. DZ-12.1."""
    return _Scene(view, lang).scene()


def sorted_hand(view: Table, hand: Cards) -> Cards:
    """Side suits, then trumps, low to high; before the suit is fixed in canonical order. DZ-4."""
    if not view.game.trumps.suit:
        return hand
    rules = ranking_of(view)
    order = "SHCD".replace(view.game.trumps.suit, "") + "T"
    groups: dict[str, list[str]] = {suit: [] for suit in order}
    for card in rules.discard_order(hand):
        groups[rules.suit[card]].append(card)
    return tuple(card for group in groups.values() for card in group)


class _Scene:
    def __init__(self, view: Table, lang: str) -> None:
        self.view, self.lang = view, lang

    def say(self, code: str, **params: Param) -> str:
        return say(WORDS, code, params, self.lang)

    def scene(self) -> Scene:
        return Scene(self.head(), tuple(map(self.place, ALL)), self.areas(), self.lines())

    def head(self) -> tuple[str, ...]:
        view, own = self.view, self.view.game
        phase = self.say(f"phase.{view.phase}")
        head = [self.say("head", round=view.sheet.round, phase=phase, level=level_text(own.ladder.level))]
        suit = own.trumps.suit
        head.append(self.say("trump", suit=self.say(f"suit.{suit}")) if suit else self.say("trump_unknown"))
        if view.phase == "deal":
            head.append(self.say("drawn", count=own.drawn))
        return tuple(head)

    # ---- the seats ----

    def place(self, seat: Seat) -> Place:
        own = self.view.game
        number = (seat - own.trick.leader) % len(ALL)
        laid = own.trick.plays[number] if number < len(own.trick.plays) else ()
        best = bool(laid) and best_play(own.trick.plays, own.tally.tricks, ranking_of(self.view)) == number
        said = ""
        if laid and not number:
            said = self.say("leads")
            if own.trick.thrown:
                said = self.say("failed", cards=" ".join(own.trick.thrown))
        shown = (own.trumps.shown,) if own.trumps.shown and own.trumps.shown_by == seat and not laid else ()
        hand = sorted_hand(self.view, open_hand(own.hands[seat]))
        return Place(self.marks(seat), laid, said, best, shown if self.view.phase == "deal" else (), hand)

    def marks(self, seat: Seat) -> tuple[str, ...]:
        view, own = self.view, self.view.game
        marks = []
        if view.sheet.dealer is not None:
            marks += [self.say("dealer")] if seat == dealer_of(view) else []
            marks.append(self.say("up" if is_up(view, seat) else "down"))
        marks.append(self.say("mark.level", level=level_text(own.ladder.levels[seat % 2])))
        if view.phase == "play" and own.tally.last_winner == seat and not own.trick.plays:
            marks.append(self.say("mark.last"))
        return tuple(marks)

    # ---- the middle ----

    def areas(self) -> tuple[Area, ...]:
        bottom, tally, trumps = self.view.game.bottom, self.view.game.tally, self.view.game.trumps
        opened = trumps.gabaguo is not None
        told = (
            ("tied", trumps.tied),
            ("kitty", bottom.kitty if opened or self.view.phase in _ENDED else ()),
            ("buried", bottom.buried),
            ("announced", bottom.announced),
            ("sunk", bottom.sunk),
            ("snatchable", bottom.snatchable),
        )
        found = [Area(self.say(f"area.{code}"), cards) for code, cards in told if cards]
        if opened:
            found.append(Area(self.say("points", points=tally.points), tally.cards))
        return tuple(found)

    def lines(self) -> tuple[str, ...]:
        view, own = self.view, self.view.game
        lines = [
            self.say("exchange", seat=one.seat, took=" ".join(one.took), gave=" ".join(one.gave))
            for one in own.bottom.exchanges
        ]
        if own.trumps.way is not None and not own.trumps.suit:
            lines.append(self.say("way", way=self.say(f"way.{own.trumps.way}")))
        if own.trumps.gabaguo:
            lines.append(self.say("gabaguo"))
        if own.trumps.annulled:
            lines.append(self.say("annulled"))
        if own.ladder.pending is not None:
            pending = own.ladder.pending
            lines.append(self.say("pending", side=pending.side, level=level_text(pending.level)))
        return (*lines, *self.result()) if view.phase in _ENDED else tuple(lines)

    def result(self) -> list[str]:
        view = self.view
        if view.sheet.last_round is None:
            return []
        lines = [result_line(view.sheet.last_round, self.lang)]
        if view.phase == OVER:
            side = winning_side(view)
            lines.append(self.say("draw") if side is None else self.say("won", side=side))
        return lines
