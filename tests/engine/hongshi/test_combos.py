"""Combinations and beating. HS-5, HS-14.2, HS-14.3, HS-15.3."""

from __future__ import annotations

from itertools import combinations

import pytest

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import DECK54, Cards, in_order, parse_cards
from kangtou_engine.games.hongshi.combos import Combo, beats, combo_of, combos_in, leads_in
from kangtou_engine.games.hongshi.play import canonical


def combo(text: str, top: str = "jokers") -> Combo:
    """`HT DT as=ten` as a combination."""
    cards, _, low = text.partition(" as=")
    found = combo_of(top, in_order(parse_cards(cards)), low == "ten")
    assert found is not None, text
    return found


def naive(new: str, old: str, top: str) -> bool:
    """HS-5.7 written down once more, from the tables of the book and on texts."""

    def special(text: str) -> int:
        cards = set(text.split())
        if cards == {"BJ", "RJ"}:
            return 2 if top == "jokers" else 1
        if cards in ({"HT", "DT"}, {"ST", "HT", "CT", "DT"}):
            return 1 if top == "jokers" else 2
        return 0

    def rank(text: str) -> int:
        first = text.split()[0]
        singles = ["HT", "BJ", "RJ"] if top == "jokers" else ["BJ", "RJ", "HT"]
        if len(text.replace(" as=ten", "").split()) == 1 and "as=" not in text:
            first = "HT" if first == "DT" else first
            if first in singles:
                return 20 + singles.index(first)
        return "3456789TJQKA2".index(first[1])

    a, b = special(new), special(old)
    if a or b:
        return a > b
    sizes = [len(text.replace(" as=ten", "").split()) for text in (new, old)]
    return sizes[0] == sizes[1] and rank(new) > rank(old)


BEATS = [
    # rule, play, to beat, with jokers on top, with tens on top
    ("HS-5.2", "S7", "H6", True, True),
    ("HS-5.2", "S2", "HA", True, True),
    ("HS-5.2", "HT", "S2", True, True),
    ("HS-5.2", "HT as=ten", "S9", True, True),
    ("HS-5.2", "HT as=ten", "SJ", False, False),
    ("HS-5.2", "BJ", "DT", True, False),
    ("HS-15.3", "DT", "BJ", False, True),
    ("HS-15.3", "DT", "RJ", False, True),
    ("HS-5.2", "RJ", "BJ", True, True),
    ("HS-5.3", "S2 H2", "SA HA", True, True),
    ("HS-5.3", "ST HT", "S9 H9", True, True),
    ("HS-5.3", "SJ HJ", "ST HT", True, True),
    ("HS-5.4", "HT DT", "S2 H2 C2 D2", True, True),
    ("HS-5.4", "ST HT CT DT", "S2 H2 C2 D2", True, True),
    ("HS-5.4", "ST HT CT DT", "RJ", True, True),
    ("HS-5.4", "HT DT", "RJ", True, True),
    ("HS-5.4", "BJ RJ", "S2 H2 C2 D2", True, True),
    ("HS-5.4", "BJ RJ", "HT DT", True, False),
    ("HS-15.3", "HT DT", "BJ RJ", False, True),
    ("HS-15.3", "ST HT CT DT", "BJ RJ", False, True),
    ("HS-5.4", "BJ RJ", "ST HT CT DT", True, False),
    ("HS-5.5", "BJ RJ", "HT", True, True),
    ("HS-5.5", "SJ CJ", "HT DT as=ten", True, True),
    ("HS-5.5", "HT DT as=ten", "S9 C9", True, True),
    ("HS-5.5", "HT DT as=ten", "S9", False, False),
    ("HS-5.5", "SJ HJ CJ DJ", "ST HT CT DT as=ten", True, True),
    ("HS-5.6", "HT", "DT", False, False),
    ("HS-5.6", "ST", "HT as=ten", False, False),
    ("HS-5.6", "S7", "H7", False, False),
    ("HS-5.7", "S7 H7", "H6", False, False),
    ("HS-5.7", "S7", "H6 D6", False, False),
    ("HS-5.7", "RJ", "S7 H7", False, False),
    ("HS-5.7", "S2 H2 C2 D2", "S7 H7 C7", False, False),
]


