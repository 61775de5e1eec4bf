"""`kangtou play`: the lobby and the table, on a screen of its own or in lines."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from typing import Annotated

import typer

from ..api import Match, Session
from ..desk.room import Room
from ..desk.words import say
from .common import Common, of
from .exits import USAGE
from .remote import Remote, run
from .seats import entropy_of, keep


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("play")(play)


def play(
    context: typer.Context,
    match: Annotated[str, typer.Argument(metavar="[MATCH]", help="go straight to your seat in it")] = "",
    watch: Annotated[bool, typer.Option("--watch", help="look on instead of taking your seat")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="lines instead of a screen: pipes, screen readers")] = False,
) -> None:
    """Play: find a table, sit down, play with keys or mouse. Press ? for help, F2 for the other language.

    With --plain everything is done by typed lines; `help` lists them. Cards are typed as h10, HT or ♥10.

    \b
    Examples:
      kangtou play
      kangtou play mx4k2p7q              back to your seat
      kangtou play mx4k2p7q --watch
      kangtou play --plain
      printf 'list\\nquit\\n' | kangtou play --plain
    """
    common = of(context)
    if common.json:
        raise common.fail(USAGE, "no_json")
    if plain:
        run(common, lambda remote: _plain(common, remote, match, watch))
    else:
        _screen(common, match, watch)


def room_of(remote: Remote, session: Session) -> Room:
    """A room that keeps entropies in the user's configuration."""
    return Room(remote.client, session, lambda place: keep(remote, place), lambda match: entropy_of(remote, match))


async def _plain(common: Common, remote: Remote, match: str, watch: bool) -> None:
    async with remote.client.play() as session:
        room = room_of(remote, session)
        assert remote.profile is not None
        common.put(say("hello", common.lang, name=remote.profile.name, server=remote.client.address))
        found = None
        if match:
            found = remote.given(await room.watch(match) if watch else await room.enter(match))
        await in_lines(common, room, found)


async def in_lines(common: Common, room: Room, match: Match | None) -> None:
    """The line mode, at the table of a match if there is one."""
    from ..plain.input import Lines
    from ..plain.shell import Shell

    plainly = dataclasses.replace(common.renderer(), colour=False)  # no escapes for a screen reader
    shell = Shell(room, plainly, common.put)
    if match is not None:
        await shell.here.begin(match)
    await shell.run(Lines())


async def sit_down(common: Common, room: Room, match: Match, *, plain: bool) -> None:
    """One match only, on a screen or in lines."""
    if plain:
        await in_lines(common, room, match)
        return
    from ..tui.run import show_match

    await show_match(common, room, match)


def need_screen(common: Common) -> None:
    """Raise CommandError where no screen can be shown."""
    if importlib.util.find_spec("textual") is None:
        raise common.fail(USAGE, "no_screen")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise common.fail(USAGE, "no_terminal")


def _screen(common: Common, match: str, watch: bool) -> None:
    need_screen(common)
    from ..tui.run import show

    run(common, lambda remote: show(common, remote, match, watch))
