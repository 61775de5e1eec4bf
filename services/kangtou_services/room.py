"""Room on the disk of the embedded Redis, which ends when a write to its log fails, and would again at the next one."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

ROOM = 8 << 20  # bytes that must be free before the server is started
LOOK_S = 0.5
SAY_EVERY_S = 30.0
_FULL = (errno.ENOSPC, errno.EDQUOT)


def lacking(folder: Path, wanted: int = ROOM) -> str:
    """Why so many bytes find no place in a folder; "" if they do. Tried, as a quota is in no figure of the system.

    Raises OSError for whatever else is wrong with the folder.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, wanted)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        return f"the disk is full: less than {wanted >> 20} MB for the database"
    return ""


def wait_for_room(folder: Path) -> None:
    """Return as soon as there is room; say so while there is none."""
    began, said = time.monotonic(), float("-inf")
    while why := lacking(folder):
        if time.monotonic() - said >= SAY_EVERY_S:
            said = time.monotonic()
            log.error("redis_waits_for_room", why=why)
        time.sleep(LOOK_S)
    if said > 0:
        log.warning("redis_has_room", waited_s=round(time.monotonic() - began, 1))  # the first line may have had none
