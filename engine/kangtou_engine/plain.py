"""States as plain values (dicts, tuples, numbers, texts) and back, for snapshots of views.

Works on frozen dataclasses by their type hints, so a game needs no code for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import BadText
from .events import freeze
from .match.match import AnyState, Game
from .match.state import Config, Sheet, State


def view_to_plain(view: AnyState) -> Mapping[str, Any]:
    """A view (its config left out: who receives it knows that)."""
    return {"phase": view.phase, "sheet": _plain(view.sheet), "game": _plain(view.game)}


def view_from_plain(game: Game, config: Config, given: Mapping[str, Any]) -> AnyState:
    """The view again. Raises BadText for what does not fit the game's state."""
    own: Any = type(game.spec.fresh(config, {}))
    try:
        sheet = _reader(Sheet)(given["sheet"])
        return State(config, sheet, str(given["phase"]), game=_reader(own)(given["game"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadText(f"not a view of {game.spec.name}: {error}") from error


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, (frozenset, set)):
        return tuple(sorted(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return value


T = TypeVar("T")


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        kinds = [part for part in args if part is not NoneType]
        inner = _reader(kinds[0]) if len(kinds) == 1 else freeze
        return lambda value: None if value is None else inner(value)
    if is_dataclass(hint) and isinstance(hint, type):
        return _dataclass_reader(hint)
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            part = _reader(args[0])
            return lambda value: tuple(part(one) for one in value)
        parts = tuple(_reader(arg) for arg in args)
        return lambda value: tuple(read(one) for read, one in zip(parts, value, strict=True))
    if origin is frozenset:
        return frozenset
    if hint in (int, str, bool):
        return lambda value: _exactly(hint, value)
    return freeze


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not {kind.__name__}")
    return value


def _dataclass_reader(kind: type) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    names = [item.name for item in fields(kind)]

    def read(value: Any) -> Any:
        return kind(**{name: _reader(hints[name])(value[name]) for name in names})

    return read
