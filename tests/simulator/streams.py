"""gRPC's part between clients and gateways: play streams and unary calls, with gRPC's own order, statuses and ends.

The gateway's side runs the servicer behind the production Guard; the client's side is what its library sees of a stub.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.message import Message

from kangtou.v1 import play_pb2 as play
from kangtou_services.gateway import calls

from .loop import CURRENT, Process
from .network import Connection, Network, Pipe

WINDOW = 32  # messages that a client may leave unread before the gateway's writes wait
Status = tuple[grpc.StatusCode, str]


def rpc_error(code: grpc.StatusCode, details: str) -> grpc.aio.AioRpcError:
    """As gRPC raises it."""
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


class ServerContext:
    """What a servicer sees of a call."""

    def __init__(self, loop: Any, metadata: tuple[tuple[str, str], ...]) -> None:
        self._loop, self._metadata = loop, metadata
        self._came: deque[Any] = deque()
        self._news = asyncio.Event()
        self.window = WINDOW
        self.back: Pipe
        self.requests: Callable[[play.PlayRequest], None] = lambda request: None
        self.responses: Callable[[bytes], None] = lambda payload: None

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """See grpc."""
        return self._metadata

    async def send_initial_metadata(self, metadata: Any) -> None:
        """See grpc."""
        self.back.send(("metadata", None))

    async def read(self) -> Any:
        """See grpc."""
        while not self._came:
            self._news.clear()
            await self._news.wait()
        return self._came.popleft()

    async def write(self, payload: bytes) -> None:
        """See grpc. Waits while the client reads nothing."""
        while self.window <= 0:
            self._news.clear()
            await self._news.wait()
        self.window -= 1
        self.responses(payload)
        self.back.send(("message", payload))

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """See grpc."""
        self._loop.call_soon(callback, self)

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()) -> None:
        """See grpc."""
        self.back.send(("status", (code, details)))
        raise grpc.aio.AbortError(details)

    def came(self, what: Any) -> None:
        """From the client."""
        kind, body = what
        if kind == "read":
            self.window += 1
        else:
            self._came.append(body)
        self._news.set()


class Call:
    """A play stream as the client's library sees it."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._came: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._status: Status | None = None
        self._begun = False
        self.connection: Connection | None = None
        self.out: Pipe | None = None

    def came(self, what: Any) -> None:
        """From the gateway."""
        kind, body = what
        if kind == "metadata":
            self._begun = True
        elif kind == "message":
            self._loop.seen("down", self.connection and self.connection.ends[0], body)
            self._came.append(body)
        elif self._status is None:
            self._status = body
            if self.connection is not None:
                self.connection.forget()
        self._news.set()

    def lost(self) -> None:
        """The connection broke."""
        self.came(("status", (grpc.StatusCode.UNAVAILABLE, "connection lost")))

    def cancel(self) -> bool:
        """See grpc."""
        if self._status is None:
            self._status = (grpc.StatusCode.CANCELLED, "")
            self._news.set()
            if self.connection is not None:
                self.connection.cut()
        return True

    def done(self) -> bool:
        """See grpc."""
        return self._status is not None and not self._came

    async def code(self) -> grpc.StatusCode:
        """See grpc."""
        assert self._status is not None
        return self._status[0]

    async def trailing_metadata(self) -> Any:
        """See grpc: nothing that a simulated gateway refuses needs any."""
        return grpc.aio.Metadata()

    async def details(self) -> str:
        """See grpc."""
        assert self._status is not None
        return self._status[1]

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()

    async def initial_metadata(self) -> Any:
        """See grpc: that of a call that failed before is empty."""
        while not self._begun and self._status is None:
            await self._wait()

    async def read(self) -> Any:
        """See grpc."""
        while not self._came:
            if self._status is not None:
                if self._status[0] is grpc.StatusCode.OK:
                    return grpc.aio.EOF
                raise rpc_error(*self._status)
            await self._wait()
        if self.out is not None:
            self.out.send(("read", None))
        return play.PlayResponse.FromString(self._came.popleft())

    async def write(self, request: Message) -> None:
        """See grpc."""
        if self._status is not None:
            raise rpc_error(*self._status)
        await asyncio.sleep(0)
        if self.out is not None:
            self.out.send(("message", request.SerializeToString()))


class Gate:
    """Where a gateway's process takes calls. `service` is its PlayService."""

    def __init__(self, network: Network, process: Process, service: Any) -> None:
        self.network, self.process, self.service = network, process, service
        self.ended: Counter[tuple[str, str]] = Counter()  # calls, by method and status

    def open(self, client: Process, call: Call, metadata: Any, watch: Callable[[ServerContext], None]) -> None:
        """A stream arrives."""
        loop = self.network.loop
        one = call.connection = self.network.connection("stream", client, self.process)
        context = ServerContext(loop, metadata)
        forth = Pipe(loop, self.process, self.network.weather, context.came)
        back = Pipe(loop, client, self.network.weather, call.came)
        call.out, context.back = forth, back
        watch(context)
        task: list[asyncio.Task[Any]] = []
        one.pipes = [forth, back]

        def begin() -> None:
            task.append(asyncio.ensure_future(self._serve(context)))

        def end() -> None:
            for serving in task:
                serving.cancel()

        one.ended = [call.lost, end]
        loop.at(self.network.weather.least_s, self.process, begin)

    async def _serve(self, context: ServerContext) -> None:
        try:
            await calls._both(self.ended, self.service.Play, "/kangtou.v1.PlayService/Play")(None, context)
        except grpc.aio.AbortError:
            return
        context.back.send(("status", (grpc.StatusCode.OK, "")))

    async def unary(self, method: str, request: Message, metadata: Any) -> Any:
        """A unary call; the caller is in another process. Raises AioRpcError."""
        loop, client = self.network.loop, CURRENT.get()
        if self.process.dead or self.network.separated(client, self.process):
            raise rpc_error(grpc.StatusCode.UNAVAILABLE, "connection refused")
        answer: asyncio.Future[Any] = loop.create_future()
        context = ServerContext(loop, metadata)
        one = self.network.connection("unary", client, self.process)

        def came(what: Any) -> None:
            if not answer.done():
                answer.set_result(what)
            one.forget()

        back = context.back = Pipe(loop, client, self.network.weather, came)
        parse, serve = type(request).FromString, getattr(self.service, method)

        def arrived(_: Any) -> None:
            self.network.loop.create_task(work())

        async def work() -> None:
            try:
                done = await calls._unary(self.ended, serve, parse, f"/kangtou.v1.PlayService/{method}")(raw, context)
            except grpc.aio.AbortError:
                return
            back.send(("message", done))

        raw = request.SerializeToString()
        forth = Pipe(loop, self.process, self.network.weather, arrived)
        one.pipes = [forth, back]
        gone = ("status", (grpc.StatusCode.UNAVAILABLE, "connection lost"))
        one.ended = [lambda: came(gone), lambda: None]
        forth.send(raw)
        kind, body = await answer
        if kind == "status":
            raise rpc_error(*body)
        return body
