"""`python -m kangtou_services backup|restore PLACE`: children of `kangtou backup` and `kangtou restore`.

They tell what happens as `archive-dump` does (archive/bulk.py). Exit codes: 0 done, 1 the backup is not in order, 2 it
cannot be done, 3 a server runs on the data folder, 5 something is there already, 6 Redis cannot be reached, 8 there is
no backup, 130 ended by a signal.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from dataclasses import asdict

from ..archive.bulk import Bar, tell
from ..archive.store import ArchiveError
from ..settings import Settings
from .place import Place
from .restoring import restore
from .snapshot import BackupError
from .taking import Tell, back_up

CODES = {
    "backup_damaged": 1,
    "folder_in_use": 3,
    "backup_there": 5,
    "not_empty": 5,
    "redis_away": 6,
    "no_backup": 8,
}


def main_backup(settings: Settings) -> int:
    """Back up the server of these settings."""

    def work(told: Tell) -> dict[str, object]:
        made = back_up(settings, Place(sys.argv[2]), told)
        keys, size = sum(part.keys for part in made.snapshots), sum(part.bytes for part in made.snapshots)
        return {"taken_ms": made.taken_ms, "keys": keys, "bytes": size, "records": made.records, "live": made.live}

    return _ended(work)


def main_restore(settings: Settings) -> int:
    """Put a backup back into the empty server of these settings."""
    return _ended(lambda told: asdict(restore(settings, Place(sys.argv[2]), told)))


def _ended(work: Callable[[Tell], dict[str, object]]) -> int:
    """Run it; what goes wrong as a line and an exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    bars: dict[str, Bar] = {}

    def told(step: str, done: int, total: int) -> None:
        bars.setdefault(step, Bar(step)).both(done, total)

    try:
        tell(done=work(told))
    except KeyboardInterrupt:
        return 130
    except BackupError as error:
        tell(error=error.code, **error.params)
        return CODES.get(error.code, 2)
    except (ArchiveError, OSError) as error:
        where = getattr(error, "filename", None)
        text = getattr(error, "strerror", None) or str(error)
        tell(error="archive_error", problem=f"{text}: {where}" if where else text)
        return 2
    return 0
