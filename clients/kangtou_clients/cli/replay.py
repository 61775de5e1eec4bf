"""`kangtou replay`: a finished match again, in plain lines, from any seat."""

from __future__ import annotations

import asyncio
import math
from typing import Annotated

import typer

from kangtou_engine.record import Record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import OPEN, Replay, Who, find_game

from ..bots.policies import POLICIES, is_bot
from ..practice import forked
from ..replaying import NoPlace, Player, position_of
from ..show import Shown
from .common import Common, of
from .exits import NOT_FOUND, OK, USAGE, CommandError
from .source import Source, load

TABLES = ("step", "trick", "round", "none")
PLACES = "ROUND, ROUND:TRICK, @SEQ, +SECONDS or +M:SS after the beginning, end"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE|MATCH", help="a record's file, - , or a match of the server")],
    seat: Annotated[int | None, typer.Option("--seat", metavar="N", help="as this seat saw it")] = None,
    spectator: Annotated[bool, typer.Option("--spectator", help="as a spectator saw it")] = False,
    open_: Annotated[bool, typer.Option("--open", help="all hands open (the default)")] = False,
    step: Annotated[bool, typer.Option("--step", help="wait for Enter; h shows what else can be typed")] = False,
    speed: Annotated[float, typer.Option("--speed", metavar="X", help="1: as it was played, 10: ten times")] = 0.0,
    start: Annotated[str, typer.Option("--from", metavar="PLACE", help=PLACES)] = "",
    end: Annotated[str, typer.Option("--to", metavar="PLACE", help="stop before this place")] = "",
    html: Annotated[str, typer.Option("--html", metavar="FILE", help="write one self-contained page instead")] = "",
    table: Annotated[str, typer.Option("--table", metavar="|".join(TABLES), help="how often to show it")] = "trick",
    clocks: Annotated[bool, typer.Option("--clocks", help="how long each seat thought, and the clock it had")] = False,
    fork: Annotated[str, typer.Option("--fork", metavar="PLACE", help="continue from here against bots")] = "",
    bots: Annotated[str, typer.Option("--bots", metavar="|".join(POLICIES), help="how they play in a fork")] = "greedy",
) -> int:
    """Replay a finished match.

    Shows what one seat saw, what a spectator saw, or everything open: always from the recorded events, so a
    match replays under rules that have changed since.

    \b
    Examples:
      kangtou replay match.ktr.zst --seat 0
      kangtou replay mx4k2p7q --open --from 2:3 --to 2:5
      kangtou replay mx4k2p7q --step --clocks
      kangtou replay mx4k2p7q --seat 2 --from +1:30 --speed 1
      kangtou replay mx4k2p7q --spectator --speed 10
      kangtou replay mx4k2p7q --fork 2:3 --seat 1      a bot goes on for seat 1
      kangtou replay mx4k2p7q --seat 0 --html match.html
    """
    common = of(context)
    source = load(common, target)
    record = source.record(common)
    who = _who(common, record, seat, spectator, open_)
    if bool(html) + step + bool(fork) > 1:
        raise common.fail(USAGE, "only_one_way")
    if table not in TABLES:
        raise common.fail(USAGE, "bad_table", text=table, tables=", ".join(TABLES))
    if not 0 <= speed < math.inf:
        raise common.fail(USAGE, "bad_speed")
    found = _replay(common, record, who)
    if found is None:
        if html:
            raise common.fail(USAGE, "not_readable", game=record.head.terms.game)
        _lines(common, record)
        return OK
    if html:
        from .page import write

        write(common, found, names_of(found, source), who, html)
        return OK
    if fork:
        return go_on(common, source, _place(common, found, fork), seat or 0, bots)
    first = _place(common, found, start) if start else 0
    last = _place(common, found, end) if end else len(found.moments)
    player = Player(found, who, first)
    if step:
        from .step import Stepper

        Stepper(common, shown(common, found, source), player, source, clocks=clocks).run()
    elif common.json:
        asyncio.run(_json(common, player, last, speed, clocks))
    else:
        asyncio.run(_play(common, shown(common, found, source), player, last, speed, table, clocks))
    return OK


