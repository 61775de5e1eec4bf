"""Records of files: single ones (`.ktr`, `.ktr.zst`), dumps, folders of these, or the standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from kangtou_engine.errors import BadText
from kangtou_engine.record.dump import DumpReader

SUFFIXES = (".ktr", ".zst")
PIECE = 1 << 20
Text = tuple[str, bytes]  # where it came from, a record's text
Progress = Callable[[int, int], None]  # bytes read, of so many (0: not known)


def files_of(paths: Sequence[str]) -> list[str]:
    """The files that paths name, those of folders in order of their names. Raises FileNotFoundError with the path."""
    found: list[str] = []
    for text in paths:
        path = Path(text)
        if text == "-" or path.is_file() or path.is_fifo():
            found.append(text)
        elif path.is_dir():
            found += sorted(str(one) for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file())
        else:
            raise FileNotFoundError(2, "", text)
    return found


def records_of(paths: Sequence[str], progress: Progress, damaged: Callable[[str, BadText], None]) -> Iterator[Text]:
    """The records of files one by one; of a file that is damaged, those before the damage. Raises OSError."""
    files = files_of(paths)
    total = 0 if "-" in files else sum(Path(file).stat().st_size for file in files)
    done = 0
    for file in files:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as raw:
            counting = _Counted(raw)
            reader = DumpReader(_unpacked(counting))
            try:
                for text in reader.texts():
                    progress(done + counting.bytes, total)
                    yield file, text
            except zstandard.ZstdError:
                damaged(file, BadText(f"cannot be unpacked ({reader.place})"))
            except BadText as error:
                damaged(file, error)
            done += counting.bytes
    progress(done, total)


def _unpacked(file: Any) -> BinaryIO:
    buffered = BufferedReader(file, PIECE)
    if buffered.peek(4)[:4] != zstandard.FRAME_HEADER:
        return buffered
    reader: Any = zstandard.ZstdDecompressor().stream_reader(buffered, read_across_frames=True)
    return BufferedReader(reader, PIECE)


class _Counted:
    """A raw file that counts what was read, for the progress bar."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.bytes = 0

    def readable(self) -> bool:
        """What a buffer asks."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        piece = self._raw.read(len(buffer))
        buffer[: len(piece)] = piece
        self.bytes += len(piece)
        return len(piece)

    def close(self) -> None:
        """Whoever opened it closes it."""

    def flush(self) -> None:
        """Nothing waits."""
