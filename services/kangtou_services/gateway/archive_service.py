"""ArchiveService: finished matches, for every account. Records are open: what they show is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import archive_pb2 as pb
from kangtou.v1 import archive_pb2_grpc as rpc

from ..archive import Archiver, Listed, Query
from ..archive.keeper import Keeper, keep_days
from ..archive.search import BadPage
from ..tournament.store import TournamentStore
from .archive_query import info_of, query_from
from .auth import Callers
from .calls import CallError, Code, Context

if TYPE_CHECKING:
    from .server import Parts

PAGE, PAGE_MOST = 50, 200
PIECE = 32 * 1024  # bytes
FILL_S = 15.0  # how long a call waits for an index that is being made


class ArchiveService(rpc.ArchiveServiceServicer):
    """kangtou.v1.ArchiveService."""

    def __init__(self, archiver: Archiver, callers: Callers, keeper: Keeper, tournaments: TournamentStore) -> None:
        self._archiver = archiver
        self._callers = callers
        self._keeper = keeper
        self._tournaments = tournaments

    async def ListRecords(self, request: pb.ListRecordsRequest, context: Context) -> pb.ListRecordsResponse:
        """A page of records, the last to end first."""
        await self._callers.session(context)
        query = query_from(request)
        await self.fill()
        size = min(request.page_size, PAGE_MOST) if request.page_size > 0 else PAGE
        try:
            return await asyncio.to_thread(self._page, query, size, request.page_token)
        except BadPage as error:
            raise CallError(Code.INVALID_ARGUMENT, "this is no page token", "分页标记无效") from error
        except OSError as error:
            raise _unavailable() from error

    def _page(self, query: Query, size: int, token: str) -> pb.ListRecordsResponse:
        found, following = self._archiver.index.page(query, size, token)
        return pb.ListRecordsResponse(records=self._infos(found), next_page_token=following)

    def _infos(self, rows: list[Listed]) -> list[pb.RecordInfo]:
        names = self._archiver.names.of_each((row.accounts, row.ended_ms) for row in rows)
        return [info_of(row, known) for row, known in zip(rows, names, strict=True)]

    async def GetRecord(self, request: pb.GetRecordRequest, context: Context) -> AsyncIterator[pb.GetRecordResponse]:
        """A record's text in pieces."""
        await self._callers.session(context)
        await refuse_withheld(self._tournaments, request.match_id)
        await self.fill()
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
            return (self._infos([row])[0], self._archiver.records.text(row.path).encode()) if row else None
        except FileNotFoundError:  # too old, and removed: the row goes next
            return None
        except OSError as error:
            raise _unavailable() from error

    async def fill(self) -> None:
        """An index that was lost, or was never there, is made from the records first."""
        try:
            async with asyncio.timeout(FILL_S):
                await self._keeper.filled()
        except TimeoutError as error:
            files = self._keeper.looked_at
            raise CallError(
                Code.UNAVAILABLE,
                f"the index of the archive is being made anew, {files} records so far; try again",
                f"正在重建档案索引，已完成 {files} 份记录，请稍后重试",
            ) from error
        except OSError as error:
            raise _unavailable() from error


def _unavailable() -> CallError:
    return CallError(Code.UNAVAILABLE, "the archive cannot be reached now; try again", "暂时无法访问档案，请重试")


async def refuse_withheld(tournaments: TournamentStore, match_id: str) -> None:
    """Raise CallError if this is a match on a board that is still being played. Raises StoreUnavailable."""
    if await tournaments.withheld(match_id):
        raise CallError(
            Code.FAILED_PRECONDITION,
            "withheld: others have yet to play this board",
            "withheld：本副牌尚有其他桌未打完，记录暂不公开",
        )


def add(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]:
    """For `gateway.server.start`: put the service on a gateway."""
    archiver = parts.backend.archiver
    days = keep_days(parts.backend.settings)
    keeper = Keeper(archiver.records, archiver.index, archiver.names, days, parts.identity.deleted)
    keeper.start()
    service = ArchiveService(archiver, parts.callers, keeper, parts.backend.tournaments)
    archiver.filled = service.fill
    rpc.add_ArchiveServiceServicer_to_server(service, server)
    return pb.DESCRIPTOR.services_by_name["ArchiveService"].full_name, keeper.stop
