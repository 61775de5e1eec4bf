"""The table as lines of text, for the command line and for replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...cards import HIDDEN, Seat, show_cards
from ...match.between import BETWEEN_PHASE
from ...match.state import BETWEEN, CUT, OVER
from ...words import say
from . import discard, first, turn, window
from .pack import hand_value, in_order
from .score import losers
from .state import SIDES, Position, Run, from_low_to_high, lock_of
from .words import WORDS

_TO_ACT = {
    "first": first.PHASE.to_act,
    "turn": turn.PHASE.to_act,
    "must_draw": turn.MUST_DRAW.to_act,
    "discard": discard.PHASE.to_act,
    "window": window.PHASE.to_act,
    BETWEEN: BETWEEN_PHASE.to_act,
}


def show(view: Position, seat: Seat | None, lang: str) -> tuple[str, ...]:
    """The table from a view: what lies shown, black cards, the seats in seat order, one's own hand."""
    lines = [_head(view, lang), _piles(view, lang), *_shown(view, lang)]
    lines += [_seat(view, who, lang) for who in range(view.config.seats)]
    if seat is not None and view.phase not in (CUT, BETWEEN, OVER):
        lines.append(_hand(view, seat, "hand", lang))
    if view.phase in (BETWEEN, OVER):
        lines += _result(view, lang)
    return tuple(lines)


def _say(code: str, lang: str, **params: str | int) -> str:
    return say(WORDS, code, params, lang)


def _head(view: Position, lang: str) -> str:
    sheet, phase = view.sheet, _say(f"phase.{view.phase}", lang)
    dealer = "?" if sheet.dealer is None else sheet.dealer
    now = _TO_ACT.get(view.phase)
    seats = now(view) if now else ((sheet.first - 1) % view.config.seats,) if view.phase == CUT else ()
    asked = _say("now", lang, phase=phase, seats=", ".join(map(str, seats))) if seats else phase
    return f"{_say('round', lang, round=sheet.round, dealer=dealer)} · {asked}"


def _piles(view: Position, lang: str) -> str:
    own = view.game
    count = len(own.closed.pile) + (own.top is not None)
    parts = [_say("stock", lang, count=len(own.closed.stock)), _say("discards", lang, count=count)]
    if own.top is not None:
        parts.append(_say("top", lang, card=own.top))
    if own.closed.pile and HIDDEN not in own.closed.pile:
        parts.append(_say("pile", lang, cards=show_cards(in_order(own.closed.pile))))
    return " · ".join(parts)


def _shown(view: Position, lang: str) -> list[str]:
    """The show area and the black cards. EB-3.3, EB-6.3."""
    area = view.game.area
    lines = [_run(run, lang) for run in area.runs]
    lines += [_say("set", lang, cards=show_cards(cards)) for cards in area.sets]
    lines = lines or [_say("nothing_shown", lang)]
    if area.black:
        lines.append(_say("black", lang, cards=show_cards(area.black)))
    return lines


def _run(run: Run, lang: str) -> str:
    cards = show_cards(from_low_to_high(run))
    text = _say("run", lang, suit=run.suit, cards=cards)
    for side in SIDES:
        if cards := show_cards(lock_of(run, side)):
            text += " · " + _say("locked", lang, side=_say(f"side.{side}", lang), cards=cards)
    return text


def _seat(view: Position, seat: Seat, lang: str) -> str:
    own, sheet = view.game, view.sheet
    hand = own.hands[seat]
    text = _say("seat", lang, seat=seat, count=len(hand), extras=own.extras[seat], total=sheet.scores[seat])
    if view.phase in ("first", "turn", "must_draw", "discard") and seat == own.turn.seat:
        text += " · " + _say("mark.turn", lang)
    if view.phase == "window" and seat in own.turn.passed:
        text += " · " + _say("mark.passed", lang)
    if view.phase in (BETWEEN, OVER):
        text += " · " + _hand(view, seat, "held", lang)
    return text


def _hand(view: Position, seat: Seat, code: str, lang: str) -> str:
    hand, black = view.game.hands[seat], view.game.area.black
    return _say(code, lang, cards=show_cards(hand) or _say("none", lang), value=hand_value(hand, black))


def result_line(result: Mapping[str, Any], lang: str) -> str:
    """Who settled, 抠, round scores and extras. EB-9.2, EB-9.7."""
    settled = result["settled"]
    text = _say("settled_none", lang) if settled is None else _say("settled_by", lang, seat=settled)
    if result["kou"]:
        text += " · " + _say("kou", lang)
    scores, extras = (", ".join(map(str, result[key])) for key in ("round_scores", "extras"))
    return f"{text} · {_say('points', lang, scores=scores, extras=extras)}"


def _result(view: Position, lang: str) -> list[str]:
    """What the round, or the match, came to. EB-9, EB-10."""
    lines, result = [], view.sheet.last_round
    if result is not None:
        lines.append(result_line(result, lang))
    if view.phase == OVER and view.sheet.places is not None:
        lines.append(_say("places", lang, places=", ".join(map(str, view.sheet.places))))
        if over := losers(view):
            lines.append(_say("losers", lang, seats=", ".join(map(str, over))))
    return lines
