"""`kangtou party`: queueing with a partner."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypeAlias

import typer

from kangtou.v1 import party_pb2 as pb
from kangtou.wire import options_from_pb

from ..api.parties import Parties, wanted_of
from .common import Common, of
from .lobby import BankMs, Game, IncrementMs, Options, Rules, TurnMs, WindowMs
from .lobby import wanted_of as wanted_from
from .queue import Ask, checked_ask, queue_up
from .remote import Remote, run

Code: TypeAlias = Annotated[str, typer.Argument(metavar="CODE", help="the party's code, as `party create` shows it")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="Queue with a partner, in games with fixed sides.", no_args_is_help=True, rich_markup_mode=None
    )
    group.command("create")(create)
    group.command("join")(join)
    group.command("show")(show)
    group.command("queue")(queue)
    group.command("leave")(leave)
    app.add_typer(group, name="party")


def create(
    context: typer.Context,
    game: Game,
    option: Options = [],  # noqa: B006 - the parser makes a new list for each call
    turn_ms: TurnMs = 0,
    window_ms: WindowMs = 0,
    bank_ms: BankMs = 0,
    increment_ms: IncrementMs = 0,
    rated: Annotated[bool, typer.Option("--rated", help="for the rated pool")] = False,
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="a pool of its own name")] = "",
    rules: Rules = "",
) -> None:
    """Make a party of two for one game, and show its code: give that to your partner.

    \b
    Examples:
      kangtou party create duizhu
      kangtou party create wushik --rules jinzhou --rated
    """
    common = of(context)
    wanted = replace(wanted_from(common, game, option, 0, turn_ms, window_ms), rules=rules)
    wanted = replace(wanted, bank_ms=bank_ms, increment_ms=increment_ms)

    async def work(remote: Remote) -> None:
        _put(common, remote.given(await Parties(remote.client).create(wanted, rated=rated, pool=pool)))

    run(common, work)


def join(context: typer.Context, code: Code) -> None:
    """Join the party that somebody has made.

    \b
    Examples:
      kangtou party join k3m9x2p7
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        _put(common, remote.given(await Parties(remote.client).join(code)))

    run(common, work)


def show(context: typer.Context, code: Code) -> None:
    """Show who is in a party, and what it is for.

    \b
    Examples:
      kangtou party show k3m9x2p7 --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        _put(common, remote.given(await Parties(remote.client).find(code)))

    run(common, work)


def queue(context: typer.Context, code: Code, ask: Ask = False) -> None:
    """Queue as a party, and wait until the table is ready. Both do this; you sit opposite each other.

    Ctrl-C takes your ticket back; the party stays.

    \b
    Examples:
      kangtou party queue k3m9x2p7
    """
    common = of(context)
    checked_ask(common, ask)

    async def work(remote: Remote) -> None:
        party = remote.given(await Parties(remote.client).find(code))
        await queue_up(remote, wanted_of(party), rated=party.rated, pool=party.pool, ask=ask, party=code)

    run(common, work)


def leave(context: typer.Context, code: Code) -> None:
    """End a party, for both. Tickets of it are taken back unless they have been matched.

    \b
    Examples:
      kangtou party leave k3m9x2p7
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        remote.given(await Parties(remote.client).leave(code))
        if common.json:
            common.put_json({"left": code})
        else:
            common.put(common.say("party_left", party=code))

    run(common, work)


def _put(common: Common, party: pb.Party) -> None:
    names = [member.name or member.account_id for member in party.members]
    options = options_from_pb(party.choice)
    if common.json:
        given = {"code": party.code, "game": party.choice.game, "options": options, "members": names}
        common.put_json({**given, "rated": party.rated, "pool": party.pool, "over": party.over})
        return
    shown = "  ".join(f"{name}={str(value).lower()}" for name, value in sorted(options.items()))
    rated = common.say("rated") if party.rated else ""
    state = common.say("party_over") if party.over else ""
    parts = (party.code, party.choice.game, ", ".join(names), shown, rated, state)
    common.put("  ".join(part for part in parts if part))
