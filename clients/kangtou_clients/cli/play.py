"""`kangtou act`, `legal`, `watch`: a running match, for scripts and for looking on."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from kangtou.v1 import lobby_pb2 as pb
from kangtou.wire import event_from_pb
from kangtou_engine.errors import IllegalAction
from kangtou_engine.game import TooMany
from kangtou_engine.plain import view_to_plain
from kangtou_engine.registry import REGISTRY
from kangtou_engine.words import explain, say

from ..api import CallFailed, Match, Refused, Spectating
from .common import MOST, Common, of
from .exits import NOT_FOUND, REFUSED, CommandError
from .remote import Remote, run
from .seats import entropy_of, opened

MatchId = Annotated[str, typer.Argument(metavar="MATCH")]
SeatOption = Annotated[
    int | None, typer.Option("--seat", metavar="N", min=0, max=MOST, help="where you have several; default: yours")
]

CommandId = Annotated[str, typer.Option("--id", metavar="ID", help="a repeat with it is done once")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("act")(act)
    app.command("legal")(legal)
    app.command("watch")(watch)


def act(
    context: typer.Context,
    match: MatchId,
    action: Annotated[list[str], typer.Argument(metavar="ACTION...", help="as in the books: play HT DT")],
    seat: SeatOption = None,
    prompt: Annotated[
        int, typer.Option("--prompt", metavar="N", min=0, max=(1 << 64) - 1, help="default: the question that is open")
    ] = 0,
    command_id: CommandId = "",
) -> None:
    """Do one action in a match. Exit code 5 if it is refused; the rule that refuses it is named.

    \b
    Examples:
      kangtou act mx4k2p7q play HT DT
      kangtou act mx4k2p7q pass
      kangtou act mx4k2p7q play H6 --id move-17     repeat it safely
    """
    common = of(context)
    text = " ".join(action)

    async def work(remote: Remote) -> None:
        await opened(remote, match, seat)
        number = prompt or (await remote.client.view(match, seat=seat)).prompt.number
        try:
            answer = await remote.client.act(
                match, text, prompt=number, command_id=command_id or secrets.token_hex(8), seat=seat
            )
        except IllegalAction as error:
            raise CommandError(REFUSED, explain({}, error, common.lang)) from error
        accepted = remote.given(answer)
        common.put_json({"seq": accepted.seq}) if common.json else common.put(str(accepted.seq))

    at_match(common, match, work)


def legal(context: typer.Context, match: MatchId, seat: SeatOption = None) -> None:
    """List what your seat may do now; nothing if it is not asked.

    \b
    Examples:
      kangtou legal mx4k2p7q
      kangtou act mx4k2p7q $(kangtou legal mx4k2p7q --letters | head -1)
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        await opened(remote, match, seat)
        found = await remote.client.legal(match, seat)
        if isinstance(found, TooMany):
            view = await remote.client.view(match, seat=seat)
            words = REGISTRY.game(view.match.choice.game).spec.words
            text = say(words, found.constraint, found.params, common.lang)
            common.put_json({"too_many": found.constraint, "rule": found.rule}) if common.json else common.put(text)
            return
        if common.json:
            common.put_json([str(action) for action in found])
            return
        for action in found:
            common.put(common.renderer().action(action))

    at_match(common, match, work)


def watch(
    context: typer.Context,
    match: MatchId,
    seat: SeatOption = None,
    once: Annotated[bool, typer.Option("--once", help="show the table as it is now, and end")] = False,
    rounds: Annotated[bool, typer.Option("--rounds", help="first the rounds that are over")] = False,
) -> None:
    """Follow a running match until it ends: as a spectator, or from your seat if you have one.

    Following from your seat takes it over from a program that plays it.

    \b
    Examples:
      kangtou watch mx4k2p7q
      kangtou watch mx4k2p7q --once
      kangtou watch mx4k2p7q --rounds
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        async with remote.client.play() as session:
            found = await session.watch(match) if seat is None else await _attach(remote, session, match, seat)
            if isinstance(found, Refused) and found.code == "not_allowed":
                found = await _attach(remote, session, match, None)
            followed = remote.given(found)
            if rounds:
                await _finished(common, remote, followed)
            await _follow(common, remote, followed, once)

    at_match(common, match, work)


def at_match(common: Common, match: str, work: Callable[[Remote], Awaitable[None]]) -> None:
    """At the server; of a match that is not there it is said if its table still has free seats."""

    async def told(remote: Remote) -> None:
        try:
            await work(remote)
        except (CallFailed, CommandError) as error:
            if getattr(error, "status", "") != "NOT_FOUND" and getattr(error, "code", 0) != NOT_FOUND:
                raise
            table = await remote.client.lobby.table(match)
            if isinstance(table, Refused) or table.state != pb.TABLE_STATE_OPEN:
                raise
            free = sum(not seat.account_id for seat in table.seats)
            raise common.fail(REFUSED, "not_begun", free=free, seats=len(table.seats)) from error

    run(common, told)


async def _attach(remote: Remote, session: Any, match: str, seat: int | None) -> Match | Refused:
    result: Match | Refused = await session.attach(match, seat=seat, entropy=entropy_of(remote, match))
    return result


async def _finished(common: Common, remote: Remote, match: Match) -> None:
    """The rounds that were over before."""
    render = common.renderer([player.name for player in match.players])
    async for found in Spectating(remote.client).rounds(match.match_id):
        one = remote.given(found)
        if not common.json:
            common.put(common.say("round_title", round=one.round))
        for entry in one.entries:
            events = [event_from_pb(match.game, event) for event in entry.events]
            if common.json:
                shown = [str(event) for event in events]
                common.put_json({"round": one.round, "seq": entry.seq, "time_ms": entry.time_ms, "events": shown})
                continue
            for event in events:
                for line in render.event(match.game, event, match.view.config):
                    common.put(line)


async def _follow(common: Common, remote: Remote, match: Match, once: bool) -> None:
    render = common.renderer([player.name for player in match.players])
    changes = match.changes()
    if not common.json:
        for line in _table(match, common):
            common.put(render.line(line))
    elif once:
        common.put_json(
            {"match": match.match_id, "seat": match.seat, "seq": match.seq, "view": view_to_plain(match.view)}
        )
    if once:
        return
    async for change in changes:
        if common.json:
            events = [str(event) for event in change.events]
            common.put_json({"seq": change.seq, "time_ms": change.time_ms, "events": events, "gap": change.gap})
            continue
        for event in change.events:
            for line in render.event(match.game, event, match.view.config):
                common.put(line)
    ending = remote.given(await match.finished())
    if common.json:
        common.put_json({"cause": ending.cause, "scores": ending.scores, "receipt": ending.receipt})
    else:
        common.put(render.word("ended", cause=render.word(f"cause.{ending.cause}")))
        common.put(common.say("verify_keep", receipt=ending.receipt))
    for warning in match.warnings:
        common.put(f"! {warning.text_zh if common.lang == 'zh' else warning.text_en}")


def _table(match: Match, common: Common) -> tuple[str, ...]:
    return match.game.spec.show(match.view, match.seat, common.lang)
