"""The shuffle that anyone can check: byte-exact, and uniform."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from kangtou_engine.cards import DECK54, Cards, show_cards
from kangtou_engine.shuffle import SeededChance, entropy_commitment, seed_commitment

SEED = bytes(range(32))
ENTROPIES = (b"north", b"", b"south", b"\xff" * 64)

PACKS = [  # purpose, number, the pack of 54
    (
        "pack",
        1,
        "SA DQ SJ CJ HA C6 C7 D2 D7 C5 CK CA D5 DJ H3 SQ D6 S6 DT DK S7 C2 H9 S9 HK H7 RJ "
        "ST D3 D9 DA S2 D4 H5 H8 HQ C3 C4 S3 HJ D8 H4 CT C8 S5 S4 BJ SK H2 CQ S8 HT C9 H6",
    ),
    (
        "lot",
        1,
        "DQ SA ST HT CK D8 CQ HQ S4 H7 H5 C9 H3 S7 D7 S3 DJ D5 H2 S9 DK S8 DT SK RJ D3 D4 "
        "C5 D9 SJ CA C4 SQ C3 D2 S6 C2 HA H9 D6 C7 S2 C8 HK CT S5 CJ H8 C6 H4 BJ H6 DA HJ",
    ),
]


def chance(seed: bytes = SEED, match_id: str = "match-1", entropies: Sequence[bytes] = ENTROPIES) -> SeededChance:
    """The one of the vectors, or another."""
    return SeededChance(match_id, seed, entropies)


@pytest.mark.parametrize(("purpose", "number", "pack"), PACKS)
def test_packs_byte_exact(purpose: str, number: int, pack: str) -> None:
    """Vectors of version 1: they never change."""
    assert show_cards(chance().shuffle(DECK54, purpose, number)) == pack


def test_numbers_byte_exact() -> None:
    """Below a small and below a large limit, where words are rejected."""
    below = chance().numbers("pack", 7)
    assert [below(6) for _ in range(20)] == [1, 3, 3, 4, 1, 4, 0, 3, 4, 4, 5, 1, 0, 1, 0, 0, 3, 4, 0, 0]
    below = chance().numbers("x", 1)
    assert [below(3_000_000_000) for _ in range(6)] == [
        960564317,
        470940785,
        192358256,
        511792588,
        1928447208,
        2679447275,
    ]


def test_commitments_byte_exact() -> None:
    """What is published before, and what a client compares after."""
    assert seed_commitment("match-1", SEED) == "1725b96e912669e4cc26ce0509cf6da9623a608040a061673d06cd0273b252dd"
    assert entropy_commitment(b"north") == "563cf9ccd38bdb383b87f2841531d84a165c9397fe3621d76335e1712afd924b"
    assert entropy_commitment(b"") == "fd467e9bca36a2d28a2aa32e4b88ad1f55a82cb231e24ca9e268d9a55a6ead6e"


# ---- the documented algorithm, written a second time, from its description ----


def words_of(match_id: str, seed: bytes, entropies: Sequence[bytes], purpose: str, number: int) -> Iterator[int]:
    """Block after block, cut into big-endian words."""
    text = b"kangtou/chance/1\x00" + match_id.encode("utf-8") + b"\x00" + seed + len(entropies).to_bytes(1, "big")
    for entropy in entropies:
        text += len(entropy).to_bytes(2, "big") + entropy
    key = hashlib.sha256(text).digest()
    for i in range(1_000):
        block = hashlib.sha256(
            key + purpose.encode() + b"\x00" + number.to_bytes(8, "big") + i.to_bytes(8, "big")
        ).hexdigest()
        yield from (int(block[at : at + 8], 16) for at in range(0, 64, 8))


def shuffled(pack: Cards, words: Iterator[int]) -> Cards:
    """Swap from the last place down."""
    cards = list(pack)
    for place in reversed(range(1, len(cards))):
        limit = place + 1
        word = next(words)
        while word >= 2**32 - 2**32 % limit:
            word = next(words)
        cards[place], cards[word % limit] = cards[word % limit], cards[place]
    return tuple(cards)


@pytest.mark.parametrize("number", range(1, 30))
def test_against_a_second_implementation(number: int) -> None:
    """Other seeds, matches, entropies, purposes, numbers; packs of one and two decks."""
    seed = hashlib.sha256(bytes([number])).digest()
    entropies = ENTROPIES[: number % 5]
    match_id, purpose = f"m{number}王", ("pack", "lot")[number % 2]
    pack = DECK54 if number % 3 else tuple(card for card in DECK54 for _ in range(2))
    made = SeededChance(match_id, seed, entropies).shuffle(tuple(reversed(pack)), purpose, number)
    assert made == shuffled(pack, words_of(match_id, seed, entropies, purpose, number))
    assert sorted(made) == sorted(pack)


def test_everything_counts() -> None:
    """Another seed, match, entropy, number of entropies, purpose or number: another pack."""
    packs = {
        chance().shuffle(DECK54, "pack", 1),
        chance(seed=bytes(32)).shuffle(DECK54, "pack", 1),
        chance(match_id="match-2").shuffle(DECK54, "pack", 1),
        chance(entropies=(b"north", b"", b"south", b"")).shuffle(DECK54, "pack", 1),
        chance(entropies=(b"north", b"south", b"", b"\xff" * 64)).shuffle(DECK54, "pack", 1),
        chance(entropies=ENTROPIES[:3]).shuffle(DECK54, "pack", 1),
        chance().shuffle(DECK54, "lot", 1),
        chance().shuffle(DECK54, "pack", 2),
    }
    assert len(packs) == 8
    assert chance().shuffle(DECK54, "pack", 1) == chance().shuffle(DECK54, "pack", 1)


def test_bad_arguments_and_repr() -> None:
    """Sizes are checked; the seed is never shown."""
    with pytest.raises(ValueError, match="a seed has 32 bytes"):
        SeededChance("m", b"short", ())
    with pytest.raises(ValueError, match="an entropy has at most 64 bytes"):
        SeededChance("m", SEED, (b"x" * 65,))
    assert SEED.hex() not in repr(chance())
    assert repr(SEED) not in repr(chance())


# ---- uniform ----


def chi_square(counts: Counter[object], cells: int) -> float:
    """Against equal expectation in all cells."""
    expected = sum(counts.values()) / cells
    return sum((count - expected) ** 2 for count in counts.values()) / expected + expected * (cells - len(counts))


def test_all_orders_are_equally_likely() -> None:
    """Four cards, 24 orders; 23 degrees of freedom: beyond 58 would happen once in 20,000."""
    source = chance()
    counts: Counter[object] = Counter(source.shuffle(("S3", "H4", "C5", "D6"), "pack", n) for n in range(24 * 400))
    assert chi_square(counts, 24) < 58


def test_every_card_is_equally_likely_everywhere() -> None:
    """54 cards in 54 places; about 2,809 degrees of freedom, mean 2,809, deviation 75."""
    source = chance()
    counts: Counter[object] = Counter()
    for n in range(3_000):
        counts.update(enumerate(source.shuffle(DECK54, "pack", n)))
    assert 2_809 - 5 * 75 < chi_square(counts, 54 * 54) < 2_809 + 5 * 75


def test_rejection_keeps_large_limits_uniform() -> None:
    """Two thirds of the range of a word, where a plain remainder would double the lower half."""
    below = chance().numbers("x", 2)
    counts: Counter[object] = Counter(below(2_863_311_531) * 3 // 2_863_311_531 for _ in range(9_000))
    assert chi_square(counts, 3) < 20
