"""The own hand: cards side by side, those taken up standing higher, those that may be played marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from kangtou_engine.cards import JOKERS, Cards

from .look import FACE, FACE_DIM, FACE_RED, GOLD, Look, is_red

ROWS = 3  # of one band of cards: one row to rise, rank, suit
NARROW, WIDE = 3, 5  # cells of a card
RANK_KEYS = {
    **{str(number): str(number) for number in range(2, 10)},
    "0": "T",
    "t": "T",
    "j": "J",
    "q": "Q",
    "k": "K",
    "a": "A",
    "b": "BJ",
    "r": "RJ",
}
SUIT_KEYS = {"s": "S", "h": "H", "c": "C", "d": "D"}


class Hand(Widget):
    """Cards are known by their place in `cards`; `chosen` are the places taken up.

    Changed is posted when the user takes a card up or puts one down.
    """

    can_focus = False
    DEFAULT_CSS = """
    Hand { height: auto; width: 100%; }
    """

    class Changed(Message):
        """Other cards are taken up now."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: Cards = ()
        self.chosen: list[int] = []
        self.cursor: int | None = None
        self._usable: frozenset[int] = frozenset()
        self._lit = False
        self.look = Look()
        self._suit = ""  # typed, with its rank still to come

    # ---- what it holds ----

    @property
    def taken(self) -> Cards:
        """The cards taken up, in hand order."""
        return tuple(self.cards[place] for place in sorted(self.chosen))

    def hold(self, cards: Cards, look: Look) -> None:
        """Other cards, or the same in another order: what is taken up stays so."""
        taken = Counter(self.taken)
        self.look = look
        if cards != self.cards:
            self.cards, self.chosen = cards, []
            self._take(taken.elements())
            self.cursor = None if self.cursor is None or not cards else min(self.cursor, len(cards) - 1)
        self.refresh(layout=True)

    def light(self, usable: Iterable[str] | None) -> None:
        """Mark the cards that may be added to those taken up; None: no marks, all bright."""
        wanted = Counter(usable or ())
        places = set()
        for place, card in enumerate(self.cards):
            if place not in self.chosen and wanted[card] > 0:
                places.add(place)  # both copies of a card are as good
        self._usable, self._lit = frozenset(places), usable is not None
        self.refresh()

    def choose(self, cards: Iterable[str]) -> None:
        """Take up exactly these."""
        self.chosen = []
        self._take(cards)
        self.refresh()

    def _take(self, cards: Iterable[str]) -> None:
        for card in cards:
            place = next((p for p, c in enumerate(self.cards) if c == card and p not in self.chosen), None)
            if place is not None:
                self.chosen.append(place)

    # ---- what the user does ----

    def toggle(self, place: int) -> None:
        """Take a card up or put it down."""
        if place in self.chosen:
            self.chosen.remove(place)
        else:
            self.chosen.append(place)
        self.refresh()
        self.post_message(self.Changed())

    def toggle_rank(self, rank: str, suit: str = "") -> bool:
        """The next card of a rank (`3` … `2`, `BJ`, `RJ`), one that may be played before others; at the end none."""
        places = [place for place, card in enumerate(self.cards) if _named(card, rank, suit)]
        down = [place for place in places if place not in self.chosen]
        down.sort(key=lambda place: (self._lit and place not in self._usable, place))
        if down:
            self.toggle(down[0])
        else:
            for place in [place for place in places if place in self.chosen]:
                self.chosen.remove(place)
            self.refresh()
            self.post_message(self.Changed())
        return bool(places)

    def key(self, key: str) -> None:
        """A key that names a card: a rank, a suit and then its rank, a joker."""
        if key in SUIT_KEYS:
            self._suit = SUIT_KEYS[key]
        elif key in RANK_KEYS:
            self.toggle_rank(RANK_KEYS[key], self._suit)
            self._suit = ""

    def toggle_here(self) -> None:
        """The card under the cursor."""
        if self.cursor is not None:
            self.toggle(self.cursor)

    def clear(self) -> None:
        """Put all down; no cursor."""
        self.cursor, self._suit = None, ""
        self.choose(())

    def move(self, step: int) -> None:
        """The cursor, along the hand."""
        if self.cards:
            start = -1 if self.cursor is None and step > 0 else 0 if self.cursor is None else self.cursor
            self.cursor = (start + step) % len(self.cards)
            self.refresh()

    def on_click(self, event: Click) -> None:
        """A card."""
        place = self.place_at(event.x, event.y)
        if place is not None:
            self.toggle(place)

    # ---- drawing ----

    def _bands(self, width: int) -> tuple[int, int]:
        """Cards of a band, and the cells of a card."""
        count = max(1, len(self.cards))
        bands = -(-count * NARROW // max(NARROW, width - 1))
        each = -(-count // bands)
        return each, max(NARROW, min(WIDE, (width - 1) // each))

    def place_at(self, x: int, y: int) -> int | None:
        """Which card is drawn there."""
        each, pitch = self._bands(self.size.width)
        band = y // ROWS
        row = self.cards[band * each : (band + 1) * each]
        column = (x - self._indent(len(row), pitch)) // pitch
        return band * each + column if 0 <= column < len(row) else None

    def _indent(self, count: int, pitch: int) -> int:
        return max(0, (self.size.width - count * pitch - 1) // 2)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Three rows a band."""
        each, _ = self._bands(width)
        return ROWS * max(1, -(-len(self.cards) // each))

    def render(self) -> Text:
        """Bands of cards."""
        each, pitch = self._bands(self.size.width)
        lines = []
        for start in range(0, len(self.cards), each):
            places = range(start, min(start + each, len(self.cards)))
            indent = " " * self._indent(len(places), pitch)
            rows = [Text(indent) for _ in range(ROWS)]
            for place in places:
                for row, cell in zip(rows, self._card(place, pitch), strict=True):
                    row.append_text(cell)
            self._close(rows, places[-1])
            lines += rows
        return Text("\n", no_wrap=True).join(lines)

    def _card(self, place: int, pitch: int) -> tuple[Text, Text, Text]:
        """A card, top to bottom: raised, or lying with a mark above."""
        card, up = self.cards[place], place in self.chosen
        rank, suit = self.look.corner(card)
        bright = up or not self._lit or place in self._usable
        style = (FACE_RED if is_red(card) else FACE) if bright else FACE_DIM
        under = Style(underline=place == self.cursor, reverse=place == self.cursor)
        faces = tuple(
            Text.assemble(("│", style), (_fit(part, pitch - 1), Style.parse(style) + under)) for part in (rank, suit)
        )
        if up:
            return faces[0], faces[1], Text(_fit("▲", pitch, 1), GOLD)
        mark = "•" if self._lit and place in self._usable else ""
        return Text(_fit(mark, pitch, 1), GOLD), faces[0], faces[1]

    def _close(self, rows: list[Text], last: int) -> None:
        """The right edge of the last card."""
        up = last in self.chosen
        bright = up or not self._lit or last in self._usable
        for row in rows[:2] if up else rows[1:]:
            row.append("│", FACE if bright else FACE_DIM)


def _named(card: str, rank: str, suit: str) -> bool:
    if card in JOKERS or rank in JOKERS:
        return card == rank
    return card[1] == rank and suit in ("", card[0])


def _fit(text: str, cells: int, indent: int = 0) -> str:
    """Text in so many cells: a Chinese character takes two."""
    return " " * indent * bool(text) + text + " " * (cells - cell_len(text) - indent * bool(text))
