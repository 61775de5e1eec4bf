"""A player of a load: a bot's account with a play stream of its own, on a connection that it shares with others.

Raw messages, no folding: the program that makes the load must cost far less than the server that bears it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from random import Random
from typing import Protocol

import grpc

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc

from ..api import Client, Refused

AGAIN_S = 1.0  # the most that a broken stream waits before it is opened again
REGISTER_AGAIN_S = 2.0  # after `rate_limited`


class Follower(Protocol):
    """Who is told what a stream brings of one match."""

    def updated(self, update: play.Update) -> None:
        """One message of the match."""

    def again(self) -> None:
        """The stream is a new one: attach, and send what has no answer yet."""


class Player:
    """Sits at one table at a time. `lost` is called when its stream has broken."""

    def __init__(self, client: Client, chance: Random, lost: Callable[[], None]) -> None:
        self.client = client
        self._chance = chance
        self._lost = lost
        self._followers: dict[str, Follower] = {}
        self._out: asyncio.Queue[play.PlayRequest] = asyncio.Queue()  # bounded by what the table asks
        self._task: asyncio.Task[None] | None = None

    async def register(self) -> None:
        """Make the account; waits where the server lets a host make only so many. Raises CallFailed."""
        while isinstance(
            refused := await self.client.accounts.register(f"load {secrets.token_hex(4)}", "bot"), Refused
        ):
            if refused.code != "rate_limited":
                raise RuntimeError(refused.text_en)
            await asyncio.sleep(REGISTER_AGAIN_S)
        self._task = asyncio.create_task(self._run(), name="load-player")

    async def close(self) -> None:
        """End the stream."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def follow(self, match_id: str, follower: Follower) -> None:
        """Hear of a match from now on."""
        self._followers[match_id] = follower
        follower.again()

    def leave(self, match_id: str) -> None:
        """Hear of it no longer."""
        self._followers.pop(match_id, None)

    def send(self, request: play.PlayRequest) -> None:
        """In the order given."""
        self._out.put_nowait(request)

    async def _run(self) -> None:
        stub = rpc.PlayServiceStub(self.client.channel)
        while True:
            call = stub.Play(metadata=self.client.metadata())
            writer = asyncio.create_task(self._write(call), name="load-write")
            try:
                await self._read(call)
            except grpc.aio.AioRpcError:
                pass  # counted below
            finally:
                call.cancel()
                writer.cancel()
                await asyncio.gather(writer, return_exceptions=True)
            self._lost()
            await asyncio.sleep(self._chance.random() * AGAIN_S)
            self._out = asyncio.Queue()
            for follower in list(self._followers.values()):
                follower.again()

    async def _write(self, call: grpc.aio.StreamStreamCall[play.PlayRequest, play.PlayResponse]) -> None:
        out = self._out
        while True:
            await call.write(await out.get())

    async def _read(self, call: grpc.aio.StreamStreamCall[play.PlayRequest, play.PlayResponse]) -> None:
        async for response in call:
            for update in response.updates:
                if update.WhichOneof("body") == "ping":
                    self.send(play.PlayRequest(pong=play.Pong(nonce=update.ping.nonce)))
                elif (follower := self._followers.get(update.match_id)) is not None:
                    follower.updated(update)
