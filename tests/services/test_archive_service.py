"""ArchiveService over gRPC: pages, texts in pieces, an index that was lost."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest

from kangtou.v1 import archive_pb2 as pb
from kangtou.v1 import archive_pb2_grpc as rpc
from kangtou_clients.api import CallFailed, Client, NotAuthenticated, connect
from kangtou_clients.api.archive import Archive
from kangtou_engine.match.match import Game
from kangtou_engine.record import Record, read_record, write_record
from kangtou_services.archive.index import listed
from kangtou_services.gateway import archive_service
from kangtou_services.gateway.server import start
from kangtou_services.runtime import Backend, in_memory
from kangtou_services.settings import Settings
from tests.games.parrot import GAME
from tests.inprocess import NamesAsTokens
from tests.records.make import play

PARROT = Game(GAME)
RECORDS = 12


class Archived:
    """A gateway with records behind it."""

    def __init__(self, backend: Backend, client: Client, records: list[Record]) -> None:
        self.backend = backend
        self.client = client
        self.records = records
        self.stub = rpc.ArchiveServiceStub(client.channel)


@pytest.fixture
async def archived() -> AsyncIterator[Archived]:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True))
        backend = in_memory(Settings(data=Path(folder), port=0, link_secret="s"))
        stack.push_async_callback(backend.close)
        gateway = await start(backend, NamesAsTokens(), [archive_service.add])
        stack.push_async_callback(gateway.stop)
        records = [play(PARROT, number, {"rounds": 1 + 40 * (number == 3)}).record for number in range(RECORDS)]
        archiver = backend.archiver
        for record in records:
            path = archiver.records.put(record)
            archiver.index.add([listed(record, path)])
            archiver.names.note({record.head.terms.seats[0].account: "Ann"}, record.head.terms.created_ms)
        client = await stack.enter_async_context(connect(gateway.address, "t-ann", retry_s=0))
        yield Archived(backend, client, records)
        archiver.index.close()


async def test_pages(archived: Archived) -> None:
    """Every record once, the last to end first; with the names that are known."""
    found: list[str] = []
    token = ""
    while True:
        request = pb.ListRecordsRequest(page_size=5, page_token=token)
        page = await archived.client.unary(archived.stub.ListRecords, request)
        assert len(page.records) <= 5
        assert all(list(record.names) == ["Ann", "", "", ""] for record in page.records)
        found += [record.match_id for record in page.records]
        token = page.next_page_token
        if not token:
            break
    ended = {record.head.terms.match: record.head.outcome.ended_ms for record in archived.records}
    assert found == sorted(ended, key=lambda match: (ended[match], match), reverse=True)
    listing = [record.match_id async for record in Archive(archived.client).records(game="parrot")]
    assert listing == found
    one = archived.records[4].head.terms
    mine = [record async for record in Archive(archived.client).records(account_id=one.seats[2].account)]
    assert [record.match_id for record in mine] == [one.match]
    assert (mine[0].version, mine[0].pool, mine[0].rated) == (1, "test", True)


async def test_texts_in_pieces(archived: Archived) -> None:
    """Short and long; put together they are the record."""
    archive = Archive(archived.client)
    for record in archived.records:
        data = await archive.text(record.head.terms.match)
        assert data is not None
        assert read_record(data) == record
    long = archived.records[3]
    call = archived.stub.GetRecord(
        pb.GetRecordRequest(match_id=long.head.terms.match), metadata=archived.client.metadata()
    )
    pieces = [piece.text async for piece in call]
    assert len(pieces) > 1
    assert b"".join(pieces).decode() == write_record(long)
    assert await archive.text("nothing") is None


async def test_bad_input(archived: Archived) -> None:
    """One clear status each."""
    with pytest.raises(CallFailed) as found:
        await archived.client.unary(archived.stub.ListRecords, pb.ListRecordsRequest(page_token="x"))
    assert found.value.status == "INVALID_ARGUMENT"
    async with connect(archived.client.address, retry_s=0) as nobody:
        with pytest.raises(NotAuthenticated):
            _ = [record async for record in Archive(nobody).records()]
        with pytest.raises(NotAuthenticated):
            await Archive(nobody).text("x")


async def test_a_record_that_cannot_be_read_now(archived: Archived) -> None:
    """UNAVAILABLE; the service goes on."""
    row = archived.backend.archiver.index.find(archived.records[0].head.terms.match)
    assert row is not None
    (archived.backend.settings.data / "archive" / row.path).write_bytes(b"broken")
    call = archived.stub.GetRecord(pb.GetRecordRequest(match_id=row.match), metadata=archived.client.metadata())
    with pytest.raises(grpc.aio.AioRpcError) as found:
        _ = [piece async for piece in call]
    assert found.value.code() is grpc.StatusCode.UNAVAILABLE
    assert await Archive(archived.client).text(archived.records[1].head.terms.match)


async def test_an_index_that_was_lost(archived: Archived) -> None:
    """Is made again from the records when it is first asked."""
    index = archived.backend.archiver.index
    index.close()
    for file in index.path.parent.glob("records-*.sqlite3*"):
        file.unlink()
    many = await asyncio.gather(
        *(Archive(archived.client).text(record.head.terms.match) for record in archived.records)
    )
    assert all(many)
    assert index.count() == RECORDS
