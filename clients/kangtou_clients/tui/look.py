"""How this user sees things: language, glyphs or letters; cards and lines of text with their colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from kangtou_engine.cards import HIDDEN, JOKERS

from ..desk.words import LANGUAGES
from ..names import WORDS as NAMES
from ..render import SUITS, Renderer
from .words import say

FACE, FACE_RED, FACE_DIM = "#1b1b1b on #f4f0e6", "#c3002f on #f4f0e6", "#8a857a on #d3cdbf"
RED, GOLD, FAINT = "#ff6b81", "bold #ffd75f", "#8fa39a"
RED_JOKER = NAMES["joker.RJ"][1]
JOKER_MARKS = {"BJ": "☆", "RJ": "★"}
_FACES = re.compile(r"[♠♥♣♦](?:10|[2-9JQKA])|(?<![\w])[SHCD][3-9TJQKA2](?![\w])|大王|小王|(?<![\w])[BR]J(?![\w])")


@dataclass(frozen=True, slots=True)
class Look:
    """What can be switched at run time. `names` are the seats' players."""

    lang: str = "en"
    letters: bool = False
    names: tuple[str, ...] = ()

    @property
    def render(self) -> Renderer:
        """The same for lines without colours."""
        return Renderer(self.lang, letters=self.letters, names=self.names)

    def say(self, code: str, **params: object) -> str:
        """A text of the catalogue."""
        return say(code, self.lang, **params)

    def other_language(self) -> Look:
        """The same in the other language."""
        return replace(self, lang=LANGUAGES[1 - LANGUAGES.index(self.lang)])

    def seat(self, seat: int) -> str:
        """A player's name, the seat's number where there is none."""
        name = self.names[seat] if seat < len(self.names) else ""
        return name or self.say("seat", seat=seat)

    # ---- cards ----

    def card(self, card: str) -> Text:
        """A small card face; a joker that stands for a card as that card with a star."""
        if "=" in card:
            joker, _, stands = card.partition("=")
            return Text(JOKER_MARKS[joker], FACE) + self.card(stands)
        return Text(self.render.card(card), FACE_RED if is_red(card) else FACE)

    def cards(self, cards: Iterable[str]) -> Text:
        """A row of small faces."""
        return Text(" ").join(map(self.card, cards))

    def corner(self, card: str) -> tuple[str, str]:
        """What stands on a card of the hand, above and below: rank and suit."""
        if card in JOKERS:
            return self._joker(card)
        if card == HIDDEN:
            return "?", "?"
        rank = card[1] if self.letters or card[1] != "T" else "10"
        return rank, card[0] if self.letters else SUITS[card[0]]

    def _joker(self, card: str) -> tuple[str, str]:
        if self.letters:
            return card[0], card[1]
        name = self.render.card(card)
        return (name[0], name[1]) if self.lang == "zh" else ("jk" if card == "BJ" else "JK", JOKER_MARKS[card])

    def line(self, text: str, style: str = "") -> Text:
        """A line that an engine or a catalogue wrote, its red cards in red."""
        shown = Text(self.render.line(text), style)
        for found in _FACES.finditer(shown.plain):
            if found[0][0] in "♥♦HD" or found[0] in ("RJ", RED_JOKER):
                shown.stylize(RED, *found.span())
        return shown

    def lines(self, lines: Sequence[str], style: str = "") -> Text:
        """Several of them."""
        return Text("\n").join(self.line(line, style) for line in lines)


def is_red(card: str) -> bool:
    """Hearts, diamonds, the big joker; a joker that stands for a card as the card."""
    return card[-2:][0] in "HD" or card == "RJ"
