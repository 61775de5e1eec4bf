"""What can happen in a round of Wushik."""

from __future__ import annotations

from dataclasses import dataclass

from ...cards import Cards, Seat, hidden
from ...events import Event, PublicEvent
from .combos import Combo


@dataclass(frozen=True, slots=True)
class Dealt(Event):
    """The whole pack is dealt. The order of drawing stays hidden (WK-13.1), its effect is public (WK-13.3).

    `leader` will lead; `drawn`: because this seat first drew the lead card (WK-2.4).
    """

    hands: tuple[Cards, ...]
    leader: Seat
    drawn: bool

    def seen_by(self, seat: Seat | None) -> Dealt:
        """One's own hand and the numbers of the others' cards. CM-12."""
        hands = tuple(hand if owner == seat else hidden(len(hand)) for owner, hand in enumerate(self.hands))
        return Dealt(hands, self.leader, self.drawn)


@dataclass(frozen=True, slots=True)
class Shown(PublicEvent):
    """A seat announces six or more cards of a rank; they become public. WK-10.6, WK-13.4."""

    seat: Seat
    rank: str
    cards: Cards


@dataclass(frozen=True, slots=True)
class ShowPassed(PublicEvent):
    """A seat announces nothing more. WK-6.2."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class PlayOpened(PublicEvent):
    """All have passed in `show`: the play begins. WK-6.2."""

    leader: Seat


@dataclass(frozen=True, slots=True)
class Played(PublicEvent):
    """A play with its reading. WK-3.12, WK-6.3."""

    seat: Seat
    cards: Cards
    combo: Combo


@dataclass(frozen=True, slots=True)
class Passed(PublicEvent):
    """不要. WK-6.3."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class WentOut(PublicEvent):
    """A hand has become empty. WK-6.5."""

    seat: Seat
    place: int


@dataclass(frozen=True, slots=True)
class TrickWon(PublicEvent):
    """The trick is over: its points are captured; `leader` leads next, None at the end of the round. WK-6.4, WK-6.8."""

    seat: Seat
    points: int
    leader: Seat | None


EVENTS: tuple[type[Event], ...] = (Dealt, Shown, ShowPassed, PlayOpened, Played, Passed, WentOut, TrickWon)
