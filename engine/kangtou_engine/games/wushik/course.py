"""What follows by itself: going out, the end of trick, round and match, the score. WK-6.4 … WK-6.10, WK-12."""

from __future__ import annotations

from ...cards import Seat
from ...events import Event
from ...match.events import Scored
from ...match.state import Config
from . import announce
from .events import TrickWon, WentOut
from .scoring import RoundEnd
from .state import Round, WushikState, next_with_cards, points_of
from .variants import ALL


def automatic(state: WushikState) -> tuple[Event, ...]:
    """The next event that is due, () if a seat is waited for."""
    if state.phase == "play":
        return _after_move(state)
    return announce.automatic(state) if state.phase == "show" else ()


def _after_move(state: WushikState) -> tuple[Event, ...]:
    own = state.game
    trick = own.trick
    if trick is None:
        return (scored(state),) if round_over(state.config, own) else ()
    if not own.hands[trick.by] and trick.by not in own.tally.out:
        return (WentOut(trick.by, len(own.tally.out) + 1),)  # WK-6.5
    if not trick.passed and own.tally.out and round_over(state.config, own):
        return (TrickWon(trick.by, trick.points, None),)  # WK-6.8
    if own.turn == trick.by or len(trick.passed) >= _others(own, trick.by):
        return (TrickWon(trick.by, trick.points, next_leader(state, trick.by)),)  # WK-6.4
    return ()


def _others(own: Round, seat: Seat) -> int:
    """How many other seats still have cards."""
    return len(own.hands) - own.hands.count(()) - (1 if own.hands[seat] else 0)


def round_over(config: Config, own: Round) -> bool:
    """Whether both seats of a side are out; without sides, whether only one seat has cards. WK-6.7."""
    out = own.tally.out
    if not ALL[config.options.variant].partners:
        return len(out) >= config.seats - 1
    return any((seat + 2) % 4 in out for seat in out)


def sides(config: Config) -> tuple[tuple[Seat, ...], ...]:
    """Seats 0 and 2 against 1 and 3; in a variant without sides each for itself. WK-1.1."""
    return ((0, 2), (1, 3)) if ALL[config.options.variant].partners else ()


def next_leader(state: WushikState, winner: Seat) -> Seat:
    """Who leads after this seat has won a trick. WK-6.4, WK-6.5."""
    hands = state.game.hands
    if hands[winner]:
        return winner
    partner = (winner + 2) % 4
    with_partner = ALL[state.config.options.variant].partners and state.config.options.wind == "partner"
    return partner if with_partner and hands[partner] else next_with_cards(hands, winner)  # WK-14.6


# ---- the score ----


def scored(state: WushikState) -> Scored:
    """The score of the round that has ended, and the next dealer. WK-6.9, WK-2.3."""
    own = state.game
    variant = ALL[state.config.options.variant]
    left = tuple(map(points_of, own.hands))
    end = RoundEnd(own.tally.out, own.tally.captured, left, state.config.options.caught)
    made = variant.score(end)
    return Scored(
        points=made.gain,
        next_dealer=end.out[0] if variant.first_out_deals else end.holders[0],
        hands=own.hands,
        result={
            "round": state.sheet.round,
            "dealer": state.sheet.dealer,
            "ending": made.ending,
            "out": end.out,
            "captured": end.captured,
            "left": left,
            "round_points": made.points,
            "gain": made.gain,
            "round_winner": made.winner,
        },
    )


def is_over(state: WushikState) -> bool:
    """Whether the match ends with this score. WK-12.2 … WK-12.4."""
    options, scores = state.config.options, state.sheet.scores
    if options.rounds and state.sheet.round >= options.rounds:
        return True
    each = scores[:2] if ALL[options.variant].partners else scores
    best = max(each)
    return bool(options.target) and best >= options.target and each.count(best) == 1


def winners(state: WushikState) -> tuple[Seat, ...] | None:
    """The seats with the highest score when the match is over. WK-12.5."""
    if state.phase != "over":
        return None
    best = max(state.sheet.scores)
    return tuple(seat for seat, score in enumerate(state.sheet.scores) if score == best)
