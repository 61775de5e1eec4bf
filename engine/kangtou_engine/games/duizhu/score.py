"""The end of a round: points, outcome, levels, next dealer, end of the match. DZ-8, DZ-9.10–9.14, DZ-10."""

from __future__ import annotations

from ...cards import JOKERS, Cards, Seat, show_cards
from ...events import Event
from ...match.events import Scored
from .events import BuriedCounted, LevelsSet, TableShown
from .levels import ACE, JACK, MADE, STAYS, Knobs, level_text, new_levels
from .options import SEATS
from .ranking import point_cards, points_of
from .state import Note, Table, dealer_of, is_up, ranking_of
from .tricks import won_with_trumps


def score(state: Table) -> tuple[Event, ...]:
    """What a round that is played out brings, in the order of DZ-9.14 (the last trick is counted already)."""
    own = state.game
    buried = _buried_points(state)
    points = own.tally.points + points_of(buried)
    outcome = outcome_of(state, points)
    up, knobs = dealer_of(state) % 2, Knobs(state.config.options.end, state.config.options.stack)
    levels = new_levels(own.ladder.levels, up, outcome, points, own.bottom.sunk, knobs)
    note = _note_after(state, outcome)
    pending = (None, None) if note is None else (note.side, level_text(note.level))
    moved = LevelsSet(tuple(map(level_text, levels)), *pending)
    counted = (BuriedCounted(buried),) if buried else ()
    return (_shown(state), *counted, moved, _scored(state, outcome, points))


def winning_play(state: Table) -> Cards:
    """The play that won the last trick. DZ-8.2."""
    tally = state.game.tally
    assert tally.last_winner is not None
    return tally.closed[-SEATS:][(tally.last_winner - tally.leaders[-1]) % SEATS]


def outcome_of(state: Table, points: int) -> str:
    """The outcome by the last trick and the defenders' points. DZ-8.3, DZ-8.4, DZ-9.10–9.12, DZ-13.11."""
    winner, weak = state.game.tally.last_winner, state.config.options.weak_last
    assert winner is not None
    if is_up(state, winner):
        if points < 40:
            return "made" if points else "guang"
        return "po" if points < 80 else "dapo"
    play = winning_play(state)
    if won_with_trumps(play, ranking_of(state)):
        return _special(state.game.ladder.level, play) or "kou"
    if weak == "kou":
        return "kou"
    if points < 40:
        return "po" if weak == "fail" else "held"  # DZ-8.4
    return "po" if points < 80 else "dapo"


def _special(level: int, play: Cards) -> str | None:
    """直, 削, 黑虎掏心: the last trick goes to a single level card at J or A. DZ-9.10–9.12."""
    if len(play) != 1 or play[0] in JOKERS or play[0][1] != level_text(level):
        return None
    if level == JACK:
        return "zhi"
    if level == ACE:
        return "heihu" if play[0] == "SA" else "xue"
    return None


def _buried_points(state: Table) -> Cards:
    """Point cards of the buried six that the defenders get. DZ-5.10, DZ-13.13."""
    winner = state.game.tally.last_winner
    assert winner is not None
    if state.config.options.bury_points == "none" or is_up(state, winner):
        return ()
    return point_cards(state.game.bottom.buried)


def _note_after(state: Table, outcome: str) -> Note | None:
    """The pending 回龙 after the round; an older one stays while it may be redeemed. DZ-9.13."""
    ladder, up = state.game.ladder, dealer_of(state) % 2
    if outcome in ("zhi", "xue", "heihu"):
        return Note(up, ladder.level)
    if outcome == "guang" and ladder.pending is not None and ladder.pending.side == up:
        return ladder.pending
    return None


def _shown(state: Table) -> TableShown:
    """Everything on the table is open now. DZ-12.2."""
    bottom, tally = state.game.bottom, state.game.tally
    return TableShown(
        kitty=bottom.kitty,
        buried=bottom.buried,
        announced=bottom.announced,
        sunk=bottom.sunk,
        leaders=tally.leaders,
        plays=tally.closed,
    )


def _scored(state: Table, outcome: str, points: int) -> Scored:
    dealer, own = dealer_of(state), state.game
    result = {
        "round": state.sheet.round,
        "dealer": dealer,
        "outcome": outcome,
        "points": points,
        "level": level_text(own.ladder.level),
        "sunk": own.bottom.sunk,
        "last_trick": f"{own.tally.last_winner} {show_cards(winning_play(state))}",
    }
    options = state.config.options
    last = _makes_end(outcome, own.ladder.level, options.end) or _rounds_done(state)
    return Scored(
        points=(0,) * SEATS,  # DZ-10.5
        next_dealer=None if last else next_dealer(dealer, outcome),
        hands=own.hands,
        result=result,
    )


def next_dealer(dealer: Seat, outcome: str) -> Seat:
    """The partner if the side stays up, else the 下家. DZ-10.1."""
    return (dealer + (2 if outcome in STAYS else 1)) % SEATS


def _makes_end(outcome: str, level: int, end: int) -> bool:
    return outcome in MADE and level == end  # DZ-10.3


def _rounds_done(state: Table) -> bool:
    rounds: int = state.config.options.rounds
    return 0 < rounds <= state.sheet.round  # DZ-10.4


def made_end(state: Table) -> bool:
    """Whether the round just scored won the match. DZ-10.3."""
    result = state.sheet.last_round
    if result is None:
        return False
    return result["outcome"] in MADE and result["level"] == state.config.options.end_level


def is_over(state: Table) -> bool:
    """The end level is made, or all rounds are played. DZ-10.3, DZ-10.4."""
    return made_end(state) or _rounds_done(state)


def winning_side(state: Table) -> int | None:
    """Who has won a match that ends now, None for a draw. DZ-10.3, DZ-10.4, CM-7.3."""
    if made_end(state):
        return dealer_of(state) % 2
    one, other = state.game.ladder.levels
    if one == other:
        return None
    return 0 if one > other else 1


def final_scores(state: Table) -> tuple[int, ...]:
    """+1 for the winning side, -1 for the other, zeros after a draw. DZ-10.5."""
    side = winning_side(state)
    if side is None:
        return (0,) * SEATS
    return tuple(1 if seat % 2 == side else -1 for seat in range(SEATS))
