"""`kangtou status`: what runs at a server, and how it is doing."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToDict
from rich.live import Live

from ..screen import Screen
from .common import of
from .remote import Remote, run
from .status_live import Watch, screen

FIRST_S = 0.5  # between the two looks of `--once`, so that there are rates


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="print it once and end (also if it goes into a pipe)")] = False,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", min=0.2, max=3600, help="between looks")] = 1.0,
) -> None:
    """Show how a server is doing, as it changes: actors, gateways, rates, queues, Redis.

    For operators; on a server that listens on this machine alone, for whoever is there. Milliseconds are the bounds of
    a histogram since the process began: so many moves or fewer were as fast. Ctrl-C ends it.

    \b
    Examples:
      kangtou status
      kangtou status --every 5
      kangtou status --once
      kangtou status --json --server 127.0.0.1:7480
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        client = remote.client
        if common.json:
            shown: dict[str, object] = {}
            for one in (await client.status(), await client.vitals()):
                shown |= MessageToDict(one, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
            common.put_json(shown)
            return
        console = Screen(no_color=not common.colour, width=None if common.colour else 160)
        watch = Watch()
        if once or not console.is_terminal:
            watch.look(await client.vitals())
            await asyncio.sleep(FIRST_S)
            vitals = await client.vitals()
            watch.look(vitals)
            console.print(screen(common, client.address, vitals, watch))
            return
        with Live(console=console, auto_refresh=False, screen=True) as live:
            while True:
                vitals = await client.vitals()
                watch.look(vitals)
                live.update(screen(common, client.address, vitals, watch), refresh=True)
                await asyncio.sleep(every)

    run(common, work, signed=False)
