"""A disk without room: the embedded Redis waits for it, logs go on."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from kangtou_services import room
from kangtou_services.lasting import Lasting


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The error of each attempt to take room, while there are any; then there is room."""
    errors: list[int] = []
    fallocate = os.posix_fallocate

    def taken(file: int, offset: int, size: int) -> None:
        if errors:
            raise OSError(errors.pop(0), "full")
        fallocate(file, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", taken)
    return errors


def test_room(tmp_path: Path) -> None:
    assert room.lacking(tmp_path) == ""
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        room.lacking(tmp_path / "nowhere")


def test_no_room(tmp_path: Path, full: list[int]) -> None:
    full += [errno.ENOSPC, errno.EDQUOT, errno.EIO]
    assert room.lacking(tmp_path) == "the disk is full: less than 8 MB for the database"
    assert room.lacking(tmp_path)
    with pytest.raises(OSError, match="full"):
        room.lacking(tmp_path)


def test_it_waits(tmp_path: Path, full: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """And says so once, not at every look."""
    monkeypatch.setattr(room, "LOOK_S", 0.001)
    full += [errno.ENOSPC] * 5
    with capture_logs() as logs:
        waiting = threading.Thread(target=room.wait_for_room, args=(tmp_path,))
        waiting.start()
        waiting.join(60)
    assert not full
    assert [line["event"] for line in logs] == ["redis_waits_for_room", "redis_has_room"]


def test_logs_outlast_a_full_disk() -> None:
    """How many lines could not be written is said with the next one that can."""
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as nowhere:  # closing writes too
        there = io.StringIO()
        lasting = Lasting(nowhere)
        for _ in range(3):
            print('{"event": "missed"}', file=lasting, flush=True)
        assert lasting.missed == 3
        lasting._to = there
        print('{"event": "kept"}', file=lasting, flush=True)
        print('{"event": "kept"}', file=lasting, flush=True)
    lines = there.getvalue().splitlines()
    assert lines == ['{"event": "log_disk_full", "lines": 3, "level": "error"}', *['{"event": "kept"}'] * 2]
