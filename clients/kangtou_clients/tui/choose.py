"""Small questions: one of several actions, yes or no, a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

CSS = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: auto; min-width: 34; max-width: 90%; height: auto; max-height: 90%; overflow: hidden;
    border: round $secondary; background: $surface; padding: 0 1;
}}
{name} OptionList {{
    width: auto; min-width: 32; height: auto; max-height: 16; border: none; background: $surface; padding: 0;
}}
{name} OptionList:focus {{ border: none; }}
{name} .title {{ text-style: bold; padding: 0 1; }}
"""


class Choose(ModalScreen[int | None]):
    """Which of these lines; None: none. `start` is highlighted; digits choose at once."""

    DEFAULT_CSS = CSS.format(name="Choose")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("backspace", "dismiss(None)", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Text | str], start: int = 0) -> None:
        super().__init__()
        self._title, self._lines, self._start = title, tuple(lines), start

    def compose(self) -> ComposeResult:
        """A list."""
        with Vertical():
            yield Static(self._title, classes="title", markup=False)
            rows = [Text(f"{number:>2}  ").append_text(_text(line)) for number, line in enumerate(self._lines, 1)]
            yield OptionList(*(Option(row) for row in rows), markup=False)

    def on_mount(self) -> None:
        """The keys go to the list."""
        options = self.query_one(OptionList)
        options.highlighted = self._start
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Chosen."""
        self.dismiss(event.option_index)

    def key_digit(self, number: int) -> None:
        """A short list is chosen from by number."""
        if 0 < number <= len(self._lines) <= 9:
            self.dismiss(number - 1)

    def on_key(self, event: object) -> None:
        """Digits."""
        key = getattr(event, "key", "")
        if key.isdigit():
            self.key_digit(int(key))


class Ask(ModalScreen[str | None]):
    """A line to type; None: never mind."""

    DEFAULT_CSS = CSS.format(name="Ask") + "Ask Input { width: 40; border: none; height: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        """A question and a line."""
        with Vertical():
            yield Static(self._title, classes="title", markup=False)
            yield Input(compact=True, max_length=64)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        self.dismiss(event.value.strip() or None)


def _text(line: Text | str) -> Text:
    return line if isinstance(line, Text) else Text(line)
