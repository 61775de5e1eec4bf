"""A variant with its options applied, and what beats what. WK-3, WK-4, WK-14.

`rules_of(options)` makes the tables once; recognising a play is then a few look-ups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ...cards import RANKS, SUITS, Cards
from .combos import (
    BLACK,
    FIVE,
    KING,
    NUMBERS,
    RANK_OF,
    RED,
    TEN,
    Combo,
    Form,
    Line,
    Reading,
    line_value,
    mask_of,
)
from .options import Options
from .variants import ALL, Variant

FIFTY = mask_of((FIVE, TEN, KING))
JOKER_MASK = mask_of((BLACK, RED))
PURE_ORDER = "DCHS"  # WK-3.11: low to high


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What may be played at a table, and the order of it.

    forms, lines  plain kinds; bombs from low to high
    kicked        the plain kinds with kickers; by_size: all, those with many plays first
    guards        the least value of a bomb that beats a plain kind, None: none does; kinds not named: 0. WK-4.6
    even          readings of sets with equally many cards of each rank, by (how many, ranks)
    flushed       the reading of a straight when it is of one suit. WK-3.7
    fake, pure    the readings of 5-10-Ks: mixed, and by suit
    jokers        the readings of jokers as bombs, by the numbers of (black, red)
    readings      all readings by their written form
    """

    variant: Variant
    options: Options
    forms: tuple[Form, ...]
    kicked: tuple[Form, ...]
    by_size: tuple[Form, ...]
    lines: tuple[Line, ...]
    guards: Mapping[str, int | None]
    even: Mapping[tuple[int, int], tuple[Reading, ...]]
    flushed: Mapping[Combo, Reading]
    fake: Reading
    pure: Mapping[str, Reading]
    jokers: Mapping[tuple[int, int], Reading]
    readings: Mapping[Combo, Reading]


@lru_cache(maxsize=256)
def rules_of(options: Options) -> Rules:
    """The rules of a table."""
    variant = ALL[options.variant]
    forms = tuple(_with_options(form, options) for form in variant.forms)
    forms += tuple(form for name, form in variant.house.items() if getattr(options, name))  # WK-14.11
    lines = tuple(line for line in variant.bombs if line.kind != "bomb" or line.n <= options.bomb_max)  # WK-14.9
    values = {line.name: line_value(place) for place, line in enumerate(lines)}
    even = _even_forms(forms)
    bombs = _even_lines(lines)
    fake, pure = _fifties(lines, options.pure_suit_order)
    jokers = {
        held: line.reading(place, 0, (f"kind={line.tag}",) if line.tag else ())
        for place, line in enumerate(lines)
        for held in line.jokers
    }
    flushed = _flushed(forms)
    every = [*_plain(forms), *flushed.values(), *bombs.values(), fake, *pure.values(), *jokers.values()]
    return Rules(
        variant=variant,
        options=options,
        forms=forms,
        kicked=tuple(form for form in forms if form.kick),
        by_size=tuple(reversed(forms)),
        lines=lines,
        guards={kind: None if name is None else values[name] for kind, name in variant.guards.items()},
        even={**even, **{key: (*even.get(key, ()), reading) for key, reading in bombs.items()}},
        flushed=flushed,
        fake=fake,
        pure=pure,
        jokers=jokers,
        readings={reading.combo: reading for reading in every},
    )


def _with_options(form: Form, options: Options) -> Form:
    if form.kind == "straight":
        least = options.straight_min  # WK-14.4
        return replace(form, least=least, flush=options.flush_straight if form.flush else "")  # WK-14.8
    return form


def _plain(forms: tuple[Form, ...]) -> list[Reading]:
    return [form.reading(window.end, m) for form in forms for m, windows in form.windows.items() for window in windows]


def _even_forms(forms: tuple[Form, ...]) -> dict[tuple[int, int], tuple[Reading, ...]]:
    table: dict[tuple[int, int], tuple[Reading, ...]] = {}
    for form in forms:
        if form.kick:
            continue
        for m, windows in form.windows.items():
            for window in windows:
                key = (form.each, window.mask)
                table[key] = (*table.get(key, ()), form.reading(window.end, m))
    return table


def _flushed(forms: tuple[Form, ...]) -> dict[Combo, Reading]:
    table: dict[Combo, Reading] = {}
    for form in forms:
        for m, windows in form.windows.items() if form.flush else ():
            for window in windows:
                table[form.reading(window.end, m).combo] = form.reading(window.end, m, flush=True)
    return table


