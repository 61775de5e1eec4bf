"""What can happen in a round. EB-4 to EB-9.

A card that goes into the closed discard pile is told to the table alone (`covered`, `under`, `row`), so that a seat's
view does not keep past discards (EB-11.3). With the option `open_discards` the fold does not need to be told.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...cards import HIDDEN, Card, Cards, Seat, hidden
from ...events import Event, PublicEvent


@dataclass(frozen=True, slots=True)
class Dealt(Event):
    """Hands and stock of a new round. EB-2.5."""

    dealer: Seat
    hands: tuple[Cards, ...]
    stock: Cards

    def seen_by(self, seat: Seat | None) -> Dealt:
        """One's own hand. EB-11.2."""
        hands = tuple(hand if owner == seat else hidden(len(hand)) for owner, hand in enumerate(self.hands))
        return Dealt(self.dealer, hands, hidden(len(self.stock)))


@dataclass(frozen=True, slots=True)
class TurnBegan(PublicEvent):
    """The next seat is in turn. EB-4.7."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class SevenShown(PublicEvent):
    """A seven opens the run of its suit. EB-5.2."""

    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class Extended(PublicEvent):
    """A card (`D8` or `BJ=D8`) is attached to the run of its suit. EB-5.3."""

    seat: Seat
    card: str


@dataclass(frozen=True, slots=True)
class Locked(PublicEvent):
    """Two cards are laid across an end of a run. EB-5.4."""

    seat: Seat
    cards: Cards
    run: str


@dataclass(frozen=True, slots=True)
class Melded(PublicEvent):
    """A set is laid down. EB-5.5."""

    seat: Seat
    cards: Cards


@dataclass(frozen=True, slots=True)
class Lifted(Event):
    """The fourth card takes its group away; all four go under the discard pile. EB-5.6, EB-11.3."""

    seat: Seat
    card: str
    under: Cards

    def seen_by(self, seat: Seat | None) -> Lifted:
        """Which group it was is seen; the pile stays closed."""
        return Lifted(self.seat, self.card, hidden(len(self.under)))


@dataclass(frozen=True, slots=True)
class ExtraNoted(PublicEvent):
    """A penalty: `dead_black` (for the joker that named `card`) or `follow`. EB-9.5."""

    seat: Seat
    points: int
    reason: str
    card: Card


@dataclass(frozen=True, slots=True)
class Drawn(Event):
    """The top card of the stock is taken. EB-4.3."""

    seat: Seat
    card: Card

    def seen_by(self, seat: Seat | None) -> Drawn:
        """The card is seen by who drew it. EB-11.2."""
        return self if seat == self.seat else Drawn(self.seat, HIDDEN)


@dataclass(frozen=True, slots=True)
class Discarded(Event):
    """A card is laid openly on the discard pile and covers the one before. EB-4.5, EB-11.3."""

    seat: Seat
    card: Card
    covered: Card | None
    row: Cards

    def seen_by(self, seat: Seat | None) -> Discarded:
        """The card, not what is under it."""
        return Discarded(self.seat, self.card, None if self.covered is None else HIDDEN, ())


@dataclass(frozen=True, slots=True)
class Kept(PublicEvent):
    """A seat without a plain card keeps all. EB-4.6."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Dumped(Event):
    """A black card goes, then the top card of the stock is taken. EB-6.6."""

    seat: Seat
    card: Card
    covered: Card | None
    drawn: Card

    def seen_by(self, seat: Seat | None) -> Dumped:
        """The new card is seen by who drew it; nobody sees what is covered. EB-11.2."""
        covered = None if self.covered is None else HIDDEN
        return Dumped(self.seat, self.card, covered, self.drawn if seat == self.seat else HIDDEN)


@dataclass(frozen=True, slots=True)
class Ponged(PublicEvent):
    """Two cards take the discard: a set, and the turn. EB-7.3, EB-7.5."""

    seat: Seat
    cards: Cards
    discard: Card


@dataclass(frozen=True, slots=True)
class Passed(PublicEvent):
    """An answer in the window. EB-7.1."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Settled(PublicEvent):
    """The seat ends the round. EB-8.1."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class PileOpened(PublicEvent):
    """The round is over and the discard pile is turned up, from bottom to top. EB-11.5."""

    cards: Cards


EVENTS: tuple[type[Event], ...] = (
    Dealt,
    TurnBegan,
    SevenShown,
    Extended,
    Locked,
    Melded,
    Lifted,
    ExtraNoted,
    Drawn,
    Discarded,
    Kept,
    Dumped,
    Ponged,
    Passed,
    Settled,
    PileOpened,
)
