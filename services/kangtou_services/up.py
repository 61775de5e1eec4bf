"""`python -m kangtou_services up`: a whole server on one machine, from an embedded Redis to the gateways."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import sys
from pathlib import Path

import structlog

from . import joining, logs, ray_node, tls
from .backup.restoring import unfinished
from .embedded import EmbeddedError, EmbeddedServer, EmbeddedSettings, end_left_over
from .log.base import LogUnavailable
from .log.promises import PromiseBroken, insist
from .observe.expose import exposed
from .observe.runner import of_children
from .redis_client import connect
from .room import lacking, wait_for_room
from .settings import Settings
from .supervisor import (
    EXIT_GAVE_UP,
    EXIT_IN_USE,
    Child,
    FolderInUse,
    GaveUp,
    Supervisor,
    end_leftovers,
    fail,
    lock_folder,
)

log = structlog.get_logger(__name__)

RAY_READY_S = 240.0  # Ray is slow to start on a busy machine
REDIS_WAIT_MS = 600_000  # in which children that start while Redis is away do not count as dead


def main(settings: Settings) -> int:
    """Run until a signal. Exit codes: 0 stopped, 3 the data folder is in use, 4 gave up."""
    logs.configure(settings.log_level, "up", settings.log_format)
    try:
        lock = lock_folder(settings.data)
    except FolderInUse:
        return fail(f"another server runs on {settings.data}; stop it, or use another --data folder", EXIT_IN_USE)
    except OSError as error:
        return fail(f"{settings.data} cannot be the data folder: {error.strerror}", EXIT_GAVE_UP)
    with lock:
        settings.run_dir.mkdir(exist_ok=True)
        settings.run_dir.chmod(0o700)  # who reaches the sockets in it is believed
        if not settings.redis_url and (why := lacking(settings.data)):
            return fail(f"{settings.data}: {why}", EXIT_GAVE_UP)
        if unfinished(settings.data):
            return fail(f"a restore into {settings.data} was broken off: run it again first", EXIT_GAVE_UP)
        left = end_leftovers(settings.data)
        if left:
            log.warning("leftovers_ended", processes=left)
        end_left_over(settings.data / "redis")
        try:
            _can_listen(settings)
        except OSError as error:
            return fail(f"cannot listen on {settings.host}:{settings.port}: {error.strerror}", EXIT_GAVE_UP)
        try:
            files = tls.prepare(settings)
        except tls.BadCertificate as error:
            return fail(f"TLS: {error}", EXIT_GAVE_UP)
        try:
            started = children(settings)
            _environment(_completed(settings), files)
            asyncio.run(_run(settings, started))
        except (GaveUp, PromiseBroken, ray_node.NoHeadStore) as error:
            return fail(str(error), EXIT_GAVE_UP)
        except LogUnavailable as error:
            return fail(f"Redis cannot be used: {error}", EXIT_GAVE_UP)
        finally:
            ray_node.clean(settings)
    return 0


def _can_listen(settings: Settings) -> None:
    """Raises OSError if the address is another's: gateways, who share a port, would share it with another server."""
    with socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((settings.host, settings.port))
        probe.listen()


def embedded_server(settings: Settings) -> EmbeddedServer:
    """The Redis of this data folder; that of a head serves other nodes too."""
    folder = settings.data / "redis"
    if not settings.head:
        return EmbeddedServer(EmbeddedSettings(folder))
    password = _kept(settings.data / "redis.secret")
    return EmbeddedServer(EmbeddedSettings(folder, port=settings.redis_port, bind=settings.address, password=password))


def main_redis(settings: Settings) -> int:
    """`python -m kangtou_services redis`: become the embedded server, once its disk has room."""
    logs.configure(settings.log_level, "redis", settings.log_format)
    server = embedded_server(settings)
    server.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    wait_for_room(server.folder)
    try:
        server.become()
    except EmbeddedError as error:
        return fail(str(error), 1)


async def _run(settings: Settings, started: list[Child]) -> None:
    if settings.redis_url:
        client = connect(settings.redis)
        try:
            await insist(client, replicas=settings.replicas, warn_only=settings.allow_weak_redis)
        finally:
            await client.aclose()
    supervisor = Supervisor(settings.data, started, settings.give_up_deaths)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.stop)
    async with exposed(settings, "up", "up", lambda: of_children(supervisor.children)):
        await supervisor.run(lambda: _say_ready(settings))


