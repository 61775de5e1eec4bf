"""Events of a round. Those that are not public say what a seat may know of them. DZ-12."""

from __future__ import annotations

from dataclasses import dataclass

from ...cards import HIDDEN, Card, Cards, Seat, hidden
from ...events import Event, PublicEvent
from .options import SEATS


@dataclass(frozen=True, slots=True)
class Drawn(Event):
    """The next cards, in turn from seat `first`; with the last of the 48 the kitty is left. DZ-3.1, DZ-3.2."""

    first: Seat
    cards: Cards
    kitty: Cards | None

    def seen_by(self, seat: Seat | None) -> Drawn:
        """A drawn card is seen by its seat only, the kitty by nobody. DZ-12.1."""
        first = self.first
        seen = tuple(card if (first + place) % SEATS == seat else HIDDEN for place, card in enumerate(self.cards))
        return Drawn(first, seen, None if self.kitty is None else hidden(len(self.kitty)))


@dataclass(frozen=True, slots=True)
class Waited(PublicEvent):
    """A seat does not declare in this window. DZ-3.2."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Declared(PublicEvent):
    """A level card is shown: its suit is trumps; in round 1 the seat becomes dealer. DZ-3.4."""

    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class DealerFound(PublicEvent):
    """Nobody declared in round 1: the first drawer becomes dealer. DZ-3.5."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class PhaseOpened(PublicEvent):
    """`way`, `sink`, `snatch` or `recover` begins and its seats are asked. DZ-2.2."""

    phase: str


@dataclass(frozen=True, slots=True)
class RedealOpened(Event):
    """The defenders are asked whether the round is void; claimable if neither holds a level card. DZ-3.6."""

    dealer: Seat
    claimable: bool | None

    def seen_by(self, seat: Seat | None) -> RedealOpened:
        """The defenders' legal actions tell them; nobody else is told. DZ-12.4."""
        down = seat is not None and (seat - self.dealer) % 2 == 1
        return self if down else RedealOpened(self.dealer, None)


@dataclass(frozen=True, slots=True)
class Passed(PublicEvent):
    """A seat passes in `redeal`, `sink`, `snatch` or `recover`. DZ-11.1."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class RedealClaimed(PublicEvent):
    """A defender makes the round void. DZ-3.6."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class WayChosen(PublicEvent):
    """The dealer's 下家 chose how the suit is fixed. DZ-3.7."""

    seat: Seat
    kind: str


@dataclass(frozen=True, slots=True)
class Picked(PublicEvent):
    """The dealer picked an end (DZ-3.9) or a position (DZ-3.10) of the kitty."""

    seat: Seat
    end: str | None
    pos: int | None


@dataclass(frozen=True, slots=True)
class TiedShown(PublicEvent):
    """Several kitty cards are highest (lowest); with none the kitty has no card that counts. DZ-3.9."""

    cards: Cards


@dataclass(frozen=True, slots=True)
class SuitFixed(PublicEvent):
    """The trump suit is fixed without a declaration. DZ-3.7–3.10."""

    suit: str


@dataclass(frozen=True, slots=True)
class KittyOpened(PublicEvent):
    """The kitty is shown to all, and the dealer takes it. DZ-5.1, DZ-5.3."""

    cards: Cards


@dataclass(frozen=True, slots=True)
class KittyLost(PublicEvent):
    """嘎巴锅: the kitty is shown to all and put aside as it is. DZ-5.1, DZ-5.2."""

    cards: Cards


@dataclass(frozen=True, slots=True)
class Buried(PublicEvent):
    """The dealer put six cards aside, some perhaps announced. DZ-5.3, DZ-5.5, DZ-5.6."""

    seat: Seat
    cards: Cards
    announced: Cards


@dataclass(frozen=True, slots=True)
class Sunk(PublicEvent):
    """The partner buried jokers for the lowest of the six. DZ-5.7."""

    seat: Seat
    jokers: Cards
    took: Cards


@dataclass(frozen=True, slots=True)
class Snatched(PublicEvent):
    """A seat took buried trumps for cards of its hand. DZ-6.3."""

    seat: Seat
    took: Cards
    gave: Cards


@dataclass(frozen=True, slots=True)
class Annulled(PublicEvent):
    """Table talk: the burying of jokers of this round has no effect. DZ-5.9."""


@dataclass(frozen=True, slots=True)
class PlayBegan(Event):
    """Play begins and the buried six are turned down.

    kept: whether who has this event keeps sight of them; the table does, nobody else. DZ-12.3.
    """

    leader: Seat
    kept: bool

    def seen_by(self, seat: Seat | None) -> PlayBegan:
        """A view no longer offers the six. DZ-12.3."""
        return PlayBegan(self.leader, False)


@dataclass(frozen=True, slots=True)
class Played(PublicEvent):
    """A lead of one card, or a play that follows. DZ-7.1, DZ-7.2."""

    seat: Seat
    cards: Cards


@dataclass(frozen=True, slots=True)
class ThrowStood(Played):
    """甩: a lead of several cards of one suit that nobody can beat. DZ-7.3."""


@dataclass(frozen=True, slots=True)
class FourPlayed(Played):
    """嗡, led or played on one (对嗡). DZ-7.6, DZ-7.9."""


@dataclass(frozen=True, slots=True)
class ThrowFailed(PublicEvent):
    """A throw that somebody can beat: all have seen it, its smallest card is led. DZ-7.3."""

    seat: Seat
    thrown: Cards
    card: Card


@dataclass(frozen=True, slots=True)
class TrickWon(Event):
    """A trick is won and turned down; kept as in PlayBegan. DZ-7.4–7.9, DZ-12.3."""

    seat: Seat
    kept: bool

    def seen_by(self, seat: Seat | None) -> TrickWon:
        """A view no longer offers the trick. DZ-12.3."""
        return TrickWon(self.seat, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShown(PublicEvent):
    """The round has ended: the six and the tricks may be looked through. DZ-12.2, CM-5.4."""

    kitty: Cards
    buried: Cards
    announced: Cards
    sunk: Cards
    leaders: tuple[int, ...]
    plays: tuple[Cards, ...]


@dataclass(frozen=True, slots=True)
class BuriedCounted(PublicEvent):
    """Option `bury_points`: point cards of the buried six go to the defenders. DZ-13.13."""

    cards: Cards


@dataclass(frozen=True, slots=True)
class LevelsSet(PublicEvent):
    """Levels by side after the round, as texts, and the pending 回龙 (its side and level) if there is one. DZ-9."""

    levels: tuple[str, ...]
    side: int | None
    level: str | None


@dataclass(frozen=True, slots=True)
class Recovered(PublicEvent):
    """回龙: the side returns to its pending level. DZ-9.13."""

    seat: Seat
    level: str


EVENTS: tuple[type[Event], ...] = (
    Drawn,
    Waited,
    Declared,
    DealerFound,
    PhaseOpened,
    RedealOpened,
    Passed,
    RedealClaimed,
    WayChosen,
    Picked,
    TiedShown,
    SuitFixed,
    KittyOpened,
    KittyLost,
    Buried,
    Sunk,
    Snatched,
    Annulled,
    PlayBegan,
    Played,
    ThrowStood,
    FourPlayed,
    ThrowFailed,
    TrickWon,
    TableShown,
    BuriedCounted,
    LevelsSet,
    Recovered,
)
