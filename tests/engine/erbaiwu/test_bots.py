"""Bots: always legal (the registry-wide tests say so in all matches), and greedy is worth its name."""

from __future__ import annotations

from random import Random
from typing import Any

from kangtou_engine.actions import Action
from kangtou_engine.cards import Seat
from kangtou_engine.game import TooMany
from kangtou_engine.games.erbaiwu import GAME
from kangtou_engine.games.erbaiwu.state import Position
from kangtou_engine.shuffle import SeededChance
from tests.conftest import Counts
from tests.engine.erbaiwu.positions import ERBAIWU, position

SEATS, ROUNDS = 4, 4


def _match(number: int, greedy: tuple[Seat, ...]) -> tuple[int, ...]:
    """The totals of one match; the same number gives the same deals (but for who deals)."""
    config = ERBAIWU.config({"rounds": ROUNDS, "limit": 0, "between": False, "cut": False, "first_dealer": 0}, SEATS)
    chance = SeededChance(f"bots-{number}", bytes(32), ())
    rng = Random(number)
    _, state = ERBAIWU.begin(config, chance)
    while state.phase != "over":
        seat = ERBAIWU.to_act(state)[0]
        bot = GAME.greedy if seat in greedy else GAME.random
        view = ERBAIWU.view(state, seat)
        action = bot(view, seat, ERBAIWU.legal(view, seat), rng.randrange)
        _, state = ERBAIWU.step(state, seat, action, chance)
    return state.sheet.scores


def test_greedy_beats_random(counts: Counts) -> None:
    """Both ways round on the same deals; measured 12 to 34 points a round, asked for is two thirds."""
    deals = counts(20, 200)
    ours = theirs = 0
    for number in range(deals):
        for greedy in ((0, 2), (1, 3)):
            totals = _match(number, greedy)
            ours += sum(totals[seat] for seat in greedy)
            theirs += sum(totals) - sum(totals[seat] for seat in greedy)
    assert 3 * ours < 2 * theirs, f"greedy {ours}, random {theirs}"


CHOICES: list[tuple[str, dict[str, Any], str]] = [
    # what it should see, position, its action
    ("settles with nothing", {"phase": "turn", "hands": ["", "SK HK"], "runs": {"D": "D7"}}, "settle"),
    ("settles with sevens", {"phase": "turn", "hands": ["S7 H7", "SK"], "runs": {"D": "D7"}}, "settle"),
    ("is not caught", {"phase": "turn", "hands": ["S5", ""], "runs": {"D": "D7"}}, "draw"),
    ("settles at last", {"phase": "turn", "hands": ["S2", "SK HK CK DK"], "runs": {"D": "D7"}}, "settle"),
    ("lays down first", {"phase": "turn", "hands": ["S2 D8", "SK HK"], "runs": {"D": "D7"}}, "extend D8"),
    ("shows a seven", {"phase": "turn", "hands": ["S7 D8", "SK HK"]}, "show S7"),
    ("dumps", {"phase": "turn", "hands": ["SK D8", "HK"], "runs": {"D": "D7 BJ=D8"}}, "dump D8"),
    ("keeps a pair", {"phase": "discard", "hands": ["S9 H9 ST", "HK"]}, "discard ST"),
    ("keeps what fits", {"phase": "discard", "hands": ["D9 S8", "HK"], "runs": {"D": "D7 D8"}}, "discard S8"),
    ("pongs", {"phase": "window", "hands": ["S9 H9", "HK"], "discard": "C9", "discarder": 1}, "pong S9 H9"),
]


def test_greedy_choices() -> None:
    """One position each."""
    for what, start, wanted in CHOICES:
        view = ERBAIWU.view(position(start), 0)
        assert str(GAME.greedy(view, 0, ERBAIWU.legal(view, 0), lambda n: 0)) == wanted, what


def test_bots_do_without_a_list() -> None:
    """A prompt with fewer actions than there are: the bot lists them from its own view."""
    state: Position = position({"phase": "turn", "hands": ["BJ RJ S4 H4", "S2"], "runs": {"C": "C7"}})
    few = ERBAIWU.legal(state, 0, 3)
    assert isinstance(few, TooMany)
    view = ERBAIWU.view(state, 0)
    for bot in (GAME.random, GAME.greedy):
        ERBAIWU.check(state, 0, bot(view, 0, few, lambda n: n - 1))
    _, cut = ERBAIWU.begin(ERBAIWU.config(), SeededChance("cut", bytes(32), ()))
    seat = ERBAIWU.to_act(cut)[0]
    many = ERBAIWU.legal(cut, seat, 10)
    assert isinstance(many, TooMany)
    for bot in (GAME.random, GAME.greedy):
        assert bot(ERBAIWU.view(cut, seat), seat, many, lambda n: n - 1) == Action("cut", ("53",))
