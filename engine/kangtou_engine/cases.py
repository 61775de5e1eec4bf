"""The case runner: sets a position, plays a script, compares. (rules/README, "Case files")

A case is the plain data of a YAML file; reading files is the caller's affair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .actions import Action, parse_action
from .cards import Cards, Seat, is_card, parse_cards
from .chance import Chance, GivenDecks
from .errors import BadOptions, BadText, IllegalAction
from .game import TooMany
from .match.events import RoundBegan
from .match.match import AnyState, Game
from .match.state import BETWEEN
from .shuffle import SeededChance

COMMON_START = frozenset("phase hands to_act round dealer next_dealer scores decks lot first".split())


def run_case(game: Game, case: Mapping[str, Any]) -> list[str]:
    """Play one case; the failures, in words. Raises nothing for what a case can get wrong."""
    try:
        state, chance = start_of(game, case)
        state = _play(game, state, chance, case.get("script") or ())
        return _compare(game, state, case.get("expect") or {})
    except (BadText, BadOptions, _ScriptError) as error:
        return [str(error)]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:  # a case of another shape
        return [f"cannot be read: {type(error).__name__}: {error}"]


class _ScriptError(Exception):
    pass


def start_of(game: Game, case: Mapping[str, Any]) -> tuple[AnyState, Chance]:
    """The position that a case starts from, and the chance it goes on with."""
    start = dict(case.get("start") or {})
    unknown = set(start) - COMMON_START - game.spec.cases.keys
    if unknown:
        raise BadText(f"start: unknown keys {sorted(unknown)}")
    config = game.config(case.get("options") or {}, case.get("seats"))
    decks = [parse_cards(deck) for deck in start.pop("decks", ())]
    lots = [parse_cards(draws) for draws in start.pop("lot", ())]
    others = SeededChance(str(case.get("id")), b"case".ljust(32, b"."), ())
    chance = GivenDecks(others, decks, lots)
    if not start:
        return game.begin(config, chance)[1], chance
    state = _sheet(game, game.before(config), start)
    if "hands" not in start and start.get("phase") != BETWEEN:
        return _round(game, state, start, chance), chance
    state = game.spec.cases.position(state, start)
    if not game.to_act(state):
        state = game.settle(state, chance)
    return state, chance


def _sheet(game: Game, state: AnyState, start: Mapping[str, Any]) -> AnyState:
    number = start.get("round", 1)
    named = state.sheet.dealer if number == 1 else None
    dealer = start.get("dealer", 0 if named is None else named)
    if "dealer" not in start and number == 1 and not game.spec.dealer_by_lot:
        dealer = None
    sheet = replace(
        state.sheet,
        round=number,
        dealer=dealer,
        first=start.get("first", dealer or 0),
        scores=tuple(start.get("scores", state.sheet.scores)),
    )
    if start.get("phase") == BETWEEN:
        blank = ("",) * state.config.seats
        sheet = replace(sheet, answers=blank, next_dealer=start.get("next_dealer", dealer))
        return state.with_sheet(sheet, BETWEEN)
    return state.with_sheet(sheet, start.get("phase", ""))


def _round(game: Game, state: AnyState, start: Mapping[str, Any], chance: Chance) -> AnyState:
    sheet = state.sheet
    began = RoundBegan(
        round=sheet.round,
        deals=1,
        dealer=sheet.dealer,
        first=sheet.first,
        scores=sheet.scores,
        lot=(),
        last_round=None,
        carry=game.spec.cases.carry(start),
        pile=chance.shuffle(game.spec.pack(state.config), "pack", 1),
    )
    return game.settle(game.evolve(state, began), chance)


def _play(game: Game, state: AnyState, chance: Chance, script: Sequence[str]) -> AnyState:
    for line in script:
        text = str(line)
        illegal = text.endswith(" !illegal")
        who, _, said = text.removesuffix(" !illegal").partition(" ")
        seat = None if who == "-" else int(who)
        try:
            action = parse_action(said)
            if seat is not None:
                action = game.spec.canonical(action)
            _, after = game.step(state, seat, action, chance)
        except IllegalAction as error:
            if not illegal:
                raise _ScriptError(f"{line!r} was refused: {error}") from error
            continue
        if illegal:
            raise _ScriptError(f"{line!r} was accepted")
        state = after
    return state


def _compare(game: Game, state: AnyState, expect: Mapping[str, Any]) -> list[str]:
    failures: list[str] = []
    for key, wanted in expect.items():
        if key in ("legal", "legal_includes", "legal_excludes"):
            failures += _LEGAL[key](game, state, wanted)
            continue
        observe = game.spec.cases.observe.get(key) or _COMMON.get(key)
        if observe is None:
            failures.append(f"{key}: no such key")
            continue
        seen = game.to_act(state) if key == "to_act" else observe(state)
        same = game.spec.cases.same.get(key)
        ordered = key in game.spec.cases.ordered
        if not (same(wanted, seen) if same else matches(wanted, seen, ordered)):
            failures.append(f"{key}: expected {wanted!r}, found {seen!r}")
    return failures


def matches(wanted: Any, seen: Any, ordered: bool = False) -> bool:
    """Whether an observed value is what a case file says: cards as text, maps by the keys given."""
    if isinstance(wanted, Mapping):
        if not isinstance(seen, Mapping):
            return False
        by_text = {str(key): value for key, value in seen.items()}
        return all(str(k) in by_text and matches(v, by_text[str(k)], ordered) for k, v in wanted.items())
    if isinstance(wanted, str) and isinstance(seen, tuple):
        parts = wanted.split()
        return parts == list(seen) if ordered else sorted(parts) == sorted(map(str, seen))
    if isinstance(wanted, list):
        if not isinstance(seen, (tuple, list)) or len(wanted) != len(seen):
            return False
        return all(matches(one, other, ordered) for one, other in zip(wanted, seen, strict=True))
    if isinstance(wanted, bool) or isinstance(seen, bool) or wanted is None or seen is None:
        return wanted is seen
    if isinstance(wanted, str) and isinstance(seen, str) and all(map(is_card, wanted.split())):
        parts, cards = wanted.split(), seen.split()
        return parts == cards if ordered else sorted(parts) == sorted(cards)
    return str(wanted) == str(seen)


def _hands(state: AnyState) -> Mapping[int, Cards]:
    return dict(enumerate(state.game.hands))


_COMMON: Mapping[str, Callable[[AnyState], object]] = {
    "phase": lambda state: state.phase,
    "to_act": lambda state: None,
    "hands": _hands,
    "scores": lambda state: state.sheet.scores,
    "round": lambda state: state.sheet.round,
    "dealer": lambda state: state.sheet.dealer,
    "next_dealer": lambda state: state.sheet.next_dealer,
    "over": lambda state: state.phase == "over",
    "places": lambda state: state.sheet.places,
    "last_round": lambda state: state.sheet.last_round,
}


def _legal(game: Game, state: AnyState, wanted: Mapping[Seat, Sequence[str]]) -> list[str]:
    failures = []
    for seat, texts in wanted.items():
        legal = game.legal(state, seat)
        if isinstance(legal, TooMany):
            failures.append(f"legal: seat {seat} has too many")
            continue
        found = [str(action) for action in legal]
        for text in sorted(set(texts) - set(found)):
            failures.append(f"legal: seat {seat} lacks {text!r}")
        for text in sorted(set(found) - set(texts)):
            failures.append(f"legal: seat {seat} has {text!r} too")
        if len(found) != len(set(found)):
            failures.append(f"legal: seat {seat} has an action twice")
    return failures


def accepted(game: Game, state: AnyState, seat: Seat, text: str) -> bool:
    """Whether the table would take this action from this seat now."""
    try:
        action: Action = game.spec.canonical(parse_action(text))
        game.check(state, seat, action)
    except IllegalAction:
        return False
    return True


def _listed(should: bool) -> Callable[[Game, AnyState, Mapping[Seat, Sequence[str]]], list[str]]:
    def compare(game: Game, state: AnyState, wanted: Mapping[Seat, Sequence[str]]) -> list[str]:
        word = "refused" if should else "accepted"
        return [
            f"legal: seat {seat}: {text!r} is {word}"
            for seat, texts in wanted.items()
            for text in texts
            if accepted(game, state, seat, text) is not should
        ]

    return compare


_LEGAL = {"legal": _legal, "legal_includes": _listed(True), "legal_excludes": _listed(False)}
