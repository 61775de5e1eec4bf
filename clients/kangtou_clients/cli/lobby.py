"""`kangtou quick`, `open`, `tables`, `sit`: finding a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, TypeAlias

import typer

from kangtou.v1 import lobby_pb2 as pb
from kangtou.wire import options_from_pb
from kangtou_engine.errors import BadOptions
from kangtou_engine.options import option_from_text
from kangtou_engine.registry import REGISTRY

from ..api import Place, Wanted
from .common import MOST, Common, of
from .exits import USAGE, CommandError
from .remote import Remote, run
from .seats import keep, opened

Options: TypeAlias = Annotated[
    list[str], typer.Option("--option", "-o", metavar="NAME=VALUE", help="a house option; `kangtou games GAME` lists")
]
Game: TypeAlias = Annotated[str, typer.Argument(metavar="GAME", help="`kangtou games` lists them")]
Seats: TypeAlias = Annotated[int, typer.Option("--seats", metavar="N", min=0, max=MOST, help="0: the game's default")]
TurnMs: TypeAlias = Annotated[
    int, typer.Option("--turn-ms", metavar="MS", min=0, max=MOST, help="time for a move; 0: the server's")
]
WindowMs: TypeAlias = Annotated[
    int, typer.Option("--window-ms", metavar="MS", min=0, max=MOST, help="time in a window; 0: the game's")
]
STATES = {pb.TABLE_STATE_OPEN: "open", pb.TABLE_STATE_PLAYING: "playing", pb.TABLE_STATE_OVER: "over"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("quick")(quick)
    app.command("open")(open_table)
    app.command("tables")(tables)
    app.command("sit")(sit)


def quick(
    context: typer.Context,
    game: Game,
    option: Options = [],  # noqa: B006 - the parser makes a new list for each call
    seats: Seats = 0,
    turn_ms: TurnMs = 0,
    window_ms: WindowMs = 0,
    rated: Annotated[bool, typer.Option("--rated", help="in the rated pool")] = False,
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="a pool of its own name")] = "",
) -> None:
    """Queue for a match, and wait until the table is ready. Ctrl-C takes the ticket back.

    The last line is the match and your seat: play it with `act`, look at it with `watch`.

    \b
    Examples:
      kangtou quick hongshi
      kangtou quick wushik -o variant=liaoning --rated
    """
    common = of(context)
    wanted = wanted_of(common, game, option, seats, turn_ms, window_ms)

    async def work(remote: Remote) -> None:
        async with remote.client.lobby.quick(wanted, rated=rated, pool=pool) as queue:
            async for status in queue.statuses():
                if status.refused is not None:
                    remote.given(status.refused)
                if status.state == "ready":
                    place = Place(status.match_id, status.seat, queue.entropy)
                    keep(remote, place)
                    await opened(remote, place.match_id, place.seat)
                    _sat(common, place)
                    return
                if common.json:
                    common.put_json({"state": status.state, "waiting": status.waiting})
                else:
                    common.put(common.say(f"ticket_{status.state}", waiting=status.waiting))

    run(common, work)


def open_table(
    context: typer.Context,
    game: Game,
    option: Options = [],  # noqa: B006
    seats: Seats = 0,
    turn_ms: TurnMs = 0,
    window_ms: WindowMs = 0,
) -> None:
    """Open a table with free seats; the match starts when all are taken.

    \b
    Examples:
      kangtou open hongshi -o rounds=4
      kangtou open erbaiwu --seats 3 --turn-ms 60000
    """
    common = of(context)
    wanted = wanted_of(common, game, option, seats, turn_ms, window_ms)

    async def work(remote: Remote) -> None:
        _put_table(common, remote.given(await remote.client.lobby.open(wanted)))

    run(common, work)


def tables(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="of this game only")] = "",
) -> None:
    """List open tables with free seats.

    \b
    Examples:
      kangtou tables
      kangtou tables hongshi --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = False
        async for table in remote.client.lobby.tables(game):
            _put_table(common, table)
            found = True
        if not found:
            common.note("no_tables")

    run(common, work)


def sit(
    context: typer.Context,
    match: Annotated[str, typer.Argument(metavar="MATCH", help="a table, as `open` and `tables` show it")],
    seat: Annotated[
        int | None, typer.Option("--seat", metavar="N", min=0, max=MOST, help="default: any free one")
    ] = None,
) -> None:
    """Take a seat at an open table.

    \b
    Examples:
      kangtou sit mx4k2p7q
      kangtou sit mx4k2p7q --seat 2 --as bot1
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        place = remote.given(await remote.client.lobby.sit(match, seat))
        keep(remote, place)
        _sat(common, place)

    run(common, work)


def _sat(common: Common, place: Place) -> None:
    if common.json:
        common.put_json({"match": place.match_id, "seat": place.seat})
    else:
        common.put(f"{place.match_id}  {common.renderer().seat(place.seat)}")


def _put_table(common: Common, table: pb.Table) -> None:
    seats = [seat.name or seat.account_id for seat in table.seats]
    options = options_from_pb(table.choice)
    if common.json:
        given = {"match": table.match_id, "game": table.choice.game, "options": options, "seats": seats}
        common.put_json({**given, "state": STATES.get(table.state, ""), "rated": table.rated})
        return
    shown = "  ".join(f"{name}={str(value).lower()}" for name, value in sorted(options.items()))
    free = common.say("free")
    common.put(f"{table.match_id}  {table.choice.game}  {', '.join(seat or free for seat in seats)}  {shown}".rstrip())


def wanted_of(common: Common, game: str, given: Sequence[str], seats: int, turn_ms: int, window_ms: int) -> Wanted:
    """What was asked for; values take the types of the game's options. Raises CommandError."""
    options: dict[str, int | bool | str] = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals:
            raise common.fail(USAGE, "bad_option", text=part)
        options[name] = _value(game, name, value)
    return Wanted(game, 0, seats, options, turn_ms, window_ms)


def _value(game: str, name: str, value: str) -> int | bool | str:
    """By the option's type if this program knows the game; the server checks either way."""
    rows = REGISTRY.game(game).spec.option_rows if game in REGISTRY.names() else ()
    for row in rows:
        if row.name == name:
            try:
                return _sent(option_from_text(row, value), value)
            except BadOptions as error:
                raise CommandError(USAGE, str(error)) from error
    if value in ("true", "false"):
        return value == "true"
    return _sent(int(value), value) if re.fullmatch("-?[0-9]{1,20}", value) else value


def _sent(value: int | bool | str, text: str) -> int | bool | str:
    """A number that no message can hold goes as its text: the server says what it allows."""
    return text if not isinstance(value, str) and abs(value) >= 1 << 63 else value
