"""The lot that finds the first dealer. CM-2."""

from __future__ import annotations

from typing import Any

from ..cards import Card, Seat
from ..chance import Chance
from ..events import Event
from ..game import GameSpec
from .events import LotDrawn
from .state import State


def counts(card: Card) -> int:
    """What a drawn card counts: 2–9 its number, a ten 10, every other card 1. CM-2.1."""
    rank = card[1]
    if rank == "T":
        return 10
    return int(rank) if rank.isdigit() else 1


def tied(state: State[Any]) -> tuple[Seat, ...]:
    """The seats that still draw: all at first, then those that were highest each time. CM-2.2."""
    seats = tuple(range(state.config.seats))
    for draws in state.sheet.lot:
        best = max(map(counts, draws))
        seats = tuple(seat for seat, card in zip(seats, draws, strict=True) if counts(card) == best)
    return seats


def draw(spec: GameSpec[Any], state: State[Any], chance: Chance) -> tuple[Event, ...]:
    """The next drawing, () when one seat is highest or the house names the first dealer (EB-2.2)."""
    if state.sheet.dealer is not None:  # EB-2.2
        return ()
    seats = tied(state)
    if len(seats) == 1:
        return ()
    pile = chance.shuffle(spec.pack(state.config), "lot", len(state.sheet.lot) + 1)
    draws = pile[: len(seats)]
    best = max(map(counts, draws))
    highest = tuple(seat for seat, card in zip(seats, draws, strict=True) if counts(card) == best)
    return (LotDrawn(draws, highest),)
