"""A small box over the lobby: a text, and buttons in rows."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Grid, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from .inside import Inside

T = TypeVar("T")


class Dialog(Inside[T], ModalScreen[T], Generic[T]):
    """`BUTTONS` by their ids, which are words of the catalogue too: `button.ready`."""

    BUTTONS: ClassVar[tuple[str, ...]] = ()
    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > Vertical {
        width: 68; height: auto; max-height: 94%; border: round $secondary; background: $surface; padding: 1 2;
    }
    Dialog Static { height: auto; margin-bottom: 1; }
    Dialog #buttons { grid-size: 4; grid-rows: 1; grid-columns: auto; height: auto; }
    Dialog Button { width: auto; }
    Dialog Input { margin-bottom: 1; }
    """

    _dismissed = False

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Once, with what lies over it; Textual takes the uppermost screen, be it this one or not."""
        if self._dismissed or self not in self.app.screen_stack:
            return AwaitComplete()
        self._dismissed = True
        while not self.is_active:
            self.app.pop_screen()
        return super().dismiss(result)

    def compose(self) -> ComposeResult:
        """The text, what a dialog has between, the buttons."""
        with Vertical():
            yield Static(id="text", markup=False)
            yield from self.between()
            with Grid(id="buttons"):
                for name in self.BUTTONS:
                    yield Button(id=name, compact=True)

    def between(self) -> ComposeResult:
        """Nothing, unless a dialog has more."""
        yield from ()

    def offer(self, names: set[str]) -> None:
        """Show these buttons, in the language of now."""
        for name in self.BUTTONS:
            button = self.query_one(f"#{name}", Button)
            button.label = self.look.say(f"button.{name}")
            button.display = name in names
