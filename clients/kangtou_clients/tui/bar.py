"""The line of actions: what can be done now, with a click, or with Tab, arrows and Enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from kangtou_engine.actions import Action

MANY = 5  # bare actions of one verb that are listed one by one


class Item:
    """One thing to do: an action, or several of one verb to choose from."""

    def __init__(self, label: str, actions: Sequence[Action]) -> None:
        self.label, self.actions = label, tuple(actions)


class Bar(Widget):
    """Posts Chosen."""

    can_focus = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("enter", "press", show=False),
        Binding("space", "press", show=False),
    ]
    DEFAULT_CSS = """
    Bar { height: 1; width: 100%; padding: 0 1; }
    """

    class Chosen(Message):
        """Do this."""

        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    def __init__(self) -> None:
        super().__init__()
        self.items: tuple[Item, ...] = ()
        self.at = 0

    def show(self, items: Sequence[Item], at: int = 0) -> None:
        """Other things to do."""
        self.items = tuple(items)
        self.at = min(at, max(0, len(self.items) - 1))
        self.refresh()

    def action_move(self, step: int) -> None:
        """To another item."""
        if self.items:
            self.at = (self.at + step) % len(self.items)
            self.refresh()

    def action_press(self) -> None:
        """Do it."""
        if self.items:
            self.post_message(self.Chosen(self.items[self.at]))

    def on_click(self, event: Click) -> None:
        """The item that was clicked."""
        for place, (start, end) in enumerate(self._spans()):
            if start <= event.x - 1 < end:
                self.at = place
                self.action_press()

    def _spans(self) -> list[tuple[int, int]]:
        """From which cell to which each item is drawn; the line is moved so that the chosen one is seen."""
        spans, end = [], 0
        for item in self.items:
            start, end = end, end + cell_len(item.label) + 4
            spans.append((start, end - 1))
        width = self.size.width - 2
        over = spans[self.at][1] - width if spans else 0
        shift = max(0, over)
        return [(start - shift, end - shift) for start, end in spans]

    def render(self) -> Text:
        """The items in a row."""
        text = Text(no_wrap=True, overflow="ellipsis")
        for place, item in enumerate(self.items):
            here = place == self.at
            style = "bold #10241c on #ffd75f" if here and self.has_focus else "bold #f4f0e6 on #2f6b52" if here else ""
            text.append(f"[{item.label}]" if here else f" {item.label} ", style or "#f4f0e6 on #24493b")
            text.append("  ")
        spans = self._spans()
        if spans and spans[0][0] < 0:
            text = _cut(text, -spans[0][0])
        return text


def _cut(text: Text, cells: int) -> Text:
    """Without its first cells."""
    kept, gone = 0, 0
    for kept, character in enumerate(text.plain):  # noqa: B007 - how many characters that is
        if gone >= cells:
            break
        gone += cell_len(character)
    shown = text[kept:]
    shown.no_wrap = True
    return shown
