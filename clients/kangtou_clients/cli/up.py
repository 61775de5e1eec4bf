"""`kangtou up`: a whole server on this machine. Starts it as a child; this package knows nothing of its inside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from .common import of


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up")(up)


def up(
    context: typer.Context,
    data: Annotated[Path, typer.Option("--data", help="folder for logs, archive and settings")] = Path("kangtou-data"),
    host: Annotated[str, typer.Option("--host", help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="port of the gateways")] = 7480,
    gateways: Annotated[int, typer.Option("--gateways", min=1, max=64, help="gateway processes on that port")] = 1,
    actors: Annotated[int, typer.Option("--actors", min=0, max=256, help="table actors; 0: one a core")] = 0,
    house_bots: Annotated[int, typer.Option("--house-bots", min=0, max=64, help="accounts of house bots; 0: none")] = 5,
    redis: Annotated[
        str, typer.Option("--redis", metavar="URL", help="a Redis of yours; default: an embedded one")
    ] = "",
    archive: Annotated[str, typer.Option("--archive", metavar="URL", help="folder or object store for records")] = "",
    tls: Annotated[bool, typer.Option("--tls", help="TLS, by a certificate made in the data folder")] = False,
    tls_cert: Annotated[str, typer.Option("--tls-cert", metavar="FILE", help="TLS, by this certificate (PEM)")] = "",
    tls_key: Annotated[str, typer.Option("--tls-key", metavar="FILE", help="its key (PEM), private")] = "",
    head: Annotated[bool, typer.Option("--head", help="the first of several nodes: others may join it")] = False,
    join: Annotated[
        str, typer.Option("--join", metavar="FILE", help="join a head: its join.json, copied from its data folder")
    ] = "",
    node: Annotated[str, typer.Option("--node", metavar="NAME", help="of this node; default: the host's name")] = "",
    address: Annotated[
        str, typer.Option("--address", metavar="IP", help="of this node, at which other nodes reach it")
    ] = "",
) -> int:
    """Run a server: Redis, Ray table actors, gateways, house bots. Prints `ready ADDRESS` when it plays.

    Dead processes are started again; after five deaths of one within a minute it gives up (exit code 4). A second
    server on the same data folder is refused (exit code 3). Ctrl-C drains it and leaves no process. Every further
    setting is a KANGTOU_… variable.

    A server may have several nodes, each with table actors and gateways: one is the head, the others join it with the
    file join.json from the head's data folder, which holds secrets. Any gateway reaches any table (docs/deploy.md).

    \b
    Examples:
      kangtou up
      kangtou up --data /srv/kangtou --port 7480 --gateways 2
      kangtou up --tls          then KANGTOU_CA=kangtou-data/tls/ca.pem kangtou --server tls://127.0.0.1:7480 …
      KANGTOU_TURN_MS=15000 kangtou up --house-bots 8
      kangtou up --head --address 10.0.0.1 --host 10.0.0.1
      kangtou up --join join.json --address 10.0.0.2 --host 10.0.0.2
    """
    of(context)
    several = {"HEAD": "true" if head else "", "JOIN": join, "NODE": node, "ADDRESS": address}
    given = {
        "DATA": data,
        "HOST": host,
        "PORT": port,
        "GATEWAYS": gateways,
        "ACTORS": actors,
        "HOUSE_BOTS": house_bots,
        "REDIS_URL": redis,
        "ARCHIVE_URL": archive,
        "TLS": tls or os.environ.get("KANGTOU_TLS", "false"),
        "TLS_CERT": tls_cert or os.environ.get("KANGTOU_TLS_CERT", ""),
        "TLS_KEY": tls_key or os.environ.get("KANGTOU_TLS_KEY", ""),
        **{name: value for name, value in several.items() if value},
    }
    environment = {**os.environ, **{f"KANGTOU_{name}": str(value) for name, value in given.items()}}
    child = subprocess.Popen([sys.executable, "-m", "kangtou_services", "up"], env=environment, start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: child.send_signal(signal.SIGTERM))
    return child.wait()
