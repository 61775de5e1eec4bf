"""`kangtou admin accounts` and what changes one: roles, ban, tokens, deletion; and the first operator of a server."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToDict

from kangtou.v1 import operate_pb2 as pb

from .bulk import DATA, DataOption
from .common import Common, of
from .exits import FAILED, USAGE
from .remote import Remote, run

Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="an account's id")]


def register(group: typer.Typer) -> None:
    """Add the commands to `kangtou admin`."""
    group.command("accounts")(accounts)
    group.command("roles")(roles)
    group.command("ban")(ban)
    group.command("unban")(unban)
    group.command("revoke")(revoke)
    group.command("delete")(delete)
    group.command("appoint")(appoint)


def accounts(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="an id, or a part of a name; default: all")] = "",
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="only accounts with it: operator, banned …")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="at most so many")] = 50,
) -> None:
    """Find accounts: id, name, kind, roles, since when.

    \b
    Examples:
      kangtou admin accounts xiaoming
      kangtou admin accounts --role banned --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = await remote.client.operate.accounts(text, role, limit)
        for one in found.accounts:
            _put(common, one)
        if found.more:
            common.note("admin_more", limit=limit)

    run(common, work)


def roles(
    context: typer.Context,
    account: Account,
    given: Annotated[list[str], typer.Argument(metavar="ROLE...", help="all that it is to have: player, operator")],
) -> None:
    """Give an account its roles; those that are not named are taken.

    \b
    Examples:
      kangtou admin roles k3m9x2p7q4w8t6ab player operator
      kangtou admin roles k3m9x2p7q4w8t6ab player
    """
    _change(of(context), pb.ChangeAccountRequest(account_id=account, roles=pb.Roles(roles=given)))


def ban(
    context: typer.Context,
    account: Account,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="for the server's log")] = "",
) -> None:
    """Ban an account: its streams end, and it can do nothing any more. Its seats go to substitutes.

    \b
    Examples:
      kangtou admin ban k3m9x2p7q4w8t6ab --reason "let a program play a rated match"
    """
    _change(of(context), pb.ChangeAccountRequest(account_id=account, ban=pb.Ban(reason=reason)))


def unban(context: typer.Context, account: Account) -> None:
    """Let a banned account in again.

    \b
    Examples:
      kangtou admin unban k3m9x2p7q4w8t6ab
    """
    _change(of(context), pb.ChangeAccountRequest(account_id=account, unban=pb.Unban()))


def revoke(context: typer.Context, account: Account) -> None:
    """End all tokens of an account, for example after a leak. Its recovery code still works.

    \b
    Examples:
      kangtou admin revoke k3m9x2p7q4w8t6ab
    """
    _change(of(context), pb.ChangeAccountRequest(account_id=account, revoke_tokens=pb.RevokeTokens()))


def delete(
    context: typer.Context,
    account: Account,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Delete an account for ever. Records of its matches stay, under its opaque id.

    \b
    Examples:
      kangtou admin delete k3m9x2p7q4w8t6ab --yes
    """
    common = of(context)
    if not yes and typer.prompt(common.say("admin_confirm", account=account)) != account:
        raise common.fail(USAGE, "not_confirmed")
    _change(common, pb.ChangeAccountRequest(account_id=account, delete=pb.Delete()))


def appoint(
    context: typer.Context,
    account: Account,
    data: DataOption = DATA,
) -> int:
    """Make an account an operator, by access to the server's data folder: for the first operator of a server.

    \b
    Examples:
      kangtou register Ops && kangtou admin appoint k3m9x2p7q4w8t6ab --data /srv/kangtou
    """
    common = of(context)
    environment = {**os.environ, "KANGTOU_DATA": str(data)}
    argv = [sys.executable, "-m", "kangtou_services", "appoint", account]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise common.fail(
            done.returncode if done.returncode > 0 else FAILED, "admin_not_appointed", reason=done.stderr.strip()
        )
    if common.json:
        common.put_json({"account_id": account, "roles": ["operator", "player"]})
    else:
        common.put(common.say("admin_appointed", account=account))
    return 0


def _change(common: Common, request: pb.ChangeAccountRequest) -> None:
    async def work(remote: Remote) -> None:
        _put(common, remote.given(await remote.client.operate.change(request)))

    run(common, work)


def _put(common: Common, one: pb.FoundAccount) -> None:
    if common.json:
        shown = MessageToDict(one, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
        common.put_json(dict(shown))
        return
    since = f"{datetime.fromtimestamp(one.created_ms / 1000, UTC):%Y-%m-%d}" if one.created_ms else "-"
    common.put(f"{one.account_id}  {one.name}  {one.kind}  {','.join(one.roles) or '-'}  {since}")
