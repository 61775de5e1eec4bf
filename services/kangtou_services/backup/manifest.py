"""What a backup says of itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from .place import Place
from .snapshot import BackupError

MANIFEST, HASHES, NAMES, SETTINGS = "manifest.json", "records.sha256", "names.sqlite3", "settings.json"
RECORDS = "archive/"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Part:
    """One file."""

    path: str
    bytes: int
    sha256: str
    keys: int = 0  # of a snapshot


@dataclass(frozen=True, slots=True)
class Manifest:
    """Of a finished backup. `taken_ms` is the instant that it shows (Unix ms); `live` matches were in play then."""

    taken_ms: int
    kangtou: str
    live: int
    records: int
    snapshots: tuple[Part, ...]
    others: tuple[Part, ...]
    format: int = FORMAT

    @property
    def id(self) -> str:
        """Equal only for the same backup."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)


def of(place: Place) -> Manifest | None:
    """The manifest of a finished backup, None if there is none. Raises BackupError, OSError."""
    raw = place.read(MANIFEST)
    if raw is None:
        return None
    try:
        given = json.loads(raw)
        if given["format"] != FORMAT:
            raise BackupError("backup_newer", format=given["format"])
        parts = {name: tuple(Part(**one) for one in given.pop(name)) for name in ("snapshots", "others")}
        return Manifest(**(given | parts))
    except (ValueError, TypeError, KeyError) as error:
        raise BackupError("backup_damaged", path=MANIFEST) from error


def hashes_of(text: bytes) -> dict[str, str]:
    """Hash by path, of the records' list (`sha256  path` a line). Raises BackupError."""
    found = {}
    for line in text.decode(errors="replace").splitlines():
        digest, _, path = line.partition("  ")
        if len(digest) != 64 or not path or path.startswith("/") or ".." in path.split("/"):
            raise BackupError("backup_damaged", path=HASHES)
        found[path] = digest
    return found


def text_of(hashes: dict[str, str]) -> bytes:
    """The other way."""
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(hashes.items())).encode()
