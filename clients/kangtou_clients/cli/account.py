"""`kangtou register`, `whoami`, `account delete`: accounts of this user on a server."""

from __future__ import annotations

import secrets
import sys
import time
from typing import Annotated, Literal

import typer

from .common import Common, of
from .config import Profile
from .exits import REFUSED, USAGE
from .remote import Remote, run


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("register")(register_account)
    app.command("whoami")(whoami)
    group = typer.Typer(help="What concerns an account as a whole.", no_args_is_help=True, rich_markup_mode=None)
    group.command("delete")(delete)
    app.add_typer(group, name="account")


def register_account(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="what others see: 1 to 24 characters")],
    bot: Annotated[bool, typer.Option("--bot", help="an account for a program; shown to everybody, for ever")] = False,
) -> None:
    """Make an account on a server and keep its token for later commands.

    The recovery code is shown once: write it down. Several accounts on one server are told apart by --as.

    \b
    Examples:
      kangtou register Xiaoming --server play.example:7480
      kangtou register dealer-bot --bot --as bot1
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        if remote.profile is not None:
            known = remote.config.profiles(remote.client.address)
            raise common.fail(REFUSED, "profile_taken", server=remote.client.address, profiles=", ".join(known))
        kind: Literal["human", "bot"] = "bot" if bot else "human"
        login = remote.given(await remote.client.accounts.register(name, kind, secrets.token_hex(16)))
        assert login.account is not None
        account = login.account
        profile = Profile(account.account_id, account.name, account.kind, login.token, login.expires_ms)
        remote.config.keep(remote.client.address, common.profile, profile)
        if common.json:
            common.put_json(
                {"account_id": account.account_id, "name": account.name, "recovery_code": login.recovery_code}
            )
            return
        common.put(f"{account.name}  {account.account_id}  ({common.word(account.kind)})")
        common.put(common.say("recovery", recovery=login.recovery_code))
        common.put(common.say("kept", path=remote.config.path))

    run(common, work, signed=False)


def whoami(context: typer.Context) -> None:
    """Show the account that acts, and until when its token is good.

    \b
    Examples:
      kangtou whoami
      kangtou whoami --as bot1 --server 127.0.0.1:7480
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        account = await remote.client.accounts.who_am_i()
        expires_ms = remote.profile.expires_ms if remote.profile else 0
        days = max(0, (expires_ms - time.time_ns() // 1_000_000) // 86_400_000)
        if common.json:
            given = {"account_id": account.account_id, "name": account.name, "kind": account.kind}
            common.put_json({**given, "server": remote.client.address, "expires_ms": expires_ms})
            return
        common.put(f"{account.name}  {account.account_id}  ({common.word(account.kind)})  {remote.client.address}")
        common.put(common.say("expires", days=days))

    run(common, work)


def delete(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Delete the account that acts, for ever.

    Its tokens and recovery code end, its name is forgotten everywhere, it leaves queues and tables whose match has not
    begun. Records of its matches stay, under an id that says nothing of who it was, and can be verified as before. You
    are asked to type the account's name first; where nobody can be asked, --yes is needed.

    \b
    Examples:
      kangtou account delete
      kangtou account delete --as bot1 --yes
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        account = await remote.client.accounts.who_am_i()
        if not yes:
            _confirm(common, account.name)
        remote.given(await remote.client.accounts.delete(account.account_id) or account)
        remote.config.drop(remote.client.address, common.profile)
        if common.json:
            common.put_json({"deleted": account.account_id})
            return
        common.put(common.say("account_deleted", name=account.name, account=account.account_id))

    run(common, work)


def _confirm(common: Common, name: str) -> None:
    """Ask for the name. Raises CommandError."""
    if not sys.stdin.isatty():
        raise common.fail(USAGE, "confirm_needed")
    sys.stderr.write(common.say("confirm_delete", name=name) + " ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != name:
        raise common.fail(REFUSED, "not_confirmed")
