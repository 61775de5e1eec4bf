"""Events: frozen dataclasses with one text and one field form that round-trip.

    trick_won seat=3
    dealt hands=H6,D6/S8/-/??,??

The kind is the class name in snake case; a field that is None is left out. Field types are int, bool,
str, tuples of int, of str (cards), of tuples of str (hands), each perhaps `| None`, and Mapping for results
(canonical JSON). `fields_of` gives the same as plain values for other encodings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from .cards import Seat
from .errors import BadText

FieldValue: TypeAlias = "int | bool | str | tuple[Any, ...] | Mapping[str, Any]"


class Event:
    """Something that changed. Subclasses are frozen dataclasses with slots.

    A subclass says what a seat may know of it: by `seen_by`, or by deriving from PublicEvent. There is no
    default, so nothing is shown by oversight.
    """

    __slots__ = ()

    def seen_by(self, seat: Seat | None) -> Event:
        """What one seat (None: a spectator) may know of it."""
        raise NotImplementedError(type(self).__name__)

    def __str__(self) -> str:
        return to_text(self)


class PublicEvent(Event):
    """An event that everybody may know whole."""

    __slots__ = ()

    def seen_by(self, seat: Seat | None) -> Event:
        """Itself."""
        return self


def _memo(make: Callable[[type[Event]], Any]) -> Callable[[type[Event]], Any]:
    """Remember by class."""
    known: dict[type[Event], Any] = {}

    def ask(event_type: type[Event]) -> Any:
        try:
            return known[event_type]
        except KeyError:
            return known.setdefault(event_type, make(event_type))

    return ask


def kind_of(event_type: type[Event]) -> str:
    """`TrickWon` → `trick_won`."""
    return str(_kind(event_type))


@_memo
def _kind(event_type: type[Event]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event_type.__name__).lower()


def kinds(types: Iterable[type[Event]]) -> Mapping[str, type[Event]]:
    """A lookup by kind. Raises ValueError if two share one."""
    table: dict[str, type[Event]] = {}
    for event_type in types:
        if kind_of(event_type) in table:
            raise ValueError(f"two events of kind {kind_of(event_type)}")
        table[kind_of(event_type)] = event_type
    return table


def fields_of(event: Event) -> dict[str, FieldValue]:
    """The fields that are not None, by name, in order."""
    return {name: value for name, _ in _plan(type(event)) if (value := getattr(event, name)) is not None}


def from_fields(table: Mapping[str, type[Event]], kind: str, given: Mapping[str, Any]) -> Event:
    """An event of the given kind. Raises BadText for an unknown kind or fields that do not fit it."""
    event_type = table.get(kind)
    if event_type is None:
        raise BadText(f"unknown event {kind!r}")
    return _make(event_type, dict(given))


def to_text(event: Event) -> str:
    """One line, without line end."""
    parts = [kind_of(type(event))]
    for name, _ in _plan(type(event)):
        value = getattr(event, name)
        if value is not None:
            parts.append(f"{name}={_show(value)}")
    return " ".join(parts)


def from_text(table: Mapping[str, type[Event]], line: str) -> Event:
    """The event that `to_text` wrote. Raises BadText; accepts nothing that would be written otherwise."""
    kind, *words = line.split(" ")
    event_type = table.get(kind)
    if event_type is None:
        raise BadText(f"unknown event {kind[:40]!r}")
    readers = dict(_plan(event_type))
    given: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in readers or name in given:
            raise BadText(f"{kind}: {word[:60]!r} does not fit")
        try:
            given[name] = readers[name](value)
        except (ValueError, KeyError, RecursionError) as error:
            raise BadText(f"{kind}: {word[:60]!r} cannot be read") from error
    event = _make(event_type, given)
    if to_text(event) != line:
        raise BadText(f"{kind}: not in canonical form")
    return event


def _make(event_type: type[Event], given: dict[str, Any]) -> Event:
    names = [name for name, _ in _plan(event_type)]
    for name in names:
        given.setdefault(name, None)
    if len(given) != len(names):
        raise BadText(f"{kind_of(event_type)}: unknown fields")
    required = _required(event_type)
    lacking = [name for name in names if given[name] is None and name in required]
    if lacking:
        raise BadText(f"{kind_of(event_type)}: {', '.join(lacking)} missing")
    return event_type(**given)


_PLAIN = re.compile(r"[A-Za-z0-9_.:?+-][A-Za-z0-9_.:?+=@-]*")


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else _json(value)
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return "/".join(",".join(map(str, part)) or "-" for part in value)
        return ",".join(map(str, value)) or "-"
    return _json(value)


def _json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, sort_keys=True)
    return text.replace(" ", "\\u0020")


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text]


def _text(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text


def _listed(read: Callable[[str], Any], mark: str) -> Callable[[str], tuple[Any, ...]]:
    return lambda text: () if text == "-" else tuple(read(part) for part in text.split(mark))


def _hands(text: str) -> tuple[Any, ...]:
    if text == "-":
        return ()
    return tuple(() if part == "-" else tuple(part.split(",")) for part in text.split("/"))


def _mapping(text: str) -> Mapping[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not a map")
    return freeze(value)  # type: ignore[no-any-return]


def freeze(value: Any) -> Any:
    """JSON lists as tuples, at any depth; maps are copied. Treat the result as immutable."""
    if isinstance(value, (list, tuple)):
        return tuple(freeze(part) for part in value)
    if isinstance(value, Mapping):
        return {str(key): freeze(part) for key, part in value.items()}
    return value


def _reader(hint: Any) -> Callable[[str], Any]:
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    if hint is bool:
        return _flag
    if hint is int:
        return int
    if hint is str:
        return _text
    if get_origin(hint) is tuple:
        part = get_args(hint)[0]
        if get_origin(part) is tuple:
            return _hands
        return _listed(int if part is int else str, ",")
    if get_origin(hint) is Mapping or hint is Mapping:
        return _mapping
    raise TypeError(f"an event field cannot be {hint!r}")


@_memo
def _plan(event_type: type[Event]) -> tuple[tuple[str, Callable[[str], Any]], ...]:
    hints = get_type_hints(event_type)
    return tuple((item.name, _reader(hints[item.name])) for item in fields(event_type))  # type: ignore[arg-type]


@_memo
def _required(event_type: type[Event]) -> frozenset[str]:
    hints = get_type_hints(event_type)
    return frozenset(name for name, _ in _plan(event_type) if NoneType not in get_args(hints[name]))
