"""Matches in positions that the tests of the table need."""

from __future__ import annotations

from typing import Any

from kangtou_engine.cards import Seat
from kangtou_engine.notation import read_body
from tests.services.tables import (
    HONGSHI,
    PLAIN,
    Played,
)


def hongshi(**more: Any) -> Played:
    """A match in its reveal window."""
    return Played.begun(HONGSHI, {**PLAIN, **more.pop("options", {})}, **more)


def holder(played: Played, card: str) -> Seat:
    """Who holds a card."""
    return next(seat for seat, hand in enumerate(played.table.state.game.hands) if card in hand)


def split_tens(**more: Any) -> tuple[Played, Seat, Seat]:
    """A match in which the red tens are with two seats: HT's and DT's."""
    for number in range(100):
        played = hongshi(match=f"split{number}", **more)
        hearts, diamonds = holder(played, "HT"), holder(played, "DT")
        if hearts != diamonds:
            return played, hearts, diamonds
    raise AssertionError


def bodies(played: Played) -> list[Any]:
    """The log, read."""
    return [read_body(entry.body) for entry in played.entries]
