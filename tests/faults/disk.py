"""A small disk of its own for a server, and ways to fill it."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHUNK = 64 << 10


class Disk:
    """A file system in memory, mounted on a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> int:
        """Leave no byte free; how many were taken. Call it again for what others have let go meanwhile."""
        taken, size = 0, CHUNK
        with self._ballast.open("ab", buffering=0) as file:
            while size:
                try:
                    taken += os.write(file.fileno(), bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    size //= 2
        return taken

    def make_room(self) -> None:
        """All of it."""
        self._ballast.unlink(missing_ok=True)


def _mount(folder: Path, megabytes: int) -> None:
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "kangtou-test", str(folder)]
    subprocess.run(command, check=True, capture_output=True)


def can_mount() -> bool:
    """Whether this process may mount a disk: root may, outside of most containers."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            _mount(Path(folder), 1)
        except (OSError, subprocess.CalledProcessError):
            return False
        subprocess.run(["umount", folder], check=True)
        return True


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Disk]:
    """Mounted for the time of a test. See `can_mount`."""
    folder.mkdir(parents=True, exist_ok=True)
    _mount(folder, megabytes)
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
