"""The table as lines of text, for the command line and for replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...cards import HIDDEN, Cards, Seat, show_cards
from ...match.between import BETWEEN_PHASE
from ...match.state import BETWEEN, CUT, OVER
from ...words import say
from . import announce, play
from .combos import RANK_OF, Combo
from .state import WushikState
from .variants import ALL
from .words import WORDS

_TO_ACT: Mapping[str, Callable[[WushikState], tuple[Seat, ...]]] = {
    CUT: lambda view: ((view.sheet.first - 1) % view.config.seats,),
    "show": announce.to_act,
    "play": play.to_act,
    BETWEEN: BETWEEN_PHASE.to_act,
    OVER: lambda view: (),
}


def show(view: WushikState, seat: Seat | None, lang: str) -> tuple[str, ...]:
    """The table from a view: the seats in order, the trick, one's own hand; after the round its result."""
    lines = [_head(view, lang)]
    lines += [_seat(view, who, seat, lang) for who in range(view.config.seats)]
    if view.phase == "play":
        lines += _trick(view, lang)
    if seat is not None and view.phase in ("show", "play"):
        lines.append(_say("hand", lang, cards=_cards(view.game.hands[seat], lang)))
    if view.phase in (BETWEEN, OVER):
        lines += _result(view, lang)
    return tuple(lines)


def _say(code: str, lang: str, **params: str | int) -> str:
    return say(WORDS, code, params, lang)


def _list(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def by_rank(cards: Cards) -> Cards:
    """Low to high, then by suit, hidden cards last: how players hold a hand. WK-1.3."""
    return tuple(sorted(cards, key=lambda card: (RANK_OF.get(card, 99), "SHCD?".find(card[0]))))


def _cards(cards: Cards, lang: str) -> str:
    return show_cards(by_rank(cards)) or _say("none", lang)


def _head(view: WushikState, lang: str) -> str:
    sheet = view.sheet
    variant = ALL[view.config.options.variant].title[("en", "zh").index(lang)]
    text = _say("head", lang, round=sheet.round, variant=variant, phase=_say(f"phase.{view.phase}", lang))
    asked = _TO_ACT[view.phase](view) if view.phase in _TO_ACT else ()
    return text + (" · " + _say("to_act", lang, seats=_list(asked)) if asked else "")


def _seat(view: WushikState, seat: Seat, viewer: Seat | None, lang: str) -> str:
    """One seat: what it has captured and scored, its cards, what it announced, its place in going out."""
    own, sheet = view.game, view.sheet
    hand = own.hands[seat]
    captured, score = own.tally.captured[seat], sheet.scores[seat]
    parts = [_say("seat", lang, seat=seat, count=len(hand), points=captured, score=score)]
    if sheet.dealer == seat:
        parts.append(_say("dealer", lang))
    if seat == viewer:
        parts.append(_say("you", lang))
    if seat in own.tally.out:
        parts.append(_say("out", lang, place=own.tally.out.index(seat) + 1))
    if ranks := own.announced.ranks[seat]:
        parts.append(_say("announced", lang, ranks=" ".join(ranks)))
        if view.phase in ("show", "play") and seat != viewer:
            parts.append(show_cards(by_rank(tuple(card for card in hand if card != HIDDEN))))
    if view.phase == "show" and seat in own.announced.passed:
        parts.append(_say("done", lang))
    if own.trick is not None and seat in own.trick.passed:
        parts.append(_say("passed", lang))
    if view.phase in (BETWEEN, OVER) and hand:
        parts.append(_say("left", lang, cards=_cards(hand, lang)))
    return " · ".join(part for part in parts if part)


def _trick(view: WushikState, lang: str) -> list[str]:
    """The play to beat with its name, and what it has beaten. WK-13.2."""
    trick = view.game.trick
    if trick is None:
        return [_say("leads", lang, seat=view.game.turn)]
    name = name_of(view.config.options.variant, trick.combo, lang)
    cards = show_cards(by_rank(trick.cards))
    lines = [_say("to_beat", lang, cards=cards, name=name, seat=trick.by, points=trick.points)]
    beaten = [f"{seat} {show_cards(by_rank(laid))}" for seat, laid in trick.laid[:-1]]
    return [*lines, _say("beaten", lang, plays=" · ".join(beaten))] if beaten else lines


def name_of(variant: str, combo: Combo, lang: str) -> str:
    """A reading in words, with the variant's own term where it has one. WK-3.13."""
    kind = combo[0]
    values = dict(part.split("=") for part in combo[1:])
    if "flush" in values:
        kind = "flush"
    local = f"kind.{kind}.{variant}"
    term = _say(local if local in WORDS else f"kind.{kind}", lang)
    if "suit" in values:
        return _say("name.suit", lang, kind=term, suit=_say(f"suit.{values['suit']}", lang))
    if kind == "jokers":
        return _say(f"jokers.{values.get('kind', values['n'])}", lang)
    if "top" not in values:
        return term
    code = "name.top" if kind in ("single", "pair", "triple") else "name.long"
    return _say(code, lang, kind=term, n=values["n"], top=values["top"])


def result_lines(last: Mapping[str, Any], lang: str) -> tuple[str, ...]:
    """What a round came to. WK-8.5 …"""
    said = {key: _list(last[key]) for key in ("out", "captured", "left", "round_points", "gain")}
    ended = _say("ended", lang, ending=_say(f"ending.{last['ending']}", lang), **said)
    winner = last["round_winner"]
    return (ended, _say("won", lang, seats=_list(winner)) if winner else _say("drawn", lang))


def _result(view: WushikState, lang: str) -> list[str]:
    """What the round, or the match, came to. WK-8.5 …, WK-12.5."""
    lines: list[str] = []
    last = view.sheet.last_round
    if last is not None:
        lines += result_lines(last, lang)
    if view.phase == OVER and view.sheet.places is not None:
        lines.append(_say("places", lang, places=_list(view.sheet.places)))
    return lines