def _say_ready(settings: Settings) -> None:
    ready = {"address": settings.front, "data": str(settings.data.absolute()), "pid": os.getpid()}
    (settings.run_dir / "ready.json").write_text(json.dumps(ready))
    sys.stdout.write(f"ready {ready['address']}\n")
    sys.stdout.flush()


def _completed(settings: Settings) -> Settings:
    """With secrets made for this data folder; a head also says where it is, to those that join too."""
    secret = {
        "link_secret": settings.link_secret or _kept(settings.data / "link.secret"),
        "house_secret": settings.house_secret or _kept(settings.data / "house.secret"),
    }
    if not settings.head:
        return settings.model_copy(update=secret)
    ray_address = f"{settings.address}:{settings.ray_port}"
    everywhere = settings.model_copy(
        update={**secret, "ray_address": ray_address, "archive_url": settings.archive, "redis_url": settings.redis_url}
    )
    here = everywhere
    if not settings.redis_url:
        server = embedded_server(settings)
        url = f"redis://:{server.settings.password}@{settings.address}:{settings.redis_port}"
        everywhere = everywhere.model_copy(update={"redis_url": url})
        here = everywhere.model_copy(update={"redis_url": server.url, "ray_redis_url": settings.ray_redis_url or url})
    joining.write(everywhere, settings.data / joining.NAME, _ray_token(settings))
    ray_node.head_store(here)  # better now than in a child
    return here


def _ray_token(settings: Settings) -> str:
    return os.environ.setdefault("RAY_AUTH_TOKEN", _kept(settings.data / "ray.secret"))


def _environment(settings: Settings, files: tls.Files | None = None) -> None:
    """What the children share: settings as variables, Ray's token, how its bots trust it."""
    if files is not None:
        os.environ["KANGTOU_TLS_NAME"] = tls.name_of(files)
        if files.root is not None:
            os.environ["KANGTOU_CA"] = str(files.root.absolute())
    for name in Settings.model_fields:
        value = getattr(settings, name)
        os.environ[f"KANGTOU_{name.upper()}"] = str(value).lower() if isinstance(value, bool) else str(value)
    os.environ["KANGTOU_REDIS_WAIT_MS"] = str(settings.redis_wait_ms or REDIS_WAIT_MS)
    os.environ["KANGTOU_DATA"] = str(settings.data.absolute())
    if not settings.ray_address:  # alone: Ray listens on 127.0.0.1 only if no other node can be
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    _ray_token(settings)


def _kept(path: Path) -> str:
    """A random secret that stays the same for this data folder, in a private file."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    secret = secrets.token_hex(32)
    with os.fdopen(file, "w") as out:
        out.write(secret)
    return secret


def children(settings: Settings) -> list[Child]:
    """The processes of a server, in the order in which they start."""
    services = [sys.executable, "-m", "kangtou_services"]
    found: list[Child] = []

    async def redis_ready() -> bool:
        return embedded_server(settings).answers()

    def redis_excuse() -> str:
        try:
            return lacking(settings.data / "redis")
        except OSError:
            return ""  # its own fault, or the folder's: the child says what it is when it starts

    async def listening() -> bool:
        return _listens(settings.host, settings.port)

    async def head_listens() -> bool:
        return ray_node.started(settings, "head") and _listens(settings.address, settings.ray_port)

    if not settings.redis_url:
        found.append(Child("redis", [*services, "redis"], ready=redis_ready, excuse=redis_excuse, grace=10.0))
    if settings.head:
        found.append(Child("head", [*services, "head"], ready=head_listens, grace=10.0, ready_s=RAY_READY_S))
    found.append(Child("pool", [*services, "pool"], says_ready=True, grace=15.0, ready_s=RAY_READY_S))
    for index in range(settings.gateways):
        found.append(Child(f"gateway-{index}", [*services, "gateway", str(index)], ready=listening))
    if settings.tournaments:
        found.append(Child("runner", [*services, "runner"]))
    if settings.house_bots:
        bots = [sys.executable, "-m", "kangtou_clients", "bot", "serve", "--server", settings.front]
        kept = settings.data.absolute() / "house"
        found.append(Child("bots", [*bots, "--accounts", str(settings.house_bots), "--keep", str(kept)]))
    return found


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), 0.3):
        return True
    return False
