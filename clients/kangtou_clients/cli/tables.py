"""`kangtou table`, `stand`, `change-seat`, `ready`, `start`, `remove`, `allow`, `rematch`, `watch-tables`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, TypeAlias

import typer

from kangtou.v1 import lobby_pb2 as pb

from ..api import Client, Place, Refused
from .common import MOST, Common, of
from .lobby import Code, Free, Kind, Options, Rated, Rules, Seats, States, filter_of
from .remote import Remote, run
from .seats import keep
from .table_lines import put_table, put_whole

TableId: TypeAlias = Annotated[str, typer.Argument(metavar="TABLE", help="as `open` and `tables` show it")]
Account: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="a name at the table, or an account")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("table")(table)
    app.command("watch-tables")(watch_tables)
    app.command("stand")(stand)
    app.command("change-seat")(change_seat)
    app.command("ready")(ready)
    app.command("start")(start)
    app.command("fill")(fill)
    app.command("remove")(remove)
    app.command("allow")(allow)
    app.command("rematch")(rematch)


def table(
    context: typer.Context,
    match: Annotated[str, typer.Argument(metavar="[TABLE]", help="as `open` and `tables` show it")] = "",
    code: Code = "",
) -> None:
    """Show a table: who sits there, every option (* differs from the book), what was played and how it stands.

    \b
    Examples:
      kangtou table mx4k2p7q
      kangtou table --code k3m9x2q7ab
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        put_whole(common, remote.given(await remote.client.lobby.table(match, code)))

    run(common, work)


def watch_tables(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="of this game only")] = "",
    state: States = [],  # noqa: B006 - the parser makes a new list for each call
    option: Options = [],  # noqa: B006
    rules: Rules = "",
    free: Free = 0,
    rated: Rated = None,
    kind: Kind = "",
    seats: Seats = 0,
) -> None:
    """List public tables, then say what is added, changed or removed, until Ctrl-C.

    \b
    Examples:
      kangtou watch-tables
      kangtou watch-tables hongshi --free 1 --json
    """
    common = of(context)
    wanted = filter_of(common, game, state, option, rules, free, rated, kind, seats)

    async def work(remote: Remote) -> None:
        async with aclosing(remote.client.tables.watch(wanted)) as changes:
            async for one in changes:
                change = remote.given(one)
                if change.what == "removed":
                    gone = {"change": "removed", "match": change.match_id}
                    common.put_json(gone) if common.json else common.put(f"{'removed':<8}  {change.match_id}")
                for found in change.tables:
                    put_table(common, found, change.what if change.what != "snapshot" else "listed")

    run(common, work)


def stand(context: typer.Context, match: TableId) -> None:
    """Give your seat back, before a match starts or after it is over. The owner of an empty table gives it up.

    \b
    Examples:
      kangtou stand mx4k2p7q
    """
    _change(of(context), lambda client: client.lobby.stand(match))


def change_seat(
    context: typer.Context,
    match: TableId,
    seat: Annotated[int, typer.Argument(metavar="SEAT", min=0, max=MOST, help="a free one")],
) -> None:
    """Take another free seat at your table.

    \b
    Examples:
      kangtou change-seat mx4k2p7q 2
    """
    _change(of(context), lambda client: client.tables.change_seat(match, seat))


def ready(
    context: typer.Context, match: TableId, no: Annotated[bool, typer.Option("--no", help="you are not")] = False
) -> None:
    """Say that you are ready. Where all have to be, the match starts with the last one.

    \b
    Examples:
      kangtou ready mx4k2p7q
      kangtou ready mx4k2p7q --no
    """
    _change(of(context), lambda client: client.tables.ready(match, not no))


def start(context: typer.Context, match: TableId) -> None:
    """Start the match of your table, once all seats are taken and the others are ready.

    \b
    Examples:
      kangtou start mx4k2p7q
    """
    _change(of(context), lambda client: client.tables.start(match))


def fill(context: typer.Context, match: TableId) -> None:
    """Have house bots take the free seats of your table; one is left for you if you do not sit yet.

    Remove one, and no other comes until you ask again. Rated tables and those for people only take none.

    \b
    Examples:
      kangtou open hongshi && kangtou sit mx4k2p7q && kangtou fill mx4k2p7q
    """
    _change(of(context), lambda client: client.tables.fill(match))


def remove(context: typer.Context, match: TableId, name: Account) -> None:
    """Remove somebody from your table before the start. They cannot come back unless you `allow` it.

    \b
    Examples:
      kangtou remove mx4k2p7q Xiaoming
    """
    _about(of(context), match, name, lambda client, account: client.tables.remove(match, account))


def allow(context: typer.Context, match: TableId, name: Account) -> None:
    """Let somebody sit at your table again whom you removed; by account, as they are not there to be named.

    \b
    Examples:
      kangtou allow mx4k2p7q a-5k2m9x
    """
    _about(of(context), match, name, lambda client, account: client.tables.allow(match, account))


def rematch(
    context: typer.Context,
    match: TableId,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="until it is settled")] = True,
) -> None:
    """Agree on another match with the same seats and options, and wait for the others.

    It starts when all agree. When the time is over, those who agreed keep their seats and the table is open again. The
    last line is the match and your seat.

    \b
    Examples:
      kangtou rematch mx4k2p7q
      kangtou rematch mx4k2p7q --no-wait
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        me = await remote.client.accounts.who_am_i()
        agreed = remote.given(await remote.client.tables.rematch(match, me.account_id))
        place = Place(agreed.match_id, agreed.seat, agreed.entropy)
        keep(remote, place)
        settled = remote.given(await remote.client.tables.settled(agreed)) if wait else agreed.table
        put_table(common, settled)
        if not common.json and settled.state == pb.TABLE_STATE_PLAYING:
            common.put(f"{place.match_id}  {common.renderer().seat(place.seat)}")

    run(common, work)


def _change(common: Common, call: Callable[[Client], Awaitable[pb.Table | Refused]]) -> None:
    async def work(remote: Remote) -> None:
        put_table(common, remote.given(await call(remote.client)))

    run(common, work)


def _about(common: Common, match: str, name: str, call: Callable[[Client, str], Awaitable[pb.Table | Refused]]) -> None:
    """Something about a person at the table, whom the owner calls by name."""

    async def work(remote: Remote) -> None:
        found = remote.given(await remote.client.lobby.table(match))
        named = [seat.account_id for seat in found.seats if name in (seat.name, seat.account_id)]
        account = named[0] if len(set(named)) == 1 else name
        put_table(common, remote.given(await call(remote.client, account)))

    run(common, work)
