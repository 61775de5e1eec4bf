"""The window after a discard: who is asked, who is first, standing answers. EB-7, CM-9."""

from __future__ import annotations

from itertools import permutations

import pytest

from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event
from kangtou_engine.games.erbaiwu import GAME
from kangtou_engine.games.erbaiwu.events import Ponged, TurnBegan
from kangtou_engine.match.events import TimedOut
from tests.engine.erbaiwu.positions import CHANCE, ERBAIWU, of_kind, play, position, said

START = {
    "phase": "window",
    "discard": "S9",
    "discarder": 0,
    "hands": ["SK", "S2 H3", "H9 C9 D9 S4", "C5", "D2 C2"],
}


@pytest.mark.parametrize("order", list(permutations(("1 pass", "2 pong H9 D9", "3 pass", "4 pass"))), ids="-".join)
def test_answers_at_once(order: tuple[str, ...]) -> None:
    """CM-9.1, EB-7.1: in whatever order they arrive, one pong wins, and who comes later is told that it is late."""
    state = position(START)
    events: list[Event] = []
    late = []
    for line in order:
        seat, _, text = line.partition(" ")
        try:
            more, state = ERBAIWU.step(state, int(seat), said(text), CHANCE)
        except IllegalAction as error:
            late.append((error.rule, error.code, error.params["seat"]))
            continue
        events += more
    assert len(of_kind(events, Ponged)) == 1
    assert (state.phase, ERBAIWU.to_act(state)) == ("must_draw", (2,))
    after_pong = [int(line[0]) for line in order[order.index("2 pong H9 D9") + 1 :]]
    assert late == [("CM-10.2", "not_your_turn", seat) for seat in after_pong]


def test_no_two_seats_can_pong() -> None:
    """EB-7.1: a pong takes two of the three cards that are left."""
    state = position(START)
    able = [seat for seat in ERBAIWU.to_act(state) if len(ERBAIWU.legal(state, seat)) > 1]  # type: ignore[arg-type]
    assert able == [2]
    assert ERBAIWU.to_act(state) == (1, 2, 3, 4)  # all are asked


def test_the_last_pass_begins_the_next_turn() -> None:
    """EB-4.7: and who answered is public meanwhile (EB-11.4)."""
    state = position(START)
    _, state = play(state, "3 pass", "1 pass", "4 pass")
    assert ERBAIWU.view(state, None).game.turn.passed == (1, 3, 4)
    events, state = play(state, "2 pass")
    assert of_kind(events, TurnBegan) == [TurnBegan(1)]
    assert (state.phase, ERBAIWU.to_act(state)) == ("turn", (1,))


def test_the_pong_takes_the_turn() -> None:
    """EB-7.5: the ponging seat's 下家 is next; EB-7.6: its discard may be ponged in turn."""
    state = position({**START, "hands": ["SK H4 C4", "S2 H3", "H9 C9 D9 S4", "C5", "D2 C2"]})
    _, state = play(state, "2 pong H9 D9", "2 draw", "2 discard S4", "0 pong H4 C4")
    assert (state.phase, ERBAIWU.to_act(state)) == ("must_draw", (0,))
    _, state = play(state, "0 draw", "0 discard SK", "- timeout")
    assert ERBAIWU.to_act(state) == (1,)


def test_asked_anew_in_each_window() -> None:
    """A pass leaves the question as it is; the next window is another, also of the same discarder."""
    state = position({**START, "hands": ["SK H4 C4", "S2 H3", "H9 C9 D9 S4", "C5", "D2 C2"]})
    asked = [ERBAIWU.asked(state)]
    _, state = play(state, "1 pass")
    assert ERBAIWU.asked(state) == asked[0]
    _, state = play(state, "2 pong H9 D9", "2 draw", "2 discard S4")
    asked.append(ERBAIWU.asked(state))
    _, state = play(state, "0 pong H4 C4", "0 draw", "0 discard SK")
    asked.append(ERBAIWU.asked(state))
    assert len(set(asked)) == 3


def test_a_timeout_answers_one_window_only() -> None:
    """CM-8.2."""
    events, state = play(position(START), "- timeout")
    assert [event.seat for event in of_kind(events, TimedOut)] == [1, 2, 3, 4]
    events, state = play(state, "- timeout")
    assert [event.seat for event in of_kind(events, TimedOut)] == [1]
    assert state.phase == "discard"


STANDING = [
    # seat, answer, until, holds
    (1, "pass", "can_pong", True),
    (2, "pass", "can_pong", False),
    (2, "pass", "", True),
    (1, "pass", "", True),
    (1, "draw", "", False),
]


@pytest.mark.parametrize(("seat", "answer", "until", "holds"), STANDING)
def test_standing(seat: int, answer: str, until: str, holds: bool) -> None:
    """Design §5: a standing pass holds until the seat could pong, or for ever."""
    assert GAME.standing(position(START), seat, said(answer), until) is holds
    assert until in ("", *GAME.standing_until)


def test_standing_waits_outside_windows() -> None:
    """In its own turn the seat decides; the answer is kept for the next window."""
    state = position({"phase": "turn", "hands": ["S9 H9", "C9"]})
    assert GAME.standing(state, 0, said("pass"), "can_pong") is None


def test_black_and_joker_do_not_end_a_standing_pass() -> None:
    """EB-7.2: only what could pong."""
    start = {**START, "hands": ["SK", "H9 BJ D9"], "runs": {"D": "D7 D8 RJ=D9"}}
    assert GAME.standing(position(start), 1, said("pass"), "can_pong") is True
