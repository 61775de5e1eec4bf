"""Taking a backup of a running server.

Redis first, at one instant; then the records that belong to that instant. A match that is in play in the snapshot has
no record in the backup, even if it has ended since: after a restore it goes on, and its record will say how. Broken
off, a backup is taken again from the beginning, but records that lie there already are not copied again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from kangtou_engine.errors import BadText

from ..archive.archiver import index_file
from ..archive.store import SUFFIX, ArchiveError, RecordStore
from ..log.stream import LIVE
from ..settings import Settings
from .frozen import frozen
from .manifest import HASHES, MANIFEST, NAMES, RECORDS, SETTINGS, Manifest, Part, hashes_of, of, text_of
from .place import Place
from .snapshot import BackupError, primaries, take

Tell = Callable[[str, int, int], None]  # step, done, of so many
SECRET = ("secret", "token", "password")


def back_up(settings: Settings, place: Place, tell: Tell) -> Manifest:
    """Write a backup. Raises BackupError, ArchiveError, OSError."""
    if of(place) is not None:
        raise BackupError("backup_there", url=place.url)
    snapshots, taken_ms, live = _redis(settings, place, tell)
    records = _records(settings, place, taken_ms, live, tell)
    others = [_stored(place, HASHES, text_of(records)), _stored(place, SETTINGS, _shown(settings))]
    if names := _names(settings):
        others.append(_stored(place, NAMES, names))
    made = Manifest(taken_ms, version("kangtou"), len(live), len(records), snapshots, tuple(others))
    place.write(MANIFEST, made.to_json().encode())
    return made


def _redis(settings: Settings, place: Place, tell: Tell) -> tuple[tuple[Part, ...], int, set[str]]:
    """Snapshots of all primaries; the instant before the first of them; the matches in play in them."""
    parts: list[Part] = []
    instants: list[int] = []
    live: set[str] = set()
    for number, url in enumerate(primaries(settings.redis)):
        with tempfile.TemporaryDirectory(prefix="kt-backup-") as folder:
            file, name = Path(folder) / "dump.rdb", f"redis-{number}.rdb"
            taken = take(url, file, lambda done, total: tell("snapshot", done, total))
            instants.append(taken.taken_ms)
            with frozen(file) as client:  # so that it is known to be readable
                keys = int(client.dbsize())
                live |= {match.decode() for match in cast("set[bytes]", client.smembers(LIVE))}
            place.put(name, file)
            parts.append(Part(name, taken.bytes, taken.sha256, keys))
    return tuple(parts), min(instants), live


def _records(settings: Settings, place: Place, taken_ms: int, live: set[str], tell: Tell) -> dict[str, str]:
    """Copy the records that belong to the snapshot; their hashes by path."""
    store = RecordStore(settings.archive)
    before = hashes_of(place.read(HASHES) or b"")
    paths = [path for path in store.paths() if match_of(path) not in live]
    since = f"{datetime.fromtimestamp(taken_ms / 1000, UTC):%Y/%m/%d}"
    found: dict[str, str] = {}
    for number, path in enumerate(paths):
        tell("records", number, len(paths))
        if path >= since and _later(store, path, taken_ms):
            continue
        packed = store.packed(path)
        found[path] = hashlib.sha256(packed).hexdigest()
        if before.get(path) != found[path]:
            place.write(RECORDS + path, packed)
        if number % 500 == 499:
            place.write(HASHES, text_of(found | before))  # for the next attempt, should this one be broken off
    tell("records", len(paths), len(paths))
    return found


def match_of(path: str) -> str:
    """The match that a record's path names."""
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def _later(store: RecordStore, path: str, taken_ms: int) -> bool:
    """Whether a match ended after the snapshot: it is not in play there, so it was not there at all."""
    try:
        return store.get(path).head.outcome.ended_ms > taken_ms
    except BadText as error:
        raise ArchiveError(f"{path} is no record") from error


def _names(settings: Settings) -> bytes:
    """What accounts were called, as sqlite's own backup has it; nothing if there is none."""
    file = index_file(settings).with_name(NAMES)
    if not file.exists():
        return b""
    with (
        tempfile.TemporaryDirectory(prefix="kt-names-") as folder,
        closing(sqlite3.connect(file, timeout=30.0)) as source,
        closing(sqlite3.connect(Path(folder) / NAMES)) as target,
    ):
        source.backup(target)
        target.commit()
        return (Path(folder) / NAMES).read_bytes()


def _shown(settings: Settings) -> bytes:
    """The settings without secrets, also without those in URLs."""
    given: dict[str, Any] = settings.model_dump(mode="json")
    kept = {name: value for name, value in given.items() if not any(word in name for word in SECRET)}
    for name in ("redis_url", "archive_url"):
        scheme, found, rest = str(kept[name]).partition("://")
        kept[name] = f"{scheme}{found}{rest.rpartition('@')[2]}"
    return json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True).encode()


def _stored(place: Place, path: str, content: bytes) -> Part:
    place.write(path, content)
    return Part(path, len(content), hashlib.sha256(content).hexdigest())
