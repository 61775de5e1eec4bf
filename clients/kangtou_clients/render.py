"""Cards, seats and events as text for a terminal: suit glyphs or letters, with colour or without."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kangtou_engine.actions import Action, is_named
from kangtou_engine.cards import HIDDEN, Cards, Seat, is_card
from kangtou_engine.events import Event, fields_of, kind_of
from kangtou_engine.match.events import MatchOver, RoundBegan, Scored
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import Config
from kangtou_engine.words import COMMON_WORDS, Words, say

from .names import WORDS, event_text, word

SUITS = {"S": "♠", "H": "♥", "C": "♣", "D": "♦"}
HIDDEN_FACE = "··"
RED, BOLD, DIM, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_CARD = re.compile(r"(?<![\w])(?:[SHCD][3-9TJQKA2]|[BR]J|\?\?)(?![\w])")


@dataclass(frozen=True, slots=True)
class Renderer:
    """How one client shows things. `names` are the seats' players, where they are known."""

    lang: str = "en"
    letters: bool = False
    colour: bool = False
    names: tuple[str, ...] = ()

    # ---- cards ----

    def card(self, text: str) -> str:
        """`HT` as a heart and 10, in red; `??` as a hidden card; `BJ=D8` as both."""
        if not is_card(text) and text != HIDDEN and not is_named(text):
            return text
        if is_named(text):
            joker, _, stands = text.partition("=")
            return f"{self.card(joker)}={self.card(stands)}"
        face = text if self.letters else self._face(text)
        red = text[:1] in "HD" or text == "RJ"
        return self.paint(RED, face) if red else face

    def _face(self, text: str) -> str:
        if text == HIDDEN:
            return HIDDEN_FACE
        if text in ("BJ", "RJ"):
            return word(f"joker.{text}", self.lang)
        return SUITS[text[0]] + ("10" if text[1] == "T" else text[1])

    def cards(self, cards: Iterable[str]) -> str:
        """A list of cards, in the order given; a row of hidden ones as their number."""
        found: Cards = tuple(cards)
        if len(found) > 1 and all(card == HIDDEN for card in found):
            return f"{HIDDEN_FACE}×{len(found)}"
        return " ".join(map(self.card, found)) or "–"

    def line(self, text: str) -> str:
        """A line that an engine wrote, with its cards in this client's way."""
        return _CARD.sub(lambda found: self.card(found[0]), text)

    def action(self, action: Action) -> str:
        """An action with its cards shown."""
        return " ".join(self.card(part) if is_card(part) or is_named(part) else part for part in str(action).split(" "))

    # ---- words ----

    def paint(self, colour: str, text: str) -> str:
        """Text in a colour, where colours are wanted."""
        return f"{colour}{text}{PLAIN}" if self.colour else text

    def word(self, code: str, **params: object) -> str:
        """A word of the catalogue."""
        return word(code, self.lang, **params)

    def seat(self, seat: Seat | None) -> str:
        """Whose seat it is: the number, and the name where it is known."""
        if seat is None:
            return "–"
        name = self.names[seat] if seat < len(self.names) else ""
        shown = self.word("seat", seat=seat)
        return self.paint(BOLD, f"{shown} {name}" if name else shown)

    # ---- events ----

    def event(self, game: Game, event: Event, config: Config) -> list[str]:
        """What happened, in a line or a few; [] for what says nothing by itself."""
        if isinstance(event, RoundBegan):
            return [self._round(event)]
        told = [self.line(line) for line in game.spec.tell(event, config, self.lang)]
        if isinstance(event, Scored):
            points = [self.word("points", points=self._points(event.points))]
            return [*told, *(points if any(event.points) or not told else ())]
        if isinstance(event, MatchOver):
            return [self.word("over", scores=_numbers(event.scores), places=_numbers(event.places))]
        values = dict(fields_of(event))
        kind = kind_of(type(event))
        if kind == "dealt":
            return self._dealt(values)
        who = values.pop("seat", None)
        if not told:
            template = event_text(kind, self.lang, game.spec.words)
            shown = self._shown(values, {**COMMON_WORDS, **game.spec.words})
            told = [template.format_map(shown) if template else self._plainly(kind, values)]
        return [f"{self.seat(who)} {told[0]}", *told[1:]] if isinstance(who, int) else told

    def _round(self, event: RoundBegan) -> str:
        parts = [self.word("round", round=event.round)]
        if event.dealer is not None:
            parts.append(self.word("dealer", dealer=self.seat(event.dealer)))
        parts.append(self.word("scores", scores=_numbers(event.scores)))
        return self.paint(BOLD, "── ") + " · ".join(parts)

    def _dealt(self, values: Mapping[str, Any]) -> list[str]:
        lines = [
            f"{self.seat(seat)} {self.word('holds', cards=self.cards(hand))}"
            for seat, hand in enumerate(values["hands"])
            if any(card != HIDDEN for card in hand)
        ]
        stock = values.get("stock", ())
        if any(card != HIDDEN for card in stock):
            lines.append(self.word("stock", cards=self.cards(stock)))
        return lines

    def _points(self, points: Sequence[int]) -> str:
        return " ".join(f"{point:+d}" for point in points)

    def _shown(self, values: Mapping[str, Any], words: Words) -> Mapping[str, str]:
        """Fields as people read them; a word that the game has a text for (`phase.sink`, `suit.S`) as that."""
        shown: dict[str, str] = defaultdict(str)
        for name, value in values.items():
            code = f"{name}.{value}"
            if value is not None:
                shown[name] = say(words, code, {}, self.lang) if code in words else self._value(value)
        return shown

    def _value(self, value: Any) -> str:
        if isinstance(value, str):
            return self._word(self.card(value))
        if isinstance(value, tuple):
            if value and all(isinstance(part, str) for part in value):
                return self.cards(value)
            return " ".join(map(self._value, value)) or "–"
        return str(value)

    def _word(self, value: str) -> str:
        return self.word(value) if value in WORDS else value

    def _plainly(self, kind: str, values: Mapping[str, Any]) -> str:
        parts = [kind.replace("_", " "), *(f"{name}={self._value(value)}" for name, value in values.items())]
        return " ".join(parts)


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))
