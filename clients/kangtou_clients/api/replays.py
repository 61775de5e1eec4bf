"""Finished matches again, from the server: `Replays(client)`.

    async with Replays(client).follow("mx4k2p7q", seat=2, speed=4) as match:
        async for change in match.changes(): …

A replay brings the messages of live play, so that a `Match` folds it: its view, changes and end. What a seat or a
spectator was dealt is checked against the commitments, as in play.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import replay_pb2 as pb
from kangtou.v1 import replay_pb2_grpc as rpc
from kangtou_engine.cards import Seat
from kangtou_engine.replay import OPEN, Who

from .match import Match
from .values import Gone, failed

if TYPE_CHECKING:
    from .client import Client


class Replays:
    """What the replay service gives."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.ReplayServiceStub(client.channel)

    async def updates(
        self,
        match_id: str,
        who: Who = None,
        *,
        after_seq: int = 0,
        round_: int = 0,
        trick: int = 0,
        since_ms: int = 0,
        until_seq: int = 0,
        speed: float = 0.0,
        longest_wait_ms: int = 0,
    ) -> AsyncGenerator[play.Update, None]:
        """The messages, as they come; `aclose` ends it. `who`: a seat, None (a spectator) or OPEN. Raises CallFailed.

        It begins behind an entry, at a round (and trick), or so long after the beginning: give one of them, or none.
        """
        request = pb.ReplayRequest(match_id=match_id, until_seq=until_seq, speed=speed, longest_wait_ms=longest_wait_ms)
        if who == OPEN:
            request.open = True
        elif isinstance(who, int):
            request.seat = who
        if after_seq:
            request.after_seq = after_seq
        elif round_:
            request.trick.CopyFrom(pb.TrickPlace(round=round_, trick=trick))
        elif since_ms:
            request.since_ms = since_ms
        call, response = await self._client.retried(partial(self._opened, request))
        try:
            while response is not grpc.aio.EOF:
                for update in response.updates:
                    yield update
                response = await call.read()
        except grpc.aio.AioRpcError as error:
            raise failed(error) from None
        finally:
            call.cancel()

    async def _opened(self, request: pb.ReplayRequest) -> tuple[Any, Any]:
        """A stream and its first message. Raises CallFailed."""
        call: Any = self._stub.Replay(request, metadata=self._client.metadata())
        try:
            return call, await call.read()
        except grpc.aio.AioRpcError as error:
            raise failed(error) from None
        except BaseException:
            call.cancel()
            raise

    @asynccontextmanager
    async def follow(self, match_id: str, who: Who = None, *, speed: float = 0.0, **start: int) -> AsyncIterator[Match]:
        """The same, folded: a Match that is attached. Leaving the context ends the stream. Raises CallFailed."""
        seat: Seat | None = who if isinstance(who, int) else None
        match = Match(match_id, seat, seat is None, b"", self._client.registry)
        match.witnessed = who != OPEN  # nobody saw all hands: there is nothing to compare them with
        reading = asyncio.create_task(self._fold(match, match_id, who, speed, start), name="replay")
        try:
            await match.attached()
            yield match
        finally:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading

    async def _fold(self, match: Match, match_id: str, who: Who, speed: float, start: dict[str, int]) -> None:
        try:
            async with aclosing(self.updates(match_id, who, speed=speed, **start)) as updates:
                async for update in updates:
                    match.take(update)
                    await asyncio.sleep(0)  # let readers of the changes take their turn
        except Exception as error:  # noqa: BLE001 - whoever reads the match gets it
            match.fail(error)
        match.fail(Gone("the replay has stopped here"))  # unless it came to the end
