"""`kangtou quick`, `open`, `tables`, `sit`: finding a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Annotated, TypeAlias

import typer

from kangtou_engine.errors import BadOptions
from kangtou_engine.options import option_from_text
from kangtou_engine.registry import REGISTRY

from ..api import Refused, TableFilter, TableTerms, Wanted
from ..api.spectating import POLICIES
from ..api.tables import KINDS, STARTS, STATES
from .common import MOST, Common, of
from .exits import USAGE, CommandError
from .queue import Ask, checked_ask, put_place, queue_up
from .remote import Remote, run
from .seats import keep
from .table_lines import put_table

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
Rules: TypeAlias = Annotated[
    str, typer.Option("--rules", metavar="NAME", help="named house rules; `kangtou games GAME --rules` lists")
]
Start: TypeAlias = Annotated[
    str, typer.Option("--start", metavar="seated|ready|owner", help="what makes the match start; default: all seated")
]
Kind: TypeAlias = Annotated[str, typer.Option("--kind", metavar="human|bot", help="who may sit; default: everybody")]
Code: TypeAlias = Annotated[str, typer.Option("--code", metavar="CODE", help="of a private table")]


States: TypeAlias = Annotated[
    list[str], typer.Option("--state", metavar="open|playing|over", help="may be given again; default: open")
]
Free: TypeAlias = Annotated[
    int, typer.Option("--free", metavar="N", min=0, max=MOST, help="with at least so many free seats")
]
Rated: TypeAlias = Annotated[bool | None, typer.Option("--rated/--unrated", help="default: either")]
BankMs: TypeAlias = Annotated[
    int, typer.Option("--bank-ms", metavar="MS", min=0, max=MOST, help="time bank of a seat for the match")
]
IncrementMs: TypeAlias = Annotated[
    int, typer.Option("--increment-ms", metavar="MS", min=0, max=MOST, help="what each own turn adds to the bank")
]


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
    bank_ms: BankMs = 0,
    increment_ms: IncrementMs = 0,
    rated: Annotated[bool, typer.Option("--rated", help="in the rated pool")] = False,
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="a pool of its own name")] = "",
    rules: Rules = "",
    ask: Ask = False,
) -> None:
    """Queue for a match, and wait until the table is ready. Ctrl-C takes the ticket back.

    In the rated pool you meet people near your rating, farther away the longer you wait. A match that is found is
    taken for you unless you want to be asked; who declines repeatedly waits before queueing again. To queue with a
    partner see `kangtou party`. The last line is the match and your seat: play it with `act`, look at it with `watch`.

    \b
    Examples:
      kangtou quick hongshi
      kangtou quick wushik --rules liaoning --rated
      kangtou quick duizhu --rated --ask
    """
    common = of(context)
    wanted = replace(wanted_of(common, game, option, seats, turn_ms, window_ms), rules=rules)
    wanted = replace(wanted, bank_ms=bank_ms, increment_ms=increment_ms)
    checked_ask(common, ask)

    async def work(remote: Remote) -> None:
        await queue_up(remote, wanted, rated=rated, pool=pool, ask=ask)

    run(common, work)


def open_table(
    context: typer.Context,
    game: Game,
    option: Options = [],  # noqa: B006
    seats: Seats = 0,
    turn_ms: TurnMs = 0,
    window_ms: WindowMs = 0,
    rules: Rules = "",
    start: Start = "seated",
    private: Annotated[bool, typer.Option("--private", help="not listed; others sit down by its code")] = False,
    rated: Annotated[bool, typer.Option("--rated", help="for accounts of your kind")] = False,
    kind: Kind = "",
    ready_s: Annotated[
        int, typer.Option("--ready-s", metavar="S", min=0, max=MOST, help="time to get ready; 0: the server's")
    ] = 0,
    fill_after_s: Annotated[
        int, typer.Option("--fill-after-s", metavar="S", min=0, max=MOST, help="until house bots come; 0: the server's")
    ] = 0,
    only_guests: Annotated[bool, typer.Option("--only-guests", help="no house bots, unless you `fill`")] = False,
    rematch_s: Annotated[
        int, typer.Option("--rematch-s", metavar="S", min=0, max=MOST, help="time to agree on another match")
    ] = 0,
    bank_ms: BankMs = 0,
    increment_ms: IncrementMs = 0,
    watch: Annotated[
        str, typer.Option("--watch", metavar="none|no_hands|round|open", help="what spectators see of the hands")
    ] = "no_hands",
    watch_delay: Annotated[
        int, typer.Option("--watch-delay", metavar="S", min=0, max=600, help="spectators see it so much later")
    ] = 0,
    scorer: Annotated[
        str, typer.Option("--scorer", metavar="ACCOUNT", help="who may award penalties; default: you, if unrated")
    ] = "",
) -> None:
    """Open a table with free seats, and own it; you do not sit there yet.

    By default the match starts when all seats are taken. With --start ready everybody has to be ready first, with
    --start owner you start it. Give an empty table up again with `stand`.

    With --watch round spectators see the hands of finished rounds, with --watch open all hands at once: such a table
    cannot be rated, and says so to whoever sits down.

    \b
    Examples:
      kangtou open hongshi -o rounds=4
      kangtou open erbaiwu --seats 3 --turn-ms 60000
      kangtou open wushik --rules liaoning --start ready
      kangtou open duizhu --private --start owner
      kangtou open hongshi --watch round --watch-delay 60
      kangtou open duizhu --turn-ms 15000 --bank-ms 120000 --increment-ms 1000
    """
    common = of(context)
    wanted = replace(wanted_of(common, game, option, seats, turn_ms, window_ms), rules=rules)
    wanted = replace(wanted, bank_ms=bank_ms, increment_ms=increment_ms)
    terms = TableTerms(
        word_of(common, "start", start, STARTS),
        private,
        rated,
        word_of(common, "kind", kind, KINDS),
        ready_s,
        rematch_s,
        fill_after_s,
        only_guests,
        word_of(common, "watch", watch, POLICIES),
        watch_delay,
        scorer,
    )

    async def work(remote: Remote) -> None:
        put_table(common, remote.given(await remote.client.lobby.open(wanted, terms=terms)))

    run(common, work)


def tables(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="of this game only")] = "",
    state: States = [],  # noqa: B006
    option: Options = [],  # noqa: B006
    rules: Rules = "",
    free: Free = 0,
    rated: Rated = None,
    kind: Kind = "",
    seats: Seats = 0,
) -> None:
    """List public tables, the newest first: open ones unless other states are named.

    \b
    Examples:
      kangtou tables
      kangtou tables hongshi --rules quick --free 2
      kangtou tables --state playing --state over --json
    """
    common = of(context)
    wanted = filter_of(common, game, state, option, rules, free, rated, kind, seats)

    async def work(remote: Remote) -> None:
        found = False
        async for table in remote.client.lobby.tables(wanted=wanted):
            put_table(common, table)
            found = True
        if not found:
            common.note("no_tables")

    run(common, work)


def sit(
    context: typer.Context,
    match: Annotated[str, typer.Argument(metavar="[TABLE]", help="as `open` and `tables` show it")] = "",
    seat: Annotated[
        int | None, typer.Option("--seat", metavar="N", min=0, max=MOST, help="default: any free one")
    ] = None,
    code: Code = "",
) -> None:
    """Take a seat at an open table. `table` shows what is played there.

    \b
    Examples:
      kangtou sit mx4k2p7q
      kangtou sit --code k3m9x2q7ab
      kangtou sit mx4k2p7q --seat 2 --as bot1
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        place = remote.given(await remote.client.lobby.sit(match, seat, code=code))
        keep(remote, place)
        found = await remote.client.lobby.table(place.match_id)
        if not isinstance(found, Refused) and found.watching.warning_en:
            common.note("warning", text=found.watching.warning_zh if common.lang == "zh" else found.watching.warning_en)
        put_place(common, place)

    run(common, work)


def word_of(common: Common, option: str, given: str, allowed: Collection[str]) -> str:
    """One of the words that an option may be. Raises CommandError."""
    if given not in allowed:
        words = ", ".join(filter(None, allowed))
        raise common.fail(USAGE, "bad_word", option=f"--{option}", given=given, allowed=words)
    return given


def filter_of(
    common: Common,
    game: str,
    states: Sequence[str],
    given: Sequence[str],
    rules: str,
    free: int,
    rated: bool | None,
    kind: str,
    seats: int,
) -> TableFilter:
    """Which tables were asked for. Raises CommandError."""
    chosen = [word_of(common, "state", state, STATES) for state in states] or ["open"]
    options = wanted_of(common, game, given, 0, 0, 0).options
    return TableFilter(game, chosen, rules, options, free, rated, word_of(common, "kind", kind, KINDS), seats)


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
