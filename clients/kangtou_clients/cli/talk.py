"""`kangtou say`, `chat`, `mute`, `report`, `reports`, `penalty`: talk at a table, and its scorer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from kangtou_engine.errors import IllegalAction
from kangtou_engine.phrases import PHRASES
from kangtou_engine.words import explain

from ..api import ChatMessage, Refused, Spectating, Talk
from .common import Common, of
from .exits import REFUSED, USAGE, CommandError
from .play import CommandId, MatchId, at_match
from .remote import Remote, run

Account = Annotated[str, typer.Argument(metavar="NAME", help="a name at the table, or an account")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("say")(say)
    app.command("chat")(chat)
    app.command("mute")(mute)
    app.command("report")(report)
    app.command("reports")(reports)
    app.command("penalty")(penalty)


def say(
    context: typer.Context,
    match: MatchId,
    text: Annotated[list[str], typer.Argument(metavar="[TEXT...]", help="a line; none with --phrase")] = [],  # noqa: B006
    phrase: Annotated[str, typer.Option("--phrase", metavar="|".join(PHRASES), help="a fixed phrase")] = "",
    command_id: CommandId = "",
) -> None:
    """Say something at a table that you play at or look on.

    While a round of Hongshi is played only the fixed phrases are let through, unless its option `chat` says otherwise.
    What spectators say during a round is seen by spectators only.

    \b
    Examples:
      kangtou say mx4k2p7q "shall we play again?"
      kangtou say mx4k2p7q --phrase well_played
    """
    common = of(context)
    if phrase and phrase not in PHRASES:
        raise common.fail(USAGE, "bad_word", option="--phrase", given=phrase, allowed=", ".join(PHRASES))
    line = " ".join(text)
    if bool(line) is bool(phrase):
        raise common.fail(USAGE, "say_what")

    async def work(remote: Remote) -> None:
        _put(common, remote.given(await Talk(remote.client).say(match, line, phrase=phrase, command_id=command_id)))

    at_match(common, match, work)


def chat(
    context: typer.Context,
    match: MatchId,
    follow: Annotated[bool, typer.Option("--follow", help="as a spectator, go on until the match ends")] = False,
) -> None:
    """Show what was said at a table lately.

    \b
    Examples:
      kangtou chat mx4k2p7q
      kangtou chat mx4k2p7q --follow --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        if not follow:
            for one in remote.given(await Talk(remote.client).list(match)):
                _put(common, one)
            return
        async with remote.client.play() as session:
            found = remote.given(await session.watch(match))
            heard = found.chat()
            shown = set()
            for one in remote.given(await Talk(remote.client).list(match)):
                shown.add(one.chat_id)
                _put(common, one)
            async for one in heard:
                if one.chat_id not in shown:
                    _put(common, one)

    at_match(common, match, work)


def mute(
    context: typer.Context,
    match: MatchId,
    name: Account,
    off: Annotated[bool, typer.Option("--off", help="let them speak again")] = False,
) -> None:
    """Silence somebody at your table: as its owner or its scorer. To hear nothing of somebody yourself see `block`.

    \b
    Examples:
      kangtou mute mx4k2p7q Xiaoming
      kangtou mute mx4k2p7q Xiaoming --off
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = await remote.client.lobby.table(match)
        seats = [] if isinstance(found, Refused) else found.seats
        named = {seat.account_id for seat in seats if name in (seat.name, seat.account_id)}
        account = named.pop() if len(named) == 1 else name
        refused = await Talk(remote.client).mute(match, account, not off)
        if refused is not None:
            remote.given(refused)
        common.put_json({"account": account, "muted": not off}) if common.json else common.put(
            common.say("unmuted" if off else "muted", account=account)
        )

    at_match(common, match, work)


def report(
    context: typer.Context,
    match: MatchId,
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="its id, as `chat --json` shows it")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="in your words")] = "",
) -> None:
    """Tell the server's operators of a message. They see what stood around it too.

    \b
    Examples:
      kangtou report mx4k2p7q 1796000000000-0 --reason "insults"
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        refused = await Talk(remote.client).report(match, message, reason)
        if refused is not None:
            remote.given(refused)
        common.put_json({"reported": message}) if common.json else common.put(common.say("reported"))

    at_match(common, match, work)


def reports(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=200, help="at most so many")] = 50,
) -> None:
    """For operators: reports of chat, the newest first, each with what stood around it.

    \b
    Examples:
      kangtou reports
      kangtou reports --limit 5 --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        for one in await Talk(remote.client).reports(limit):
            if common.json:
                context_of = [_plain(said) for said in one.context]
                common.put_json(
                    {
                        "report": one.report_id,
                        "time_ms": one.time_ms,
                        "match": one.match_id,
                        "reporter": one.reporter_id,
                        "message": one.chat_id,
                        "reason": one.reason,
                        "context": context_of,
                    }
                )
                continue
            common.put(f"{_time(one.time_ms)}  {one.match_id}  {one.reporter_id}  {one.reason}".rstrip())
            for said in one.context:
                common.put(f"  {'>' if said.chat_id == one.chat_id else ' '} {_line(common, said)}")

    run(common, work)


def penalty(
    context: typer.Context,
    match: MatchId,
    action: Annotated[list[str], typer.Argument(metavar="ACTION...", help="as in the books: penalize seat=2")],
    command_id: CommandId = "",
) -> None:
    """Award a penalty of the books, as the scorer of a table: it is logged and cannot be taken back.

    HS-11.2: `penalize seat=N` takes points for talk about red tens. DZ-5.9: `annul` undoes the burying of jokers.

    \b
    Examples:
      kangtou penalty mx4k2p7q penalize seat=2
      kangtou penalty mx4k2p7q annul
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        try:
            answer = await Spectating(remote.client).award(match, " ".join(action), command_id)
        except IllegalAction as error:
            raise CommandError(REFUSED, explain({}, error, common.lang)) from error
        seq = remote.given(answer).seq
        common.put_json({"seq": seq}) if common.json else common.put(str(seq))

    at_match(common, match, work)


def _put(common: Common, one: ChatMessage) -> None:
    common.put_json(_plain(one)) if common.json else common.put(_line(common, one))


def _line(common: Common, one: ChatMessage) -> str:
    who = common.say("a_spectator", name=one.name) if one.seat is None else f"{one.name} ({one.seat})"
    return f"{_time(one.time_ms)}  {who}: {one.shown(common.lang)}"


def _plain(one: ChatMessage) -> dict[str, object]:
    return {
        "message": one.chat_id,
        "time_ms": one.time_ms,
        "account": one.account_id,
        "name": one.name,
        "seat": one.seat,
        "text": one.text,
        "phrase": one.phrase,
        "watchers": one.watchers,
    }


def _time(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).astimezone().strftime("%H:%M:%S")
