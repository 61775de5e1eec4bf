"""The command itself: common options, the groups of commands, how errors end it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from kangtou.tracing import CannotTrace
from kangtou_engine.errors import BadOptions, BadText

from ..visible import visible
from . import (
    account,
    admin,
    archive,
    away,
    backup,
    bot,
    cases,
    demo,
    doctor,
    front,
    games,
    health,
    load,
    lobby,
    party,
    people,
    play,
    practice,
    ratings,
    record,
    replay,
    rules,
    status,
    tables,
    talk,
    tournament,
    up,
    verify,
)
from .common import DEFAULT_SERVER, Common, chosen_lang, options_first, wants_colour
from .exits import FAILED, INTERRUPTED, OK, USAGE, CommandError

# Every group of commands: a function that adds its commands to the app. The order is that of `--help`.
GROUPS: tuple[Callable[[typer.Typer], None], ...] = (
    up.register,
    demo.register,
    practice.register,
    bot.register,
    account.register,
    front.register,
    lobby.register,
    tables.register,
    play.register,
    away.register,
    talk.register,
    status.register,
    health.register,
    load.register,
    admin.register,
    doctor.register,
    tournament.register,
    replay.register,
    verify.register,
    record.register,
    archive.register,
    backup.register,
    party.register,
    people.register,
    ratings.register,
    rules.register,
    games.register,
    cases.register,
)

EPILOG = """\b
These options may stand anywhere:  --server HOST:PORT  --as PROFILE
                                   --lang zh|en  --json  --no-color  --letters
\b
Exit codes: 0 done; 1 looked at and not in order (a case failed, a record is
wrong); 2 the command line or a file is wrong; 3 the data folder is in use;
4 gave up; 5 refused by the server or by a rule; 6 the server cannot be
reached; 7 not signed in or not allowed; 8 there is no such thing.
\b
Examples:
  kangtou register Xiaoming          make an account on this server
  kangtou quick hongshi              queue for a match
  kangtou archive list               finished matches
  kangtou replay MATCH --seat 0      see one again
  kangtou rules HS-4.3               a rule of the book
"""


def make() -> typer.Typer:
    """The app with all its commands."""
    app = typer.Typer(
        name="kangtou",
        help="Kangtou: card games of China's Northeast. Play, watch, replay and verify matches.",
        epilog=EPILOG,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(common_options)
    for register in GROUPS:
        register(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"kangtou {version('kangtou')}\n")
        raise typer.Exit


def common_options(
    context: typer.Context,
    server: Annotated[
        str,
        typer.Option(
            "--server", metavar="[tls://]HOST:PORT", envvar="KANGTOU_SERVER", help=f"default: {DEFAULT_SERVER}"
        ),
    ] = "",
    profile: Annotated[
        str, typer.Option("--as", metavar="PROFILE", envvar="KANGTOU_AS", help="which of your accounts acts")
    ] = "",
    lang: Annotated[str, typer.Option("--lang", metavar="zh|en", help="default: the system's language")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON, one document a line, for programs")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="no colours (also: the NO_COLOR variable)")] = False,
    letters: Annotated[bool, typer.Option("--letters", help="cards as letters: HT, not a heart and 10")] = False,
    show_version: Annotated[
        bool, typer.Option("--version", help="show the version and end", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Common options of all commands."""
    context.obj = Common(
        lang=chosen_lang(lang),
        json=as_json,
        colour=wants_colour(no_color),
        letters=letters,
        server=server,
        profile=profile,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; its exit code (see exits.py)."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = make()(args=options_first(given), prog_name="kangtou", standalone_mode=False)
    except Exception as error:  # noqa: BLE001 - what is known is said in words, the rest is raised again below
        return _ended(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if isinstance(code, int) else OK


def _ended(error: Exception) -> int:
    """What an error says, and the exit code."""
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    if isinstance(error, CommandError):
        return _say(error.code, error.text)
    if isinstance(error, (BadText, BadOptions, CannotTrace)):
        return _say(USAGE, str(error))
    if isinstance(error, OSError):
        return _say(USAGE, f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    shown = getattr(error, "show", None)  # the parser's own errors know how to say themselves
    if shown is not None:
        shown()
        return int(getattr(error, "exit_code", USAGE))
    if type(error).__name__ == "Abort":
        return INTERRUPTED
    raise error


def _say(code: int, text: str) -> int:
    sys.stderr.write(f"kangtou: {visible(text)}\n")
    return code
