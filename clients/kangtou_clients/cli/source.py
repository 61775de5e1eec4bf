"""Where a record comes from: a file, the standard input, or the archive of a server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from kangtou_engine.errors import BadText
from kangtou_engine.notation import valid_id
from kangtou_engine.record import Record, read_record

from .common import Common
from .exits import NOT_FOUND, USAGE

SUFFIXES = (".ktr", ".zst", ".txt")
MAX_BYTES = 256 << 20
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True)
class Source:
    """A record's text as it came, where from, and the players' names by seat where they are known."""

    where: str
    data: bytes
    names: Sequence[str] = ()

    def record(self, common: Common) -> Record:
        """The record. Raises CommandError for a text that is none."""
        try:
            return read_record(self.data)
        except BadText as error:
            raise common.fail(USAGE, "bad_record", path=self.where, problem=error) from error


def load(common: Common, target: str) -> Source:
    """FILE, `-` or MATCH. Raises CommandError."""
    if target == "-":
        return Source("-", _whole(common, "-", sys.stdin.buffer))
    path = Path(target)
    if path.is_file() or path.is_fifo():  # a pipe: `<(zstd -dc …)`
        with path.open("rb") as file:
            return Source(target, _whole(common, target, file))
    if path.suffix in SUFFIXES or "/" in target or not valid_id(target):
        raise common.fail(NOT_FOUND, "no_file", path=target)
    from .remote import fetch

    return fetch(common, target)


def _whole(common: Common, where: str, file: BinaryIO) -> bytes:
    """All of a file, unpacked."""
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise common.fail(USAGE, "too_large", path=where, mb=MAX_BYTES >> 20)
    if not data.startswith(_ZSTD):
        return data
    try:
        if zstandard.frame_content_size(data) > MAX_BYTES:  # the decompressor believes it, and takes the memory
            raise common.fail(USAGE, "too_large", path=where, mb=MAX_BYTES >> 20)
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_BYTES, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise common.fail(USAGE, "bad_zstd", path=where) from error
