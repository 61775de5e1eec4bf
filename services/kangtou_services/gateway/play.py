"""PlayService: the stream and its unary twins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from time import perf_counter
from typing import Any, NoReturn

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc

from ..house import House
from ..identity import Session
from ..observe.gateway import GatewayMeter
from ..settings import Settings
from ..table.commands import refused
from ..tournament.ids import tournament_of
from .auth import Callers, token_of
from .calls import CallError, Code, Context, end
from .limits import Streams
from .refused import refusal
from .requests import COMMAND_BYTES, MATCH_ID
from .routes import TableProblem
from .streams import PlayStream
from .tables import Tables

# Problems that are the caller's, by their status; what is not here is UNAVAILABLE.
_STATUS = {
    "unknown_match": Code.NOT_FOUND,
    "not_seated": Code.PERMISSION_DENIED,
    "not_allowed": Code.PERMISSION_DENIED,
    "withheld": Code.FAILED_PRECONDITION,
    "no_spectators": Code.PERMISSION_DENIED,
    "not_welcome": Code.PERMISSION_DENIED,
    "not_delegated": Code.FAILED_PRECONDITION,
    "faulted": Code.ABORTED,
    "quarantined": Code.ABORTED,
    "malformed": Code.INVALID_ARGUMENT,
    "rate_limited": Code.RESOURCE_EXHAUSTED,
    "full": Code.RESOURCE_EXHAUSTED,
}

METHOD = "/kangtou.v1.PlayService/Play"


class PlayService(rpc.PlayServiceServicer):
    """kangtou.v1.PlayService."""

    def __init__(
        self,
        settings: Settings,
        callers: Callers,
        tables: Tables,
        streams: Streams,
        house: House,
        meter: GatewayMeter | None = None,
    ) -> None:
        self._meter = meter or GatewayMeter()
        self._settings = settings
        self._callers = callers
        self._tables = tables
        self._streams = streams
        self._house = house

    async def Play(self, request_iterator: AsyncIterator[Any], context: Context) -> None:  # type: ignore[override]
        """The stream; reads and writes serialised messages."""
        session = await self._callers.session(context, playing=True)
        await self._streams.unhurried(session.account.account_id)
        with self._streams.place(session.account.account_id):
            try:
                await self._stream(session, context)
            except CallError as error:
                await end(context, error, METHOD)  # the place is taken until the client has that

    async def _stream(self, session: Session, context: Context) -> None:
        stream = PlayStream(
            context,
            session,
            token_of(context),
            self._tables,
            self._settings,
            self._house,
            self._meter,
            self._streams.messages,
        )
        with self._streams.admitted(stream):
            await stream.run()

    async def Act(self, request: play.ActRequest, context: Context) -> play.ActResponse:
        """One action. A refusal is an answer."""
        command = request.command
        return play.ActResponse(answer=await self._write(context, command, lpb.Call(command=command)))

    async def HandOver(self, request: play.HandOverRequest, context: Context) -> play.HandOverResponse:
        """A substitute plays the caller's seat."""
        wish = request.hand_over
        return play.HandOverResponse(answer=await self._write(context, wish, lpb.Call(hand_over=wish)))

    async def TakeBack(self, request: play.TakeBackRequest, context: Context) -> play.TakeBackResponse:
        """The caller plays his seat again."""
        wish = request.take_back
        return play.TakeBackResponse(answer=await self._write(context, wish, lpb.Call(take_back=wish)))

    async def _write(
        self, context: Context, command: play.Command | play.HandOver | play.TakeBack, call: lpb.Call
    ) -> play.Answer:
        call.match_id, call.account_id, call.unary = command.match_id, await self._caller(context), True
        if not self._streams.messages.allowed(call.account_id):
            problem = "rate_limited"
        elif not MATCH_ID.fullmatch(command.match_id):
            problem = "unknown_match"
        elif command.ByteSize() > COMMAND_BYTES:
            problem = "malformed"
        else:
            try:
                began, tracing = perf_counter(), self._meter.tracing
                parent = command.traceparent if isinstance(command, play.Command) else ""
                span = tracing.begin("gateway.command", parent, began) if tracing is not None else None
                call.traceparent = span.traceparent if span is not None else ""
                reply = await self._tables.call(call)
                self._meter.answered(began, reply.took_us)
                if span is not None:
                    span.end(match=call.match_id, command=command.command_id, table_us=reply.took_us)
                return reply.answer
            except TableProblem as error:
                problem = error.code
        self._meter.refusals[problem] += 1
        return refused(command.command_id[:64], refusal(problem))

    async def GetView(self, request: play.GetViewRequest, context: Context) -> play.GetViewResponse:
        """What a seat or a spectator sees now."""
        if request.spectate and tournament_of(request.match_id):
            _abort("withheld")
        query = lpb.Query(view=True, spectate=request.spectate)
        if request.HasField("seat"):
            query.seat = request.seat
        return (await self._ask(context, request.match_id, query)).view

    async def Legal(self, request: play.LegalRequest, context: Context) -> play.LegalResponse:
        """The legal actions of the caller's seat."""
        query = lpb.Query(legal=True)
        if request.HasField("seat"):
            query.seat = request.seat
        return (await self._ask(context, request.match_id, query)).legal

    async def Check(self, request: play.CheckRequest, context: Context) -> play.CheckResponse:
        """Whether an action would do."""
        if request.ByteSize() > COMMAND_BYTES:
            return play.CheckResponse(refused=refusal("malformed"))
        query = lpb.Query(check=request.action)
        if request.HasField("seat"):
            query.seat = request.seat
        return (await self._ask(context, request.match_id, query)).check

    async def _caller(self, context: Context) -> str:
        return (await self._callers.session(context, playing=True)).account.account_id

    async def _ask(self, context: Context, match_id: str, query: lpb.Query) -> lpb.Reply:
        account_id = await self._caller(context)
        if not MATCH_ID.fullmatch(match_id):
            _abort("unknown_match")
        if not self._streams.questions.allowed(account_id):
            _abort("rate_limited")
        try:
            return await self._tables.call(lpb.Call(match_id=match_id, account_id=account_id, query=query))
        except TableProblem as error:
            _abort(error.code)


def _abort(code: str) -> NoReturn:
    text = refusal(code)
    raise CallError(_STATUS.get(code, Code.UNAVAILABLE), f"{text.code}: {text.text_en}", text.text_zh)
