"""A process that ends a match as a table host does (archive, then retire) and is killed at one step of it.

    python -m tests.faults.archive_child REDIS_URL FOLDER ARCHIVE_URL STEP     (STEP `none`: to the end)

It takes every match that is live, as whoever takes its table over would.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kangtou_services.archive import Archiver, Index, RecordStore, index
from kangtou_services.archive.names import Names
from kangtou_services.log.redis import RedisLog, RedisMatchStore
from kangtou_services.redis_client import connect

KEEP_MS = 600_000


def die(*_: object, **__: object) -> Any:
    """As the kernel ends a process: nothing is closed, flushed or undone."""
    os.kill(os.getpid(), signal.SIGKILL)


def at(owner: object, name: str) -> Callable[[], None]:
    """Die instead of a call."""
    return lambda: setattr(owner, name, die)


def after(owner: Any, name: str) -> Callable[[], None]:
    """Die right after a call."""

    def patch() -> None:
        call = getattr(owner, name)

        def dying(*args: object, **kwargs: object) -> None:
            call(*args, **kwargs)
            die()

        setattr(owner, name, dying)

    return patch


def half() -> None:
    """Die with half a file, under the name that it has before the move; of an object store's put nothing is there."""
    write = Path.open

    def opened(self: Path, *args: Any, **kwargs: Any) -> Any:
        if not self.name.endswith(".tmp"):
            return write(self, *args, **kwargs)
        handle = os.open(self, os.O_CREAT | os.O_WRONLY)
        os.write(handle, b"half a rec")
        return die()

    Path.open = opened  # type: ignore[method-assign]
    RecordStore._put = die  # type: ignore[method-assign]


STEPS: dict[str, Callable[[], None]] = {
    "reading the log": at(RedisLog, "read"),
    "before the record": at(RecordStore, "_write"),
    "half of the record": half,
    "after the record": after(RecordStore, "_write"),
    "before the names": at(Names, "note"),
    "after the names": after(Names, "note"),
    "in the index": at(index, "_count"),
    "after the index": after(Index, "add"),
    "before the log is let go": at(RedisMatchStore, "retire"),
    "none": lambda: None,
}


async def finish(redis_url: str, folder: Path, archive_url: str) -> None:
    """All live matches."""
    client = connect(redis_url)
    log, store = RedisLog(client), RedisMatchStore(client)
    records = RecordStore(archive_url)
    archiver = Archiver(log, store, records, Index(folder / "index.db"), Names(folder / "names.db"))
    for match in await store.live():
        await archiver.archive(match)
        await store.retire(match, KEEP_MS)
    archiver.index.close()
    await log.close()
    await client.aclose()


if __name__ == "__main__":
    STEPS[sys.argv[4]]()
    asyncio.run(finish(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
