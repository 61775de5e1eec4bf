"""The bots of Hongshi."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kangtou_engine.actions import Action
from kangtou_engine.games.hongshi.bots import greedy, is_friend, random
from kangtou_engine.games.hongshi.state import Hongshi
from kangtou_engine.shuffle import SeededChance
from tests.conftest import Counts
from tests.engine.hongshi.table import HONGSHI, play, setup
from tests.engine.tables import pick_of


def say(state: Hongshi, seat: int) -> str:
    """What `greedy` does."""
    view = HONGSHI.view(state, seat)
    return str(greedy(view, seat, HONGSHI.legal(view, seat), pick_of(Random(1))))


@pytest.mark.parametrize(
    ("start", "seat", "text"),
    [
        ({"hands": ["H6 S7", "S8", "ST HT CT DT S9", "BJ"]}, 2, "lightning"),
        ({"hands": ["H6 S7", "S8", "HT DT S9", "BJ"]}, 2, "pass"),
        ({"phase": "play", "hands": ["S7 H7 C8 HT", "DT", "S9", "SK"]}, 0, "play S7 H7"),
        ({"phase": "play", "hands": ["HT DT", "S8", "S9", "SK"]}, 0, "play HT DT"),
        (
            {"phase": "play", "to_beat": "3 play S9", "hands": ["HT SJ SQ C7 D7 S7", "DT C8", "S8 D8", "SK"]},
            0,
            "play SJ",
        ),
    ],
)
def test_greedy_by_example(start: dict[str, Any], seat: int, text: str) -> None:
    """Sheds low whole ranks, beats cheaply, takes a sure win."""
    assert say(setup(**start), seat) == text


def test_greedy_leaves_a_partner_alone() -> None:
    """Once it is public who that is."""
    state = setup(
        phase="play", to_act=2, to_beat="0 play S9", revealed={0: "HT"}, hands=["HT C7", "S8 C8", "DT SJ S7", "SK D7"]
    )
    assert say(state, 2) == "pass"


@pytest.mark.parametrize(
    ("known", "seat", "friends"),
    [
        ({}, 0, [0]),
        ({"revealed": {2: "DT"}}, 0, [0, 2]),
        ({"revealed": {2: "DT"}}, 1, [1]),
        ({"revealed": {2: "DT", 0: "HT"}}, 1, [1, 3]),
    ],
)
def test_what_a_seat_knows_of_sides(known: dict[str, Any], seat: int, friends: list[int]) -> None:
    """HS-13.2, HS-13.4: its own red tens, and what is public."""
    state = setup(phase="play", hands=["HT S7", "S8", "DT", "S9"], **known)
    view = HONGSHI.view(state, seat)
    assert [other for other in range(4) if is_friend(view, seat, other)] == friends


def test_random_cuts_any_number() -> None:
    """Also where the list is too long to be given."""
    _, state = HONGSHI.begin(HONGSHI.config(), SeededChance("m", bytes(32), ()))
    (seat,) = HONGSHI.to_act(state)
    cuts = {random(state, seat, HONGSHI.legal(state, seat, 5), pick_of(Random(n))) for n in range(400)}
    assert cuts == {Action("cut", (str(n),)) for n in range(1, 40)}


PAIRS = ((0, 2), (1, 3), (0, 1), (2, 3), (0, 3), (1, 2))


def test_greedy_beats_random(counts: Counts) -> None:
    """Each deal with greedy in every pair of seats: well above a point a deal for the pair (2.0 in 2,000 deals)."""
    total, deals = 0, counts(25, 300)
    for number in range(deals):
        for pair in PAIRS:
            scores = one_round(number, pair)
            total += sum(scores[seat] for seat in pair)
    assert total / (deals * len(PAIRS)) > 1


def one_round(number: int, pair: tuple[int, ...]) -> tuple[int, ...]:
    """The points of one deal with greedy in two seats."""
    chance = SeededChance(f"bots-{number}", bytes(32), ())
    pick = pick_of(Random(number))
    _, state = HONGSHI.begin(HONGSHI.config({"rounds": 1, "cut": False}), chance)
    while state.phase != "over":
        seat = HONGSHI.to_act(state)[0]
        view = HONGSHI.view(state, seat)
        bot = greedy if seat in pair else random
        _, state = HONGSHI.step(state, seat, bot(view, seat, HONGSHI.legal(view, seat), pick), chance)
    return state.sheet.scores


def test_greedy_leads_high_when_a_foe_has_one_card() -> None:
    """No low single for a seat that is about to go out."""
    state = play(setup(phase="play", hands=["S7 C8 SA DJ D9 H2", "HT DT SK", "S9", "D8 C9"]), "- timeout seat=0")
    assert state.game.hands[0] == ("SA", "H2", "C8", "D9", "DJ")
    state = setup(phase="play", hands=["S7 C8 SA DJ D9 H2", "HT DT SK", "S9", "D8 C9"])
    assert say(state, 0) == "play H2"
