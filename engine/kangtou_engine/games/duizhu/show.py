"""The table as lines of text, from a view. DZ-12."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from ...cards import Cards, Seat, show_cards
from ...errors import Param
from ...match.state import BETWEEN, CUT, OVER
from ...words import say
from .levels import level_text
from .play import to_act
from .score import winning_side
from .state import ALL, Table, dealer_of, is_up, ranking_of
from .tricks import best_play
from .words import WORDS


class Say(Protocol):
    """A text by code in one language."""

    def __call__(self, code: str, **params: Param) -> str: ...


def _say(lang: str, code: str, **params: Param) -> str:
    return say(WORDS, code, params, lang)


def show(view: Table, seat: Seat | None, lang: str) -> tuple[str, ...]:
    """Levels, trump suit, the six, points, and each seat in table order with its play of the trick."""
    tell: Say = partial(_say, lang)
    lines = _head(view, tell) + _trump_lines(view, tell) + _bottom_lines(view, tell)
    lines += _points(view, tell)
    lines += [_seat_line(view, tell, owner, seat) for owner in ALL]
    if seat is not None and view.game.hands[seat]:
        lines.append(f"{tell('you')}: {_hand(view, seat)}")
    return tuple(lines + _closed(view, tell) + _result(view, tell, lang))


def _head(view: Table, tell: Say) -> list[str]:
    ladder, phase = view.game.ladder, tell(f"phase.{view.phase}") if f"phase.{view.phase}" in _KNOWN else view.phase
    lines = [
        tell("head", round=view.sheet.round, phase=phase, level=level_text(ladder.level)),
        tell("sides", one=level_text(ladder.levels[0]), other=level_text(ladder.levels[1])),
    ]
    if ladder.pending is not None:
        lines.append(tell("pending", side=ladder.pending.side, level=level_text(ladder.pending.level)))
    return lines


_KNOWN = frozenset(WORDS) | {"phase.lot", "phase.cut", "phase.between", "phase.over"}


def _trump_lines(view: Table, tell: Say) -> list[str]:
    trumps = view.game.trumps
    parts = [tell("trump", suit=tell(f"suit.{trumps.suit}")) if trumps.suit else tell("trump_unknown")]
    if trumps.shown is not None and trumps.shown_by is not None:
        parts.append(tell("shown", seat=trumps.shown_by, card=trumps.shown))
    if trumps.way is not None:
        parts.append(tell("way", way=tell(f"way.{trumps.way}")))
    lines = [" · ".join(parts)]
    if trumps.tied:
        lines.append(tell("tied", cards=show_cards(trumps.tied)))
    if view.phase == "deal":
        lines.append(tell("drawn", count=view.game.drawn))
    if trumps.gabaguo:
        lines.append(tell("gabaguo"))
    if trumps.annulled:
        lines.append(tell("annulled"))
    return lines


def _bottom_lines(view: Table, tell: Say) -> list[str]:
    bottom, lines = view.game.bottom, []
    if bottom.kitty and view.game.trumps.gabaguo is not None:
        lines.append(tell("kitty", cards=show_cards(bottom.kitty)))
    if bottom.buried:
        said = (("announced", bottom.announced), ("sunk", bottom.sunk), ("snatchable", bottom.snatchable))
        more = [tell(code, cards=show_cards(cards)) for code, cards in said if cards]
        lines.append(" · ".join([tell("buried", cards=show_cards(bottom.buried)), *more]))
    for one in bottom.exchanges:
        lines.append(tell("exchange", seat=one.seat, took=show_cards(one.took), gave=show_cards(one.gave)))
    return lines


def _points(view: Table, tell: Say) -> list[str]:
    tally = view.game.tally
    if view.game.trumps.gabaguo is None:
        return []
    points = tell("points", points=tally.points)
    line = f"{points} ({show_cards(tally.cards)})" if tally.cards else points
    parts = [line, tell("tricks", count=tally.tricks)]
    if tally.last_winner is not None:
        parts.append(tell("last", seat=tally.last_winner))
    return [" · ".join(parts)]


def _seat_line(view: Table, tell: Say, owner: Seat, seat: Seat | None) -> str:
    """`Seat 1 (dealer, up): 11 cards · S5 ·  to act`."""
    trick = view.game.trick
    roles = [tell("you")] if owner == seat else []
    if view.sheet.dealer is not None:
        roles += [tell("dealer")] if owner == dealer_of(view) else []
        roles.append(tell("up" if is_up(view, owner) else "down"))
    name = tell("seat", seat=owner)
    parts = [f"{name} ({', '.join(roles)})" if roles else name, _count(view, tell, owner)]
    place = (owner - trick.leader) % len(ALL)
    if place < len(trick.plays):
        parts.append(_played(view, tell, place))
    if owner in _turn(view):
        parts.append(tell("turn"))
    return " · ".join(parts)


def _count(view: Table, tell: Say, owner: Seat) -> str:
    count = len(view.game.hands[owner])
    return tell("card" if count == 1 else "cards", count=count)


def _turn(view: Table) -> tuple[Seat, ...]:
    """The seats that may act."""
    if view.phase == CUT:
        return ((view.sheet.first - 1) % len(ALL),)
    if view.phase == BETWEEN:
        return tuple(seat for seat, answer in enumerate(view.sheet.answers) if not answer)
    return to_act(view) if view.phase == "play" else view.game.window


def _played(view: Table, tell: Say, place: int) -> str:
    """A play of the current trick; `*` marks the best so far."""
    trick = view.game.trick
    best = best_play(trick.plays, view.game.tally.tricks, ranking_of(view)) == place
    text = show_cards(trick.plays[place]) + (" *" if best else "")
    if place:
        return text
    failed = f" ({tell('failed', cards=show_cards(trick.thrown))})" if trick.thrown else ""
    return f"{tell('leads')} {text}{failed}"


def _hand(view: Table, seat: Seat) -> str:
    """Sorted for play: side suits, then trumps, low to high; before the suit is known in canonical order."""
    hand = view.game.hands[seat]
    if not view.game.trumps.suit:
        return show_cards(hand)
    rules = ranking_of(view)
    groups: dict[str, list[str]] = {suit: [] for suit in "SHCDT"}
    for card in rules.discard_order(hand):
        groups[rules.suit[card]].append(card)
    return " | ".join(show_cards(group) for group in groups.values() if group)


def _closed(view: Table, tell: Say) -> list[str]:
    """The tricks, once the round has ended. DZ-12.2."""
    tally, lines = view.game.tally, []
    first = tally.tricks - len(tally.leaders) + 1
    for number, leader in enumerate(tally.leaders):
        plays: tuple[Cards, ...] = tally.closed[len(ALL) * number : len(ALL) * (number + 1)]
        said = [f"{(leader + place) % len(ALL)} {show_cards(play)}" for place, play in enumerate(plays)]
        lines.append(tell("trick_line", number=first + number, plays=" · ".join(said)))
    return lines


def result_line(result: Mapping[str, Any], lang: str) -> str:
    """What a round came to. DZ-8.3, DZ-9."""
    if result["outcome"] == "void":
        return _say(lang, "void", round=result["round"])
    return _say(
        lang,
        "result",
        round=result["round"],
        outcome=_say(lang, f"outcome.{result['outcome']}"),
        points=result["points"],
        level=result["level"],
        last=result["last_trick"],
    )


def _result(view: Table, tell: Say, lang: str) -> list[str]:
    result, sheet = view.sheet.last_round, view.sheet
    if result is None:
        return []
    lines = [result_line(result, lang)]
    if result["outcome"] == "void":
        return lines
    if sheet.next_dealer is not None:
        lines.append(tell("next", seat=sheet.next_dealer))
    if view.phase == OVER:
        side = winning_side(view)
        lines.append(tell("draw") if side is None else tell("won", side=side))
    return lines
