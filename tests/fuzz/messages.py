"""Messages made of their descriptors: any field may be there, with values that mean something to the server or not."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from .mutate import TEXTS

_KEPT = 64  # values of one field that are remembered
_DEEP = 5
FIELDS = (12, 40, 200)
_REPEATED = (0, 1, 1, 2, 3, 70)
_INTS = (0, 1, 2, 3, 5, 10, 50, 200, 1_000, 30_000, 2**31 - 1)
_WIDE = (2**31, 2**63 - 1)
_SIGNED = {
    FieldDescriptor.CPPTYPE_INT32: 2**31,
    FieldDescriptor.CPPTYPE_INT64: 2**63,
}
_SHORT = tuple(text for text in TEXTS if len(text) < 100)
_REALS = (0.0, 0.5, -1.0, 1e308, float("inf"), float("nan"))
# Fields that hold the same kind of thing as another one.
_SAME = {
    "current_match_id": "match_id",
    "place": "match_id",
    "owner_id": "account_id",
    "scorer_id": "account_id",
    "account_ids": "account_id",
    "other_account_ids": "account_id",
    "won_by": "account_id",
    "lost_by": "account_id",
    "accounts": "account_id",
    "party": "code",
    "next_page_token": "page_token",
    "tournament": "tournament_id",
    "ticket_id": "command_id",
}


class Values:
    """What texts and bytes of the server's own are known by now, by field: ids, codes, tokens of pages."""

    def __init__(self, given: dict[str, list[str]]) -> None:
        self.fixed = given
        self.seen: dict[str, deque[str]] = {}

    def text(self, rng: Random, name: str) -> str:
        """A value for a field."""
        name = _SAME.get(name, name)
        known = (*self.fixed.get(name, ()), *self.seen.get(name, ()))
        if known and rng.random() < 0.85:
            return str(rng.choice(known))
        if rng.random() < 0.3:
            return "".join(rng.choices("abcdefghjkmnpqrstuvwxyz0123456789_-", k=rng.randrange(1, 24)))
        return rng.choice(TEXTS if rng.random() < 0.1 else _SHORT)

    def learn(self, message: Message) -> None:
        """Remember what the server has told."""
        for field, value in message.ListFields():
            if field.type == FieldDescriptor.TYPE_STRING and not field.is_repeated and len(value) <= 80:
                name = _SAME.get(field.name, field.name)
                if name.endswith(("_id", "code", "token")):
                    self.seen.setdefault(name, deque(maxlen=_KEPT)).append(value)
            elif field.type == FieldDescriptor.TYPE_MESSAGE and not field.is_repeated:
                self.learn(value)


def made(rng: Random, kind: Descriptor, values: Values) -> Message:
    """A message of a kind: each field there with a chance, of a oneof at most one; about FIELDS in all at most."""
    return _Maker(rng, values).made(kind, 0)


class _Maker:
    """One message in the making. `left`: fields that it may still get."""

    def __init__(self, rng: Random, values: Values) -> None:
        self._rng = rng
        self._values = values
        self._left = rng.choice(FIELDS)

    def made(self, kind: Descriptor, deep: int) -> Message:
        """See above."""
        rng, message = self._rng, GetMessageClass(kind)()
        chosen = {one.name: rng.choice(one.fields).name for one in kind.oneofs}
        for field in kind.fields:
            oneof = field.containing_oneof
            if oneof is not None and len(oneof.fields) > 1:
                if chosen[oneof.name] != field.name or rng.random() < 0.05:
                    continue
            elif rng.random() < 0.25:
                continue
            if (deep >= _DEEP or self._left <= 0) and field.type == FieldDescriptor.TYPE_MESSAGE:
                continue
            self._fill(message, field, deep)
        return message

    def _fill(self, message: Message, field: Any, deep: int) -> None:
        rng, held = self._rng, getattr(message, field.name)
        self._left -= 1
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            self._fill_map(held, field.message_type, deep)
        elif not field.is_repeated:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                held.CopyFrom(self.made(field.message_type, deep + 1))
            else:
                setattr(message, field.name, self._scalar(field))
        else:
            for _ in range(min(self._left + 1, rng.choice(_REPEATED))):
                self._left -= 1
                if field.type == FieldDescriptor.TYPE_MESSAGE:
                    held.add().CopyFrom(self.made(field.message_type, deep + 1))
                else:
                    held.append(self._scalar(field))

    def _fill_map(self, held: Any, entry: Any, deep: int) -> None:
        key, value = entry.fields
        for _ in range(self._rng.choice((0, 1, 2, 5))):
            name = self._scalar(key)
            if value.type == FieldDescriptor.TYPE_MESSAGE:
                held[name].CopyFrom(self.made(value.message_type, deep + 1))
            else:
                held[name] = self._scalar(value)

    def _scalar(self, field: Any) -> Any:
        rng, kind = self._rng, field.cpp_type
        if field.type == FieldDescriptor.TYPE_BYTES:
            return rng.randbytes(rng.choice((0, 1, 16, 32, 64, 65)))
        if kind == FieldDescriptor.CPPTYPE_STRING:
            return self._values.text(rng, field.name)
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return rng.random() < 0.5
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            known = [one.number for one in field.enum_type.values]
            return rng.choice(known) if rng.random() < 0.9 else rng.choice((99, -1, 2**31 - 1))
        if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return rng.choice(_REALS)
        return _number(rng, kind)


def _number(rng: Random, kind: int) -> int:
    value = rng.choice(_INTS)
    if kind in (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64) and rng.random() < 0.15:
        value = rng.choice(_WIDE)
    if kind in _SIGNED and rng.random() < 0.15:
        return rng.choice((-1, -2, -_SIGNED[kind]))
    return value
