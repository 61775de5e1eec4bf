"""Actions and tables as people read them; suits as words where a key names one."""

from __future__ import annotations

from kangtou.v1 import lobby_pb2 as pb
from kangtou.wire import options_from_pb
from kangtou_engine.actions import Action, is_named
from kangtou_engine.cards import is_card
from kangtou_engine.registry import REGISTRY
from kangtou_engine.words import Words

from ..render import SUITS, Renderer
from .words import key_text, say, verb_text

SEAT_STATES = {pb.TABLE_STATE_OPEN: "state.open", pb.TABLE_STATE_PLAYING: "state.playing"}


def action_text(action: Action, render: Renderer, words: Words) -> str:
    """`出牌 ♥10 ♦10 作 十`: verb and keys in words, cards in this client's way."""
    parts = [verb_text(action.verb, render.lang, words)]
    parts += [render.card(part) if is_card(part) or is_named(part) else part for part in action.args]
    for key, value in action.keys:
        parts.append(f"{key_text(key, render.lang)} {_value(key, value, render, words)}")
    return " ".join(parts)


def _value(key: str, value: str, render: Renderer, words: Words) -> str:
    pair = words.get(f"{key}.{value}")
    if pair is not None:
        return pair[0 if render.lang == "en" else 1]
    if value in SUITS:
        return value if render.letters else SUITS[value]
    return " ".join(render.card(part) if is_card(part) else part for part in value.split(","))


def game_name(name: str, lang: str) -> str:
    """红十, or Hongshi; an unknown game by its name."""
    if name not in REGISTRY.names():
        return name
    english, chinese = REGISTRY.game(name).spec.title
    return english.partition(" (")[0] if lang == "en" else chinese


def game_title(name: str, lang: str) -> str:
    """红十 Hongshi, in the language's order."""
    first, second = game_name(name, lang), game_name(name, "zh" if lang == "en" else "en")
    return first if first == second else f"{first} {second}"


def table_seats(table: pb.Table, lang: str) -> str:
    """Who sits there, free seats as such."""
    return ", ".join(seat.name or seat.account_id or say("free", lang) for seat in table.seats)


def table_options(table: pb.Table) -> str:
    """What differs from the game's defaults."""
    given = sorted(options_from_pb(table.choice).items())
    rows = REGISTRY.game(table.choice.game).spec.option_rows if table.choice.game in REGISTRY.names() else ()
    defaults = {row.name: row.default for row in rows}
    return " ".join(f"{name}={str(value).lower()}" for name, value in given if defaults.get(name) != value)
