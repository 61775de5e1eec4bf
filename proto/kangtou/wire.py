"""Engine values as messages and back. Used by servers and clients alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kangtou.v1 import game_pb2 as pb
from kangtou_engine.actions import Action, is_named
from kangtou_engine.cards import ORDER
from kangtou_engine.errors import BadOptions, BadText, IllegalAction
from kangtou_engine.events import Event, fields_of, from_fields
from kangtou_engine.game import TooMany
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import Config
from kangtou_engine.words import explain, say

MAX_PARTS = 64


def action_to_pb(action: Action) -> pb.Action:
    """An action as a message."""
    keys = [pb.Key(name=name, value=value) for name, value in action.keys]
    return pb.Action(verb=action.verb, args=action.args, keys=keys)


def action_from_pb(message: pb.Action) -> Action:
    """An action from a message; its parts are checked by `parse_action` on its text. Raises IllegalAction."""
    if len(message.args) > MAX_PARTS or len(message.keys) > MAX_PARTS:
        raise IllegalAction("CM-10.1", "too_long", limit=MAX_PARTS)
    keys = tuple((key.name, key.value) for key in message.keys)
    return Action(message.verb, tuple(message.args), keys)


def value_to_pb(value: Any) -> pb.Value:
    """A plain value as a message. Raises TypeError for what has no form."""
    if value is None:
        return pb.Value()
    if isinstance(value, bool):
        return pb.Value(flag=value)
    if isinstance(value, int):
        return pb.Value(number=value)
    if isinstance(value, str):
        return pb.Value(text=value)
    if isinstance(value, tuple):
        return _tuple_to_pb(value)
    if isinstance(value, Mapping):
        ordered = {str(name): value[name] for name in sorted(value, key=str)}  # as the text form has them
        return pb.Value(map=pb.Fields(fields=fields_to_pb(ordered)))
    raise TypeError(f"no message for {type(value).__name__}")


def _tuple_to_pb(value: tuple[Any, ...]) -> pb.Value:
    first = value[0] if value else None
    if type(first) is int and all(type(part) is int for part in value):
        return pb.Value(numbers=pb.Numbers(numbers=value))
    if type(first) is str and _cardlike(first) and all(map(_cardlike, value)):
        return pb.Value(cards=pb.Cards(cards=value))
    return pb.Value(list=pb.ValueList(values=map(value_to_pb, value)))


def _cardlike(part: object) -> bool:
    return part in ORDER or (isinstance(part, str) and is_named(part))


def value_from_pb(message: pb.Value) -> Any:
    """The plain value; an empty message is None."""
    kind = message.WhichOneof("kind")
    if kind is None:
        return None
    if kind == "numbers":
        return tuple(message.numbers.numbers)
    if kind == "cards":
        return tuple(message.cards.cards)
    if kind == "list":
        return tuple(map(value_from_pb, message.list.values))
    if kind == "map":
        return {field.name: value_from_pb(field.value) for field in message.map.fields}
    return getattr(message, kind)


def fields_to_pb(values: Mapping[str, Any]) -> list[pb.Field]:
    """Named values, in order."""
    return [pb.Field(name=str(name), value=value_to_pb(value)) for name, value in values.items()]


def event_to_pb(event: Event) -> pb.Event:
    """An event as a message: seat and cards have fields of their own, the rest is named."""
    from kangtou_engine.events import kind_of

    values = fields_of(event)
    message = pb.Event(kind=kind_of(type(event)))
    seat = values.pop("seat", None)
    if seat is not None:
        message.seat = seat  # type: ignore[assignment]
    cards = values.get("cards")
    if isinstance(cards, tuple) and cards:
        message.cards.extend(values.pop("cards"))  # type: ignore[arg-type]
    message.fields.extend(fields_to_pb(values))
    return message


def event_from_pb(game: Game, message: pb.Event) -> Event:
    """The event again. Raises BadText for a kind that the game does not have."""
    values: dict[str, Any] = {field.name: value_from_pb(field.value) for field in message.fields}
    if message.HasField("seat"):
        values["seat"] = message.seat
    if message.cards:
        values["cards"] = tuple(message.cards)
    return from_fields(game.events, message.kind, values)


def refusal_to_pb(game: Game | None, error: IllegalAction | BadOptions) -> pb.Refusal:
    """A refusal with its text in both languages."""
    words = game.spec.words if game else {}
    return pb.Refusal(
        rule=error.rule,
        code=error.code,
        text_en=_told(explain(words, error, "en")),
        text_zh=_told(explain(words, error, "zh")),
    )


def _told(text: str) -> str:
    """A refusal repeats what was sent: what a terminal would obey in it stands as an escape."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def too_many_to_pb(game: Game, many: TooMany) -> pb.TooMany:
    """What a client gets instead of a list."""
    return pb.TooMany(
        rule=many.rule,
        constraint=many.constraint,
        text_en=say(game.spec.words, many.constraint, many.params, "en"),
        text_zh=say(game.spec.words, many.constraint, many.params, "zh"),
        params=fields_to_pb(many.params),
    )


def too_many_from_pb(message: pb.TooMany) -> TooMany:
    """The engine's value again."""
    params = {field.name: value_from_pb(field.value) for field in message.params}
    return TooMany(message.rule, message.constraint, params)


def options_from_pb(choice: pb.GameChoice) -> dict[str, object]:
    """The options given, unchecked."""
    return {name: option_from_pb(value) for name, value in choice.options.items()}


def option_from_pb(value: pb.OptionValue) -> object:
    """One option's value, unchecked. Raises BadOptions if there is none."""
    kind = value.WhichOneof("kind")
    if kind is None:
        raise BadOptions("CM-11.1", "bad_option", "options", "nothing", "a number, a flag or a text")
    return getattr(value, kind)


def option_to_pb(value: object) -> pb.OptionValue:
    """One option's value."""
    if isinstance(value, bool):
        return pb.OptionValue(flag=value)
    if isinstance(value, int):
        return pb.OptionValue(number=value)
    return pb.OptionValue(text=str(value))


def choice_to_pb(config: Config, options: Mapping[str, object]) -> pb.GameChoice:
    """What a match is played under; `options` are those that were given."""
    return pb.GameChoice(
        game=config.game,
        version=config.version,
        seats=config.seats,
        options={name: option_to_pb(value) for name, value in options.items()},
    )


__all__ = ["BadText", "action_from_pb", "action_to_pb", "event_from_pb", "event_to_pb"]
