"""Positions of case files. EB-15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...cards import Cards, parse_cards
from ...errors import BadText
from ...game import CaseKeys
from ...match.state import BETWEEN, OVER
from .pack import PACK, in_order, names_in, real
from .score import losers, ranking, values
from .state import Area, Closed, Position, Round, Run, Turn, from_low_to_high, lock_of, lying

SUITS = "SHCD"


def position(state: Position, start: Mapping[str, Any]) -> Position:
    """The position that `start` describes. Raises BadText if a card lies twice or nowhere."""
    seats = state.config.seats
    phase = str(start.get("phase", "first"))
    hands = tuple(in_order(_cards(hand)) for hand in start.get("hands", [""] * seats))
    if len(hands) != seats:
        raise BadText(f"hands: {len(hands)} instead of {seats}")
    area = _area(start)
    top = start.get("discard") if phase == "window" else start.get("top")
    row = _cards(start.get("first_discards", ""))
    closed = _closed(start, hands, area, top, row)
    turn = Turn(
        seat=start.get("discarder" if phase == "window" else "to_act", state.sheet.dealer or 0),
        drawn=start.get("drawn"),
        passed=tuple(sorted(start.get("passed", ()))),
    )
    extras = tuple(start.get("extras", (0,) * seats))
    sheet = replace(state.sheet, answers=("",) * seats) if phase == BETWEEN else state.sheet
    return state.with_sheet(sheet, phase).with_game(Round(hands, closed, area, turn, top, extras))


def _cards(text: str) -> Cards:
    try:
        return parse_cards(text)
    except ValueError as error:
        raise BadText(str(error)) from error


def _laid(text: str) -> Cards:
    """Cards, among them jokers with names."""
    laid = tuple(text.split())
    for card in (*real(laid), *names_in(laid)):
        _cards(card)
    return laid


def _area(start: Mapping[str, Any]) -> Area:
    locks = {name: _laid(cards) for name, cards in start.get("locks", {}).items()}
    runs = []
    for suit in SUITS:
        if suit in start.get("runs", {}):
            laid = _laid(start["runs"][suit])
            if suit + "7" not in laid:
                raise BadText(f"runs: no seven in {suit}")
            seven = laid.index(suit + "7")
            low, high = laid[:seven][::-1], laid[seven + 1 :]
            runs.append(Run(suit, high, low, locks.get(f"{suit}-high", ()), locks.get(f"{suit}-low", ())))
    sets = tuple(_laid(cards) for cards in start.get("sets", ()))
    laid = lying(Area(tuple(runs), sets))
    return Area(tuple(runs), sets, in_order((*names_in(laid), *_cards(start.get("black", "")))))


def _closed(start: Mapping[str, Any], hands: tuple[Cards, ...], area: Area, top: str | None, row: Cards) -> Closed:
    said = [card for hand in hands for card in hand] + list(real(lying(area)))
    pile = [card for card in _cards(start.get("discards", "")) if card != top]
    pile += [card for card in row if card not in pile and card != top]
    said += pile + ([top] if top else [])
    stock = _cards(start["stock"]) if "stock" in start else None
    said += stock or ()
    if len(said) != len(set(said)):
        raise BadText("a card lies in two places")
    rest = tuple(card for card in PACK if card not in said)
    if stock is None:
        return Closed(rest, tuple(pile), row)
    return Closed(stock, (*rest, *pile), row)


def discards(own: Round) -> Cards:
    """The whole discard pile, a card that lies face up on it included."""
    return own.closed.pile if own.top is None else (*own.closed.pile, own.top)


def _runs(state: Position) -> Mapping[str, str]:
    return {run.suit: " ".join(from_low_to_high(run)) for run in state.game.area.runs}


def _locks(state: Position) -> Mapping[str, str]:
    return {
        f"{run.suit}-{side}": " ".join(lock_of(run, side))
        for run in state.game.area.runs
        for side in ("low", "high")
        if lock_of(run, side)
    }


def _seen(state: Position) -> Mapping[int, Cards]:
    """By seat, all that lies face up for it. EB-11."""
    own = state.game
    if state.phase in (BETWEEN, OVER):
        everything = (*(card for hand in own.hands for card in hand), *real(lying(own.area)), *discards(own))
        return dict.fromkeys(range(state.config.seats), everything)
    pile = own.closed.pile if state.config.options.open_discards else ()
    common = (*real(lying(own.area)), *pile, *(() if own.top is None else (own.top,)))
    return {seat: (*hand, *common) for seat, hand in enumerate(own.hands)}


def _last(key: str) -> Callable[[Position], object]:
    return lambda state: (state.sheet.last_round or {}).get(key)


def _extras(state: Position) -> object:
    return state.game.extras


def _at_end(read: Callable[[Position], object]) -> Callable[[Position], object]:
    return lambda state: read(state) if state.phase == OVER else None


def _same_map(wanted: Any, seen: Any) -> bool:
    """Complete maps of laid cards in a fixed order."""
    return bool({key: text.split() for key, text in wanted.items()} == {k: t.split() for k, t in seen.items()})


def _same_bags(wanted: Any, seen: Any) -> bool:
    """Complete maps, the cards of each entry in any order."""
    return bool({k: sorted(t.split()) for k, t in wanted.items()} == {k: sorted(t.split()) for k, t in seen.items()})


def _same_sets(wanted: Any, seen: Any) -> bool:
    return sorted(sorted(text.split()) for text in wanted) == sorted(sorted(cards) for cards in seen)


def _same_seen(wanted: Any, seen: Any) -> bool:
    return all(sorted(real(text.split())) == sorted(seen[int(seat)]) for seat, text in wanted.items())


CASES: CaseKeys[Round] = CaseKeys(
    position=position,
    observe={
        "stock": lambda state: state.game.closed.stock,
        "stock_count": lambda state: len(state.game.closed.stock),
        "discards": lambda state: discards(state.game),
        "discard_count": lambda state: len(discards(state.game)),
        "top": lambda state: state.game.top,
        "runs": _runs,
        "locks": _locks,
        "sets": lambda state: state.game.area.sets,
        "black": lambda state: state.game.area.black,
        "extras": _extras,
        "values": lambda state: values(state.game),
        "settled": _last("settled"),
        "kou": _last("kou"),
        "round_scores": _last("round_scores"),
        "losers": _at_end(losers),
        "ranking": _at_end(ranking),
        "seen": _seen,
    },
    ordered=frozenset({"stock"}),
    same={"runs": _same_map, "locks": _same_bags, "sets": _same_sets, "seen": _same_seen},
    keys=frozenset(
        "runs locks sets black stock discards top drawn discard discarder passed first_discards extras".split()
    ),
)
