"""Phase `show` 亮相: sets of six and more are announced before the first lead. WK-6.2, WK-10.6 … WK-10.9."""

from __future__ import annotations

from ...actions import Action, plain
from ...cards import RANKS, Cards, Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase, TooMany
from .events import PlayOpened, Shown, ShowPassed
from .state import WushikState

LEAST = 6  # WK-10.6


def to_act(state: WushikState) -> tuple[Seat, ...]:
    """Every seat that has not passed. WK-6.2."""
    passed = state.game.announced.passed
    return tuple(seat for seat in range(state.config.seats) if seat not in passed)


def big_sets(hand: Cards) -> dict[str, Cards]:
    """The sets that can be announced, by rank, low to high. WK-5.3."""
    by_rank = {rank: tuple(card for card in hand if card[1] == rank and card not in ("BJ", "RJ")) for rank in RANKS}
    return {rank: cards for rank, cards in by_rank.items() if len(cards) >= LEAST}


def decide(state: WushikState, seat: Seat, action: Action) -> tuple[Event, ...]:
    """WK-7.3."""
    if action.verb == "pass":
        plain(action)
        return (ShowPassed(seat),)
    if action.verb != "show":
        raise IllegalAction("WK-6.2", "unknown_verb", verb=action.verb)
    rank = action.key("rank")
    if action.args or len(action.keys) != 1 or rank is None or len(rank) != 1 or rank not in RANKS:
        raise IllegalAction("WK-5.3", "wants_rank")
    if rank in state.game.announced.ranks[seat]:
        raise IllegalAction("WK-7.3", "shown_already", rank=rank)
    cards = big_sets(state.game.hands[seat]).get(rank)
    if cards is None:
        raise IllegalAction("WK-7.3", "no_big_set", rank=rank, least=LEAST)
    return (Shown(seat, rank, cards),)


def legal(state: WushikState, seat: Seat, limit: int) -> Legal:
    """WK-7.3."""
    ranks = [rank for rank in big_sets(state.game.hands[seat]) if rank not in state.game.announced.ranks[seat]]
    if len(ranks) + 1 > limit:
        return TooMany("WK-7.3", "any_show", {"least": LEAST})
    return (Action("pass"), *(Action("show", (), (("rank", rank),)) for rank in ranks))


def default(state: WushikState, seat: Seat) -> Action:
    """WK-6.6."""
    return Action("pass")


def automatic(state: WushikState) -> tuple[Event, ...]:
    """When the last seat has passed, the play begins. WK-6.2."""
    if len(state.game.announced.passed) < state.config.seats:
        return ()
    return (PlayOpened(state.game.turn),)


PHASE = Phase(to_act, decide, legal, default)
