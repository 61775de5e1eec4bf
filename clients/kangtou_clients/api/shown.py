"""What a server sends, with its texts made visible (visible.py): a server may be anybody's.

Bytes stay as they are: records have a reader that takes no such text. Of a play stream the updates of which there are
many, entries and prompts, hold what the engine has checked when it folds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from ..visible import visible

_STREAM = "/kangtou.v1.PlayService/Play"
_SEEN = frozenset({"attached", "chat", "notice", "answer", "ended", "seats"})  # updates with texts of people or servers


def shown(message: Any) -> Any:
    """The message itself, changed where a text would steer a terminal."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            _text(message, field, value)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            _messages(field, value)
    return message


def _text(message: Message, field: FieldDescriptor, value: Any) -> None:
    if not field.is_repeated:
        if not value.isprintable():
            setattr(message, field.name, visible(value))
    elif not all(one.isprintable() for one in value):
        value[:] = [visible(one) for one in value]


def _messages(field: Any, value: Any) -> None:
    if not field.is_repeated:
        shown(value)
    elif not field.message_type.GetOptions().map_entry:
        for one in value:
            shown(one)
    else:
        _mapped(value, field.message_type.fields_by_name["value"])


def _mapped(value: Any, held: FieldDescriptor) -> None:
    for key in [key for key in value if isinstance(key, str) and not key.isprintable()]:
        del value[key]  # our own names of things have no such letters
    if held.type == FieldDescriptor.TYPE_MESSAGE:
        for one in value.values():
            shown(one)
    elif held.type == FieldDescriptor.TYPE_STRING:
        for key in [key for key, one in value.items() if not one.isprintable()]:
            value[key] = visible(value[key])


def _stream_shown(response: Any) -> Any:
    for update in response.updates:
        if update.WhichOneof("body") in _SEEN:
            shown(update)
    return response


class ShownChannel(grpc.aio.Channel):
    """A channel whose responses are shown. Closes the one that it stands on."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel: Any = channel

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """grpc.aio."""
        await self._channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> Any:
        """grpc.aio."""
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: Any) -> Any:
        """grpc.aio."""
        return await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """grpc.aio."""
        await self._channel.channel_ready()

    def unary_unary(self, method: Any, *args: Any, **given: Any) -> Any:
        """grpc.aio."""
        return self._channel.unary_unary(method, *_wrapped(method, args, given), **given)

    def unary_stream(self, method: Any, *args: Any, **given: Any) -> Any:
        """grpc.aio."""
        return self._channel.unary_stream(method, *_wrapped(method, args, given), **given)

    def stream_unary(self, method: Any, *args: Any, **given: Any) -> Any:
        """grpc.aio."""
        return self._channel.stream_unary(method, *_wrapped(method, args, given), **given)

    def stream_stream(self, method: Any, *args: Any, **given: Any) -> Any:
        """grpc.aio."""
        return self._channel.stream_stream(method, *_wrapped(method, args, given), **given)


def _wrapped(method: str, args: tuple[Any, ...], given: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call with another deserialiser, the second; there is none where bytes are wanted."""
    seen: Callable[[Any], Any] = _stream_shown if method == _STREAM else shown
    if len(args) > 1 and args[1] is not None:
        return (args[0], _both(args[1], seen), *args[2:])
    if given.get("response_deserializer") is not None:
        given["response_deserializer"] = _both(given["response_deserializer"], seen)
    return args


def _both(parse: Callable[[bytes], Any], seen: Callable[[Any], Any]) -> Callable[[bytes], Any]:
    return lambda raw: seen(parse(raw))
