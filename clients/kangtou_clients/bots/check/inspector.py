"""A gateway in between: passes every call on as it is, reads the play streams, and can drop them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from kangtou.v1 import play_pb2 as play
from kangtou_clients.api.channel import open_channel

PLAY = "/kangtou.v1.PlayService/Play"
ENTER = "/kangtou.v1.TournamentService/EnterTournament"
Listener = Callable[[str, "play.PlayRequest | play.Update"], None]
Metadata = tuple[tuple[str, str | bytes], ...]


@dataclass(slots=True)
class Seen:
    """What one bot did.

    waits_ms   from a prompt to the command that answers it, network and all
    late       prompts that the clock answered, as far as one can see: nothing came before the deadline
    reused     command ids that came again with other content
    unasked    commands that answer no prompt that was put
    """

    streams: int = 0
    drops: int = 0
    attaches: int = 0
    matches: set[str] = field(default_factory=set)
    prompts: int = 0
    commands: int = 0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    waits_ms: list[float] = field(default_factory=list)
    late: int = 0
    pings: int = 0
    pongs: int = 0
    reused: int = 0
    unasked: int = 0
    unreadable: int = 0
    ended: set[str] = field(default_factory=set)
    after_drop: int = 0


class Inspector:
    """Counts for one bot at a time: `seen` may be exchanged between two trials."""

    def __init__(self, target: str) -> None:
        self._target = target
        self.seen = Seen()
        self.drop_after = 0  # answers after which the stream is dropped, 0: never
        self.listener: Listener = lambda way, message: None
        self._asked: dict[tuple[str, int], tuple[float, int]] = {}
        self._put: set[tuple[str, int]] = set()
        self._ids: dict[tuple[str, str], bytes] = {}
        self._answers = 0
        self._open = 0
        self.entered = asyncio.Event()  # somebody waits to be told of his games

    def start(self, drop_after: int = 0) -> Seen:
        """A new count. Streams that are open are counted with it."""
        self.seen, self.drop_after, self._answers = Seen(streams=self._open), drop_after, 0
        self._asked.clear()
        self._put.clear()
        self._ids.clear()
        return self.seen

    @asynccontextmanager
    async def serving(self, listen: str = "127.0.0.1:0") -> AsyncIterator[str]:
        """Its address. Raises RuntimeError if it cannot listen there."""
        async with open_channel(self._target) as channel:
            self._channel = channel
            server = grpc.aio.server()
            server.add_generic_rpc_handlers((_Everything(self),))
            port = server.add_insecure_port(listen)
            await server.start()
            try:
                yield f"{listen.rpartition(':')[0]}:{port}"
            finally:
                await server.stop(0.2)

    async def forward(self, method: str, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        """One call. On the wire a unary call is a stream of one message."""
        kept = tuple((key, value) for key, value in context.invocation_metadata() if not key.startswith("user-agent"))
        call: Any = self._channel.stream_stream(method)(metadata=kept)
        playing = method == PLAY
        if method == ENTER:
            self.entered.set()
        if playing:
            self.seen.streams += 1
            self._open += 1
        writer = asyncio.create_task(self._up(call, requests, playing))
        try:
            await call.initial_metadata()
            await context.send_initial_metadata(())  # clients wait for it
            async for message in call:
                dropping = playing and self._down(message)
                yield message
                if dropping:
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "dropped by the check")
            code = await call.code()
            if code is not grpc.StatusCode.OK:
                await context.abort(code, await call.details() or "")
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "")
        finally:
            self._open -= playing
            writer.cancel()
            call.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def _up(self, call: Any, requests: AsyncIterator[bytes], playing: bool) -> None:
        async for message in requests:
            if playing:
                self._sent(message)
            await call.write(message)
        await call.done_writing()

    # ---- reading ----

    def _sent(self, message: bytes) -> None:
        seen = self.seen
        try:
            request = play.PlayRequest.FromString(message)
        except DecodeError:
            seen.unreadable += 1
            return
        self.listener("→", request)
        body = request.WhichOneof("body")
        if body is None:
            seen.unreadable += 1
        elif body == "attach":
            seen.attaches += 1
        elif body == "pong":
            seen.pongs += 1
        elif body == "command":
            self._commanded(request.command)

    def _commanded(self, command: play.Command) -> None:
        seen, key = self.seen, (command.match_id, command.command_id)
        known = self._ids.setdefault(key, command.SerializeToString(deterministic=True))
        if known != command.SerializeToString(deterministic=True):
            seen.reused += 1
        seen.commands += 1
        seen.unasked += (command.match_id, command.prompt) not in self._put
        asked = self._asked.pop((command.match_id, command.prompt), None)
        if asked is not None:
            waited = (time.monotonic() - asked[0]) * 1000
            seen.waits_ms.append(waited)
            seen.late += 0 < asked[1] < waited

    def _down(self, message: bytes) -> bool:
        """Whether the stream is to be dropped now: when it asks, so that the match cannot be over meanwhile."""
        seen, asks = self.seen, False
        for update in play.PlayResponse.FromString(message).updates:
            self.listener("←", update)
            body = update.WhichOneof("body")
            if body == "prompt":
                seen.prompts += 1
                asks = True
                self._put.add((update.match_id, update.prompt.number))
                self._asked[update.match_id, update.prompt.number] = (time.monotonic(), update.prompt.left_ms)
            elif body == "ping":
                seen.pings += 1
            elif body == "attached":
                seen.matches.add(update.match_id)
            elif body == "ended":
                seen.ended.add(update.match_id)
            elif body == "answer":
                self._answers += 1
                seen.after_drop += seen.drops > 0
                if update.answer.HasField("accepted"):
                    seen.accepted += 1
                else:
                    seen.refused[update.answer.refused.code] += 1
        if self.drop_after and asks and self._answers >= self.drop_after:
            self._answers = 0
            seen.drops += 1
            return True
        return False


class _Everything(grpc.GenericRpcHandler):
    """All methods of all services."""

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        """See grpc.GenericRpcHandler."""
        method = details.method

        async def behaviour(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
            async for message in self._inspector.forward(method, requests, context):
                yield message

        return grpc.stream_stream_rpc_method_handler(behaviour)