@pytest.mark.parametrize(("rule", "new", "old", "jokers", "tens"), BEATS)
def test_beats(rule: str, new: str, old: str, jokers: bool, tens: bool) -> None:
    """By example, under both rankings."""
    assert beats(combo(new), combo(old)) is jokers, rule
    assert beats(combo(new, "tens"), combo(old, "tens")) is tens, rule


@pytest.mark.parametrize("top", ["jokers", "tens"])
def test_beats_against_the_tables_of_the_book(top: str) -> None:
    """HS-5.7: every combination against every other."""
    everything = combos_in(top, DECK54)
    texts = [str(one.action).removeprefix("play ") for one in everything]
    assert len(texts) == 13 * 15 + 3 + 4  # 15 sets of each rank, 3 of jokers, 4 sets with a second meaning
    for new, new_text in zip(everything, texts, strict=True):
        for old, old_text in zip(everything, texts, strict=True):
            assert beats(new, old) is naive(new_text, old_text, top), f"{new_text} on {old_text}"


@pytest.mark.parametrize(
    "cards", ["S7 C8", "BJ S7", "BJ RJ S7", "S7 S8 S9", "S7 H7 C7 D7 S8", "BJ ST", "RJ HT DT", "S9 ST SJ SQ SK"]
)
def test_no_combination(cards: str) -> None:
    """HS-5.1: nothing but singles, pairs, strings of one rank."""
    assert combo_of("jokers", in_order(parse_cards(cards))) is None


@pytest.mark.parametrize("cards", ["ST", "ST HT", "ST HT DT", "ST CT", "ST HT CT", "S7", "S7 H7", "BJ", "BJ RJ"])
def test_one_meaning(cards: str) -> None:
    """HS-5.5: as=ten only where there are two."""
    assert combo_of("jokers", in_order(parse_cards(cards)), True) is None


def test_leads_of_the_book() -> None:
    """HS-14.3, the example."""
    assert [str(action) for action in leads_in("jokers", ("ST", "HT", "DT"))] == [
        "play ST",
        "play HT",
        "play HT as=ten",
        "play DT",
        "play DT as=ten",
        "play ST HT",
        "play ST DT",
        "play HT DT",
        "play HT DT as=ten",
        "play ST HT DT",
    ]


@pytest.mark.parametrize(
    "hand", ["H6 D6 S7", "ST HT CT DT BJ RJ", "S2 H2 C2 D2 HT", "S3 D3 H4 SA BJ", "RJ", "HJ CJ RJ DT S9"]
)
def test_listing_is_every_subset(hand: str) -> None:
    """HS-14.3: all subsets of the hand that are combinations, each once."""
    cards: Cards = in_order(parse_cards(hand))
    subsets = [part for size in range(1, len(cards) + 1) for part in combinations(cards, size)]
    wanted = {(part, low) for part in subsets for low in (False, True) if combo_of("tens", part, low)}
    listed = [(one.cards, one.as_ten) for one in combos_in("tens", cards)]
    assert len(listed) == len(set(listed))
    assert set(listed) == wanted


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("play DT HT", "play HT DT"),
        ("play DT HT as=red", "play HT DT"),
        ("play HT as=red", "play HT"),
        ("play DT CT HT ST as=red", "play ST HT CT DT"),
        ("play DT HT as=ten", "play HT DT as=ten"),
        ("play ST HT as=red", "play ST HT as=red"),
        ("play S7 as=red", "play S7 as=red"),
        ("reveal DT HT", "reveal HT DT"),
        ("play 7 S7", "play 7 S7"),
        ("play BJ=D8 S7", "play BJ=D8 S7"),
        ("cut 7", "cut 7"),
        ("pass", "pass"),
    ],
)
def test_canonical(said: str, text: str) -> None:
    """HS-5.5, HS-14.1: order and as=red; what is not legal stays as it is."""
    assert canonical(parse_action(said)) == parse_action(text)
    assert canonical(canonical(parse_action(said))) == canonical(parse_action(said))


def test_canonical_of_any_cards() -> None:
    """A hidden card is no card of an action, but does no harm."""
    assert canonical(Action("play", ("??", "S7"))).verb == "play"
