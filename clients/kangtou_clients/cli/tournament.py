"""`kangtou tournament`: bots against bots on the same cards, counted by sets. docs/tournaments.md."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..api.tournaments import Problem, Summary, Tournaments
from .common import Common, of
from .exits import FAILED, NOT_FOUND, OK, USAGE, CommandError
from .remote import Remote
from .remote import run as run_remote
from .tournament_live import Live
from .tournament_report import FORMATS, written
from .tournament_server import embedded
from .tournament_verify import verify

SpecFile: TypeAlias = Annotated[Path, typer.Argument(metavar="SPEC.toml", help="what is to be played")]
Id: TypeAlias = Annotated[str, typer.Argument(metavar="[ID]", help="as `submit` and `status` show it; else the newest")]
Form: TypeAlias = Annotated[str, typer.Option("--format", metavar="|".join(FORMATS), help="of the report")]
Out: TypeAlias = Annotated[Path | None, typer.Option("-o", "--output", help="write the report to this file")]
Data: TypeAlias = Annotated[
    Path | None, typer.Option("--data", help="folder of the server that is started if none is named; kept")
]
DATA = Path("kangtou-tournaments")
SUFFIX = {"text": "txt"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="Bots against bots on the same cards.", no_args_is_help=True, rich_markup_mode=None, epilog=EPILOG
    )
    for command in (run, check, submit, status, watch, resume, cancel, report, output, verify):
        group.command(command.__name__)(command)
    app.add_typer(group, name="tournament")


EPILOG = """\b
A spec:
  name = "first steps"
  game = "hongshi"
  sets = 50
  [[entrants]]
  name = "Greedy"
  bot = "greedy"
  [[entrants]]
  name = "Mine"
  command = "python my_bot.py"
