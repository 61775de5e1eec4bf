"""ArchiveService: finished matches, for every account. Records are open: what they show is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import archive_pb2 as pb
from kangtou.v1 import archive_pb2_grpc as rpc

from ..archive import Archiver, Listed, Query
from ..archive.index import BadPage
from .auth import Callers
from .calls import CallError, Code, Context

if TYPE_CHECKING:
    from .server import Parts

PAGE, PAGE_MOST = 50, 200
PIECE = 32 * 1024  # bytes


class ArchiveService(rpc.ArchiveServiceServicer):
    """kangtou.v1.ArchiveService."""

    def __init__(self, archiver: Archiver, callers: Callers) -> None:
        self._archiver = archiver
        self._callers = callers
        self._filled = asyncio.Lock()
        self._looked = False

    async def ListRecords(self, request: pb.ListRecordsRequest, context: Context) -> pb.ListRecordsResponse:
        """A page of records, the last to end first."""
        await self._callers.session(context)
        await self._fill()
        size = min(request.page_size, PAGE_MOST) if request.page_size > 0 else PAGE
        query = Query(request.game, request.account_id, request.tournament, request.from_ms, request.to_ms)
        try:
            return await asyncio.to_thread(self._page, query, size, request.page_token)
        except BadPage as error:
            raise CallError(Code.INVALID_ARGUMENT, "this is no page token", "分页标记无效") from error
        except OSError as error:
            raise _unavailable() from error

    def _page(self, query: Query, size: int, token: str) -> pb.ListRecordsResponse:
        found, following = self._archiver.index.page(query, size, token)
        return pb.ListRecordsResponse(records=map(self._info, found), next_page_token=following)

    def _info(self, row: Listed) -> pb.RecordInfo:
        names = self._archiver.names.of(row.accounts, row.ended_ms)
        return pb.RecordInfo(
            match_id=row.match,
            game=row.game,
            version=row.version,
            started_ms=row.started_ms,
            ended_ms=row.ended_ms,
            cause=row.cause,
            account_ids=row.accounts,
            names=[names.get(account, "") for account in row.accounts],
            scores=row.scores,
            places=row.places,
            rounds=row.rounds,
            moves=row.moves,
            rated=row.rated,
            pool=row.pool,
            tournament=row.tournament,
        )

    async def GetRecord(self, request: pb.GetRecordRequest, context: Context) -> AsyncIterator[pb.GetRecordResponse]:
        """A record's text in pieces."""
        await self._callers.session(context)
        await self._fill()
        found = await asyncio.to_thread(self._record, request.match_id)
        if found is None:
            raise CallError(Code.NOT_FOUND, "there is no record of such a match", "没有这场对局的记录")
        info, text = found
        yield pb.GetRecordResponse(text=text[:PIECE], info=info)
        for start in range(PIECE, len(text), PIECE):
            yield pb.GetRecordResponse(text=text[start : start + PIECE])

    def _record(self, match: str) -> tuple[pb.RecordInfo, bytes] | None:
        try:
            row = self._archiver.index.find(match)
            return (self._info(row), self._archiver.records.text(row.path).encode()) if row else None
        except OSError as error:
            raise _unavailable() from error

    async def _fill(self) -> None:
        """Once: an index that is empty (lost, or never there) is made from the records."""
        async with self._filled:
            if self._looked:
                return
            try:
                if await asyncio.to_thread(self._archiver.index.count) == 0:
                    await asyncio.to_thread(self._archiver.index.rebuild, self._archiver.records)
            except OSError as error:
                raise _unavailable() from error
            self._looked = True


def _unavailable() -> CallError:
    return CallError(Code.UNAVAILABLE, "the archive cannot be reached now; try again", "暂时无法访问档案，请重试")


def add(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]:
    """For `gateway.server.start`: put the service on a gateway."""
    rpc.add_ArchiveServiceServicer_to_server(ArchiveService(parts.backend.archiver, parts.callers), server)
    return pb.DESCRIPTOR.services_by_name["ArchiveService"].full_name, None
