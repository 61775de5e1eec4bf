"""A console for text of others. Whatever is printed with rich is printed on one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from .visible import visible


class Screen(Console):
    """A console for text of others: no markup is looked for in it, and it steers nothing."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"markup": False, "highlight": False, "emoji": False, **given})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """rich."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)
