"""Everything that a server on this machine has written, exposes and answers, as texts by where they come from."""

from __future__ import annotations

import contextlib
import json
import stat
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from tests.faults.server import Server
from tests.operate.server import command

RAY = Path("/tmp/ray")  # where a pool that is alone on its node has Ray keep its session
# What is kept: log, accounts, records and their index, the bots' own accounts.
STORES = ("redis/", "archive/", "archive-index/", "house/")
SECRETS = (".secret", "join.json")  # files that are the secret


def written(server: Server, ray: list[Path]) -> dict[str, str]:
    """Files of the data folder but for its stores, and Ray's sessions."""
    found = {}
    for file in sorted(server.data.rglob("*")):
        name = file.relative_to(server.data).as_posix()
        if file.is_file() and not name.startswith(STORES) and not name.endswith(SECRETS):
            found[name] = _text(file)
    for file in sorted(server.data.glob("redis/*.log")):  # what it says, not what it keeps
        found[f"redis/{file.name}"] = _text(file)
    for session in ray:
        for file in sorted(session.rglob("*")):
            if file.is_file() and not file.is_symlink():
                found[f"ray/{file.relative_to(session).as_posix()}"] = _text(file)
    return found


def _text(file: Path) -> str:
    with contextlib.suppress(FileNotFoundError):  # it was there a moment ago
        return file.read_bytes().decode("utf-8", "replace")
    return ""


def sessions(server: Server) -> list[Path]:
    """Ray's session folders of the server's processes: named by the process that began them, and younger than that."""
    began = {str(process.pid): process.create_time() for process in server.processes()}
    return [
        path
        for path in RAY.glob("session_2*")
        if path.stat().st_ctime > began.get(path.name.rpartition("_")[2], float("inf"))
    ]


def exposed(server: Server) -> dict[str, str]:
    """Metrics of all processes, and their command lines, which everybody on the machine can read."""
    found = {}
    for note in sorted((server.data / "run" / "metrics").glob("*.json")):
        (target,) = json.loads(note.read_text())
        with urllib.request.urlopen(f"http://{target['targets'][0]}/metrics", timeout=60) as response:
            found[f"metrics of {target['labels']['process']}"] = response.read().decode()
    for process in server.processes():
        with contextlib.suppress(psutil.Error):
            found[f"command line of {process.pid}"] = "\n".join(process.cmdline())
    return found


def open_to_others(server: Server) -> Iterator[str]:
    """Stores and secrets that another user of this machine could read."""
    for path in [*server.data.glob("*.secret"), *server.data.glob("redis"), *server.data.glob("house")]:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield path.name


async def commanded(*arguments: str, **variables: str) -> str:
    """What `kangtou …` prints, as a process of its own, with its exit code."""
    code, out, errors = await command(*arguments, **variables)
    return f"{out}{errors}exit code {code}\n"


def merged(*parts: Mapping[str, str]) -> dict[str, str]:
    """All of them."""
    return {where: text for part in parts for where, text in part.items()}
