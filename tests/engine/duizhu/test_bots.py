"""The bots, and standing answers."""

from __future__ import annotations

from random import Random

from kangtou_engine.actions import parse_action
from kangtou_engine.cases import start_of
from kangtou_engine.games.duizhu import GAME
from kangtou_engine.match.match import Game
from kangtou_engine.shuffle import SeededChance
from tests.conftest import Counts

DUIZHU = Game(GAME)
DEAL = {
    "deal": True,
    "round": 2,
    "levels": ["3", "5"],
    "dealer": 0,
    "hands": [
        "D2 H3 D6 S6 H5 S5 DQ CQ ST S2 HJ SJ",
        "BJ CT C4 DJ C5 CA C7 H4 D7 HK DK D3",
        "S9 S3 DA H8 C6 D8 HA D9 H6 CJ S4 H9",
        "C3 S7 H7 C9 C2 CK D4 SQ HT S8 DT SA",
    ],
    "kitty": "C8 SK D5 HQ H2 RJ",
}


def match(number: int, greedy_side: int) -> tuple[int, int]:
    """Greedy against random, six rounds: the greedy side's score and its lead in levels."""
    chance, rng = SeededChance(f"duel-{number}", bytes(32), ()), Random(number)
    _, state = DUIZHU.begin(DUIZHU.config({"rounds": 6, "windows": "lap", "between": False}), chance)
    while state.phase != "over":
        seat = DUIZHU.to_act(state)[0]
        bot = GAME.greedy if seat % 2 == greedy_side else GAME.random
        legal = DUIZHU.legal(state, seat, 200)
        action = bot(DUIZHU.view(state, seat), seat, legal, rng.randrange)
        _, state = DUIZHU.step(state, seat, action, chance)
    levels = state.game.ladder.levels
    return state.sheet.scores[greedy_side], levels[greedy_side] - levels[1 - greedy_side]


def test_greedy_beats_random_over_a_duplicate_set(counts: Counts) -> None:
    """The same packs with the sides exchanged: most matches won, and levels ahead."""
    found = [match(number, side) for number in range(counts(12, 100)) for side in (0, 1)]
    won = sum(score > 0 for score, _ in found)
    assert won >= 0.75 * len(found), f"{won} of {len(found)}"
    assert sum(lead for _, lead in found) >= 2 * len(found)


def test_random_needs_no_list() -> None:
    """DZ-11.3: with any limit, in every phase, what it chooses is legal (`step` would refuse)."""
    rng = Random(3)
    for number in range(15):
        chance = SeededChance(f"limit-{number}", bytes(32), ())
        _, state = DUIZHU.begin(DUIZHU.config({"rounds": 2, "windows": "end"}), chance)
        while state.phase != "over":
            seat = rng.choice(DUIZHU.to_act(state))
            legal = DUIZHU.legal(state, seat, 3)
            action = GAME.random(DUIZHU.view(state, seat), seat, legal, rng.randrange)
            _, state = DUIZHU.step(state, seat, action, chance)


def test_a_standing_wait_holds_until_a_level_card_is_drawn() -> None:
    """Design §5: in round 2 the dealer's side plays 3, so seat 0's H3 (card 5) ends it, and seat 2's S3 (card 7)."""
    wait, state = parse_action("wait"), start_of(DUIZHU, {"id": "standing", "start": DEAL})[0]
    chance = start_of(DUIZHU, {"id": "standing", "start": DEAL})[1]
    held: dict[int, int] = {}
    while state.phase == "deal":
        for seat in range(4):
            if GAME.standing(state, seat, wait, "level_card"):
                held[seat] = state.game.drawn
            assert GAME.standing(state, seat, wait, "")
        _, state = DUIZHU.step(state, DUIZHU.to_act(state)[0], wait, chance)
    assert held == {0: 4, 1: 45, 2: 6, 3: 3}
    assert not GAME.standing(state, 0, wait, "level_card")
    assert GAME.standing_until == ("level_card",)
