"""Chat at tables: `Talk(client)`; what is said while one follows a match comes by `Match.chat()`."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kangtou.v1 import talk_pb2 as pb
from kangtou.v1 import talk_pb2_grpc as rpc
from kangtou_engine.cards import Seat
from kangtou_engine.phrases import phrase

from .values import Refused, refused_from

if TYPE_CHECKING:
    from .client import Client


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """Something that was said. `seat` None: by a spectator; `watchers`: for spectators only. One of text and phrase."""

    chat_id: str
    time_ms: int
    account_id: str
    name: str
    seat: Seat | None
    text: str
    phrase: str
    watchers: bool

    def shown(self, lang: str) -> str:
        """What was said; a fixed phrase in "en" or "zh"."""
        return phrase(self.phrase, lang) if self.phrase else self.text


@dataclass(frozen=True, slots=True)
class ChatReport:
    """What somebody told the operators of, with what stood around it."""

    report_id: str
    time_ms: int
    match_id: str
    reporter_id: str
    chat_id: str
    reason: str
    context: tuple[ChatMessage, ...]


def chat_from(message: pb.Chat) -> ChatMessage:
    """From the protocol."""
    return ChatMessage(
        message.chat_id,
        message.time_ms,
        message.account_id,
        message.name,
        message.seat if message.HasField("seat") else None,
        message.text,
        message.phrase,
        message.watchers,
    )


class Talk:
    """What the talk service gives."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.TalkServiceStub(client.channel)

    async def say(
        self, match_id: str, text: str = "", *, phrase: str = "", command_id: str = ""
    ) -> ChatMessage | Refused:
        """Say a line, or a fixed phrase by its id. A repeat of an id says nothing twice."""
        command_id = command_id or secrets.token_hex(8)
        request = pb.SayRequest(match_id=match_id, command_id=command_id, text=text, phrase=phrase)
        response = await self._client.unary(self._stub.Say, request)
        return refused_from(response.refused) if response.HasField("refused") else chat_from(response.said)

    async def list(self, match_id: str, after: str = "") -> tuple[ChatMessage, ...] | Refused:
        """The last messages, the oldest first; those behind one of them."""
        response = await self._client.unary(self._stub.ListChat, pb.ListChatRequest(match_id=match_id, after=after))
        return refused_from(response.refused) if response.HasField("refused") else tuple(map(chat_from, response.chat))

    async def mute(self, match_id: str, account_id: str, muted: bool = True) -> Refused | None:
        """As the table's owner or its scorer, silence somebody there, or let him speak again."""
        request = pb.MuteRequest(match_id=match_id, account_id=account_id, muted=muted)
        response = await self._client.unary(self._stub.Mute, request)
        return refused_from(response.refused) if response.HasField("refused") else None

    async def report(self, match_id: str, chat_id: str, reason: str = "", command_id: str = "") -> Refused | None:
        """Tell the operators of a message."""
        command_id = command_id or secrets.token_hex(8)
        request = pb.ReportChatRequest(match_id=match_id, command_id=command_id, chat_id=chat_id, reason=reason)
        response = await self._client.unary(self._stub.ReportChat, request)
        return refused_from(response.refused) if response.HasField("refused") else None

    async def reports(self, most: int = 50) -> tuple[ChatReport, ...]:
        """For operators: the newest first. Raises CallFailed for others."""
        response = await self._client.unary(self._stub.ListReports, pb.ListReportsRequest(most=most))
        return tuple(
            ChatReport(
                one.report_id,
                one.time_ms,
                one.match_id,
                one.reporter_id,
                one.chat_id,
                one.reason,
                tuple(map(chat_from, one.context)),
            )
            for one in response.reports
        )
