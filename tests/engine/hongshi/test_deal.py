"""Pack, cut, deal, sides, options. HS-1, HS-3, HS-4.1, HS-15."""

from __future__ import annotations

import pytest

from kangtou_engine.cards import DECK54, Cards
from kangtou_engine.errors import BadOptions
from kangtou_engine.games.hongshi.deal import PACK40, PACK52, up_side
from kangtou_engine.match.state import Config
from tests.engine.hongshi.table import CHANCE, HONGSHI, legal, play, refusal, setup


def test_hs_1_1_pack() -> None:
    """40 cards: two sixes, four of each rank from 7, the jokers."""
    assert len(PACK40) == 40
    assert [card for card in PACK40 if card[1] == "6"] == ["H6", "D6"]
    assert set(DECK54) - set(PACK40) == {f"{suit}{rank}" for suit in "SHCD" for rank in "345"} | {"S6", "C6"}


def test_hs_15_2_pack_with_345() -> None:
    """52 cards: two threes, four of every other rank, the jokers."""
    assert len(PACK52) == 52
    assert set(DECK54) - set(PACK52) == {"S3", "C3"}


@pytest.mark.parametrize(("options", "cards", "half"), [({}, 40, 20), ({"keep345": True}, 52, 26)])
def test_hs_2_4_hs_3_3_cut(options: dict[str, object], cards: int, half: int) -> None:
    """The cut takes all cards but one at most; the default is half the pack."""
    _, state = HONGSHI.begin(HONGSHI.config(options), CHANCE)
    (seat,) = HONGSHI.to_act(state)
    assert state.sheet.dealer is not None
    assert seat == (state.sheet.dealer + 3) % 4
    assert legal(state, seat) == [f"cut {n}" for n in range(1, cards)]
    assert str(HONGSHI.default(state, seat)) == f"cut {half}"
    state = play(state, f"{seat} cut {half}")
    assert [len(hand) for hand in state.game.hands] == [cards // 4] * 4


@pytest.mark.parametrize(
    ("hands", "up"),
    [
        ("HT S7/DT/S8/ST CT", (0, 1)),
        ("S7/S8/HT DT/ST", (2,)),
        ("HT/S7/S8/DT", (0, 3)),
        ("S7/ST HT CT DT/S8/S9", (1,)),
        ("S7/S8/S9/SJ", ()),
    ],
)
def test_hs_4_1_sides(hands: str, up: tuple[int, ...]) -> None:
    """Who holds a red ten."""
    dealt: tuple[Cards, ...] = tuple(tuple(hand.split()) for hand in hands.split("/"))
    assert up_side(dealt) == up


@pytest.mark.parametrize(
    ("options", "dealer", "next_dealer"),
    [
        ({}, 2, 1),
        ({"next_dealer": "first"}, 2, 1),
        ({"next_dealer": "rotate"}, 2, 3),
        ({"next_dealer": "rotate"}, 3, 0),
    ],
)
def test_hs_3_5_hs_15_9_next_dealer(options: dict[str, object], dealer: int, next_dealer: int) -> None:
    """The seat first out; or the last dealer's 下家."""
    state = setup(options, phase="play", dealer=dealer, to_act=3, out=[1, 0], up=[0, 2], hands=["", "", "S7", "SK"])
    assert play(state, "3 play SK").sheet.next_dealer == next_dealer


@pytest.mark.parametrize("seats", [2, 3, 5, 6])
def test_hs_1_2_seats(seats: int) -> None:
    """Exactly four."""
    with pytest.raises(BadOptions):
        HONGSHI.config({}, seats)
    assert HONGSHI.config({}, 4).seats == HONGSHI.config().seats == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rounds", 0),
        ("rounds", 1001),
        ("lightning_factor", 3),
        ("top", "red"),
        ("next_dealer", "lot"),
        ("penalty", -1),
        ("penalty", 1001),
        ("chat", "on"),
        ("chat", False),
        ("keep345", 1),
    ],
)
def test_hs_15_refused(name: str, value: object) -> None:
    """What a table may not agree on names the option's own rule."""
    with pytest.raises(BadOptions) as refused:
        HONGSHI.config({name: value})
    assert refused.value.option == name
    assert refused.value.rule.startswith("HS-15.")


def test_hs_15_8_hs_2_3_no_cut_no_reveal() -> None:
    """Without cut, reveals and lightning a match begins with the play, by the holder of H6."""
    config: Config = HONGSHI.config({"cut": False, "reveal": False, "lightning": False})
    _, state = HONGSHI.begin(config, CHANCE)
    (seat,) = HONGSHI.to_act(state)
    assert state.phase == "play"
    assert "H6" in state.game.hands[seat]
    assert legal(state, seat)[0] == "play H6"


@pytest.mark.parametrize("phase", ["reveal", "play", "between"])
def test_hs_15_12_chat_has_no_effect(phase: str) -> None:
    """The engine does not know it."""
    hands = ["H6", "S7", "S8", "S9"]
    for chat in ("free", "safe", "off"):
        state = setup({"chat": chat}, phase=phase, hands=hands)
        assert state.phase == phase
    assert refusal(setup(phase=phase, hands=hands), "0 chat") != "legal"
