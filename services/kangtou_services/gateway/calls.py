"""What surrounds every call: requests that cannot be read, errors as statuses, faults that are logged and contained.

A servicer raises `CallError` for what is no refusal of the game: nobody is logged in, too much at once, not now.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache, partial
from typing import Any, TypeAlias

import grpc
import structlog
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from kangtou.v1 import game_pb2

from ..directory import DirectoryUnavailable
from ..identity import StoreUnavailable
from ..log.base import LogUnavailable
from ..observe.gateway import GatewayMeter

log = structlog.get_logger(__name__)

REFUSAL = "kangtou-refusal"  # trailing metadata

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Code = grpc.StatusCode
_Calls: TypeAlias = "Counter[tuple[str, str]]"
Allowed: TypeAlias = "Callable[[str, Context], Awaitable[None]]"  # raises CallError for whoever may not call it
Gate: TypeAlias = "Callable[[str, Context], game_pb2.Refusal | None]"


class CallError(Exception):
    """Ends a call with a status and a text for people (English, Chinese)."""

    def __init__(self, status: grpc.StatusCode, english: str, chinese: str, refusal: str = "") -> None:
        super().__init__(status, english, chinese)
        self.status = status
        self.refusal = refusal  # its code, for programs
        self.text = f"{english} / {chinese}"


def unavailable() -> CallError:
    """The store cannot be reached: the caller may repeat the call by its command id."""
    return CallError(Code.UNAVAILABLE, "the store cannot be reached now; try again", "暂时无法访问存储，请重试")


def garbage() -> CallError:
    """What arrived is no message of this method."""
    return CallError(Code.INVALID_ARGUMENT, "the message is not understood", "无法理解该消息")


def status_of(error: Exception) -> str:
    """The status with which `end` ends a call."""
    if isinstance(error, (StoreUnavailable, DirectoryUnavailable, LogUnavailable)):
        return Code.UNAVAILABLE.name
    if isinstance(error, CallError):
        return error.status.name
    if isinstance(error, grpc.aio.AbortError):  # by `end`: in answer to what is told here
        return status_of(error.__context__) if isinstance(error.__context__, CallError) else "ABORTED"
    return Code.INTERNAL.name


async def end(context: Context, error: Exception, method: str) -> None:
    """End a call because of what its servicer raised. Never returns."""
    if isinstance(error, grpc.aio.AbortError):
        raise error
    if isinstance(error, (StoreUnavailable, DirectoryUnavailable, LogUnavailable)):
        error = unavailable()
    if isinstance(error, CallError):
        await _abort(context, error.status, error.text, ((REFUSAL, error.refusal),) if error.refusal else ())
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = trace.tb_lineno if trace is not None else 0
    log.error("call_failed", method=method, error=type(error).__name__, line=line)
    await _abort(context, Code.INTERNAL, "an unexpected fault, which has been logged / 意外故障，已记录")


async def _abort(
    context: Context, status: grpc.StatusCode, text: str, trailing: tuple[tuple[str, str], ...] = ()
) -> None:
    try:
        await context.abort(status, text, trailing)
    except grpc.aio.InternalError:  # the client has gone before it took the status
        raise asyncio.CancelledError from None
    except grpc.aio.AbortError as error:
        context.add_done_callback(partial(_forget, error))  # type: ignore[arg-type]  # the stub wants a class
        raise


def _forget(error: grpc.aio.AbortError, context: Context) -> None:
    """A call is over. gRPC keeps its AbortError with it, whose frames hold the call and all that it had: a circle."""
    error.__traceback__ = error.__context__ = None


class Guard(grpc.aio.ServerInterceptor):
    """Puts the above around every method of our own services; counts the calls by status.

    allowed   who may call what (access.py)
    gate      what nobody may call now (gate.py)
    """

    def __init__(self, allowed: Allowed, meter: GatewayMeter | None = None, gate: Gate | None = None) -> None:
        self._calls = (meter or GatewayMeter()).calls
        self._allowed = allowed
        self._gate = gate

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """grpc.aio."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or not method.startswith("/kangtou."):
            return handler
        found: Any = handler
        if found.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                _unary(self._calls, self._gated(found.unary_unary, method), found.request_deserializer, method),
                None,
                found.response_serializer,
            )
        if found.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                _streaming(
                    self._calls, self._stream_gated(found.unary_stream, method), found.request_deserializer, method
                ),
                None,
                found.response_serializer,
            )
        # The play stream reads and writes bytes itself.
        return grpc.stream_stream_rpc_method_handler(
            _both(self._calls, self._both_gated(found.stream_stream, method), method), None, None
        )

    def _refused(self, method: str, context: Context) -> Any:
        """A response that says why it may not be called, None if it may. Raises CallError where no response can."""
        why = self._gate(method, context) if self._gate is not None else None
        if why is None:
            return None
        respond = response_with_refusal(method)
        if respond is None:
            raise CallError(Code.FAILED_PRECONDITION, why.text_en, why.text_zh, why.code)
        return respond(why)

    def _gated(self, serve: Any, method: str) -> Any:
        async def call(request: Any, context: Context) -> Any:
            refused = self._refused(method, context)
            if refused is not None:
                return refused
            await self._allowed(method, context)
            return await serve(request, context)

        return call

    def _stream_gated(self, serve: Any, method: str) -> Any:
        async def call(request: Any, context: Context) -> AsyncIterator[Any]:
            refused = self._refused(method, context)
            if refused is not None:
                yield refused
                return
            await self._allowed(method, context)
            async for response in serve(request, context):
                yield response

        return call

    def _both_gated(self, serve: Any, method: str) -> Any:
        async def call(requests: AsyncIterator[bytes], context: Context) -> None:
            if self._refused(method, context) is None:
                await self._allowed(method, context)
                await serve(requests, context)

        return call


def _unary(calls: _Calls, serve: Any, parse: Any, method: str) -> Any:
    async def call(raw: bytes, context: Context) -> Any:
        try:
            response = await serve(_parsed(parse, raw), context)
            calls[method, "OK"] += 1
            return response
        except Exception as error:  # noqa: BLE001 - a fault in one call must not reach another
            calls[method, status_of(error)] += 1
            await end(context, error, method)

    return call


def _streaming(calls: _Calls, serve: Any, parse: Any, method: str) -> Any:
    async def call(raw: bytes, context: Context) -> AsyncIterator[Any]:
        try:
            async for response in serve(_parsed(parse, raw), context):
                yield response
            calls[method, "OK"] += 1
        except Exception as error:  # noqa: BLE001 - as above
            calls[method, status_of(error)] += 1
            await end(context, error, method)

    return call


def _both(calls: _Calls, serve: Any, method: str) -> Any:
    async def call(requests: AsyncIterator[bytes], context: Context) -> None:
        try:
            await serve(requests, context)
            calls[method, "OK"] += 1
        except Exception as error:  # noqa: BLE001 - as above
            calls[method, status_of(error)] += 1
            await end(context, error, method)

    return call


def _parsed(parse: Any, raw: bytes) -> Any:
    try:
        return parse(raw)
    except DecodeError as error:
        raise garbage() from error


@cache
def response_with_refusal(method: str) -> Callable[[game_pb2.Refusal], Any] | None:
    """What makes a method's response of a refusal; None if it cannot hold one."""
    found: Any = descriptor_pool.Default().FindMethodByName(method.strip("/").replace("/", "."))
    field = found.output_type.fields_by_name.get("refused")
    if field is None or field.message_type is not game_pb2.Refusal.DESCRIPTOR:
        return None
    made: Any = message_factory.GetMessageClass(found.output_type)
    return lambda why: made(refused=why)