def go_on(common: Common, source: Source, position: int, seat: int, bots: str) -> int:
    """Continue from a position in a practice table. Raises CommandError."""
    from .practice import run, watched

    if not is_bot(bots):
        raise CommandError(USAGE, f"--bots is one of {', '.join(POLICIES)}, not {bots!r}")

    async def work() -> int:
        async with forked(source.data, position, seat=seat, bots=bots) as table:
            return await watched(common, table, bots)

    return run(common, work())


def _who(common: Common, record: Record, seat: int | None, spectator: bool, open_: bool) -> Who:
    if (seat is not None) + spectator + open_ > 1:
        raise common.fail(USAGE, "only_one_view")
    if seat is not None and not 0 <= seat < len(record.head.terms.seats):
        raise common.fail(NOT_FOUND, "no_seat", seat=seat)
    return seat if seat is not None else None if spectator else OPEN


def _replay(common: Common, record: Record, who: Who) -> Replay | None:
    """By its own rules version, by another that reads it, or None: only its lines can be shown, openly."""
    terms = record.head.terms
    said = f"{terms.game}@{terms.version}"
    found = find_game(REGISTRY, record)
    if found is None:
        if who != OPEN:
            raise common.fail(USAGE, "not_readable", game=said)
        return None
    game, exact = found
    if not exact and not common.json:
        common.put(common.say("other_version", game=said, other=game.spec.id))
    return Replay(game, record)


def _place(common: Common, replay: Replay, text: str) -> int:
    """A position from what was typed. Raises CommandError."""
    try:
        return position_of(replay, text)
    except NoPlace as error:
        raise common.fail(NOT_FOUND if error.code != "bad_place" else USAGE, error.code, **error.params) from error


def shown(common: Common, replay: Replay, source: Source) -> Shown:
    """How a replay is shown, with the players' names where they are known."""
    return Shown(replay, common.renderer(names_of(replay, source)))


def names_of(replay: Replay, source: Source) -> list[str]:
    """The players by seat: by name where it is known, else by account."""
    accounts = [seat.account for seat in replay.record.head.terms.seats]
    names = source.names or [""] * len(accounts)
    return [name or account for name, account in zip(names, accounts, strict=False)]


async def _play(common: Common, shown: Shown, player: Player, end: int, speed: float, table: str, clocks: bool) -> None:
    """All moments up to a place, at the pace that was asked for."""
    for line in shown.head(player.who):
        common.put(line)
    async for number in player.play(speed, until=end):
        for line in [*shown.moment(number, player.who), *(thought(common, shown, player, number) if clocks else ())]:
            common.put(line)
        if shown.wants_table(number + 1, table, number + 1 == end):
            for line in shown.table(number + 1, player.who):
                common.put(line)


def thought(common: Common, shown: Shown, player: Player, number: int) -> list[str]:
    """How long the seat had thought."""
    found = player.thought(number)
    if found is None:
        return []
    code = "thought_late" if found.late else "thought"
    limit, seat = f"{found.limit_ms / 1000:g}", shown.render.seat(found.seat)
    return [" " * 18 + common.say(code, seat=seat, seconds=f"{found.ms / 1000:.2f}", limit=limit)]


async def _json(common: Common, player: Player, end: int, speed: float, clocks: bool) -> None:
    async for number in player.play(speed, until=end):
        moment = player.replay.moments[number]
        line = {
            "seq": moment.seq,
            "time_ms": moment.time_ms,
            "round": moment.round,
            "trick": moment.trick,
            "events": [str(event) for event in player.seen(number)],
            "cause": moment.cause,
        }
        found = player.thought(number) if clocks else None
        if found is not None:
            line["thought"] = {"seat": found.seat, "ms": found.ms, "limit_ms": found.limit_ms, "late": found.late}
        common.put_json(line)


def _lines(common: Common, record: Record) -> None:
    """A record that no game here reads: its own lines."""
    for entry in record.entries:
        common.put(entry.text)
