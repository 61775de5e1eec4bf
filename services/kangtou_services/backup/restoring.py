"""Putting a backup back into a server that is empty, and does not run.

Everything is checked against its hash before anything is written. While it is under way a mark lies in the data folder:
with it no server starts on the folder (up.py), and the same restore may be begun again and goes on. Matches in play are
marked with the instant of the backup, so that whoever opens them gives the time since then back.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from ..archive.archiver import index_file
from ..archive.store import RecordStore
from ..embedded import EmbeddedError, EmbeddedServer, EmbeddedSettings
from ..log.stream import LIVE, key
from ..settings import Settings
from ..supervisor import FolderInUse, lock_folder
from .frozen import frozen
from .manifest import HASHES, NAMES, RECORDS, Manifest, Part, hashes_of, of
from .place import Place
from .snapshot import BackupError
from .taking import Tell

MARK = "restoring"  # in the data folder, with the backup's id
_BATCH = 200
_NOT = (b"kt:actor:", b"kt:actors", b"kt:gateway:", b"kt:gateways")  # processes of the server that is no more


@dataclass(frozen=True, slots=True)
class Restored:
    """What has been put back. `live` matches go on when the server starts."""

    keys: int
    records: int
    live: int
    taken_ms: int


def restore(settings: Settings, place: Place, tell: Tell) -> Restored:
    """Put a backup back. Raises BackupError, OSError; what was begun may be done again."""
    manifest = of(place)
    if manifest is None:
        raise BackupError("no_backup", url=place.url)
    hashes = _checked(place, manifest, tell)
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_folder(settings.data))
        except FolderInUse as error:
            raise BackupError("folder_in_use", path=str(settings.data)) from error
        url = stack.enter_context(_redis(settings))
        client = stack.enter_context(Redis.from_url(url))
        _insist_on_empty(settings, client, manifest)
        _records(settings, place, hashes, tell)
        _names(settings, place, manifest)
        keys, live = _keys(place, manifest, client, tell)
        (settings.data / MARK).unlink()
    return Restored(keys, len(hashes), live, manifest.taken_ms)


def unfinished(data: Path) -> bool:
    """Whether a restore into this folder was broken off."""
    return (data / MARK).exists()


def _checked(place: Place, manifest: Manifest, tell: Tell) -> dict[str, str]:
    """The hashes of the records, once everything has been found as it was written."""
    wanted = {part.path: part.sha256 for part in (*manifest.snapshots, *manifest.others)}
    hashes = hashes_of(place.read(HASHES) or b"")
    wanted |= {RECORDS + path: digest for path, digest in hashes.items()}
    for number, (path, digest) in enumerate(wanted.items()):
        tell("backup_check", number, len(wanted))
        found = hashlib.sha256()
        try:
            for piece in place.pieces(path):
                found.update(piece)
        except FileNotFoundError as error:
            raise BackupError("backup_damaged", path=path) from error
        if found.hexdigest() != digest:
            raise BackupError("backup_damaged", path=path)
    tell("backup_check", len(wanted), len(wanted))
    return hashes


@contextmanager
def _redis(settings: Settings) -> Iterator[str]:
    """The Redis to fill: that of the settings, else the embedded one, which runs meanwhile."""
    if settings.redis_url:
        yield settings.redis_url
        return
    server = EmbeddedServer(EmbeddedSettings(settings.data / "redis", die_with_parent=True))
    try:
        server.start(600.0)
    except EmbeddedError as error:
        raise BackupError("redis_away", reason=str(error)) from error
    try:
        yield server.url
    finally:
        server.stop()


def _insist_on_empty(settings: Settings, client: Redis, manifest: Manifest) -> None:
    """Nothing is restored over anything, but over what this very restore has written before."""
    mark = settings.data / MARK
    if mark.exists() and mark.read_text() == manifest.id:
        return
    try:
        keys = int(client.dbsize())
    except (RedisError, OSError) as error:
        raise BackupError("redis_away", reason=str(error)) from error
    if keys or mark.exists():
        raise BackupError("not_empty", what=f"Redis ({keys})")
    if next(iter(RecordStore(settings.archive).paths()), None) is not None:
        raise BackupError("not_empty", what=settings.archive)
    mark.write_text(manifest.id)


def _records(settings: Settings, place: Place, hashes: dict[str, str], tell: Tell) -> None:
    store = RecordStore(settings.archive)
    there = set(store.paths())
    for number, path in enumerate(hashes):
        tell("records", number, len(hashes))
        if path not in there:
            store.put_packed(path, place.read(RECORDS + path) or b"")
    tell("records", len(hashes), len(hashes))


def _names(settings: Settings, place: Place, manifest: Manifest) -> None:
    if any(part.path == NAMES for part in manifest.others):
        file = index_file(settings).with_name(NAMES)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(place.read(NAMES) or b"")


def _keys(place: Place, manifest: Manifest, client: Redis, tell: Tell) -> tuple[int, int]:
    """Copy all keys, with the instants at which they end; how many, and how many matches are in play."""
    done, total = 0, sum(part.keys for part in manifest.snapshots)
    for part in manifest.snapshots:
        with _fetched(place, part) as file, frozen(file) as source:
            for names in _batches(source.scan_iter(count=_BATCH)):
                _copy(source, client, [name for name in names if not name.startswith(_NOT)])
                done += len(names)
                tell("keys", min(done, total), total)
    live: Any = client.smembers(LIVE)
    for matches in _batches(sorted(live)):
        with client.pipeline(transaction=False) as pipe:
            for match in matches:
                pipe.set(key(match.decode(), "left"), manifest.taken_ms)
            pipe.execute()
    return done, len(live)


def _batches(names: Iterable[bytes]) -> Iterator[list[bytes]]:
    waiting = iter(names)
    while batch := list(islice(waiting, _BATCH)):
        yield batch


def _copy(source: Redis, target: Redis, names: list[bytes]) -> None:
    with source.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.dump(name)
            pipe.execute_command("PEXPIRETIME", name)  # type: ignore[no-untyped-call]
        found = pipe.execute()
    with target.pipeline(transaction=False) as pipe:
        for name, value, ends_ms in zip(names, found[::2], found[1::2], strict=True):
            if value is not None:
                pipe.restore(name, max(0, ends_ms), value, replace=True, absttl=ends_ms > 0)
        try:
            pipe.execute()
        except RedisError as error:
            raise BackupError("not_taken", reason=str(error)) from error


@contextmanager
def _fetched(place: Place, part: Part) -> Iterator[Path]:
    """A snapshot as a file of this machine."""
    with tempfile.TemporaryDirectory(prefix="kt-restore-") as folder:
        file = Path(folder) / "dump.rdb"
        with file.open("wb") as out:
            for piece in place.pieces(part.path):
                out.write(piece)
        yield file
