"""A progress bar for people: on a terminal's error stream, and nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..screen import Screen
from .common import Common

Advance = Callable[[str, int, int], None]  # what, done, of so many (0: not known)


@contextmanager
def bar(common: Common) -> Iterator[Advance]:
    """A function that shows how far one thing after another has come; it begins anew when `what` changes."""
    console = Screen(stderr=True, no_color=not common.colour)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=common.json or not console.is_terminal) as shown:
        task = shown.add_task("", total=None)
        current = ""

        def advance(what: str, done: int, total: int) -> None:
            nonlocal current
            if what != current:
                current = what
                shown.reset(task, description=what)
            shown.update(task, completed=done, total=total or None)

        yield advance
