"""Scoring, the end of the match, the next dealer. EB-9, EB-10."""

from __future__ import annotations

from ...cards import Seat
from ...events import Event
from ...match.events import Scored
from .events import PileOpened
from .options import Options
from .pack import hand_value
from .settle import only_sevens
from .state import Position, Round


def values(own: Round) -> tuple[int, ...]:
    """The hand values by seat. EB-9.2."""
    return tuple(hand_value(hand, own.area.black) for hand in own.hands)


def closing(state: Position, settler: Seat | None) -> tuple[Event, ...]:
    """The end of a round: the pile is turned up and the points are entered. EB-9.8, EB-11.5."""
    own, sheet, options = state.game, state.sheet, state.config.options
    scores, kou = round_scores(own, settler, options)
    points = []
    for total, score, extra in zip(sheet.scores, scores, own.extras, strict=True):
        added = score + extra
        points.append(added + bonus(total + added, options))
    result = {
        "round": sheet.round,
        "dealer": sheet.dealer,
        "settled": settler,
        "kou": kou,
        "round_scores": scores,
        "extras": own.extras,
    }
    dealer = sheet.dealer if settler is None else settler  # EB-10.4
    scored = Scored(points=tuple(points), next_dealer=dealer, hands=own.hands, result=result)
    return (PileOpened(own.closed.pile), scored)


def bonus(total: int, options: Options) -> int:
    """What a total of exactly the limit gets at once. EB-9.9, EB-13.1."""
    return options.exact if options.limit and total == options.limit else 0


def round_scores(own: Round, settler: Seat | None, options: Options) -> tuple[tuple[int, ...], bool]:
    """The round scores after 整五, 带七 and 抠, and whether 抠 happened. EB-9.2."""
    hands = values(own)
    if settler is None:
        return hands, False
    hand = own.hands[settler]
    factor = options.five if len(hand) == 1 and hand[0][1] == "5" else 1  # EB-9.3
    scores = [value * (1 if seat == settler else factor) for seat, value in enumerate(hands)]
    if only_sevens(hand):
        scores[settler] = options.daiqi * len(hand)  # EB-9.4
    if not options.kou or not caught(settler, scores, hands, options):
        return tuple(scores), False
    everything = sum(scores)  # EB-9.7 (b): its own and all the others'
    return tuple(everything if seat == settler else 0 for seat in range(len(scores))), True


def caught(settler: Seat, scores: list[int], hands: tuple[int, ...], options: Options) -> bool:
    """抠: another seat has no more than the settler, who has more than nothing. EB-9.7, EB-13.8."""
    own = scores[settler]
    compared = scores if options.kou_compare == "doubled" else hands
    return own > 0 and any(score <= own for seat, score in enumerate(compared) if seat != settler)


def is_over(state: Position) -> bool:
    """A total above the limit, or the agreed number of rounds. EB-10.1, EB-10.3."""
    options, sheet = state.config.options, state.sheet
    return bool(losers(state)) or 0 < options.rounds <= sheet.round


def losers(state: Position) -> tuple[Seat, ...]:
    """The seats above the limit: 二百五. EB-10.2."""
    limit = state.config.options.limit
    return tuple(seat for seat, total in enumerate(state.sheet.scores) if limit and total > limit)


def ranking(state: Position) -> tuple[tuple[Seat, ...], ...]:
    """All seats by total, lowest first; equal totals share a place. EB-10.3."""
    scores = state.sheet.scores
    return tuple(tuple(seat for seat, total in enumerate(scores) if total == place) for place in sorted(set(scores)))
