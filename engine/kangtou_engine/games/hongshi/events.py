"""What can happen in a round of Hongshi."""

from __future__ import annotations

from dataclasses import dataclass

from ...cards import Cards, Seat, hidden
from ...events import Event, PublicEvent


@dataclass(frozen=True, slots=True)
class Dealt(Event):
    """The pile is dealt. HS-3.4."""

    hands: tuple[Cards, ...]

    def seen_by(self, seat: Seat | None) -> Dealt:
        """One's own hand only. HS-13.2."""
        return Dealt(tuple(hand if owner == seat else hidden(len(hand)) for owner, hand in enumerate(self.hands)))


@dataclass(frozen=True, slots=True)
class RevealPassed(PublicEvent):
    """A seat shows nothing now. HS-4.3."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Revealed(PublicEvent):
    """A seat shows red tens (HS-4.3) or, all four, its four tens (HS-10.4)."""

    seat: Seat
    cards: Cards


@dataclass(frozen=True, slots=True)
class LightningDeclared(PublicEvent):
    """A seat shows all four tens and has won the round. HS-10.2."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class PlayBegan(PublicEvent):
    """The window is closed; this seat leads. HS-4.5, HS-6.1, HS-6.2 (`opening`)."""

    seat: Seat
    opening: bool


@dataclass(frozen=True, slots=True)
class Played(PublicEvent):
    """A seat lays down a combination, perhaps its last cards. HS-6, HS-7.1."""

    seat: Seat
    cards: Cards
    as_ten: bool | None = None


@dataclass(frozen=True, slots=True)
class Passed(PublicEvent):
    """A seat does not beat the play. HS-6.4."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class TrickWon(PublicEvent):
    """All others have passed: `seat` made the unbeaten play, `leader` leads next. HS-6.6, HS-7.2, HS-7.3."""

    seat: Seat
    leader: Seat


@dataclass(frozen=True, slots=True)
class RoundShown(PublicEvent):
    """The round is over: sides, hands as dealt, everything that was laid down (() is a pass). HS-13.5.

    `as_ten` are the places in `laid` of plays in the low meaning.
    """

    up: tuple[int, ...]
    dealt: tuple[Cards, ...]
    seats: tuple[int, ...]
    laid: tuple[Cards, ...]
    as_ten: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Penalized(PublicEvent):
    """The scorer takes points for table talk. HS-11.2."""

    seat: Seat
    points: int


EVENTS: tuple[type[Event], ...] = (
    Dealt,
    RevealPassed,
    Revealed,
    LightningDeclared,
    PlayBegan,
    Played,
    Passed,
    TrickWon,
    RoundShown,
    Penalized,
)
