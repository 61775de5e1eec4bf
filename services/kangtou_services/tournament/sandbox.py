"""The first thing that runs in an entrant's process: limits, and a world in which there is nothing but the gateway.

    python -I sandbox.py JSON COMMAND …        under `unshare --user --net --mount --pid` where that is possible

JSON: folder (an empty one, of this game), memory_mb, cpu_s, isolated; if isolated, socket (the gateway's), hide
(folders of which nothing may be seen), private_tmp. Standard library only; a step that fails ends it with code 97.

Isolated means: no network but the gateway's socket; all that was there is read-only and the server's folders are empty;
the only place to write is in memory and ends with the process; no other process is seen; no capability is left with
which that could be undone.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import struct
import sys
from pathlib import Path
from typing import Any

FAILED = 97
FOLDER_MB = 64
_AT_FDCWD, _AT_RECURSIVE, _RDONLY, _MOUNT_SETATTR = -100, 0x8000, 1, 442
_BIND = 4096
_CAPBSET_DROP, _SET_SECUREBITS, _NO_NEW_PRIVS = 24, 28, 38
_NOROOT = 0x2F  # noroot, no setuid fix-up, no keeping of capabilities, all locked


def main() -> None:
    """Prepare, and become the command."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    environment = {name: value for name, value in os.environ.items() if name != "LC_CTYPE"}
    home = Path(given["folder"])
    if given["isolated"]:
        home = _isolate(given, environment)
    environment.update(HOME=str(home), TMPDIR=str(home))
    os.chdir(home)
    _limit(given["memory_mb"], given["cpu_s"])
    os.execvpe(sys.argv[2], sys.argv[2:], environment)


def _limit(memory_mb: int, cpu_s: int) -> None:
    """Twice the memory is what cannot be had at all; the runner measures what is really used."""
    for kind, value in (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_DATA, 2 * memory_mb << 20),
        (resource.RLIMIT_FSIZE, FOLDER_MB << 20),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 256),
    ):
        resource.setrlimit(kind, (value, value))


def _isolate(given: dict[str, Any], environment: dict[str, str]) -> Path:
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result: int, what: str) -> None:
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{what}: {os.strerror(number)}")

    def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str = "") -> None:
        names = (source.encode(), target.encode(), kind.encode() if kind else None)
        check(libc.mount(*names, ctypes.c_ulong(flags), data.encode()), f"mount {target}")

    attributes = ctypes.create_string_buffer(struct.pack("QQQQ", _RDONLY, 0, 0, 0), 32)
    size = ctypes.c_size_t(32)
    check(libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, size), "read-only")
    folder = given["folder"]
    mount("tmpfs", folder, "tmpfs", 0, f"size={FOLDER_MB}m,mode=700")
    socket = Path(folder) / "gateway.sock"
    socket.touch()
    mount(given["socket"], str(socket), None, _BIND)
    home = Path(folder) / "home"
    home.mkdir()
    mount("tmpfs", "/dev/shm", "tmpfs", 0, f"size={FOLDER_MB}m,mode=700")
    where = Path(folder)
    if given["private_tmp"]:
        mount(folder, "/tmp", None, _BIND | 16384)  # with what is mounted in it
        where = Path("/tmp")
    for hidden in given["hide"]:
        if Path(hidden).is_dir():
            mount("tmpfs", hidden, "tmpfs", 1, "size=4k,mode=500")
    environment["KANGTOU_SERVER"] = f"unix:{where / 'gateway.sock'}"
    for number in range(64):
        libc.prctl(_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0)  # the last numbers are not known here
    check(libc.prctl(_SET_SECUREBITS, ctypes.c_ulong(_NOROOT), 0, 0, 0), "secure bits")
    check(libc.prctl(_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0), "no new privileges")
    header, nothing = struct.pack("Ii", 0x20080522, 0), b"\0" * 24
    check(libc.capset(header, nothing), "capabilities")
    return where / "home"


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"sandbox: {error}\n")
        sys.exit(FAILED)
