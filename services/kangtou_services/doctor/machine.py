"""What can be seen without talking to anybody: versions, packages, limits, folders, secrets, the port."""

from __future__ import annotations

import errno
import resource
import shutil
import socket
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

from ..backup.restoring import unfinished
from ..settings import Settings
from ..supervisor import FolderInUse, lock_folder
from .finding import Finding, ok, warning, wrong

PYTHON = (3, 11)
FILES = 4_096  # a gateway holds a socket a client, an actor one a gateway
ROOM_MB = 1_024


def python() -> Iterator[Finding]:
    """The interpreter."""
    have = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < PYTHON:
        yield wrong("python", "python_old", have=have, need=".".join(map(str, PYTHON)))
    else:
        yield ok("python", "found", what=have)


def packages(lock: Path | None) -> Iterator[Finding]:
    """What the installed kangtou requires; in a checkout also whether it is what the lock pins."""
    bad = False
    for text in requires("kangtou") or ():
        needed = Requirement(text)
        if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
            continue
        have = _version(needed.name)
        if not have:
            yield wrong("packages", "package_missing", package=needed.name, need=str(needed.specifier))
        elif have not in needed.specifier:
            yield wrong("packages", "package_other", package=needed.name, have=have, need=str(needed.specifier))
        else:
            continue
        bad = True
    differing = []
    for pin in _pins(lock):
        have = _version(pin.name)
        if have and have not in pin.specifier:
            differing.append(f"{pin.name} {have} ({pin.specifier})")
    if differing:
        yield warning("packages", "lock_differs", count=len(differing), packages=", ".join(differing[:5]))
    elif not bad:
        yield ok("packages")


def _pins(lock: Path | None) -> Iterator[Requirement]:
    """Those of the lock that hold for this interpreter."""
    if lock is None or not lock.is_file():
        return
    for line in lock.read_text().splitlines():
        if "==" in line and line[0].isalnum():
            pin = Requirement(line.rstrip("\\ "))
            if pin.marker is None or pin.marker.evaluate():
                yield pin


def lock_file() -> Path:
    """Where it is in a checkout."""
    return Path(__file__).resolve().parents[3] / "requirements.lock"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def files() -> Iterator[Finding]:
    """How many files and sockets a process may have open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < FILES:
        yield wrong("files", "files_low", have=soft, need=FILES, hard=hard)
    else:
        yield ok("files", "found", what=soft)


def folder(settings: Settings) -> Iterator[Finding]:
    """The data folder: what it is, who may look into it, how much room it has."""
    data = settings.data
    if not data.exists():
        yield ok("data", "data_new", path=str(data.absolute()))
        return
    if not data.is_dir():
        yield wrong("data", "data_file", path=str(data))
        return
    mode = stat.S_IMODE(data.stat().st_mode)
    if mode & 0o077:
        yield wrong("data", "data_open", path=str(data), mode=f"{mode:o}")
    if unfinished(data):
        yield wrong("data", "restore_broken_off", path=str(data))
    free = shutil.disk_usage(data).free >> 20
    if free < ROOM_MB:
        yield wrong("data", "disk_low", path=str(data), free=free, need=ROOM_MB)
    else:
        yield ok("data", "disk_free", path=str(data), free=free)


def secrets(settings: Settings) -> Iterator[Finding]:
    """Whether they are there where nobody makes them, and whose eyes they are for."""
    found = sorted((*settings.data.glob("*.secret"), *settings.data.glob("join.json")))
    for file in found:
        if (mode := stat.S_IMODE(file.stat().st_mode)) & 0o077:
            yield wrong("secrets", "secret_open", path=str(file), mode=f"{mode:o}")
        elif file.suffix == ".secret" and len(file.read_text().strip()) < 32:
            yield wrong("secrets", "secret_short", path=str(file))
    if settings.link == "tcp" and not settings.link_secret and not (settings.data / "link.secret").exists():
        yield wrong("secrets", "secret_missing", variable="KANGTOU_LINK_SECRET")
    if settings.link_secret and len(settings.link_secret) < 32:
        yield wrong("secrets", "secret_weak", variable="KANGTOU_LINK_SECRET", length=len(settings.link_secret))


def runs_here(settings: Settings) -> bool:
    """Whether a server runs on this data folder."""
    if not settings.data.is_dir():
        return False
    try:
        lock_folder(settings.data).close()
    except FolderInUse:
        return True
    except OSError:
        return False
    return False


def port(settings: Settings, *, running: bool) -> Iterator[Finding]:
    """Whether gateways can listen; a server that runs here has the port already."""
    where = f"{settings.host}:{settings.port}"
    if running:
        yield ok("port", "port_ours", where=where)
        return
    try:
        with socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((settings.host, settings.port))
    except OSError as error:
        code = {errno.EADDRINUSE: "port_taken", errno.EACCES: "port_forbidden"}.get(error.errno or 0, "host_unknown")
        yield wrong("port", code, where=where)
        return
    yield ok("port", "port_free", where=where)
