"""TalkService: chat at tables. The table's owner decides and sends; reports are kept for the operators."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import talk_pb2 as pb
from kangtou.v1 import talk_pb2_grpc as rpc

from ..identity import Account, good_command_id
from ..marks import Marks
from ..plain_text import clean_line
from ..refusals import refusal
from ..talk import Message, Report, Talk
from ..talk.messages import chat_to_pb
from .auth import Callers
from .calls import CallError, Code, Context
from .limits import questions
from .refused import refusal as table_refusal
from .requests import COMMAND_BYTES, MATCH_ID
from .routes import TableProblem
from .tables import Tables

if TYPE_CHECKING:
    from .server import Parts

REASON_MOST = 200
REPORTS_MOST, REPORTS_MS = 20, 3_600_000  # of one account in an hour
CONTEXT = 10  # messages before and after the one that is reported
LIST_MOST = 200


class TalkService(rpc.TalkServiceServicer):
    """kangtou.v1.TalkService."""

    def __init__(self, talk: Talk, marks: Marks, tables: Tables, callers: Callers) -> None:
        self._talk = talk
        self._marks = marks
        self._tables = tables
        self._callers = callers
        self._rate = questions()

    async def Say(self, request: pb.SayRequest, context: Context) -> pb.SayResponse:
        """Refused: see host/talking.py."""
        account = await self._caller(context)
        if request.ByteSize() > COMMAND_BYTES:
            return pb.SayResponse(refused=table_refusal("malformed"))
        say = lpb.Say(said=request, name=account.name)
        reply = await self._ask(account, request.match_id, lpb.Call(say=say))
        return pb.SayResponse(refused=table_refusal(reply)) if isinstance(reply, str) else reply.said

    async def ListChat(self, request: pb.ListChatRequest, context: Context) -> pb.ListChatResponse:
        """What the caller may see."""
        account = await self._caller(context)
        reply = await self._ask(account, request.match_id, lpb.Call(list_chat=request))
        return pb.ListChatResponse(refused=table_refusal(reply)) if isinstance(reply, str) else reply.chat

    async def Mute(self, request: pb.MuteRequest, context: Context) -> pb.MuteResponse:
        """Refused: not_owner_or_scorer, unknown_account."""
        account = await self._caller(context)
        reply = await self._ask(account, request.match_id, lpb.Call(mute=request))
        return pb.MuteResponse(refused=table_refusal(reply)) if isinstance(reply, str) else reply.muted

    async def ReportChat(self, request: pb.ReportChatRequest, context: Context) -> pb.ReportChatResponse:
        """Refused: bad_id, unknown_chat, bad_reason, throttled."""
        account = await self._caller(context)
        if not good_command_id(request.command_id):
            return pb.ReportChatResponse(refused=refusal("bad_id"))
        reason = clean_line(request.reason, REASON_MOST, drop=True) if request.reason else ""
        if reason is None:
            return pb.ReportChatResponse(refused=refusal("bad_reason", limit=REASON_MOST))
        call = lpb.Call(list_chat=pb.ListChatRequest(match_id=request.match_id))
        reply = await self._ask(account, request.match_id, call)
        if isinstance(reply, str):
            return pb.ReportChatResponse(refused=table_refusal(reply))
        if reply.chat.HasField("refused"):
            return pb.ReportChatResponse(refused=reply.chat.refused)
        seen = [one.chat_id for one in reply.chat.chat]
        if request.chat_id not in seen:
            return pb.ReportChatResponse(refused=refusal("unknown_chat"))
        count, left_ms = await self._marks.count("report", account.account_id, REPORTS_MS)
        if count > REPORTS_MOST:
            return pb.ReportChatResponse(refused=refusal("throttled", seconds=-(-left_ms // 1000)))
        said = await self._talk.last(request.match_id)
        context_of = _around(said, request.chat_id)
        now_ms = time.time_ns() // 1_000_000
        report = Report(request.match_id, account.account_id, request.chat_id, reason, now_ms, context_of)
        await self._talk.report(report)
        return pb.ReportChatResponse()

    async def ListReports(self, request: pb.ListReportsRequest, context: Context) -> pb.ListReportsResponse:
        """For operators."""
        await self._caller(context)
        found = await self._talk.reports(min(max(request.most, 0) or 50, LIST_MOST))
        return pb.ListReportsResponse(reports=map(_report_to_pb, found))

    async def _caller(self, context: Context) -> Account:
        account = (await self._callers.session(context)).account
        if not self._rate.allowed(account.account_id):
            raise CallError(
                Code.RESOURCE_EXHAUSTED, "too much at once; wait for answers first", "请求过多，请先等待应答"
            )
        return account

    async def _ask(self, account: Account, match_id: str, call: lpb.Call) -> lpb.Reply | str:
        """The owner's reply, or the code of a problem."""
        if not MATCH_ID.fullmatch(match_id):
            return "unknown_match"
        call.match_id, call.account_id = match_id, account.account_id
        try:
            return await self._tables.call(call)
        except TableProblem as error:
            return error.code


def _around(said: list[Message], chat_id: str) -> tuple[Message, ...]:
    place = next((place for place, one in enumerate(said) if one.chat_id == chat_id), len(said))
    return tuple(said[max(0, place - CONTEXT) : place + CONTEXT + 1])


def _report_to_pb(report: Report) -> pb.ChatReport:
    return pb.ChatReport(
        report_id=report.report_id,
        time_ms=report.time_ms,
        match_id=report.match_id,
        reporter_id=report.reporter_id,
        chat_id=report.chat_id,
        reason=report.reason,
        context=map(chat_to_pb, report.context),
    )


def add(
    marks: Marks,
) -> Callable[[grpc.aio.Server, Parts], tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]]:
    """What adds this service to a gateway."""

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, None]:
        service = TalkService(parts.backend.talk, marks, parts.router, parts.callers)
        rpc.add_TalkServiceServicer_to_server(service, server)
        return pb.DESCRIPTOR.services_by_name["TalkService"].full_name, None

    return extra
