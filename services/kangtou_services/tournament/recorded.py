"""The record of a match that has ended, from its live log or from the archive, whichever has it."""

from __future__ import annotations

import asyncio
from importlib.metadata import version

import structlog

from kangtou_engine.errors import BadText
from kangtou_engine.record import Record, make_record

from ..agreement import Agreement
from ..archive.archiver import terms_of
from ..archive.store import ArchiveError
from .parts import Parts

log = structlog.get_logger(__name__)


async def recorded(parts: Parts, match: str, board_seed: bytes) -> Record | str:
    """The record; a text says why there is none. Raises LogUnavailable."""
    text = await parts.matches.agreement(match)
    if text is None:
        return await _archived(parts, match)
    entries = await parts.log.read(match)
    rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in entries]
    try:
        terms = terms_of(Agreement.from_json(text))
        return await asyncio.to_thread(make_record, terms, rows, board_seed, version("kangtou"))
    except BadText as error:
        log.error("match_not_read", match=match, error=str(error))
        return "the log of the match cannot be read"


async def _archived(parts: Parts, match: str) -> Record | str:
    row = await asyncio.to_thread(parts.archiver.index.find, match)
    if row is None:
        return "the match is neither live nor archived"
    try:
        return await asyncio.to_thread(parts.archiver.records.get, row.path)
    except (BadText, ArchiveError, OSError) as error:
        log.error("record_not_read", match=match, error=str(error))
        return "the record of the match cannot be read"
