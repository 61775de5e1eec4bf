"""Positions of case files. WK-15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...cards import RANKS, Cards, in_order, parse_cards
from ...errors import BadText
from ...game import CaseKeys
from .combos import combo_text
from .course import winners
from .deal import dealt
from .evolve import evolve
from .rules import as_lead, readings_of, rules_of
from .state import Announced, Round, Tally, Trick, WushikState, fresh, points_of

KEYS = frozenset({"deal", "trick", "out", "captured", "shown", "first_lead"})
WITH_DEAL = frozenset({"deal", "hands", "dealer", "round", "scores", "decks"})


def position(state: WushikState, start: Mapping[str, Any]) -> WushikState:
    """The position of `start`. Raises BadText."""
    try:
        hands = tuple(parse_cards(text) for text in start.get("hands") or [""] * state.config.seats)
    except ValueError as error:
        raise BadText(f"hands: {error}") from error
    if len(hands) != state.config.seats:
        raise BadText("hands: one text for each seat")
    if start.get("deal"):
        if not set(start) <= WITH_DEAL:
            raise BadText(f"deal: not with {sorted(set(start) - WITH_DEAL)}")
        return evolve(state, dealt(state, hands))
    phase = start.get("phase") or ("show" if state.config.options.announce else "play")
    if phase not in ("show", "play", "between") or (phase == "show" and not state.config.options.announce):
        raise BadText(f"phase: no position of phase {phase!r}")
    own = _round(state, start, tuple(map(in_order, hands)))
    if phase != "between":
        _check(own)
    return state.with_game(own, phase)


def _round(state: WushikState, start: Mapping[str, Any], hands: tuple[Cards, ...]) -> Round:
    blank = fresh(state.config, {})
    trick = _trick(state, start["trick"]) if start.get("trick") else None
    captured = tuple(start.get("captured", blank.tally.captured))
    shown = {int(seat): str(ranks) for seat, ranks in (start.get("shown") or {}).items()}
    ranks = tuple("".join(sorted(shown.get(seat, ""), key=RANKS.index)) for seat in range(len(hands)))
    turn = start.get("to_act", state.sheet.first)
    tally = Tally(tuple(start.get("out", ())), captured)
    first_lead = bool(start.get("first_lead", False))
    return Round(hands, blank.played, turn, trick, first_lead, tally, Announced(ranks, ()))


def _trick(state: WushikState, given: Mapping[str, Any]) -> Trick:
    cards = in_order(parse_cards(given["cards"]))
    found = readings_of(rules_of(state.config.options), cards)
    if not found:
        raise BadText(f"trick: {given['cards']!r} is no combination")
    points = given.get("points", points_of(cards))
    return Trick(
        given["by"], cards, as_lead(found).combo, points, tuple(given.get("passed", ())), ((given["by"], cards),)
    )


def _check(own: Round) -> None:
    empty = {seat for seat, hand in enumerate(own.hands) if not hand}
    if empty != set(own.tally.out):
        raise BadText(f"out: the seats without cards are {sorted(empty)}")
    if own.turn in empty:
        raise BadText(f"to_act: seat {own.turn} has no cards")


def _seen_trick(state: WushikState) -> object:
    trick = state.game.trick
    if trick is None:
        return None
    return {
        "by": trick.by,
        "cards": trick.cards,
        "points": trick.points,
        "combo": combo_text(trick.combo),
        "passed": tuple(sorted(trick.passed)),
    }


def _result(key: str) -> Any:
    def observe(state: WushikState) -> object:
        last = state.sheet.last_round
        return None if last is None else last[key]

    return observe


CASES: CaseKeys[Round] = CaseKeys(
    position=position,
    observe={
        "trick": _seen_trick,
        "counts": lambda state: tuple(map(len, state.game.hands)),
        "out": lambda state: state.game.tally.out,
        "captured": lambda state: state.game.tally.captured,
        "shown": lambda state: {seat: ranks for seat, ranks in enumerate(state.game.announced.ranks) if ranks},
        "winners": winners,
        **{key: _result(key) for key in ("ending", "left", "round_points", "gain", "round_winner")},
    },
    same={"shown": lambda wanted, seen: {int(k): str(v) for k, v in wanted.items()} == seen},
    keys=KEYS,
)
