"""`kangtou practice`: a table against bots on this machine, without a server elsewhere."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from kangtou_engine.registry import REGISTRY

from ..api import ApiError, Ending, Match, Refused
from ..bots.player import Tally, dice, play
from ..bots.policies import POLICIES, is_bot
from ..desk.room import Room
from ..practice import Practice, PracticeError
from ..practice import practice as practising
from .common import Common, of
from .exits import FAILED, GAVE_UP, NOT_FOUND, OK, USAGE, CommandError
from .front import need_screen, sit_down
from .lobby import Game, Options, Seats, wanted_of


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("practice")(practice)


def practice(
    context: typer.Context,
    game: Game,
    option: Options = [],  # noqa: B006 - the parser makes a new list for each call
    seats: Seats = 0,
    seat: Annotated[int, typer.Option("--seat", metavar="N", min=0, help="where you sit")] = 0,
    bots: Annotated[str, typer.Option("--bots", metavar="|".join(POLICIES), help="how the others play")] = "greedy",
    bot: Annotated[str, typer.Option("--bot", metavar="|".join(POLICIES), help="let this play your seat too")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="play in lines instead of on a screen")] = False,
    data: Annotated[Path | None, typer.Option("--data", help="keep the match's record in this folder")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="the bots repeat their choices")] = None,
) -> int:
    """Play against bots, offline: starts a small server of its own and ends it again.

    You play on a screen as in `kangtou play`, or in lines with --plain. With --bot a bot plays your seat too, and what
    your seat sees is printed line by line.

    \b
    Examples:
      kangtou practice hongshi
      kangtou practice erbaiwu --seats 3 --plain
      kangtou practice hongshi --bot greedy
      kangtou practice wushik -o variant=jinzhou -o rounds=2 --seat 1 --bot random
      kangtou practice duizhu --bot greedy --data practice-games
    """
    common = of(context)
    if game not in REGISTRY.names():
        raise common.fail(NOT_FOUND, "no_game", game=game, games=", ".join(REGISTRY.names()))
    for name, policy in (("--bots", bots), ("--bot", bot or POLICIES[0])):
        if not is_bot(policy):
            raise CommandError(USAGE, f"{name} is one of {', '.join(POLICIES)}, not {policy!r}")
    wanted = wanted_of(common, game, option, seats, 0, 0)
    config = REGISTRY.game(game).config(wanted.options, seats or None)
    if seat >= config.seats:
        raise common.fail(USAGE, "no_seat", seat=seat)
    person = not (bot or common.json)
    if person and not plain:
        need_screen(common)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: the server with it

    async def work() -> int:
        table = practising(game, options=wanted.options, seats=seats, seat=seat, bots=bots, data=data, seed=seed)
        async with table as found:
            if not person:
                return await watched(common, found, bot or "greedy", seed)
            async with found.client.play() as session:
                await sit_down(common, Room(found.client, session), await found.attach(session), plain=plain)
            return OK

    return run(common, work())


def run(common: Common, work: Coroutine[Any, Any, int]) -> int:
    """Practice to its end. Raises CommandError for whatever keeps it from going on."""
    try:
        return asyncio.run(work)
    except PracticeError as error:
        raise common.fail(GAVE_UP, "practice_fails", problem=error) from error
    except ApiError as error:
        raise common.fail(GAVE_UP, "server_says", text=error) from error


async def watched(common: Common, table: Practice, policy: str, seed: int | None = None) -> int:
    """A bot plays the person's seat; what that seat sees is printed."""
    async with table.client.play() as session:
        match = await table.attach(session)
        if common.json:
            common.put_json({"match": match.match_id, "seat": table.seat, "address": table.address})
        else:
            title = match.game.spec.title[0 if common.lang == "en" else 1]
            common.put(
                common.say("practice_begins", game=title, match=match.match_id, seat=table.seat, address=table.address)
            )
        lines = asyncio.create_task(_lines(common, match))
        try:
            ending = await play(match, policy, dice(seed), Tally())
            await lines
        finally:
            lines.cancel()
    return _over(common, match, ending)


async def _lines(common: Common, match: Match) -> None:
    render = common.renderer([player.name for player in match.players])
    async for change in match.changes():
        if common.json:
            events = [str(event) for event in change.events]
            common.put_json({"seq": change.seq, "time_ms": change.time_ms, "events": events, "gap": change.gap})
            continue
        for event in change.events:
            for line in render.event(match.game, event, match.view.config):
                common.put(line)


def _over(common: Common, match: Match, ending: Ending | Refused) -> int:
    if isinstance(ending, Refused):
        raise CommandError(FAILED, ending.text_zh if common.lang == "zh" else ending.text_en)
    if common.json:
        common.put_json({"cause": ending.cause, "scores": ending.scores, "receipt": ending.receipt})
    else:
        common.put(common.say("practice_over", scores=" ".join(map(str, ending.scores))))
    for warning in match.warnings:
        common.put(f"! {warning.text_zh if common.lang == 'zh' else warning.text_en}")
    return FAILED if match.warnings else OK
