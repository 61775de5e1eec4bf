"""Events common to all games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..cards import Cards, Seat
from ..events import Event, PublicEvent


@dataclass(frozen=True, slots=True)
class LotDrawn(PublicEvent):
    """One drawing of the lot: a card for each seat still tied, in seat order. CM-2."""

    draws: Cards
    highest: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundBegan(Event):
    """A round begins with its shuffle; holds all that carries over. CM-1.2, CM-3, CM-5.5."""

    round: int
    deals: int
    dealer: Seat | None
    first: Seat
    scores: tuple[int, ...]
    lot: tuple[Cards, ...]
    last_round: Mapping[str, Any] | None
    carry: Mapping[str, Any]
    pile: Cards | None

    def seen_by(self, seat: Seat | None) -> RoundBegan:
        """All but the order of the pile. CM-12.2."""
        return RoundBegan(
            round=self.round,
            deals=self.deals,
            dealer=self.dealer,
            first=self.first,
            scores=self.scores,
            lot=self.lot,
            last_round=self.last_round,
            carry=self.carry,
            pile=None,
        )


@dataclass(frozen=True, slots=True)
class PileCut(PublicEvent):
    """The dealer's 上家 has cut N cards. CM-4.1."""

    seat: Seat
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored(PublicEvent):
    """The round has ended: points, results, the hands as they were at its end. CM-5.2, CM-5.4."""

    points: tuple[int, ...]
    next_dealer: Seat | None
    hands: tuple[Cards, ...]
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voided(PublicEvent):
    """The round is void: it is dealt again under the same number. DZ-2.1."""

    next_dealer: Seat
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BetweenOpened(PublicEvent):
    """The seats are asked whether to go on. CM-6.1."""


@dataclass(frozen=True, slots=True)
class Answered(PublicEvent):
    """A seat's answer in `between`. CM-6.1."""

    seat: Seat
    answer: str


@dataclass(frozen=True, slots=True)
class TimedOut(PublicEvent):
    """The table acts for this seat: its default action follows. CM-8."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class MatchOver(PublicEvent):
    """The match has ended. CM-7."""

    scores: tuple[int, ...]
    places: tuple[int, ...]


COMMON: tuple[type[Event], ...] = (
    LotDrawn,
    RoundBegan,
    PileCut,
    Scored,
    Voided,
    BetweenOpened,
    Answered,
    TimedOut,
    MatchOver,
)
