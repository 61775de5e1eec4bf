"""The engine against a second referee, written from the book alone (referee.py)."""

from __future__ import annotations

from random import Random

import pytest

from kangtou_engine.actions import parse_action
from kangtou_engine.games.hongshi.state import Hongshi
from kangtou_engine.match.state import BETWEEN
from tests.conftest import Counts
from tests.engine.hongshi.facts import OPTION_SETS
from tests.engine.hongshi.referee import Referee
from tests.engine.hongshi.table import HONGSHI, legal, setup
from tests.engine.tables import chance_of, pick_of

SETS = [options for _, options in OPTION_SETS]


def judged_alike(state: Hongshi, options: dict[str, object], rng: Random) -> None:
    """One round, random or greedy: who is to act, what is legal and the points are the same for both."""
    referee = Referee([set(hand) for hand in state.game.hands], options)
    bots = [rng.choice((HONGSHI.spec.random, HONGSHI.spec.greedy)) for _ in range(4)]
    before = state.sheet.scores
    while True:
        if state.phase in (BETWEEN, "over"):
            break
        assert list(HONGSHI.to_act(state)) == referee.to_act()
        for seat in range(4):
            assert set(legal(state, seat)) == referee.legal(seat)
        seat = rng.choice(HONGSHI.to_act(state))
        view = HONGSHI.view(state, seat)
        text = str(bots[seat](view, seat, HONGSHI.legal(view, seat), pick_of(rng)))
        _, state = HONGSHI.step(state, seat, parse_action(text), chance_of(1))
        referee.act(seat, text)
        assert state.phase in (BETWEEN, "over") or [set(hand) for hand in state.game.hands] == referee.hands
    assert referee.points is not None
    assert tuple(new - old for new, old in zip(state.sheet.scores, before, strict=True)) == tuple(referee.points)


@pytest.mark.parametrize("options", SETS, ids=str)
def test_random_rounds_are_judged_alike(options: dict[str, object], counts: Counts) -> None:
    """From whole deals."""
    for seed in range(counts(1, 20)):
        config = HONGSHI.config({**options, "rounds": 1, "cut": False})
        _, state = HONGSHI.begin(config, chance_of(seed))
        judged_alike(state, options, Random(seed))


SMALL = "H6 D6 H3 D3 HT DT ST CT BJ RJ S2 H2 C2 SA HA CA SK HK S9 H9 C9 S8 D8".split()


@pytest.mark.parametrize("options", SETS, ids=str)
def test_small_hands_full_of_tens_are_judged_alike(options: dict[str, object], counts: Counts) -> None:
    """Lone holders, four tens, open sides, carts and specials come up often here."""
    for seed in range(counts(15, 150)):
        rng = Random(seed)
        low = [card for card in SMALL if options.get("keep345") or card[1] != "3"]
        opening = "H3" if options.get("keep345") else "H6"
        needed = [opening, "HT", "DT", *rng.choice(((), ("ST", "CT"), ("BJ", "RJ")))]
        others = [card for card in low if card not in needed]
        cards = [*needed, *rng.sample(others, 16 - len(needed))]
        rng.shuffle(cards)
        if rng.random() < 0.5:  # the tens together
            cards.sort(key=lambda card: card[1] != "T")
        hands = [" ".join(cards[start : start + 4]) for start in range(0, 16, 4)]
        judged_alike(setup({**options, "rounds": 1}, hands=hands, **_lead(options, hands, opening)), options, rng)


def _lead(options: dict[str, object], hands: list[str], opening: str) -> dict[str, object]:
    """Where the reveal is left out, the position is the first lead."""
    if options.get("reveal", True) or options.get("lightning", True):
        return {}
    return {"phase": "play", "opening": True}
