"""The second rules version of Parrot: the lowest card wins a trick."""

from __future__ import annotations

from dataclasses import replace

from kangtou_engine.cards import ORDER
from kangtou_engine.events import Event
from kangtou_engine.match.state import State

from . import parrot


def _automatic(state: State[parrot.Own]) -> tuple[Event, ...]:
    found, own = parrot.GAME.automatic(state), state.game
    if not any(isinstance(event, parrot.TrickWon) for event in found):
        return found
    lowest = min(range(len(own.trick)), key=lambda place: ORDER[own.trick[place]])
    return (parrot.TrickWon((own.leader + lowest) % state.config.seats),)


GAME = replace(parrot.GAME, version=2, automatic=_automatic)
