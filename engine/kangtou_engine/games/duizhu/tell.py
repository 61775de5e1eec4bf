"""Events in words where a template is not enough: what a round came to. DZ-8, DZ-9."""

from __future__ import annotations

from ...events import Event
from ...match.events import Scored, Voided
from ...match.state import Config
from .show import result_line


def tell(event: Event, config: Config, lang: str) -> tuple[str, ...]:
    """The outcome with points, level and last trick."""
    return (result_line(event.result, lang),) if isinstance(event, Scored | Voided) else ()
