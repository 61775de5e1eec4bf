"""Opening a play stream, again and again if need be."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import grpc
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc

from .values import CallFailed, NotAuthenticated, failed

Metadata: TypeAlias = tuple[tuple[str, str], ...]

FINAL = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED", "INVALID_ARGUMENT", "UNIMPLEMENTED", "FAILED_PRECONDITION"})
ANSWER_S = 10.0  # within which a server takes a stream


class Opener:
    """Opens streams with the metadata of the moment, for up to `give_up_s` each time."""

    def __init__(self, stub: rpc.PlayServiceStub, metadata: Callable[[], Metadata], give_up_s: float) -> None:
        self._stub = stub
        self._metadata = metadata
        self._give_up_s = give_up_s
        self._used: Metadata = ()

    def hopeless(self, reason: CallFailed) -> bool:
        """Whether a stream that ended so need not be opened again; with a renewed token it may."""
        renewed = isinstance(reason, NotAuthenticated) and self._metadata() != self._used
        return reason.status in FINAL and not renewed

    async def open(self) -> Any:
        """A stream that the server has taken. Raises CallFailed when that is hopeless or takes too long."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_Again),
            wait=wait_random_exponential(multiplier=0.05, max=2.0),
            stop=stop_after_delay(self._give_up_s),
            reraise=True,
        )
        try:
            return await retrying(self._once)
        except _Again as error:
            raise error.cause from None

    async def _once(self) -> Any:
        self._used = self._metadata()
        call: Any = self._stub.Play(metadata=self._used)
        try:
            async with asyncio.timeout(ANSWER_S):
                await call.initial_metadata()
            if not call.done():
                return call
            nothing = grpc.aio.Metadata()
            told = await call.trailing_metadata()
            raise grpc.aio.AioRpcError(await call.code(), nothing, told or nothing, await call.details())
        except grpc.aio.AioRpcError as error:
            reason = failed(error)
        except TimeoutError:
            reason = CallFailed("DEADLINE_EXCEEDED", "the server does not answer")
        except asyncio.CancelledError:
            call.cancel()
            raise
        call.cancel()
        raise reason if self.hopeless(reason) else _Again(reason)


class _Again(Exception):
    """The stream could not be opened; it may be later."""

    def __init__(self, cause: CallFailed) -> None:
        super().__init__(cause)
        self.cause = cause


async def updates(call: Any) -> AsyncIterator[play.Update]:
    """What a stream brings, one by one. Raises AioRpcError."""
    with contextlib.suppress(asyncio.InvalidStateError):
        while (response := await call.read()) is not grpc.aio.EOF:
            for update in response.updates:
                yield update
