"""Positions of case files, and what they ask. HS-17."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...actions import Action, parse_action
from ...cards import Cards, Seat, in_order, parse_cards
from ...errors import BadText, IllegalAction
from ...game import CaseKeys
from ...match.state import BETWEEN
from .combos import AS_TEN, RED_TENS, combo_of
from .deal import first_lead, opening_card, pack, up_side
from .options import options_of
from .play import canonical
from .score import next_dealer
from .state import PLAY, REVEAL, SEATS, Hongshi, Laid, Own, Past, Sides, is_open, next_in, top_of


def position(state: Hongshi, start: Mapping[str, Any]) -> Hongshi:
    """A set position of `reveal`, `play` or `between`. Raises BadText."""
    hands = _hands(state, start)
    out = tuple(int(seat) for seat in start.get("out", ()))
    options = options_of(state.config)
    phase = state.phase or (REVEAL if options.reveal or options.lightning else PLAY)
    if phase not in (REVEAL, PLAY, BETWEEN):
        raise BadText(f"phase {phase} cannot be set")
    if phase != BETWEEN:
        _check(state, hands, out)
    top = _laid(state, start.get("to_beat"))
    own = replace(state.game, hands=hands, out=out, sides=_sides(start, hands, top), past=Past(hands, ()))
    if phase == BETWEEN:
        return _between(state.with_game(own), start)
    if phase == REVEAL:
        return state.with_game(own, REVEAL)
    return state.with_game(_play(state, own, start, top), PLAY)


def _hands(state: Hongshi, start: Mapping[str, Any]) -> tuple[Cards, ...]:
    try:
        hands = tuple(in_order(parse_cards(hand)) for hand in start.get("hands", ("",) * SEATS))
    except ValueError as error:
        raise BadText(str(error)) from error
    if len(hands) != SEATS:
        raise BadText(f"hands: {len(hands)}, not {SEATS}")
    return hands


def _check(state: Hongshi, hands: tuple[Cards, ...], out: tuple[Seat, ...]) -> None:
    """HS-17: a hand is empty exactly if its seat is out; no card occurs twice."""
    held = [card for hand in hands for card in hand]
    if len(set(held)) < len(held):
        raise BadText("hands: a card occurs twice")
    if strange := set(held) - set(pack(state.config)):
        raise BadText(f"hands: not in the pack: {' '.join(in_order(strange))}")
    if any((not hand) != (seat in out) for seat, hand in enumerate(hands)):
        raise BadText("hands: empty exactly if the seat is out")


def _laid(state: Hongshi, text: str | None) -> Laid | None:
    """The play of `to_beat`: `2 play HT DT as=ten`."""
    if text is None:
        return None
    seat, _, said = text.partition(" ")
    try:
        action = canonical(parse_action(said))
    except IllegalAction as error:
        raise BadText(f"to_beat: {error}") from error
    as_ten = action.keys == (AS_TEN,)
    if seat not in map(str, range(SEATS)) or combo_of(options_of(state.config).top, action.args, as_ten) is None:
        raise BadText(f"to_beat: {text!r} is no play")
    return Laid(int(seat), action.args, as_ten)


def _sides(start: Mapping[str, Any], hands: tuple[Cards, ...], top: Laid | None) -> Sides:
    shown = {int(seat): in_order(parse_cards(cards)) for seat, cards in start.get("revealed", {}).items()}
    laid = {top.seat} if top and any(card in RED_TENS for card in top.cards) else set()
    up = start.get("up", sorted({*up_side(hands), *laid}))
    known = {*start.get("known_up", ()), *shown, *laid}
    revealed = tuple(shown.get(seat, ()) for seat in range(SEATS))
    return Sides(tuple(sorted(up)), revealed, tuple(sorted(known)))


def _between(state: Hongshi, start: Mapping[str, Any]) -> Hongshi:
    own = state.game
    own = replace(own, sides=Sides(own.sides.up, own.sides.revealed, own.sides.up or ()))
    if "next_dealer" in start or not own.out:
        return state.with_game(own)
    sheet = replace(state.sheet, next_dealer=next_dealer(state, own.out))
    return state.with_sheet(sheet).with_game(own)


def _play(state: Hongshi, own: Own, start: Mapping[str, Any], top: Laid | None) -> Own:
    opening = bool(start.get("opening", False))
    lead = first_lead(state, own.hands)
    if opening and not lead.opening:
        raise BadText(f"opening: nobody holds {opening_card(state.config)}")
    turn = start.get("to_act", lead.seat if opening else 0)
    if turn in own.out or turn not in range(SEATS):
        raise BadText(f"to_act: seat {turn} is not in play")
    trick: tuple[Laid, ...] = ()
    if top:
        trick, seat = (top,), next_in(top.seat, own.out)
        while seat != turn:
            if seat == top.seat or len(trick) > SEATS:
                raise BadText("to_act: not asked by this play")
            trick, seat = (*trick, Laid(seat, ())), next_in(seat, own.out)
    return replace(own, turn=turn, trick=trick, opening=opening)


def _to_beat(state: Hongshi) -> str | None:
    laid = top_of(state.game) if state.phase == PLAY else None
    if laid is None:
        return None
    return f"{laid.seat} {Action('play', laid.cards, (AS_TEN,) if laid.as_ten else ())}"


def _revealed(state: Hongshi) -> Mapping[Seat, Cards]:
    return {seat: cards for seat, cards in enumerate(state.game.sides.revealed) if cards}


def _same_revealed(wanted: Mapping[Any, str], seen: Mapping[Seat, Cards]) -> bool:
    return {int(seat): in_order(parse_cards(cards)) for seat, cards in wanted.items()} == dict(seen)


CASES: CaseKeys[Own] = CaseKeys(
    position,
    observe={
        "counts": lambda state: tuple(map(len, state.game.hands)),
        "to_beat": _to_beat,
        "up": lambda state: state.game.sides.up,
        "known_up": lambda state: state.game.sides.known,
        "revealed": _revealed,
        "open": lambda state: is_open(state.game),
        "out": lambda state: state.game.out,
        "penalties": lambda state: state.game.penalties,
    },
    same={
        "revealed": _same_revealed,
        "to_beat": lambda wanted, seen: wanted == seen,
    },
    keys=frozenset("to_beat opening out up revealed known_up".split()),
)
