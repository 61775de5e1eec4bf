"""The table in lines of text, from a view."""

from __future__ import annotations

from ...cards import Seat
from .state import Hongshi


def show(view: Hongshi, seat: Seat | None, lang: str) -> tuple[str, ...]:
    """For now the hands."""
    return tuple(" ".join(hand) for hand in view.game.hands)
