"""All legal plays of a hand: counted first, made only if there are few enough. WK-7.

A *bundle* is all plays of one kind with one body of ranks; how many they are is a product of small numbers.
Bundles are counted until there are more than were asked for. Only then are the cards put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ...cards import SUITS
from .combos import BLACK, FIVE, KING, NUMBERS, RED, TEN, Form, Line, line_value
from .holding import DECK_RANKS, Chosen, Holding
from .rules import PURE_ORDER, Reading, Rules

LIMIT = 2000  # WK-7.5


class Bundle(NamedTuple):
    """All plays of one kind and one body. `fixed`: they are these; `flush`: of one suit only, these suits (bits)."""

    kind: str
    n: int
    value: int
    bomb: bool
    count: int
    body: tuple[int, ...]
    each: int = 0
    kick: int = 0
    paired: bool = False
    flush: int = 0
    fixed: tuple[Chosen, ...] = ()


class Search(NamedTuple):
    """What is looked for: plays that beat `old` (None: leads), bombs of six and more only of the ranks `shown`.

    `shown` None: of all ranks. WK-10.8
    """

    rules: Rules
    hand: Holding
    old: Reading | None
    shown: str | None = None


def bundles(search: Search, stop: int | None = None) -> list[Bundle] | None:
    """All bundles, or None as soon as they are known to hold more than `stop` plays. WK-7.5.

    Plays of runs of triples with and without kickers can be the same set of cards (WK-3.12); those are not counted
    twice here, but see `plays`.
    """
    found: list[Bundle] = []
    total = 0
    loose: dict[int, int] = {}
    for bundle in _every(search):
        found.append(bundle)
        if stop is None:
            continue
        if _is_loose(search.rules, bundle):
            known = loose.get(bundle.n, 0)
            loose[bundle.n] = max(known, bundle.count)
            total += loose[bundle.n] - known
        else:
            total += bundle.count
        if total > stop:
            return None
    return found


def plays(search: Search, stop: int) -> list[Chosen] | None:
    """All plays as sorted card places, each once; None if they are more than `stop`. WK-7.1, WK-7.2, WK-7.4."""
    found = bundles(search, stop)
    if found is None:
        return None
    made: list[Chosen] = []
    runs: dict[Chosen, None] = {}
    for bundle in reversed(found):  # they were counted from the kinds with many plays to those with few
        if not _is_loose(search.rules, bundle):
            made += [tuple(sorted(chosen)) for chosen in expand(search.hand, bundle)]
            continue
        for chosen in expand(search.hand, bundle):
            runs[tuple(sorted(chosen))] = None
            if len(made) + len(runs) > stop:
                return None
    made += runs
    return None if len(made) > stop else made


def _is_loose(rules: Rules, bundle: Bundle) -> bool:
    """Whether its plays can have other readings too: runs of triples where these may have kickers. WK-3.12."""
    return bundle.each == 3 and len(bundle.body) > 1 and len(rules.kicked) > 0


# ---- finding bundles ----


def _every(search: Search) -> Iterator[Bundle]:
    rules, hand, old = search.rules, search.hand, search.old
    for form in reversed(rules.forms):  # kinds with kickers first: they are the many
        if old is None:
            yield from _leads(form, hand)
        elif form.kind == old.kind and not old.bomb:
            yield from _follows(form, hand, old)
    least = 0 if old is None else _least_bomb(rules, old)
    if least is not None:
        for place, line in enumerate(rules.lines):
            if line_value(place + 1) > least:
                yield from _bombs(search, place, line, least)


def _least_bomb(rules: Rules, old: Reading) -> int | None:
    """The least value of a bomb that beats it; None: no bomb does. WK-4.3, WK-4.4, WK-4.6."""
    return old.value + 1 if old.bomb else rules.guards.get(old.kind, 0)


def _leads(form: Form, hand: Holding) -> Iterator[Bundle]:
    """All bodies of a form, each start as far as the cards reach."""
    places, each, least = form.places, form.each, form.least
    for start, reach in enumerate(form.reach):
        count = 1
        for end in range(start, reach):
            count *= hand.ways[places[end]][each]
            if not count:
                break
            if end - start + 1 >= least:
                bundle = _bundle(form, hand, start, end, count)
                if bundle is not None:
                    yield bundle


def _follows(form: Form, hand: Holding, old: Reading) -> Iterator[Bundle]:
    """The bodies of as many ranks that are higher. WK-4.2, WK-3.7."""
    places, each = form.places, form.each
    for _, start, end in form.windows[old.ranks]:
        if form.value(end) > old.value:
            count = 1
            for rank in places[start : end + 1]:
                count *= hand.ways[rank][each]
            bundle = _bundle(form, hand, start, end, count) if count else None
        elif form.flush and form.value(end, True) > old.value:
            bundle = _flush_bundle(form, hand, start, end)
        else:
            continue
        if bundle is not None:
            yield bundle


def _bundle(form: Form, hand: Holding, start: int, end: int, count: int) -> Bundle | None:
    """The plays with this body, or None if there are none. `count`: ways to choose the body itself."""
    body = form.places[start : end + 1]
    kick = form.kick * len(body)
    if form.paired:
        count *= hand.pair_count(body)
    elif kick:
        count *= hand.kicker_count(body, kick)
    elif hand.must >= 0 and hand.must not in body:
        return None  # WK-14.7
    if not count:
        return None
    n = form.cards(len(body))
    return Bundle(form.kind, n, form.value(end), False, count, body, form.each, kick, form.paired)


def _flush_bundle(form: Form, hand: Holding, start: int, end: int) -> Bundle | None:
    """The straights of one suit with this body. WK-3.7."""
    body = form.places[start : end + 1]
    suits = (1 << len(SUITS)) - 1
    for rank in body:
        suits &= hand.suits[rank]
    if not suits:
        return None
    return Bundle(form.kind, len(body), form.value(end, True), False, suits.bit_count(), body, 1, flush=suits)


def _bombs(search: Search, place: int, line: Line, least: int) -> Iterator[Bundle]:
    """The bombs of one line of the list. WK-3.11."""
    if line.kind in ("triple", "bomb"):
        yield from _equal_cards(search, place, line, least)
        return
    hand = search.hand
    by_value: dict[int, list[Chosen]] = {}
    for value, chosen in _jokers(hand, line, line_value(place)) if line.jokers else _fifties(search, place, line):
        if value >= least and (hand.must < 0 or hand.must_place in chosen):
            by_value.setdefault(value, []).append(chosen)
    for value, fixed in by_value.items():
        yield Bundle(line.kind, line.n, value, True, len(fixed), (), fixed=tuple(fixed))


def _equal_cards(search: Search, place: int, line: Line, least: int) -> Iterator[Bundle]:
    hand = search.hand
    for rank in NUMBERS:
        count = hand.ways[rank][line.n]
        value = line_value(place) + rank
        if not count or value < least or (hand.must >= 0 and hand.must != rank):
            continue
        if line.n >= 6 and search.shown is not None and rank not in ranks_of(search.shown):
            continue  # WK-10.8
        yield Bundle(line.kind, line.n, value, True, count, (rank,), line.n)


def ranks_of(shown: str) -> tuple[int, ...]:
    """Announced ranks as numbers."""
    return tuple(map("3456789TJQKA2".index, shown))


def _jokers(hand: Holding, line: Line, value: int) -> Iterator[tuple[int, Chosen]]:
    black, red = hand.ranks[BLACK], hand.ranks[RED]
    for few, many in line.jokers:
        if len(black) >= few and len(red) >= many:
            yield value, black[:few] + red[:many]


def _fifties(search: Search, place: int, line: Line) -> Iterator[tuple[int, Chosen]]:
    """The 5-10-Ks of one line: pure or mixed. WK-3.11."""
    hand = search.hand
    ordered = search.rules.options.pure_suit_order
    for (five,), (ten,), (king,) in product(*(hand.choices(rank, 1) for rank in (FIVE, TEN, KING))):
        suit = five // DECK_RANKS
        pure = suit == ten // DECK_RANKS == king // DECK_RANKS
        if pure == (line.kind == "true"):
            own = PURE_ORDER.index(SUITS[suit]) if pure and ordered else 0
            yield line_value(place) + own, (five, ten, king)


# ---- making plays ----


def expand(hand: Holding, bundle: Bundle) -> Iterator[Chosen]:
    """The plays of a bundle, each once, cards unsorted."""
    if bundle.fixed:
        yield from bundle.fixed
        return
    if bundle.flush:
        for suit in range(len(SUITS)):
            if bundle.flush >> suit & 1:
                yield tuple(suit * DECK_RANKS + rank for rank in bundle.body)
        return
    bodies = product(*(hand.choices(rank, bundle.each) for rank in bundle.body))
    kicked = list(_kicker_sets(hand, bundle)) if bundle.kick else [()]
    for parts in bodies:
        body: Chosen = sum(parts, ())
        for kickers in kicked:
            yield body + kickers


def _kicker_sets(hand: Holding, bundle: Bundle) -> Iterator[Chosen]:
    return hand.pairs(bundle.body) if bundle.paired else hand.kickers(bundle.body, bundle.kick)
