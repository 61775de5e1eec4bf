"""What the registry-wide tests must know of Hongshi."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kangtou_engine.cards import Cards, Seat
from kangtou_engine.games.hongshi.options import options_of
from kangtou_engine.games.hongshi.state import Hongshi

OPTION_SETS: list[tuple[int | None, dict[str, object]]] = [
    (None, {}),
    (4, {"cut": False, "between": False}),
    (None, {"keep345": True}),
    (None, {"top": "tens"}),
    (None, {"keep345": True, "top": "tens", "cut": False}),
    (None, {"reveal": False}),
    (None, {"lightning": False}),
    (None, {"reveal": False, "lightning": False, "between": False}),
    (None, {"lightning_factor": 1}),
    (None, {"lightning_factor": 2, "top": "jokers"}),
    (None, {"lightning_factor": 4}),
    (None, {"play_out": False}),
    (None, {"play_out": False, "keep345": True, "between": False}),
    (None, {"next_dealer": "rotate"}),
    (None, {"next_dealer": "first", "vote_end": False}),
    (None, {"penalty": 0}),
    (None, {"penalty": 1000, "chat": "off"}),
    (None, {"chat": "free", "cut": True, "between": True, "vote_end": True, "reveal": True, "lightning": True}),
    (None, {"chat": "safe", "play_out": True, "keep345": False}),
]

TABLE_ACTIONS = ("penalize seat=0", "penalize seat=3", "penalize", "penalize seat=4", "penalize seat=x", "annul")


def all_cards(state: Hongshi) -> Cards:
    """Hands and what has been laid down, the current trick included."""
    own = state.game
    past = own.past.laid or ()
    laid = past if state.phase in ("between", "over") else (*past, *own.trick)
    return (*(card for hand in own.hands for card in hand), *(card for one in laid for card in one.cards))


def zero_sum(state: Hongshi) -> bool:
    """HS-9.5."""
    return sum(state.sheet.scores) == -options_of(state.config).penalty * sum(state.game.penalties)


def public_facts(state: Hongshi) -> object:
    """HS-13.1, HS-13.4, HS-13.5, CM-12.1."""
    own, sheet = state.game, state.sheet
    shown = state.phase not in ("reveal", "play")
    return (
        state.phase,
        (sheet.round, sheet.dealer, sheet.next_dealer, sheet.lot, sheet.cut, sheet.answers, sheet.scores),
        (str(sheet.last_round), sheet.places),
        tuple(map(len, own.hands)),
        own.turn if state.phase == "play" else None,
        own.opening,
        own.answered if state.phase == "reveal" else None,
        tuple((one.seat, one.cards, one.as_ten) for one in own.trick),
        own.out,
        own.sides.revealed,
        own.sides.known,
        own.penalties,
        (own.hands, own.past, own.sides.up) if shown else None,
    )


def candidates(state: Hongshi, seat: Seat) -> Iterator[str] | None:
    """Every action there could be, for small hands; None if there are too many to try."""
    hand = state.game.hands[seat]
    if state.phase == "cut" or len(hand) > 5:
        return None
    return _candidates(hand)


def _candidates(hand: Cards) -> Iterator[str]:
    yield from ("pass", "show", "lightning", "ready", "vote_end", "cut 1")
    for size in range(len(hand) + 1):
        for cards in combinations(hand, size):
            said = " ".join(("play", *cards))
            yield from (said, f"{said} as=ten", f"{said} as=red")
    for tens in ("HT", "DT", "HT DT", "ST", "ST HT"):
        yield f"reveal {tens}"