def _even_lines(lines: tuple[Line, ...]) -> dict[tuple[int, int], Reading]:
    """Triples as bombs and sets of four and more. WK-3.5, WK-3.11."""
    return {
        (line.n, 1 << rank): line.reading(place, rank, (f"top={RANKS[rank]}",))
        for place, line in enumerate(lines)
        if line.kind in ("triple", "bomb")
        for rank in NUMBERS
    }


def _fifties(lines: tuple[Line, ...], ordered: bool) -> tuple[Reading, dict[str, Reading]]:
    """The mixed and the pure 5-10-Ks. WK-3.11, WK-14.5."""
    places = {line.kind: place for place, line in enumerate(lines)}
    fake, true = places["fake"], places["true"]
    pure = {
        suit: lines[true].reading(true, PURE_ORDER.index(suit) if ordered else 0, (f"suit={suit}",)) for suit in SUITS
    }
    return lines[fake].reading(fake, 0, ()), pure


# ---- recognising a play ----


def readings_of(rules: Rules, cards: Cards) -> tuple[Reading, ...]:
    """All readings of a set of cards; () if it is not playable. WK-3.1, WK-3.12."""
    counts: dict[int, int] = {}
    mask = 0
    for card in cards:
        rank = RANK_OF[card]
        counts[rank] = counts.get(rank, 0) + 1
        mask |= 1 << rank
    sizes = set(counts.values())
    found: tuple[Reading, ...] = ()
    if len(sizes) == 1:
        found = rules.even.get((sizes.pop(), mask), ())
        if found and rules.flushed:
            found = _with_flush(rules, found, cards)
    if mask == FIFTY and len(cards) == 3:
        found = (*found, _fifty(rules, cards))
    elif not mask & ~JOKER_MASK:
        bomb = rules.jokers.get((counts.get(BLACK, 0), counts.get(RED, 0)))
        found = found if bomb is None else (*found, bomb)
    for form in rules.kicked:
        if not len(cards) % (form.each + form.kick):
            found = (*found, *_with_kickers(form, counts, len(cards) // (form.each + form.kick)))
    return found


def _one_suit(cards: Cards) -> bool:
    suit = cards[0][0]
    return all(card[0] == suit for card in cards)


def _with_flush(rules: Rules, found: tuple[Reading, ...], cards: Cards) -> tuple[Reading, ...]:
    """WK-3.7."""
    if found[0].combo in rules.flushed and _one_suit(cards):
        return tuple(rules.flushed.get(reading.combo, reading) for reading in found)
    return found


def _fifty(rules: Rules, cards: Cards) -> Reading:
    return rules.pure[cards[0][0]] if _one_suit(cards) else rules.fake  # WK-3.11


def _with_kickers(form: Form, counts: Mapping[int, int], ranks: int) -> list[Reading]:
    """The bodies that the cards can have in a kind with kickers. WK-3.10."""
    windows = form.windows.get(ranks)
    if windows is None:
        return []
    exact = mask_of(tuple(rank for rank, count in counts.items() if count == form.each))
    found = [w for w in windows if exact & w.mask == w.mask]
    if form.paired:
        found = [w for w in found if _is_pair({r: n for r, n in counts.items() if not w.mask >> r & 1})]
    return [form.reading(window.end, ranks) for window in found]


def _is_pair(kickers: Mapping[int, int]) -> bool:
    return list(kickers.values()) == [2]


# ---- what beats what ----


def beats(rules: Rules, new: Reading, old: Reading) -> bool:
    """Whether `new` may be played on `old`. WK-4."""
    if new.bomb:
        if old.bomb:
            return new.value > old.value  # WK-4.4
        guard = rules.guards.get(old.kind, 0)
        return guard is not None and new.value >= guard  # WK-4.3, WK-4.6
    return not old.bomb and new.kind == old.kind and new.n == old.n and new.value > old.value  # WK-4.1, 4.2, 4.5


def as_lead(found: tuple[Reading, ...]) -> Reading:
    """The reading of a lead: the most ranks in the body, then the highest top. WK-3.12."""
    return max(found, key=lambda reading: (reading.ranks, reading.value))


def as_follow(rules: Rules, found: tuple[Reading, ...], old: Reading) -> Reading | None:
    """The reading of a follower: of those that beat, the one with the highest top. WK-3.12."""
    winning = [reading for reading in found if beats(rules, reading, old)]
    return max(winning, key=lambda reading: reading.value) if winning else None