\b
docs/tournaments.md has every field.
"""


def run(
    context: typer.Context,
    specs: Annotated[list[Path], typer.Argument(metavar="SPEC.toml…", help="what is to be played, one after another")],
    form: Form = "text",
    out: Out = None,
    data: Data = None,
) -> int:
    """Play whole tournaments: on the server that is named (--server), else on one of its own, in the folder --data.

    Shows how it goes on, then the report; of several specs, `-o` names a folder. Ctrl-C leaves a tournament that
    `resume` finishes.

    \b
    Examples:
      kangtou tournament run examples/tournaments/short-hongshi.toml
      kangtou tournament run spec.toml --format html -o report.html
      kangtou --server play.example:7480 tournament run spec.toml --json
    """
    common = of(context)
    given = {path: read_spec(path) for path in specs}
    _known_format(form)

    async def work(remote: Remote) -> int:
        code = OK
        for path, spec in given.items():
            tournament = _submitted(common, await Tournaments(remote.client).submit(spec))
            where = out / f"{path.stem}.{SUFFIX.get(form, form)}" if out is not None and len(given) > 1 else out
            code = max(code, await _to_the_end(common, remote, tournament, form, where, data))
        return code

    return _somewhere(common, work, data)


def check(context: typer.Context, spec: SpecFile) -> int:
    """Look at a spec without playing it: every error with the field, its value, and what may stand there.

    \b
    Examples:
      kangtou tournament check spec.toml
      kangtou --server play.example:7480 tournament check spec.toml     accounts of that server too
    """
    common, given = of(context), read_spec(spec)
    if common.server:

        async def work(remote: Remote) -> int:
            problems, _, games = await Tournaments(remote.client).check(given)
            return _checked(common, problems, games)

        return run_remote(common, work)
    found = subprocess.run(
        [sys.executable, "-m", "kangtou_services", "tournament-check"],
        input=json.dumps(given, default=str),
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode not in (0, 1) or not found.stdout:
        raise common.fail(FAILED, "server_says", text=found.stderr.strip()[-300:])
    told = json.loads(found.stdout)
    problems = tuple(Problem(one["name"], one["value"], one["allowed"], "", "") for one in told.get("problems", ()))
    return _checked(common, problems, told.get("games", 0))


def submit(context: typer.Context, spec: SpecFile) -> int:
    """Have a server play a tournament; prints its id at once.

    \b
    Example:
      kangtou tournament submit spec.toml && kangtou tournament watch
    """
    common, given = of(context), read_spec(spec)

    async def work(remote: Remote) -> int:
        tournament = _submitted(common, await Tournaments(remote.client).submit(given))
        if common.json:
            common.put_json({"tournament": tournament})
        else:
            common.put(tournament)
        return OK

    return run_remote(common, work)


def status(context: typer.Context, tournament: Id = "") -> int:
    """All tournaments of a server, or one.

    \b
    Examples:
      kangtou tournament status
      kangtou tournament status t_k3m9x2q7abcd --json
    """
    common = of(context)

    async def work(remote: Remote) -> int:
        api = Tournaments(remote.client)
        for one in [(await api.get(tournament))[0]] if tournament else await api.list():
            _put_summary(common, one)
        return OK

    return run_remote(common, work)


def watch(context: typer.Context, tournament: Id = "", form: Form = "text", out: Out = None) -> int:
    """Show how a tournament goes on until it is closed, then its report. Ctrl-C ends the watching only.

    \b
    Examples:
      kangtou tournament watch
      kangtou tournament watch t_k3m9x2q7abcd --json
    """
    common = of(context)
    _known_format(form)

    async def work(remote: Remote) -> int:
        chosen = await _chosen(common, remote, tournament)
        return await _to_the_end(common, remote, chosen, form, out, None)

    return run_remote(common, work)


def resume(context: typer.Context, tournament: Id = "", form: Form = "text", out: Out = None, data: Data = None) -> int:
    """Go on with a tournament that was paused or interrupted, to its end.

    Without --server it starts the server of the folder --data again (default: kangtou-tournaments).

    \b
    Examples:
      kangtou tournament resume
      kangtou tournament resume t_k3m9x2q7abcd --data kangtou-tournaments
    """
    common = of(context)
    _known_format(form)

    async def work(remote: Remote) -> int:
        chosen = await _chosen(common, remote, tournament)
        if (await Tournaments(remote.client).get(chosen))[0].open:
            await Tournaments(remote.client).resume(chosen)
        return await _to_the_end(common, remote, chosen, form, out, data)

    return _somewhere(common, work, data)


def cancel(
    context: typer.Context,
    tournament: Id = "",
    pause: Annotated[bool, typer.Option("--pause", help="only pause it: `resume` goes on")] = False,
) -> int:
    """Close a tournament with the final table of what was played; or pause it.

    \b
    Examples:
      kangtou tournament cancel t_k3m9x2q7abcd
      kangtou tournament cancel t_k3m9x2q7abcd --pause
    """
    common = of(context)

    async def work(remote: Remote) -> int:
        await Tournaments(remote.client).cancel(await _chosen(common, remote, tournament), pause=pause)
        return OK

    return run_remote(common, work)


def report(context: typer.Context, tournament: Id = "", form: Form = "text", out: Out = None) -> int:
    """The report of a tournament, also while it is played: final table, intervals, pairs, faults, matches.

    \b
    Examples:
      kangtou tournament report
      kangtou tournament report t_k3m9x2q7abcd --format html -o report.html
    """
    common = of(context)
    _known_format(form)

    async def work(remote: Remote) -> int:
        chosen = await _chosen(common, remote, tournament)
        written(common, await Tournaments(remote.client).report(chosen), form, out)
        return OK

    return run_remote(common, work)


def output(
    context: typer.Context,
    tournament: Annotated[str, typer.Argument(metavar="ID", help="of the tournament")],
    game: Annotated[str, typer.Argument(metavar="GAME", help="as the report names it: 1-2-3.0")],
) -> int:
    """What an entrant's process said last in a game that it forfeited (64 kB at most). For who submitted it.

    \b
    Example:
      kangtou tournament output t_k3m9x2q7abcd 1-2-3.0
    """
    common = of(context)

    async def work(remote: Remote) -> int:
        found = await Tournaments(remote.client).output(tournament, game)
        for seat, text in sorted(found.items()):
            if common.json:
                common.put_json({"seat": seat, "output": text})
            else:
                common.put(f"--- {seat}\n{text}")
        return OK if found else NOT_FOUND

    return run_remote(common, work)


# ---- shared ----


def read_spec(path: Path) -> Mapping[str, Any]:
    """A TOML file. Raises CommandError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CommandError(NOT_FOUND, f"there is no file {path}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(USAGE, f"{path}: {error}") from error


def _somewhere(common: Common, work: Any, data: Path | None) -> int:
    """At the server that was named; else at one that is started for it."""
    if common.server:
        return int(run_remote(common, work))
    return asyncio.run(embedded(common, data or DATA, work))


async def _to_the_end(
    common: Common, remote: Remote, tournament: str, form: str, out: Path | None, data: Path | None
) -> int:
    api = Tournaments(remote.client)
    summary: Summary | None = None
    with Live(common) as live:
        try:
            async with aclosing(api.watch(tournament)) as changes:
                async for progress in changes:
                    summary = progress.summary
                    live.show(progress)
        except asyncio.CancelledError:
            live.stop()
            where = f" --server {common.server}" if common.server else f" --data {data or DATA}"
            common.note("tournament_left", command=f"kangtou tournament resume {tournament}{where}")
            raise
    written(common, await api.report(tournament), form, out)
    return OK if summary is not None and summary.state == "complete" else FAILED


async def _chosen(common: Common, remote: Remote, tournament: str) -> str:
    if tournament:
        return tournament
    known = await Tournaments(remote.client).list()
    if not known:
        raise common.fail(NOT_FOUND, "no_tournament")
    return known[0].tournament_id


def _submitted(common: Common, result: str | tuple[Problem, ...]) -> str:
    if isinstance(result, str):
        return result
    raise CommandError(_said(common, result), common.say("bad_spec", count=len(result)))


def _said(common: Common, problems: tuple[Problem, ...]) -> int:
    for one in problems:
        told = {"name": one.name, "value": one.value, "allowed": one.allowed}
        if common.json:
            common.put_json(told)
        else:
            common.put(common.say("spec_problem", **told))
    return USAGE


def _checked(common: Common, problems: tuple[Problem, ...], games: int) -> int:
    if problems:
        raise CommandError(_said(common, problems), common.say("bad_spec", count=len(problems)))
    if common.json:
        common.put_json({"games": games})
    else:
        common.put(common.say("spec_good", games=games))
    return OK


def _known_format(form: str) -> None:
    if form not in FORMATS:
        raise CommandError(USAGE, f"--format is one of {', '.join(FORMATS)}, not {form!r}")


def _put_summary(common: Common, one: Summary) -> None:
    if common.json:
        common.put_json(
            {
                "tournament": one.tournament_id,
                "name": one.name,
                "game": one.game,
                "format": one.format,
                "state": one.state,
                "games": one.games_done,
                "planned": one.games_planned,
                "entrants": one.entrants,
                "commitment": one.commitment,
            }
        )
        return
    entrants = ", ".join(one.entrants)
    common.put(
        f"{one.tournament_id}  {one.state:<10} {one.games_done}/{one.games_planned}  {one.game} {one.format}"
        f"  {one.name}: {entrants}"
    )
