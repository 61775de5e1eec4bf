"""Finished matches of a server: `Archive(client)`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

import grpc

from kangtou.v1 import archive_pb2 as pb
from kangtou.v1 import archive_pb2_grpc as rpc

from .values import CallFailed, failed

if TYPE_CHECKING:
    from .client import Client

PAGE = 100


class Further(TypedDict, total=False):
    """See ListRecordsRequest in archive.proto."""

    other_account_ids: Sequence[str]
    won_by: str
    lost_by: str
    place: int
    score_least: int | None
    score_most: int | None
    variant: str
    options: Mapping[str, str]
    cause: str
    kind: pb.RecordKind.ValueType
    pool: str


class Archive:
    """What the archive service gives. Records are given as the protocol's messages, texts as bytes."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.ArchiveServiceStub(client.channel)

    async def records(
        self,
        *,
        game: str = "",
        account_id: str = "",
        tournament: str = "",
        from_ms: int = 0,
        to_ms: int = 0,
        **further: Unpack[Further],
    ) -> AsyncIterator[pb.RecordInfo]:
        """Records that were found, the last to end first, page by page as they are read. Raises CallFailed.

        `further` are the other fields of ListRecordsRequest.
        """
        request = pb.ListRecordsRequest(
            game=game,
            account_id=account_id,
            tournament=tournament,
            from_ms=from_ms,
            to_ms=to_ms,
            page_size=PAGE,
            **further,
        )
        while True:
            response = await self._client.unary(self._stub.ListRecords, request)
            for record in response.records:
                yield record
            request.page_token = response.next_page_token
            if not request.page_token:
                return

    async def text(self, match_id: str) -> bytes | None:
        """A record's text; None if there is none of that match. Raises CallFailed."""
        found = await self.record(match_id)
        return found[1] if found else None

    async def record(self, match_id: str) -> tuple[pb.RecordInfo, bytes] | None:
        """The same with what a list says of it, the players' names among it."""
        call = self._stub.GetRecord(pb.GetRecordRequest(match_id=match_id), metadata=self._client.metadata())
        info = pb.RecordInfo()
        pieces: list[bytes] = []
        try:
            async for piece in call:
                if piece.HasField("info"):
                    info = piece.info
                pieces.append(piece.text)
        except grpc.aio.AioRpcError as error:
            reason: CallFailed = failed(error)
            if reason.status == "NOT_FOUND":
                return None
            raise reason from None
        finally:
            call.cancel()
        return info, b"".join(pieces)
