"""Score sheet and log, as pages over the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from kangtou_engine.match.match import AnyState, Game

from ..desk.history import History, Row
from .look import FAINT, Look

Write: TypeAlias = Callable[[Look], tuple[str, Text]]


class Page(ModalScreen[None]):
    """A titled text that scrolls. `write` gives title and text; it is asked again when the language changes."""

    DEFAULT_CSS = """
    Page { align: center middle; }
    Page > Vertical { width: 96%; height: 94%; border: round $secondary; background: $surface; padding: 0 1; }
    Page .title { text-style: bold; height: 1; }
    Page .foot { color: $text-muted; height: 1; }
    Page VerticalScroll { height: 1fr; }
    Page VerticalScroll Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("backspace", "dismiss(None)", show=False),
        Binding("v", "dismiss(None)", show=False),
        Binding("e", "dismiss(None)", show=False),
        Binding("question_mark", "dismiss(None)", show=False),
    ]

    def __init__(self, write: Write, look: Callable[[], Look], *, end: bool = False) -> None:
        super().__init__()
        self._write, self._look, self._end = write, look, end

    def compose(self) -> ComposeResult:
        """Title, text, foot."""
        with Vertical():
            yield Static(classes="title", markup=False)
            with VerticalScroll():
                yield Static(id="text", markup=False)
            yield Static(classes="foot", markup=False)

    def on_mount(self) -> None:
        """The keys scroll."""
        self.relabel()
        scroll = self.query_one(VerticalScroll)
        scroll.focus()
        if self._end:
            self.call_after_refresh(scroll.scroll_end, animate=False)

    def relabel(self) -> None:
        """In the language of now."""
        title, text = self._write(self._look())
        self.query_one(".title", Static).update(title)
        self.query_one("#text", Static).update(text)
        self.query_one(".foot", Static).update(self._look().say("back"))


def score_page(history: History, view: AnyState) -> Write:
    """A line a round, then the totals."""

    def write(look: Look) -> tuple[str, Text]:
        names = [look.seat(seat)[:10] for seat in range(view.config.seats)]
        rows: list[Sequence[str]] = [[look.say("round"), *names]]
        rows += [_cells(row, look) for row in history.rows]
        rows.append([look.say("total"), *map(str, view.sheet.scores)])
        return look.say("sheet"), _columns(rows)

    return write


def _cells(row: Row, look: Look) -> Sequence[str]:
    if row.points is None:
        return [look.say("before"), *map(str, row.totals)]
    pairs = zip(row.points, row.totals, strict=True)
    return [str(row.round), *(f"{points:+d} → {total}" for points, total in pairs)]


def _columns(rows: Sequence[Sequence[str]]) -> Text:
    """Cells in columns; Chinese takes two cells a character."""
    texts = [[Text(cell) for cell in row] for row in rows]
    widths = [max(row[column].cell_len for row in texts) for column in range(len(texts[0]))]
    lines = []
    for number, row in enumerate(texts):
        style = "bold" if number in (0, len(texts) - 1) else ""
        padded = [_padded(cell, width) for cell, width in zip(row, widths, strict=True)]
        lines.append(Text("  ", style).join(padded))
    rule = Text("─" * (sum(widths) + 2 * len(widths) - 2), FAINT)
    return Text("\n").join([lines[0], rule, *lines[1:-1], rule, lines[-1]])


def _padded(cell: Text, width: int) -> Text:
    return Text(" " * (width - cell.cell_len)).append_text(cell)


def log_page(game: Game, history: History) -> Write:
    """What this client received, as far as the book lets one look back."""

    def write(look: Look) -> tuple[str, Text]:
        lines: list[Text] = []
        for told in history.shown():
            if isinstance(told, str):
                lines.append(Text(look.say("covered", rule=told), f"italic {FAINT}"))
                continue
            lines += [look.line(line) for line in look.render.event(game, told.event, history.config)]
        return look.say("log"), Text("\n").join(lines) if lines else Text(look.say("log.empty"))

    return write


def help_page(*codes: str) -> Write:
    """Texts of the catalogue, one after the other."""

    def write(look: Look) -> tuple[str, Text]:
        return look.say("help"), Text("\n\n".join(look.say(code) for code in codes))

    return write
