"""Cards and their text. rules/README, "Cards"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kangtou_engine.cards import (
    DECK52,
    DECK54,
    HIDDEN,
    ORDER,
    after,
    hidden,
    in_order,
    is_card,
    missing,
    parse_cards,
    show_cards,
    without,
)

CARDS = st.lists(st.sampled_from((*DECK54, HIDDEN)), max_size=20).map(tuple)


def test_decks() -> None:
    """52 and 54 different cards, in canonical order: suits S H C D, in a suit 3 … A 2, then the jokers."""
    assert len(set(DECK52)) == 52
    assert len(set(DECK54)) == 54
    assert DECK54[:14] == tuple("S3 S4 S5 S6 S7 S8 S9 ST SJ SQ SK SA S2 H3".split())
    assert DECK54[-3:] == ("D2", "BJ", "RJ")
    assert in_order(reversed(DECK54)) == DECK54
    assert list(ORDER) == [*DECK54, HIDDEN]


@pytest.mark.parametrize("text", [*DECK54])
def test_is_card(text: str) -> None:
    """Each of the 54."""
    assert is_card(text)
    assert parse_cards(text) == (text,)


@pytest.mark.parametrize("text", ["", "H", "H1", "H10", "h6", "6H", "XJ", "BJ=D8", "??", " H6", "HT,DT"])
def test_no_card(text: str) -> None:
    """Everything else is none, HIDDEN included."""
    assert not is_card(text)
    if text.split() != ["H6"] and text:
        with pytest.raises(ValueError, match="is not a card"):
            parse_cards(text)


@given(CARDS)
def test_order_and_text(cards: tuple[str, ...]) -> None:
    """Order is a permutation and idempotent; the text of visible cards is read back."""
    ordered = in_order(cards)
    assert sorted(ordered) == sorted(cards)
    assert in_order(ordered) == ordered
    visible = tuple(card for card in cards if card != HIDDEN)
    assert parse_cards(show_cards(visible)) == visible


@given(CARDS, CARDS)
def test_missing_and_without(hand: tuple[str, ...], cards: tuple[str, ...]) -> None:
    """Copies count; what is not missing goes, hidden cards standing in for what is not seen."""
    lacking = missing(cards, hand)
    assert len(lacking) >= len(cards) - len(hand)
    if HIDDEN not in hand:
        assert len(without(hand, cards)) == len(hand) - (len(cards) - len(lacking))
        assert missing(without(hand, cards), hand) == ()


@pytest.mark.parametrize(
    ("hand", "cards", "left"),
    [
        ("H6 H6 S7", "H6", "H6 S7"),
        ("H6 S7", "H6 H6", "S7"),
        ("H6 ?? ??", "H6 S7", "??"),
        ("?? ??", "S7 S7 S7", ""),
        ("S7", "", "S7"),
    ],
)
def test_without(hand: str, cards: str, left: str) -> None:
    """By example."""
    assert without(tuple(hand.split()), tuple(cards.split())) == tuple(left.split())


def test_seats_and_hidden() -> None:
    """The order of play; nothing but a count."""
    assert [after(3, 4), after(0, 4, -1), after(1, 4, 2), after(4, 5, 3)] == [0, 3, 3, 2]
    assert hidden(3) == ("??", "??", "??")
    assert hidden(0) == ()
