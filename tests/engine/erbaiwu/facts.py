"""What the registry-wide tests must know of Erbaiwu."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from kangtou_engine.cards import SUITS, Card, Cards, Seat
from kangtou_engine.games.erbaiwu.state import Position

RANKS = "A23456789TJQK"

OPTION_SETS: list[tuple[int | None, dict[str, object]]] = [
    (None, {}),
    (2, {}),
    (3, {}),
    (5, {}),
    (6, {}),
    (2, {"cut": False, "between": False, "first_dealer": 0}),
    (3, {"cut": False, "first_dealer": 2, "vote_end": True}),
    (4, {"first_dealer": 3, "between": False}),
    (5, {"first_dealer": 4, "cut": False, "open_discards": True}),
    (6, {"first_dealer": 5, "cut": False, "between": False}),
    (2, {"first_dealer": 1, "limit": 0, "rounds": 3}),
    (3, {"limit": 20, "exact": 0}),
    (4, {"limit": 10000, "rounds": 2}),
    (2, {"limit": 30, "exact": -1000}),
    (4, {"exact": -20, "limit": 40, "rounds": 0}),
    (4, {"settle_at": 0}),
    (3, {"settle_at": 14}),
    (4, {"settle_at": 9, "kou": False}),
    (3, {"daiqi": 0}),
    (5, {"daiqi": -7, "settle_at": 14, "kou_compare": "hand"}),
    (4, {"five": 1}),
    (3, {"five": 10, "kou": True, "kou_compare": "hand"}),
    (4, {"five": 3, "kou_compare": "doubled", "settle_at": 12}),
    (2, {"follow": 0, "dead_black": 0}),
    (2, {"follow": 1000, "dead_black": 1000, "limit": 0}),
    (6, {"open_discards": True, "settle_at": 8}),
    (2, {"open_discards": True, "vote_end": True}),
    (4, {"open_discards": False, "vote_end": False, "cut": True, "between": True, "first_dealer": "lot"}),
]


def laid(state: Position) -> list[str]:
    """What lies in the show area, jokers with names."""
    area = state.game.area
    found: list[str] = []
    for run in area.runs:
        found += [run.suit + "7", *run.low, *run.high, *run.low_lock, *run.high_lock]
    for cards in area.sets:
        found += cards
    return found


def all_cards(state: Position) -> Cards:
    """EB-15: every card is in a hand, the stock, the show area or the discard pile."""
    own = state.game
    held = [card for hand in own.hands for card in hand]
    top = [] if own.top is None else [own.top]
    return (*held, *own.closed.stock, *own.closed.pile, *top, *(card[:2] for card in laid(state)))


def value(card: Card, black: Cards) -> int:
    """EB-9.1."""
    if card in black or card in ("BJ", "RJ"):
        return 30
    return 15 if card[1] == "7" else RANKS.index(card[1]) + 1


def zero_sum(state: Position) -> bool:
    """EB-9: after a round its scores follow from the hands that lie open; before, extras only ever grow."""
    own, last = state.game, state.sheet.last_round
    if state.phase not in ("between", "over") or last is None:
        return all(extra >= 0 for extra in own.extras)
    if last["extras"] != own.extras:
        return False
    wanted, kou = expected_scores(state, last["settled"])
    return (last["round_scores"], last["kou"]) == (wanted, kou)


def expected_scores(state: Position, settler: Seat | None) -> tuple[tuple[int, ...], bool]:
    """The round scores by the book, in its own order: hand values, 整五, 带七, 抠."""
    own, options = state.game, state.config.options
    held = [sum(value(card, own.area.black) for card in hand) for hand in own.hands]
    if settler is None:
        return tuple(held), False
    scores = list(held)
    hand = own.hands[settler]
    if [card[1] for card in hand] == ["5"]:  # EB-9.3
        for seat in range(len(scores)):
            if seat != settler:
                scores[seat] *= options.five
    if hand and {card[1] for card in hand} == {"7"}:  # EB-9.4
        scores[settler] = options.daiqi * len(hand)
    mine = scores[settler]
    others = [seat for seat in range(len(scores)) if seat != settler]
    compared = scores if options.kou_compare == "doubled" else held
    if options.kou and mine > 0 and min(compared[seat] for seat in others) <= mine:  # EB-9.7
        total = sum(scores)
        return tuple(total if seat == settler else 0 for seat in range(len(scores))), True
    return tuple(scores), False


def public_facts(state: Position) -> object:
    """EB-11.1, EB-11.3 to EB-11.5, CM-12.1."""
    own, sheet = state.game, state.sheet
    ended = state.phase in ("between", "over")
    playing = state.phase not in ("cut", "between", "over")
    discards = (*own.closed.pile, own.top)
    return (
        state.phase,
        (sheet.round, sheet.dealer, sheet.next_dealer, sheet.lot, sheet.cut, sheet.answers, sheet.scores),
        (str(sheet.last_round), sheet.places),
        (own.turn.seat, own.turn.number) if playing else None,
        own.turn.passed if state.phase == "window" else None,
        tuple(map(len, own.hands)),
        (len(own.closed.stock), len(own.closed.pile), own.top),
        tuple(sorted(laid(state))),
        (tuple(run.high_lock for run in own.area.runs), tuple(run.low_lock for run in own.area.runs)),
        own.area.sets,
        own.area.black,
        own.extras,
        discards if ended or state.config.options.open_discards else None,
        own.hands if ended else None,
    )


def candidates(state: Position, seat: Seat) -> Iterator[str] | None:
    """Every action there could be, for small hands; None if there are too many to try."""
    hand = state.game.hands[seat]
    if state.phase == "cut" or len(hand) > 7 or (len(hand) > 4 and "BJ" in hand and "RJ" in hand):
        return None
    return _candidates(state, hand)


def _candidates(state: Position, hand: Cards) -> Iterator[str]:
    """A joker is tried as every card of a rank that could matter, and of one that cannot."""
    yield from ("settle", "draw", "keep", "pass", "ready", "vote_end", "cut 1")
    every = [suit + rank for suit in SUITS for rank in RANKS]
    jokers = [card for card in hand if card in ("BJ", "RJ")]
    for card in (*hand, *(f"{joker}={name}" for joker in jokers for name in every)):
        for verb in ("show", "extend", "lift", "discard", "dump"):
            yield f"{verb} {card}"
    ranks = {card[1] for card in (*hand, *(card[-2:] for card in laid(state)))} | {"K"}
    names = [name for name in every if name[1] in ranks]
    cards = (*hand, *(f"{joker}={name}" for joker in jokers for name in names))
    for pair in combinations(cards, 2):
        yield " ".join(("pong", *pair))
        if _plausible(pair):
            for suit in SUITS:
                yield " ".join(("lock", *pair, f"run={suit}"))
    for three in combinations(cards, 3):
        if _plausible(three):
            yield " ".join(("meld", *three))


def _plausible(cards: tuple[Any, ...]) -> bool:
    """All of one rank, or no joker among them: the others are refused for their ranks in any case."""
    return len({card[-1] for card in cards}) == 1 or all(len(card) == 2 for card in cards)
