"""A snapshot made readable: an embedded server on it, which nobody else uses, for the time of a `with` block."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from ..embedded import EmbeddedError, EmbeddedServer, EmbeddedSettings
from .snapshot import BackupError

_OVERRIDES = {"appendonly": "no", "dbfilename": "dump.rdb", "save": ""}


@contextmanager
def frozen(snapshot: Path) -> Iterator[Redis]:
    """A client (bytes, not text) of the snapshot's keys. Raises BackupError if this server cannot read it.

    Keys whose time is over are gone from it, as they would be in the server that it was taken of.
    """
    with tempfile.TemporaryDirectory(prefix="kt-snapshot-") as folder:
        place = Path(folder) / "dump.rdb"
        try:
            place.hardlink_to(snapshot)
        except OSError:  # another file system
            shutil.copyfile(snapshot, place)
        server = EmbeddedServer(EmbeddedSettings(Path(folder), overrides=_OVERRIDES, die_with_parent=True))
        try:
            server.start(600.0)
        except EmbeddedError as error:
            raise BackupError("snapshot_unreadable", reason=str(error)) from error
        try:
            with Redis.from_url(server.url) as client:
                yield client
        finally:
            server.stop()
