"""The archive, Ray, and whether programs of strangers could be shut in."""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

from fsspec.core import url_to_fs

from ..archive.store import ArchiveMissing, RecordStore
from ..settings import Settings
from ..tournament.commands import Commands
from .finding import Finding, ok, warning, wrong


def archive(settings: Settings) -> Iterator[Finding]:
    """Write, read and delete a small file where records go."""
    url = settings.archive
    try:
        RecordStore(url).check()
    except ArchiveMissing as error:
        yield wrong("archive", "archive_missing", url=url, reason=str(error))
        return
    except OSError as error:
        yield wrong("archive", "archive_away", url=url, reason=str(error))
        return
    step, content = "write", secrets.token_bytes(16)
    try:
        fs: Any
        fs, root = url_to_fs(url)
        place = f"{root.rstrip('/')}/.doctor-{secrets.token_hex(4)}"
        fs.makedirs(root, exist_ok=True)
        fs.pipe_file(place, content)
        step = "read"
        same = fs.cat_file(place) == content
        step = "delete"
        fs.rm_file(place)
    except Exception as error:  # noqa: BLE001 - object stores have errors of their own
        yield wrong("archive", f"archive_no_{step}", url=url, reason=str(error) or type(error).__name__)
        return
    yield ok("archive", "archive_works", url=url) if same else wrong("archive", "archive_no_read", url=url, reason="?")


def ray(settings: Settings) -> Iterator[Finding]:
    """Whether Ray's head answers, where it is another's. `ray.init` would hang for minutes; a connection does not."""
    if not settings.ray_address:
        yield ok("ray", "ray_own")
        return
    host, _, port = settings.ray_address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), 3.0):
            yield ok("ray", "found", what=settings.ray_address)
    except (OSError, ValueError) as error:
        yield wrong("ray", "ray_away", address=settings.ray_address, reason=str(error))


async def sandbox(settings: Settings, *, running: bool) -> AsyncIterator[Finding]:
    """Whether entrants' programs can be kept from everything but the gateway: tried, on a server that runs."""
    if not running:
        return
    commands = Commands(settings)
    await commands.probe()
    if commands.isolated:
        yield ok("sandbox", "sandbox_works")
    else:
        yield warning("sandbox", "sandbox_none", reason=commands.why_not)
