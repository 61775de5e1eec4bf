"""Entrants by command: a fresh process for each game and seat, in an empty folder, isolated where the kernel allows it.

The process is told by its environment: KANGTOU_SERVER, KANGTOU_TOKEN (good for this seat alone), KANGTOU_MATCH and
KANGTOU_SEAT. It and all that it has started end with the game.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import structlog

from ..settings import Settings
from .model import Entrant

log = structlog.get_logger(__name__)

OUTPUT_MOST = 64 * 1024  # bytes of its output that are kept, the last ones
LOOK_S = 0.25  # how often its memory is measured
PROBE_S = 10.0
SOCKETS = "seats-*.sock"  # of gateways, in the run folder (gateway/seats.py)
_UNSHARE = "--user --map-root-user --net --mount --pid --fork --mount-proc --kill-child".split()
_SANDBOX = str(Path(__file__).with_name("sandbox.py"))
_PASSED = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "SSL_CERT_FILE")


@dataclass(frozen=True, slots=True)
class Seat:
    """What a process is to play."""

    match: str
    seat: int
    token: str = field(repr=False)


class Process:
    """One entrant's process at one seat. Made by `Commands.start`."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path, memory_mb: int) -> None:
        self._process = process
        self._folder = folder
        self._memory_mb = memory_mb
        self._output = bytearray()
        self.why = ""  # it was killed for
        self._reading = asyncio.create_task(self._read(), name="entrant-output")
        self._measuring = asyncio.create_task(self._measure(), name="entrant-memory")

    @property
    def output(self) -> str:
        """The last of what it wrote, and how it ended."""
        text = self._output.decode(errors="replace")
        code = self._process.returncode
        return text + (f"\n[ended: {self.why or _said(code)}]" if code is not None else "")

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return self._process.returncode is not None

    async def wait(self) -> int:
        """Until it ends; its exit code."""
        return await self._process.wait()

    async def end(self, patience_s: float = 0.0) -> None:
        """End it and all that it has started; wait for that, and remove its folder."""
        if patience_s and not self.ended:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._process.wait()
        self._kill()
        await self._process.wait()
        self._measuring.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):  # a grandchild may hold the pipe
                await self._reading
        self._reading.cancel()
        await asyncio.gather(self._reading, self._measuring, return_exceptions=True)
        getattr(self._process, "_transport").close()  # noqa: B009 - else the pipe stays open with such a grandchild
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def _kill(self) -> None:
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self._process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    child.kill()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while piece := await self._process.stdout.read(8192):
            self._output += piece
            if len(self._output) > OUTPUT_MOST:
                del self._output[: len(self._output) - OUTPUT_MOST]

    async def _measure(self) -> None:
        while not self.ended:
            await asyncio.sleep(LOOK_S)
            used = 0
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(self._process.pid)
                for one in (process, *process.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        used += one.memory_info().rss
            if used > self._memory_mb << 20:
                self.why = f"more than {self._memory_mb} MB of memory"
                self._kill()
                return


def _said(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


class Commands:
    """Starts entrants' processes. `isolated`: whether they can be kept from everything but the gateway."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.isolated = False
        self.why_not = ""

    async def probe(self) -> None:
        """Find out whether isolation works here, by trying it; not again once it has worked."""
        if self.isolated:
            return
        gateway = self._gateway_socket()
        if gateway is None:
            self.why_not = "no gateway listens on a unix socket of this machine"
            return
        if shutil.which("unshare") is None:
            self.why_not = "there is no `unshare` (util-linux)"
            return
        self.isolated = True
        look = "import os; open('x', 'w'); assert not os.access('/etc', os.W_OK) and os.getpid() < 9"
        try:
            process = await self._launch(Entrant("probe", command=(sys.executable, "-c", look)), {})
            async with asyncio.timeout(PROBE_S):
                code = await process.wait()
            await process.end()
        except (OSError, TimeoutError) as error:
            self.isolated, self.why_not = False, str(error) or type(error).__name__
            return
        if code != 0:
            self.isolated, self.why_not = False, process.output.strip()[-300:]
            log.warning("entrants_not_isolated", why=self.why_not)

    async def start(self, entrant: Entrant, seat: Seat) -> Process:
        """Start an entrant's process for a seat. Raises OSError if the command cannot be started at all."""
        told = {
            "KANGTOU_SERVER": self._address(),
            "KANGTOU_TOKEN": seat.token,
            "KANGTOU_MATCH": seat.match,
            "KANGTOU_SEAT": str(seat.seat),
        }
        return await self._launch(entrant, told)

    async def _launch(self, entrant: Entrant, told: dict[str, str]) -> Process:
        folder = Path(tempfile.mkdtemp(prefix="kt-seat-"))
        gateway = self._gateway_socket()
        given = {
            "folder": str(folder),
            "memory_mb": entrant.memory_mb,
            "cpu_s": entrant.cpu_s,
            "isolated": self.isolated,
            "socket": str(gateway),
            "hide": self._hidden(),
            "private_tmp": not any(_in_tmp(path) for path in _needed(entrant.command)),
        }
        argv = [sys.executable, "-I", _SANDBOX, json.dumps(given), *entrant.command]
        if self.isolated:
            argv = ["unshare", *_UNSHARE, *argv]
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env={**passed, **told},
            start_new_session=True,
        )
        return Process(process, folder, entrant.memory_mb)

    def _address(self) -> str:
        """Of the gateways. Bots need not speak TLS on this machine: there is a socket for their seats."""
        found = self._gateway_socket() if self._settings.front.startswith("tls://") else None
        return f"unix:{found}" if found is not None else self._settings.front

    def _gateway_socket(self) -> Path | None:
        for path in sorted(self._settings.run_dir.absolute().glob(SOCKETS)):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(0.5)
                probe.connect(str(path))
                return path
        return None

    def _hidden(self) -> list[str]:
        """The server's folder, run-time sockets of the system, Ray's, and where people keep their tokens."""
        config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        return [str(self._settings.data.absolute()), "/run", "/tmp/ray", str(Path(config) / "kangtou")]


def _needed(command: Sequence[str]) -> list[Path]:
    """What the process must be able to read."""
    code = Path(__file__).resolve().parents[3]
    paths = [Path(sys.prefix), Path(sys.base_prefix), code]
    paths += [Path(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return paths + [Path(part) for part in command if part.startswith("/")]


def _in_tmp(path: Path) -> bool:
    return Path("/tmp") in path.parents
