"""ReplayService: a finished match as the messages of live play, from any side, at any pace.

Whoever may list records may see them again: what they show is over. A stream holds one record; how many an account may
have is bounded, and a stream that is cancelled, or not read, holds nothing but that until it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import replay_pb2 as pb
from kangtou.v1 import replay_pb2_grpc as rpc
from kangtou_engine.errors import BadText
from kangtou_engine.record import read_record
from kangtou_engine.registry import Registry
from kangtou_engine.replay import OPEN, Replay, Who, find_game

from ..archive import Archiver
from ..replaying import Playback
from ..tournament.store import TournamentStore
from .archive_service import refuse_withheld
from .auth import Callers
from .calls import CallError, Code, Context

if TYPE_CHECKING:
    from .server import Parts

STREAMS_MOST = 8  # of one account
LONGEST_WAIT_MS = 10_000
PIECE = 32 * 1024  # bytes that leave together where nothing is waited for


class ReplayService(rpc.ReplayServiceServicer):
    """kangtou.v1.ReplayService."""

    def __init__(self, archiver: Archiver, registry: Registry, callers: Callers, tournaments: TournamentStore) -> None:
        self._archiver = archiver
        self._tournaments = tournaments
        self._registry = registry
        self._callers = callers
        self.open: Counter[str] = Counter()  # streams by account

    async def Replay(self, request: pb.ReplayRequest, context: Context) -> AsyncIterator[pb.ReplayResponse]:
        """See replay.proto."""
        account = (await self._callers.session(context)).account
        if not 0 <= request.speed < float("inf") or request.longest_wait_ms < 0:
            raise CallError(Code.INVALID_ARGUMENT, "a speed is 0 or more", "速度须为 0 或以上")
        with self._admitted(account.account_id):
            await refuse_withheld(self._tournaments, request.match_id)
            await self._archiver.filled()
            playback = await asyncio.to_thread(self._playback, request)
            async for payload in _paced(playback, request):
                yield pb.ReplayResponse.FromString(payload)

    @contextlib.contextmanager
    def _admitted(self, account_id: str) -> Iterator[None]:
        if self.open[account_id] >= STREAMS_MOST:
            text = (f"at most {STREAMS_MOST} replays at once", f"最多同时回放 {STREAMS_MOST} 场")
            raise CallError(Code.RESOURCE_EXHAUSTED, *text)
        self.open[account_id] += 1
        try:
            yield
        finally:
            self.open[account_id] -= 1
            if not self.open[account_id]:
                del self.open[account_id]

    def _playback(self, request: pb.ReplayRequest) -> Playback:
        """Read the record. Raises CallError."""
        try:
            row = self._archiver.index.find(request.match_id)
            record = read_record(self._archiver.records.text(row.path)) if row else None
        except FileNotFoundError:
            row = record = None
        except OSError as error:
            raise CallError(
                Code.UNAVAILABLE, "the archive cannot be reached now; try again", "暂时无法访问档案，请重试"
            ) from error
        except BadText as error:
            raise CallError(Code.DATA_LOSS, "this record is damaged", "该记录已损坏") from error
        if row is None or record is None:
            raise CallError(Code.NOT_FOUND, "there is no record of such a match", "没有这场对局的记录")
        found = find_game(self._registry, record)
        if found is None:
            raise CallError(Code.FAILED_PRECONDITION, "no game here reads this record", "此处没有可读取该记录的游戏")
        known = self._archiver.names.of(row.accounts, row.ended_ms)
        names = [known.get(place.account, "") for place in record.head.terms.seats]
        return Playback(Replay(found[0], record), names, _who(request, len(names)))


def _who(request: pb.ReplayRequest, seats: int) -> Who:
    if request.WhichOneof("view") == "seat":
        if not 0 <= request.seat < seats:
            raise CallError(Code.INVALID_ARGUMENT, f"there is no seat {request.seat}", f"没有 {request.seat} 号位")
        return request.seat
    return OPEN if request.open else None


def _position(playback: Playback, request: pb.ReplayRequest) -> int:
    replay = playback.replay
    start = request.WhichOneof("start")
    position = 0
    if start == "after_seq":
        position = replay.find_seq(request.after_seq)
    elif start == "trick":
        position = replay.find(request.trick.round, max(1, request.trick.trick))
    elif start == "since_ms" and replay.moments:
        position = replay.find_time(replay.moments[0].time_ms + request.since_ms)
    return playback.boundary(position)


async def _paced(playback: Playback, request: pb.ReplayRequest) -> AsyncIterator[bytes]:
    """Payloads when they are due; what is due together leaves together."""
    position = _position(playback, request)
    waiting = playback.attached()
    if position:
        waiting += playback.snapshot(position)
    longest_s = (request.longest_wait_ms or LONGEST_WAIT_MS) / 1000
    before_ms = playback.replay.moments[position - 1].time_ms if position else None
    for sent in playback.entries(position):
        if request.until_seq and sent.seq > request.until_seq:
            yield waiting
            return
        passed_s = max(0, sent.time_ms - before_ms) / 1000 if before_ms is not None else 0.0
        wait_s = min(passed_s / request.speed, longest_s) if request.speed else 0.0
        before_ms = sent.time_ms
        if wait_s or len(waiting) + len(sent.payload) > PIECE:
            if waiting:
                yield waiting
            waiting = b""
            await asyncio.sleep(wait_s)
        waiting += sent.payload
    yield waiting + playback.ended()


def add(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]:
    """For `gateway.server.start`: put the service on a gateway."""
    backend = parts.backend
    service = ReplayService(backend.archiver, backend.registry, parts.callers, backend.tournaments)
    rpc.add_ReplayServiceServicer_to_server(service, server)
    return pb.DESCRIPTOR.services_by_name["ReplayService"].full_name, None
