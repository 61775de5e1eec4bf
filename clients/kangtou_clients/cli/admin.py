"""`kangtou admin`: tables and processes of a running server, for operators; the accounts are in admin_accounts.py."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from kangtou.v1 import operate_pb2 as pb

from ..api import CallFailed, Unavailable
from . import admin_accounts
from .common import Common, of
from .exits import FAILED
from .remote import Remote, run

LOOK_S = 0.3
Match = Annotated[str, typer.Argument(metavar="MATCH", help="a match's id, as `kangtou admin tables` shows it")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    words = "Operate a running server: tables, processes, accounts, maintenance. For operators."
    group = typer.Typer(help=words, no_args_is_help=True, rich_markup_mode=None)
    group.command("tables")(tables)
    group.command("members")(members)
    group.command("drain")(drain)
    group.command("move")(move)
    group.command("end")(end)
    group.command("maintenance")(maintenance)
    admin_accounts.register(group)
    app.add_typer(group, name="admin")


def document(message: Message) -> dict[str, Any]:
    """A message for programs."""
    shown = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return dict(shown)


def when(time_ms: int) -> str:
    """An instant for people."""
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}" if time_ms else "-"


def tables(
    context: typer.Context,
    actor: Annotated[str, typer.Option("--actor", metavar="ID", help="only those of one actor")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="at most so many")] = 1000,
) -> None:
    """List the matches in play: id, game, seats, since when, and the actor that has it.

    A match without an actor is being moved, or is quarantined after two deaths of its actor (†2).

    \b
    Examples:
      kangtou admin tables
      kangtou admin tables --actor table-local-0-1a2b3c4d --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = await remote.client.operate.tables(actor, limit)
        for table in found.tables:
            if common.json:
                common.put_json(document(table))
                continue
            where = table.actor_id or (f"†{table.deaths}" if table.deaths else "-")
            rated = common.say("admin_rated") if table.rated else ""
            what = f"{table.match_id}  {table.game}  {table.seats}  {when(table.created_ms)}  {where}"
            common.put(f"{what}  {table.pool} {rated}".rstrip())
        if not common.json:
            common.note("admin_tables", shown=len(found.tables), live=found.live)

    run(common, work)


