"""A play stream without the client library: what is sent and received, byte by byte if need be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc
from kangtou_engine.actions import Action

METHOD = "/kangtou.v1.PlayService/Play"


def bearer(name: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a player of tests.inprocess."""
    return (("authorization", f"Bearer t-{name}"),)


def action_pb(text: str) -> play.Command:
    """A command's action by its text, without any check."""
    verb, *args = text.split(" ")
    command = play.Command()
    command.action.verb = verb
    command.action.args.extend(args)
    return command


class RawStream:
    """One Play call; updates are kept in `seen`."""

    def __init__(self, channel: grpc.aio.Channel, name: str) -> None:
        self.channel = channel
        self.call: Any = channel.stream_stream(METHOD)(metadata=bearer(name))
        self.seen: list[play.Update] = []
        self._ended: BaseException | None = None
        self._news = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            while isinstance(raw := await self.call.read(), bytes):
                self.seen += play.PlayResponse.FromString(raw).updates
                self._news.set()
        except grpc.aio.AioRpcError as error:
            self._ended = error
        self._news.set()

    async def send(self, request: play.PlayRequest | bytes) -> None:
        """One message."""
        raw = request if isinstance(request, bytes) else request.SerializeToString()
        await self.call.write(raw)

    async def attach(self, match: str, **given: Any) -> None:
        """Attach and wait until it is known."""
        await self.send(play.PlayRequest(attach=play.Attach(match_id=match, **given)))
        await self.first(lambda update: update.match_id == match and update.HasField("attached"))

    async def command(
        self, match: str, command_id: str, prompt: int, action: Action | str, seat: int | None = None
    ) -> None:
        """Send a command."""
        body = action_pb(str(action))
        body.match_id, body.command_id, body.prompt = match, command_id, prompt
        if seat is not None:
            body.seat = seat
        await self.send(play.PlayRequest(command=body))

    async def first(self, fits: Callable[[play.Update], object], seconds: float = 5.0, after: int = 0) -> play.Update:
        """The first update that fits, waiting for it."""
        async with asyncio.timeout(seconds):
            while True:
                for update in self.seen[after:]:
                    if fits(update):
                        return update
                if self._reader.done():
                    raise EOFError(str(self._ended))
                self._news.clear()
                await self._news.wait()

    async def prompt(self, match: str, after: int = 0) -> play.Prompt:
        """The next prompt of a match."""
        return (await self.first(lambda one: one.match_id == match and one.HasField("prompt"), after=after)).prompt

    async def answer(self, command_id: str) -> play.Answer:
        """The answer to a command."""
        found = await self.first(lambda one: one.HasField("answer") and one.answer.command_id == command_id)
        return found.answer

    def answers(self, command_id: str) -> list[play.Answer]:
        """All answers so far."""
        return [one.answer for one in self.seen if one.HasField("answer") and one.answer.command_id == command_id]

    async def status(self, seconds: float = 5.0) -> tuple[grpc.StatusCode, str]:
        """How it ended, waiting for that."""
        async with asyncio.timeout(seconds):
            await self._reader
            return await self.call.code(), await self.call.details()

    async def cancel(self) -> None:
        """Leave."""
        self.call.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)


@asynccontextmanager
async def raw_stream(address: str, name: str) -> AsyncIterator[RawStream]:
    """A stream on a connection of its own."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        stream = RawStream(channel, name)
        try:
            yield stream
        finally:
            await stream.cancel()


@asynccontextmanager
async def stub_of(address: str) -> AsyncIterator[rpc.PlayServiceStub]:
    """The unary twins."""
    async with grpc.aio.insecure_channel(address) as channel:
        yield rpc.PlayServiceStub(channel)
