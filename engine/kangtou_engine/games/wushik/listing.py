"""All legal plays of a hand: counted first, made only if there are few enough. WK-7.

A *bundle* is all plays of one kind with one body of ranks; how many they are is a product of small numbers.
Bundles are counted until there are more than were asked for. Only then are the cards put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from ...cards import RANKS, SUITS, Card, Cards
from .bombs import bombs_of
from .combos import Form, Reading
from .holding import DECK_RANKS, Chosen, Holding
from .rules import Rules

LIMIT = 2000  # WK-7.5
FLUSH_ANY = (1 << len(SUITS)) - 1


class Bundle(NamedTuple):
    """All plays of one kind and one body.

    size                how many they are
    each, kick, paired  of the form; `kick` kickers in all
    flush               of one suit only, of these suits (bits)
    fixed               the plays themselves, where there is no body
    """

    kind: str
    n: int
    value: int
    bomb: bool
    size: int
    body: tuple[int, ...]
    each: int = 0
    kick: int = 0
    paired: bool = False
    flush: int = 0
    fixed: tuple[Chosen, ...] = ()


class Search(NamedTuple):
    """What is looked for: plays of a hand that beat `old` (None: leads), bombs of six and more only of the ranks
    `shown` (None: of all). WK-10.8
    """

    rules: Rules
    hand: Holding
    bombs: tuple[Bundle, ...]
    old: Reading | None
    shown: str | None = None


@lru_cache(maxsize=512)
def known(rules: Rules, hand: Cards, must: Card | None) -> tuple[Holding, tuple[Bundle, ...]]:
    """A hand and its bombs, made once for a hand that is asked about again and again within a trick."""
    holding = Holding(hand, must)
    found = bombs_of(rules, holding)
    return holding, tuple(Bundle(kind, n, value, True, len(fixed), (), fixed=fixed) for kind, n, value, fixed in found)


# ---- counting ----


def bundles(search: Search, stop: int | None = None) -> list[Bundle] | None:
    """All bundles, or None as soon as they are known to hold more than `stop` plays. WK-7.5.

    Plays of runs of triples with and without kickers can be the same set of cards (WK-3.12): of each number of
    cards only the largest of these bundles counts here, `plays` sees to the rest.
    """
    rules, hand, old = search.rules, search.hand, search.old
    found: list[Bundle] = []
    total = 0
    loose: dict[int, int] = {}
    for form in rules.by_size:
        if old is not None and (form.kind != old.kind or old.bomb):
            continue
        if hand.sizes[form.each] < form.least:
            continue
        more = _leads(form, hand) if old is None else _follows(form, hand, old)
        found += more
        if form.each == 3 and form.most > 1 and rules.kicked:
            for bundle in more:
                loose[bundle.n] = max(bundle.size, loose.get(bundle.n, 0))
        else:
            total += sum([bundle.size for bundle in more])
        if stop is not None and total + sum(loose.values()) > stop:
            return None
    found += _bombs(search)
    total += sum([bundle.size for bundle in found if bundle.bomb])
    return None if stop is not None and total + sum(loose.values()) > stop else found


def _bombs(search: Search) -> list[Bundle]:
    """The bombs that may be played. WK-4.3, WK-4.4, WK-4.6, WK-10.8."""
    found, old, shown = search.bombs, search.old, search.shown
    if not found:
        return []
    least: int | None = 0
    if old is not None:
        least = old.value + 1 if old.bomb else search.rules.guards.get(old.kind, 0)
    if least is None:
        return []
    return [
        bomb
        for bomb in found
        if bomb.value >= least and (bomb.n < 6 or shown is None or RANKS[bomb.fixed[0][0] % DECK_RANKS] in shown)
    ]


def _leads(form: Form, hand: Holding) -> list[Bundle]:
    """All bodies of a form, each start as far as the cards reach."""
    places, each, least, all_ways = form.places, form.each, form.least, hand.ways
    found = []
    for start, reach in enumerate(form.reach):
        count = 1
        for end in range(start, reach):
            count *= all_ways[places[end]][each]
            if not count:
                break
            if end - start + 1 >= least:
                bundle = _bundle(form, hand, start, end, count)
                if bundle is not None:
                    found.append(bundle)
    return found


def _follows(form: Form, hand: Holding, old: Reading) -> list[Bundle]:
    """The bodies of as many ranks that are higher. WK-4.2, WK-3.7."""
    places, each, all_ways = form.places, form.each, hand.ways
    found = []
    for _, start, end in form.windows[old.ranks]:
        if form.value(end, form.flush != "") <= old.value:
            continue
        count = 1
        for rank in places[start : end + 1]:
            count *= all_ways[rank][each]
            if not count:
                break
        else:
            higher = form.value(end) > old.value  # if not, then a flush straight is
            bundle = _bundle(form, hand, start, end, count) if higher else _flush_bundle(form, hand, start, end)
            if bundle is not None:
                found.append(bundle)
    return found


def _bundle(form: Form, hand: Holding, start: int, end: int, count: int) -> Bundle | None:
    """The plays with this body, or None if there are none. `count`: ways to choose the body itself."""
    body = form.places[start : end + 1]
    ranks = end - start + 1
    kick = form.kick * ranks
    if form.paired:
        count *= hand.pair_count(body)
    elif kick:
        count *= hand.kicker_count(body, kick)
    elif hand.must >= 0 and hand.must not in body:
        return None  # WK-14.7
    if not count:
        return None
    return Bundle(
        form.kind, form.each * ranks + kick, form.value(end), False, count, body, form.each, kick, form.paired
    )


def _flush_bundle(form: Form, hand: Holding, start: int, end: int) -> Bundle | None:
    """The straights of one suit with this body. WK-3.7."""
    body = form.places[start : end + 1]
    suits = FLUSH_ANY
    for rank in body:
        suits &= hand.suits(rank)
    if not suits:
        return None
    return Bundle(form.kind, len(body), form.value(end, True), False, suits.bit_count(), body, 1, flush=suits)


# ---- making plays ----


def plays(search: Search, stop: int) -> list[Chosen] | None:
    """All plays as sorted card places, each once; None if they are more than `stop`. WK-7.1, WK-7.2, WK-7.4."""
    found = bundles(search, stop)
    if found is None:
        return None
    made: list[Chosen] = []
    runs: list[Bundle] = []
    for bundle in reversed(found):  # they were counted from the kinds with many plays to those with few
        if bundle.each == 3 and len(bundle.body) > 1 and search.rules.kicked:
            runs.append(bundle)
        else:
            made += expand(search.hand, bundle)
    if not runs:
        return made
    sets: dict[Chosen, None] = {}
    for bundle in runs:
        for chosen in expand(search.hand, bundle):
            sets[chosen] = None
            if len(made) + len(sets) > stop:
                return None
    return made + list(sets)


def expand(hand: Holding, bundle: Bundle) -> list[Chosen] | Iterator[Chosen]:
    """The plays of a bundle, each once, sorted."""
    if bundle.fixed:
        return list(bundle.fixed)
    if bundle.flush:
        suits = [suit for suit in range(len(SUITS)) if bundle.flush >> suit & 1]
        return [tuple(sorted([suit * DECK_RANKS + rank for rank in bundle.body])) for suit in suits]
    if len(bundle.body) == 1:
        bodies = list(hand.choices(bundle.body[0], bundle.each))
        if not bundle.kick:
            return bodies
    else:
        bodies = [sum(parts, ()) for parts in product(*[hand.choices(rank, bundle.each) for rank in bundle.body])]
        if not bundle.kick:
            return [tuple(sorted(body)) for body in bodies]
    kicked = hand.pairs(bundle.body) if bundle.paired else hand.kickers(bundle.body, bundle.kick)
    return (tuple(sorted(body + kickers)) for body in bodies for kickers in kicked)
