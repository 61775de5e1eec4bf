"""What the registry-wide tests must know of Duizhu."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kangtou_engine.cards import DECK54, JOKERS, Cards, Seat
from kangtou_engine.games.duizhu.state import Table

OPTION_SETS: list[tuple[int | None, dict[str, object]]] = [
    (None, {}),
    (4, {"rounds": 6}),
    (None, {"cut": False, "between": False}),
    (None, {"vote_end": True, "windows": "lap"}),
    (None, {"start_level": "J", "windows": "end", "rounds": 6}),
    (None, {"start_level": "A", "windows": "end", "rounds": 6}),
    (None, {"start_level": "A", "redeal": False, "weak_last": "kou"}),
    (None, {"start_level": "4", "end_level": "6", "rounds": 0, "windows": "end", "cut": False}),
    (None, {"start_level": "T", "end_level": "J", "suited_high": True}),
    (None, {"start_level": "5", "end_level": "5", "rounds": 0, "windows": "lap"}),
    (None, {"start_level": "7", "end_level": "Q", "announce": "jokers"}),
    (None, {"start_level": "8", "end_level": "K", "announce": "none", "windows": "end"}),
    (None, {"start_level": "3", "end_level": "3", "snatch": False}),
    (None, {"start_level": "4", "end_level": "4", "partner_sink": False, "stack": True}),
    (None, {"start_level": "6", "end_level": "7", "weak_last": "fail"}),
    (None, {"start_level": "8", "end_level": "8", "weak_last": "kou", "bury_points": "last"}),
    (None, {"start_level": "9", "end_level": "9", "suited_high": True, "bury_points": "last"}),
    (None, {"start_level": "9", "end_level": "T", "stack": True, "announce": "none"}),
    (None, {"start_level": "Q", "windows": "end", "snatch": False, "partner_sink": False}),
    (None, {"start_level": "K", "weak_last": "fail", "announce": "jokers", "windows": "lap"}),
]

TABLE_ACTIONS = ("annul", "annul", "annul", "annul seat=1", "annul 3", "annul S3", "penalize seat=0")

_OPEN = ("recover", "between", "over")


def all_cards(state: Table) -> Cards:
    """Hands, the pile or kitty or buried six, the current and the closed tricks."""
    own, bottom = state.game, state.game.bottom
    cards = [card for hand in own.hands for card in hand]
    cards += [card for play in (*own.trick.plays, *own.tally.closed) for card in play]
    if own.drawn < 48:
        cards += state.sheet.pile[own.drawn :]
    elif state.phase in ("deal", "redeal", "way", "fix"):
        cards += bottom.kitty
    return (*cards, *bottom.buried)


def zero_sum(state: Table) -> bool:
    """DZ-10.5."""
    over = state.phase == "over"
    scores = state.sheet.scores
    return sum(scores) == 0 and (over or not any(scores)) and scores[0] == scores[2] and scores[1] == scores[3]


def public_facts(state: Table) -> object:
    """DZ-12.1, DZ-12.2, CM-12.1: also what was open once and lies face down now (the six in play, closed tricks).

    Whether a redeal can be claimed is not public, but a defender may know it of its partner's hand (DZ-3.6); no
    difference in it is compared here, see test_hidden.py.
    """
    own, sheet, bottom = state.game, state.sheet, state.game.bottom
    seen = own.trumps.gabaguo is not None  # the kitty has been opened
    return (
        state.phase,
        (sheet.round, sheet.dealer, sheet.first, sheet.next_dealer, sheet.lot, sheet.cut, sheet.answers, sheet.scores),
        (str(sheet.last_round), sheet.places),
        tuple(map(len, own.hands)),
        own.window,
        own.drawn,
        own.ladder,
        own.trumps,
        (own.trick, own.tally.points, own.tally.cards, own.tally.tricks, own.tally.last_winner),
        bottom if seen else None,
        own.tally.closed,
        own.hands if state.phase in _OPEN else None,
        own.claimable,
    )


def candidates(state: Table, seat: Seat) -> Iterator[str] | None:
    """Every action there could be, for small hands; None if there are too many to try."""
    hand, phase = state.game.hands[seat], state.phase
    if phase in ("cut", "bury") or (phase == "play" and len(hand) > 6):
        return None
    if phase == "snatch" and len(state.game.bottom.snatchable) > 2:
        return None
    return _candidates(phase, hand, state.game.bottom.buried)


def _candidates(phase: str, hand: Cards, buried: Cards) -> Iterator[str]:
    yield from ("pass", "wait", "claim_redeal", "recover", "ready", "vote_end", "cut 1", "play", "sink", "snatch")
    yield from (f"declare {card}" for card in DECK54)
    yield from (f"way kind={word}" for word in ("free", "ends", "single", "none"))
    yield from (f"name suit={suit}" for suit in "SHCDT")
    yield from (f"pick {said}" for said in ("end=high", "end=low", "end=S", *(f"pos={pos}" for pos in range(8))))
    if phase == "sink":
        for jokers in (JOKERS, JOKERS[:1], JOKERS[1:]):
            for count in (1, 2, 3):
                yield from (f"sink {' '.join(jokers)} take={','.join(took)}" for took in combinations(buried, count))
    if phase == "snatch":
        for count in (1, 2):
            for took in combinations(buried, count):
                yield from (f"snatch {' '.join(took)} give={','.join(gave)}" for gave in combinations(hand, count))
    if phase == "play":
        for count in range(1, len(hand) + 1):
            yield from (f"play {' '.join(cards)}" for cards in combinations(hand, count))
