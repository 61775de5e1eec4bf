"""What lies face down stays face down. EB-11.

The registry-wide leak tests compare deals; here are the places where this game hides something, by name.
"""

from __future__ import annotations

from random import Random

import pytest

from kangtou_engine.cards import HIDDEN, Seat
from kangtou_engine.events import Event, to_text
from kangtou_engine.game import TooMany
from kangtou_engine.games.erbaiwu import GAME
from kangtou_engine.games.erbaiwu.events import Dealt, Discarded, Drawn, Dumped, Lifted, PileOpened
from kangtou_engine.games.erbaiwu.state import Position
from kangtou_engine.match.events import RoundBegan, Scored
from kangtou_engine.shuffle import SeededChance
from tests.conftest import Counts
from tests.engine.erbaiwu.facts import OPTION_SETS
from tests.engine.erbaiwu.positions import ERBAIWU, of_kind, play, position


def _audiences(state: Position) -> tuple[Seat | None, ...]:
    return (None, *range(state.config.seats))


def _check_view(state: Position) -> None:
    ended = state.phase in ("between", "over")
    for audience in _audiences(state):
        view = ERBAIWU.view(state, audience)
        own = view.game
        assert set(own.closed.stock) <= {HIDDEN}  # EB-11.2, also when the round is over
        assert own.closed.row == ()
        assert view.sheet.pile == ()
        if not ended and not state.config.options.open_discards:
            assert set(own.closed.pile) <= {HIDDEN}  # EB-11.3
        for seat, hand in enumerate(own.hands):
            assert ended or seat == audience or set(hand) <= {HIDDEN}


def _check_event(event: Event, audience: Seat | None, told: set[str], stock: set[str]) -> None:
    """An event may name a stock card only where it is drawn, to whom draws it."""
    seen = event.seen_by(audience)
    if isinstance(seen, (Drawn, Dumped)) and seen.seat != audience:
        drawn = seen.card if isinstance(seen, Drawn) else seen.drawn
        assert drawn == HIDDEN
    if isinstance(seen, (Discarded, Dumped)):
        assert seen.covered in (None, HIDDEN)
    if isinstance(seen, Lifted):
        assert set(seen.under) == {HIDDEN}
    if isinstance(seen, RoundBegan):
        assert seen.pile is None
    if isinstance(seen, (Dealt, PileOpened, Scored)):
        words = set(to_text(seen).replace("=", " ").replace(",", " ").replace("/", " ").split())
        assert not words & stock, f"{audience} is told of the stock: {to_text(seen)}"
    told.add(type(event).__name__)


def test_the_stock_is_never_told(counts: Counts) -> None:
    """EB-11.2: in no view and no event, over all option sets."""
    told: set[str] = set()
    for number in range(counts(1, 40) * len(OPTION_SETS)):
        seats, options = OPTION_SETS[number % len(OPTION_SETS)]
        rng = Random(number)
        chance = SeededChance(f"closed-{number}", bytes(32), ())
        config = ERBAIWU.config({"rounds": 2, **options, "between": True}, seats)
        events, state = ERBAIWU.begin(config, chance)
        while state.phase != "over" and state.sheet.round < 3:
            for audience in _audiences(state):
                for event in events:
                    _check_event(event, audience, told, set(state.game.closed.stock))
            _check_view(state)
            seat = rng.choice(ERBAIWU.to_act(state))
            legal = ERBAIWU.legal(ERBAIWU.view(state, seat), seat)
            assert not isinstance(legal, TooMany)
            events, state = ERBAIWU.step(state, seat, rng.choice(legal), chance)
    assert {"Dealt", "Drawn", "Discarded", "Dumped", "Lifted", "PileOpened", "Scored"} <= told


def test_the_last_discard_is_covered_by_the_next() -> None:
    """EB-11.3: face up until the next one; a lift goes under the pile."""
    start = {
        "phase": "discard",
        "hands": ["S3", "C9 D9 H4", ""],
        "sets": ["S9 H9 BJ=D9"],
        "runs": {"D": "D7"},
        "top": "CT",
        "discards": "CT C8",
        "stock": "SA SK SQ",
    }
    _, state = play(position(start), "0 discard S3")
    view = ERBAIWU.view(state, 2)
    assert (view.game.top, set(view.game.closed.pile)) == ("S3", {HIDDEN})
    assert len(view.game.closed.pile) == len(state.game.closed.pile)
    _, state = play(state, "- timeout", "1 lift C9", "1 dump D9")
    view = ERBAIWU.view(state, 2)
    assert view.game.top == "D9"
    assert set(view.game.closed.pile) == {HIDDEN}
    assert state.game.closed.pile[:4] == ("S9", "H9", "BJ", "C9")
    assert state.game.closed.pile[-2:] == ("CT", "S3")


def test_a_ponged_card_leaves_the_pile() -> None:
    """EB-7.3: the card before it stays face down."""
    start = {"phase": "discard", "hands": ["S3", "C3 D3"], "top": "CT", "discards": "CT", "stock": "SA SK"}
    _, state = play(position(start), "0 discard S3", "1 pong C3 D3")
    assert state.game.top is None
    assert state.game.closed.pile[-1] == "CT"
    assert set(ERBAIWU.view(state, 0).game.closed.pile) == {HIDDEN}


@pytest.mark.parametrize("audience", [None, 0, 1])
def test_open_discards(audience: Seat | None) -> None:
    """EB-13.12: the pile is open to all, the events fold to it."""
    start = {
        "phase": "discard",
        "hands": ["S3 S4", "C9"],
        "sets": ["S9 H9 D9"],
        "top": "CT",
        "discards": "CT",
        "stock": "SA SK SQ SJ",
    }
    state = position(start, {"open_discards": True})
    folded = ERBAIWU.view(state, audience)
    assert set(folded.game.closed.pile) >= {"S2", "BJ"}
    events, state = play(state, "0 discard S3", "1 pass", "1 lift C9", "1 draw", "1 discard SA")
    folded = ERBAIWU.fold([event.seen_by(audience) for event in events], folded)
    assert folded == ERBAIWU.view(state, audience)
    assert folded.game.closed.pile == state.game.closed.pile
    assert folded.game.closed.pile[:4] == ("S9", "H9", "D9", "C9")


def test_after_the_round_all_but_the_stock_is_open() -> None:
    """EB-11.5."""
    start = {"phase": "turn", "hands": ["", "C9"], "runs": {"D": "D7"}, "discards": "CT S3", "stock": "SA SK"}
    events, state = play(position(start), "0 settle")
    opened = of_kind(events, PileOpened)[0]
    assert {"CT", "S3"} < set(opened.cards)
    view = ERBAIWU.view(state, 0)
    assert view.game.hands == ((), ("C9",))
    assert view.game.closed.pile == opened.cards
    assert view.game.closed.stock == (HIDDEN, HIDDEN)
    assert of_kind(events, Scored)[0].hands == view.game.hands


def test_default_action_of_another_seat_is_not_public() -> None:
    """EB-4.4, EB-11.2: the card just drawn is known to its seat alone."""
    _, state = play(position({"phase": "turn", "hands": ["S3", "C9"], "stock": "SK SQ"}), "0 draw")
    assert ERBAIWU.view(state, 0).game.turn.drawn == "SK"
    assert ERBAIWU.view(state, 1).game.turn.drawn == HIDDEN
    assert str(ERBAIWU.default(ERBAIWU.view(state, 0), 0)) == "discard SK"
    assert GAME.prefix == "EB"
