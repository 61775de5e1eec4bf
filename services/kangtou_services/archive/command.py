"""`python -m kangtou_services archive-rebuild [--afresh]`: the index from the records alone.

Writes a JSON line for every batch (`{"records": N}`) and one at the end. Exit codes: 0 done, 2 the archive cannot be
used, 130 and 143 ended by a signal; what was done until then stays.
"""

from __future__ import annotations

import json
import signal
import sys

from ..games import load_registry
from ..settings import Settings
from .archiver import index_file
from .index import Index
from .sqlite_file import IndexDamaged
from .store import ArchiveError, RecordStore


class _Ended(BaseException):
    """A signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _end(number: int, _: object) -> None:
    raise _Ended(number)


def _say(**values: object) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def main(settings: Settings) -> int:
    """Rebuild."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    index = Index(index_file(settings), load_registry(settings.extra_games))
    files = 0

    def tell(looked_at: int) -> None:
        nonlocal files
        files = looked_at
        _say(records=looked_at)

    try:
        store = RecordStore(settings.archive)
        store.check()
        afresh = "--afresh" in sys.argv[2:]
        try:
            done = index.rebuild(store, tell=tell, afresh=afresh)
        except IndexDamaged as error:
            sys.stderr.write(f"kangtou: {error}\n")
            done = index.rebuild(store, tell=tell, afresh=afresh)
    except (ArchiveError, OSError) as error:
        sys.stderr.write(f"kangtou: {error}\n")
        return 2
    except _Ended as ended:
        return 128 + ended.number
    finally:
        index.close()
    _say(records=files, added=done.added, gone=done.gone, damaged=done.damaged)
    return 0
