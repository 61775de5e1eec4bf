"""What was said, as clients see it."""

from __future__ import annotations

from kangtou.v1 import talk_pb2 as pb

from .base import Message


def chat_to_pb(message: Message) -> pb.Chat:
    """As clients see it."""
    chat = pb.Chat(
        chat_id=message.chat_id,
        time_ms=message.time_ms,
        account_id=message.account_id,
        name=message.name,
        text=message.text,
        phrase=message.phrase,
        watchers=message.watchers,
    )
    if message.seat >= 0:
        chat.seat = message.seat
    return chat