def members(context: typer.Context) -> None:
    """List table actors and gateways, by node.

    \b
    Examples:
      kangtou admin members
      kangtou admin members --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = sorted(await remote.client.operate.members(), key=lambda one: (one.node, one.kind, one.id))
        for one in found:
            if common.json:
                common.put_json(document(one))
            else:
                common.put(_line(common, one))

    run(common, work)


def _line(common: Common, one: pb.Member) -> str:
    state = common.say("admin_stopping" if one.stopping else "admin_draining") if one.draining else ""
    what = common.say("admin_actor" if one.kind == pb.Member.KIND_ACTOR else "admin_gateway", tables=one.tables)
    return f"{one.node}  {one.id}  pid {one.pid}  {what}  {state}".rstrip()


def drain(
    context: typer.Context,
    member: Annotated[str, typer.Argument(metavar="ACTOR|GATEWAY", help="an id, as `kangtou admin members` shows it")],
    stop: Annotated[bool, typer.Option("--stop", help="then end it: it is started again as what is installed")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="take that back")] = False,
    wait_s: Annotated[float, typer.Option("--wait", metavar="SECONDS", min=0, help="how long to wait for it")] = 60.0,
) -> int:
    """Have an actor or a gateway take nothing new and let go of what it has. No match ends.

    Tables of an actor go to the others; what their players wait is given back. A gateway always ends, its clients
    resume at another one or at its successor. Waits until it is done (exit code 1 if it takes longer than --wait).

    \b
    Examples:
      kangtou admin drain table-local-0-1a2b3c4d --stop     replace an actor under play
      kangtou admin drain gateway-0-9f8e7d6c                replace a gateway
      kangtou admin drain table-local-0-1a2b3c4d --undo
    """
    common = of(context)

    async def work(remote: Remote) -> int:
        before = {one.id: one for one in await remote.client.operate.members()}
        refused = await remote.client.operate.drain(member, stop=stop, undo=undo)
        if refused is not None:
            remote.given(refused)
        done = undo or await _drained(remote, before[member], wait_s, gone=stop)
        if common.json:
            common.put_json({"id": member, "done": done})
        else:
            common.put(common.say("admin_drained" if done else "admin_drain_waits", member=member))
        return 0 if done else FAILED

    return run(common, work)


async def _drained(remote: Remote, member: pb.Member, wait_s: float, *, gone: bool) -> bool:
    """Wait until it has nothing any more, or has ended."""
    ends = gone or member.kind == pb.Member.KIND_GATEWAY
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_s
    while True:
        try:
            now = {one.id: one for one in await remote.client.operate.members()}
            if member.id not in now or (not ends and now[member.id].draining and not now[member.id].tables):
                return True
        except Unavailable:
            pass  # it was this gateway: its successor will say
        except CallFailed as error:
            if error.status != "CANCELLED":
                raise
        if loop.time() >= until:
            return False
        await asyncio.sleep(LOOK_S)


def move(
    context: typer.Context,
    match: Match,
    actor: Annotated[str, typer.Argument(metavar="[ACTOR]", help="to which; default: the least loaded")] = "",
) -> None:
    """Move a match to another table actor, under play.

    \b
    Examples:
      kangtou admin move k3m9x2p7q4w8t6ab
      kangtou admin move k3m9x2p7q4w8t6ab table-local-1-5e6f7a8b --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = remote.given(await remote.client.operate.move(match, actor))
        if common.json:
            common.put_json({"match_id": match, "actor_id": found})
        else:
            common.put(common.say("admin_moved", match=match, actor=found))

    run(common, work)


def end(
    context: typer.Context,
    match: Match,
    cause: Annotated[str, typer.Option("--cause", metavar="WORD", help="what the record says")] = "operator",
) -> None:
    """End a match outside the rules, also one that a fault has stopped. Its record says why; it is not rated.

    \b
    Examples:
      kangtou admin end k3m9x2p7q4w8t6ab
      kangtou admin end k3m9x2p7q4w8t6ab --cause faulted
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        refused = await remote.client.operate.end(match, cause)
        if refused is not None:
            remote.given(refused)
        put_done(common, "admin_ended", match_id=match, cause=cause)

    run(common, work)


def maintenance(
    context: typer.Context,
    state: Annotated[str, typer.Argument(metavar="[on|off]", help="default: tell how it is")] = "",
    message: Annotated[str, typer.Option("--message", metavar="TEXT", help="what players are told beside it")] = "",
) -> None:
    """Close the server for everything new: matches, tickets, tables, tournaments. What runs goes on to its end.

    Who asks for something new is told that there is maintenance, and the message. Running tournaments go on; pause
    them with `kangtou tournament pause`.

    \b
    Examples:
      kangtou admin maintenance on --message "back at 04:00 UTC"
      kangtou admin maintenance off
      kangtou admin maintenance --json
    """
    common = of(context)
    if state not in ("", "on", "off"):
        raise typer.BadParameter("on or off", param_hint="[on|off]")

    async def work(remote: Remote) -> None:
        wanted = pb.MaintenanceState(on=state == "on", message=message) if state else None
        now = await remote.client.operate.maintenance(wanted)
        if common.json:
            common.put_json(document(now))
        elif now.on:
            common.put(common.say("admin_closed", since=when(now.since_ms), message=now.message))
        else:
            common.put(common.say("admin_open"))

    run(common, work)


def put_done(common: Common, code: str, **shown: str | Sequence[str]) -> None:
    """What was done, for people or programs."""
    if common.json:
        common.put_json(shown)
    else:
        common.put(common.say(code, **shown))
