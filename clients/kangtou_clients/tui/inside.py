"""What every screen of the program has at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from textual import on
from textual.messages import Prune
from textual.screen import Screen

from .look import Look

if TYPE_CHECKING:
    from .app import Play

T = TypeVar("T")


class Inside(Screen[T], Generic[T]):
    """A screen that knows its program and the language of now."""

    @property
    def play(self) -> Play:
        """The program."""
        app: Play = self.app  # type: ignore[assignment]
        return app

    @property
    def look(self) -> Look:
        """Language and glyphs of now."""
        return self.play.look

    @on(Prune)
    def _goes(self) -> None:
        """Before its widgets go: work in the background would look for them in vain."""
        self.workers.cancel_node(self)
