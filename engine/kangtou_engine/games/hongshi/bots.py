"""Bots that see only their view."""

from __future__ import annotations

from ...actions import Action
from ...cards import Seat
from ...game import Legal, Pick, TooMany
from .deal import pack
from .state import Hongshi


def random(view: Hongshi, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """Any legal action, all alike. Of a list too long (the cut) any number."""
    if isinstance(legal, TooMany):
        return Action("cut", (str(1 + pick(len(pack(view.config)) - 1)),))
    return legal[pick(len(legal))]


def greedy(view: Hongshi, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """For now like random."""
    return random(view, seat, legal, pick)
