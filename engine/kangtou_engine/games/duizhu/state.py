"""Duizhu's own state: a few small parts, so that a move replaces one. DZ-12 says who sees which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...cards import HIDDEN, Card, Cards, Seat, hidden, in_order
from ...match.state import Config, State
from .levels import level_rank
from .options import SEATS
from .ranking import Ranking, ranking

ALL: tuple[Seat, ...] = tuple(range(SEATS))
HAND, KITTY = 12, 6  # DZ-1.6, DZ-3.1
DRAWN = SEATS * HAND


@dataclass(frozen=True, slots=True)
class Note:
    """A pending 回龙: the side and the level it may return to. DZ-9.13."""

    side: int
    level: int


@dataclass(frozen=True, slots=True)
class Ladder:
    """Levels by side, the level of the round in play or just ended, a pending 回龙. DZ-1.5, DZ-9.13."""

    levels: tuple[int, ...]
    level: int
    pending: Note | None = None


@dataclass(frozen=True, slots=True)
class Trumps:
    """How the trump suit was found, and what else was fixed before play. All of it is public. DZ-12.1.

    gabaguo is None until the kitty is opened (DZ-5.2); annulled: burying jokers counts for nothing (DZ-5.9).
    """

    suit: str | None = None
    shown_by: Seat | None = None
    shown: Card | None = None
    way: str | None = None
    tied: Cards = ()
    gabaguo: bool | None = None
    annulled: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """Cards that a seat took out of the buried six and put into it. DZ-5.7, DZ-6.3."""

    seat: Seat
    took: Cards
    gave: Cards


@dataclass(frozen=True, slots=True)
class Bottom:
    """The six: as dealt (by position), as buried, and what was said and done with them. DZ-5, DZ-6.

    sunk: buried jokers that count (DZ-5.8). snatchable: DZ-6.1.
    """

    kitty: Cards = ()
    buried: Cards = ()
    announced: Cards = ()
    sunk: Cards = ()
    snatchable: Cards = ()
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Trick:
    """The current trick: plays in order from the leader. thrown: all cards of a throw that failed. DZ-7.3."""

    leader: Seat = 0
    plays: tuple[Cards, ...] = ()
    thrown: Cards = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """The defenders' points, the tricks so far, and (not in views before the end) the closed tricks. DZ-8.1, DZ-12.3.

    leaders, closed: leader of each closed trick; its four plays in order, one trick after the other.
    """

    points: int = 0
    cards: Cards = ()
    tricks: int = 0
    last_winner: Seat | None = None
    leaders: tuple[int, ...] = ()
    closed: tuple[Cards, ...] = ()


@dataclass(frozen=True, slots=True)
class Own:
    """A round of Duizhu.

    window     the seats that are asked and have not answered, in every phase but `play`
    claimable  in `redeal`, whether a redeal may be claimed; the defenders alone see it (DZ-3.6, DZ-12.4)
    """

    hands: tuple[Cards, ...]
    window: tuple[Seat, ...]
    drawn: int
    trick: Trick
    tally: Tally
    ladder: Ladder
    trumps: Trumps
    bottom: Bottom
    claimable: bool | None = None

    def with_window(self, window: tuple[Seat, ...], claimable: bool | None = None) -> Own:
        """The same with other seats asked."""
        return Own(
            self.hands, window, self.drawn, self.trick, self.tally, self.ladder, self.trumps, self.bottom, claimable
        )

    def with_trick(self, hands: tuple[Cards, ...], trick: Trick) -> Own:
        """The same after a play."""
        return Own(hands, self.window, self.drawn, trick, self.tally, self.ladder, self.trumps, self.bottom)


Table: TypeAlias = "State[Own]"


def fresh(config: Config, carry: Mapping[str, Any]) -> Own:
    """Before the deal. Levels and a pending 回龙 carry over (CM-5.5, DZ-9.1, DZ-9.13)."""
    start = config.options.start
    levels = tuple(carry.get("levels", (start, start)))
    pending = carry.get("pending")
    ladder = Ladder(levels, carry.get("level", start), None if pending is None else Note(*pending))
    return Own(((),) * SEATS, (), 0, Trick(), Tally(), ladder, Trumps(), Bottom())


def carry(state: Table) -> Mapping[str, Any]:
    """What the next round begins with: levels, the level it will be played at, a pending 回龙."""
    ladder = state.game.ladder
    dealer = state.sheet.dealer if state.sheet.next_dealer is None else state.sheet.next_dealer
    level = ladder.level if dealer is None else ladder.levels[dealer % 2]
    note = ladder.pending
    pending = None if note is None else (note.side, note.level)
    return {"levels": ladder.levels, "level": level, "pending": pending}


def dealer_of(state: Table) -> Seat:
    """The dealer; before one is known the first drawer. DZ-1.3."""
    dealer = state.sheet.dealer
    return state.sheet.first if dealer is None else dealer


def is_up(state: Table, seat: Seat) -> bool:
    """Whether a seat is of the dealer's side 台上. DZ-1.4."""
    return (seat - dealer_of(state)) % 2 == 0


def rank_now(state: Table) -> str:
    """The rank of the level cards. DZ-4.1."""
    return level_rank(state.game.ladder.level)


def ranking_of(state: Table) -> Ranking:
    """How cards compare in this round, once the trump suit is fixed. DZ-4."""
    own = state.game
    return ranking(own.trumps.suit or "", level_rank(own.ladder.level), state.config.options.suited_high)


def gain(hand: Cards, cards: Cards) -> Cards:
    """A hand with cards taken into it; a hand that is hidden stays so."""
    if HIDDEN in hand:
        return hidden(len(hand) + len(cards))
    return in_order(hand + cards)


def lose(hand: Cards, cards: Cards) -> Cards:
    """A hand without cards it held; of a hidden one as many hidden cards go."""
    if len(cards) == len(hand):
        return ()
    if hand[0] is HIDDEN or hand[0] == HIDDEN:
        return hand[len(cards) :]
    if len(cards) == 1:
        place = hand.index(cards[0])
        return hand[:place] + hand[place + 1 :]
    return tuple([card for card in hand if card not in cards])


def put(hands: tuple[Cards, ...], seat: Seat, hand: Cards) -> tuple[Cards, ...]:
    """All hands with another one for a seat."""
    return (*hands[:seat], hand, *hands[seat + 1 :])
