"""`kangtou status`: what runs at a server."""

from __future__ import annotations

import typer
from google.protobuf.json_format import MessageToDict

from .common import of
from .remote import Remote, run


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(context: typer.Context) -> None:
    """Show version, table actors, gateways and matches of a server.

    For operators; on a server that listens on this machine alone, for whoever is there.

    \b
    Examples:
      kangtou status
      kangtou status --json --server 127.0.0.1:7480
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = await remote.client.status()
        if common.json:
            shown = MessageToDict(found, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
            common.put_json(shown)
            return
        ready = common.say("log_ready" if found.log_ready else "log_not_ready")
        common.put(f"kangtou {found.version}  {remote.client.address}  {ready}")
        common.put(common.say("live", live=found.live_matches, quarantined=found.quarantined))
        for actor in found.actors:
            counts = common.say(
                "actor", tables=actor.tables, hosted=actor.hosted, moves=actor.moves, takeovers=actor.takeovers
            )
            common.put(f"  {actor.actor_id}  {actor.node}  pid {actor.pid}  {counts}")
        for gateway in found.gateways:
            common.put(f"  {gateway.gateway_id}  pid {gateway.pid}  {common.say('streams', streams=gateway.streams)}")

    run(common, work, signed=False)
