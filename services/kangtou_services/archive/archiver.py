"""Writes the record of a match that has ended. Design §4: only after it is safely written may the live log expire.

Every step may be cut off by a kill and is simply done again: the record follows from the log alone, the store writes it
whole or not at all, and index and names take a repeat as it is. Nothing here retires the log; the caller does, after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

import structlog

from kangtou_engine.errors import BadText
from kangtou_engine.record import Head, Place, Record, Terms, make_record
from kangtou_engine.registry import REGISTRY, Registry

from ..agreement import Agreement
from ..log.base import EventLog, MatchStore
from ..settings import Settings
from .index import VERSION, Index, listed
from .names import Names
from .store import ArchiveError, RecordStore

log = structlog.get_logger(__name__)


def index_file(settings: Settings) -> Path:
    """Where the index is. Another version has another file, so that two releases can run side by side."""
    return settings.data / "archive-index" / f"records-{VERSION}.sqlite3"


def terms_of(agreement: Agreement) -> Terms:
    """What a record says of what was agreed: all but the names."""
    return Terms(
        match=agreement.match_id,
        game=agreement.game,
        version=agreement.version,
        options=agreement.options,
        seats=tuple(Place(member.account_id, member.kind, member.commitment) for member in agreement.members),
        seed_commitment=agreement.seed_commitment,
        turn_ms=agreement.turn_ms,
        window_ms=agreement.window_ms,
        rated=agreement.rated,
        pool=agreement.pool,
        board=agreement.board,
        tags=agreement.tags,
        created_ms=agreement.created_ms,
        bank_ms=agreement.bank_ms,
        increment_ms=agreement.increment_ms,
        lag_ms=agreement.lag_ms,
        lag_match_ms=agreement.lag_match_ms,
        late_most=agreement.late_most,
        watch=agreement.watch,
        watch_delay_ms=agreement.watch_delay_ms,
        scorer=agreement.scorer,
    )


async def _at_once() -> None:
    """Nobody makes the index anew here."""


class Archiver:
    """One of each process. Its blocking work is done in threads."""

    def __init__(self, log: EventLog, store: MatchStore, records: RecordStore, index: Index, names: Names) -> None:
        self._log = log
        self._store = store
        self.records = records
        self.index = index
        self.names = names
        self.on_archived: list[Callable[[Head], Awaitable[None]]] = []  # called before the log goes; must take repeats
        self.filled: Callable[[], Awaitable[None]] = _at_once  # waits for an index that is being made anew

    @classmethod
    def of(cls, settings: Settings, log: EventLog, store: MatchStore, registry: Registry = REGISTRY) -> Archiver:
        """As the settings say: records at the archive's URL, index and names in the data folder."""
        index = index_file(settings)
        names = Names(index.with_name("names.sqlite3"))
        return cls(log, store, RecordStore(settings.archive), Index(index, registry), names)

    def close(self) -> None:
        """Close what is open in this process; the next call opens it again."""
        self.index.close()

    async def archive(self, match: str) -> None:
        """Write, check and index the record of a match. Idempotent; returns only when it is safe.

        Raises LogUnavailable, and ArchiveError or another OSError, if it must be tried again.
        """
        text = await self._store.agreement(match)
        seed = await self._store.seed(match)
        if text is None or seed is None:  # retired and expired: then it was archived before
            if await asyncio.to_thread(self.index.find, match) is None:
                raise ArchiveError(f"match {match} has neither a log nor a record")
            return
        agreement = Agreement.from_json(text)
        entries = await self._log.read(match)
        rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in entries]
        path, head = await asyncio.to_thread(self._keep, agreement, rows, seed)
        for tell in self.on_archived:
            await tell(head)
        log.info("match_archived", match=match, path=path)

    def _keep(self, agreement: Agreement, rows: list[tuple[int, int, str, str]], seed: bytes) -> tuple[str, Head]:
        record = self._record(agreement, rows, seed)
        path = self.records.put(record)
        self.names.note({member.account_id: member.name for member in agreement.members}, agreement.created_ms)
        self.index.add([listed(record, path, self.index.registry)])
        return path, record.head

    def _record(self, agreement: Agreement, rows: list[tuple[int, int, str, str]], seed: bytes) -> Record:
        try:
            return make_record(terms_of(agreement), rows, seed, version("kangtou"))
        except BadText as error:
            raise ArchiveError(f"the log of match {agreement.match_id} makes no record: {error}") from error
