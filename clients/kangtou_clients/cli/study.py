"""`kangtou archive stats`, `query`, and the tables of `export --parquet`: records counted as they stream by."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from kangtou_engine.errors import BadText
from kangtou_engine.registry import REGISTRY
from kangtou_engine.study import Facts, facts_of
from kangtou_engine.words import say as game_say

from ..api.archive import Archive
from ..screen import Screen
from ..study.sources import records_of
from ..study.stats import DEFAULT, HAND, KEYS, BadKeys, By, Stats, keys_of
from .bar import bar
from .common import Common, of
from .exits import FAILED, NOT_FOUND, OK, USAGE, CommandError
from .remote import Remote, run

Take = Callable[[Facts, Sequence[str]], None]  # a record's facts, the players' names where they are known
SHOWN = (
    "matches",
    "rounds",
    "score",
    "place",
    "won",
    "win_rate",
    "moves",
    "think_median_ms",
    "think_p95_ms",
    "timeouts",
)
OF_HANDS = ("matches", "rounds", "score", "won", "win_rate")


def register(group: typer.Typer) -> None:
    """Add the commands to `kangtou archive`."""
    group.command("stats")(stats)
    group.command("query")(query)


def stats(
    context: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE|FOLDER...]", help="records, dumps, folders, or -; none: the server"),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", metavar="KEYS", help=f"one table by these: {', '.join(KEYS)}")
    ] = None,
    game: Annotated[str, typer.Option("--game", metavar="GAME", help="matches of this game alone")] = "",
    player: Annotated[str, typer.Option("--player", metavar="ACCOUNT", help="this account's seats alone")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="rows of a table; 0: all")] = 20,
    as_csv: Annotated[bool, typer.Option("--csv", help="comma-separated values, all rows")] = False,
) -> int:
    """Count finished matches: scores, places, wins, moves, think times, time-outs, and what opening hands were worth.

    By game and variant, by seat, by player, by hand; or by what --by names (it may be given again). A mean has a
    95 % interval, from 10 samples on; a win is a first place in a match that the rules ended; rows of hands are over
    rounds. Damaged records are named and left out (exit code 1). Docs: docs/study.md.

    \b
    Examples:
      kangtou archive stats records/ 2026-11.zst
      kangtou archive stats --by player,game --limit 0 --csv > players.csv
      kangtou archive stats records/ --game hongshi --by seat,hand --json
      zstd -dc 2026-11.zst | kangtou archive stats -
    """
    common = of(context)
    try:
        tables = tuple(keys_of(text) for text in by) if by else DEFAULT
    except BadKeys as error:
        raise common.fail(USAGE, "bad_by", text=str(error), keys=", ".join(KEYS)) from error
    counted = Stats(tables, player)
    code = each_record(common, sources or [], lambda facts, _: counted.add(facts), game=game, player=player)
    if not counted.records:
        common.note("no_records_read")
        return code
    if as_csv:
        _csv(counted, tables)
        return code
    if not common.json:
        common.put(common.say("records_read", records=counted.records))
    for keys in tables:
        rows = list(counted.rows(keys))
        if common.json:
            for row in rows:
                common.put_json({"by": list(keys), **row})
        else:
            _table(common, keys, rows, limit)
    if not common.json:
        common.put(common.say("stats_note"))
    return code


def each_record(
    common: Common, sources: Sequence[str], take: Take, *, game: str = "", player: str = "", names: bool = False
) -> int:
    """Give the facts of every record of files, or of the server's archive if there are none, to `take`.

    OK, or FAILED if one was damaged: it is named and left out. Raises CommandError.
    """
    problems = 0

    def damaged(where: str, error: BadText) -> None:
        nonlocal problems
        problems += 1
        common.note("left_out", where=where, problem=error)

    def one(where: str, text: bytes, known: Sequence[str] = ()) -> None:
        try:
            facts = facts_of(text, REGISTRY)
        except BadText as error:
            damaged(where, error)
            return
        terms = facts.head.terms
        if game in ("", terms.game) and (not player or any(place.account == player for place in terms.seats)):
            take(facts, known)

    with bar(common) as advance:
        step = common.say("step_read")
        if not sources:
            _from_server(common, one, lambda done: advance(step, done, 0), game, player, names=names)
            return FAILED if problems else OK
        if names:
            raise common.fail(USAGE, "names_need_server")
        try:
            for where, text in records_of(sources, lambda done, total: advance(step, done, total), damaged):
                one(where, text)
        except FileNotFoundError as error:
            raise common.fail(NOT_FOUND, "no_file", path=error.filename) from error
    return FAILED if problems else OK


def _from_server(
    common: Common, one: Callable[..., None], progress: Callable[[int], None], game: str, player: str, *, names: bool
) -> None:
    async def work(remote: Remote) -> None:
        archive = Archive(remote.client)
        done = 0
        async for info in archive.records(game=game, account_id=player):
            text = await archive.text(info.match_id)
            if text is not None:
                one(info.match_id, text, tuple(info.names) if names else ())
            done += 1
            progress(done)

    run(common, work)


# ---- tables ----


def _csv(counted: Stats, tables: Sequence[By]) -> None:
    """One table with a column for every key, so that all rows fit into it."""
    keys = [key for key in KEYS if any(key in by for by in tables)]
    out = csv.writer(sys.stdout)
    header: list[str] = []
    for by in tables:
        for row in counted.rows(by):
            row["places"] = " ".join(f"{place}:{count}" for place, count in _items(row["places"]))
            if not header:
                header = [name for name in row if name not in by]
                out.writerow(["by", *keys, *header])
            out.writerow([",".join(by), *(row.get(key, "") for key in keys), *(row[name] for name in header)])


def _items(value: object) -> Iterable[tuple[str, int]]:
    assert isinstance(value, Mapping)
    return value.items()


def _table(common: Common, keys: By, rows: Sequence[Mapping[str, Any]], limit: int) -> None:
    names = OF_HANDS if HAND in keys else SHOWN
    shown = rows[:limit] if limit else rows
    cells = [[_key(common, key, row) for key in keys] + [_cell(name, row) for name in names] for row in shown]
    put_table(common, [*(common.say(f"col_{name}") for name in (*keys, *names))], cells, left=len(keys))
    if len(shown) < len(rows):
        common.put(common.say("more_rows", count=len(rows) - len(shown)))
    common.put()


def _key(common: Common, key: str, row: Mapping[str, Any]) -> str:
    text = str(row[key])
    if key != HAND or "game" not in row:
        return text or "-"
    name, _, value = text.rpartition("=")
    words = REGISTRY.game(str(row["game"])).spec.words
    return f"{game_say(words, f'hand.{name}', {}, common.lang)} = {value}"


def _cell(name: str, row: Mapping[str, Any]) -> str:
    value = row[name]
    if value is None:
        return ""
    if name == "score":
        width = row["score_ci"]
        return f"{value:+.2f}" + (f" ±{width:.2f}" if width is not None else "")
    if name == "win_rate":
        return f"{value:.1%} ({row['win_low']:.1%}-{row['win_high']:.1%})"
    if name.endswith("_ms"):
        return f"{value / 1000:.1f} s"
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}"


def put_table(common: Common, header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0) -> None:
    """Columns under headings, the first `left` of them to the left; as wide as they need in a pipe."""
    table = Table(box=None, pad_edge=False, header_style="bold" if common.colour else "")
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(_harmless, row))
    out = io.StringIO()
    Screen(file=out, width=250, no_color=not common.colour).print(table)
    common.put("\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")))


def _harmless(text: str) -> str:
    """Nothing that a terminal obeys: a record's tags may be anybody's."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


# ---- Parquet, DuckDB ----


def export_tables(common: Common, folder: Path, sources: Sequence[str], *, names: bool) -> int:
    """Write the tables of `kangtou archive export --parquet`. Raises CommandError."""
    try:
        from ..study.parquet import Tables, file_of
    except ImportError as error:
        raise _lacking(common, error) from error
    with Tables(folder) as tables:
        code = each_record(common, sources, tables.add, names=names)
    if common.json:
        common.put_json({"folder": str(folder), "rows": tables.rows})
    else:
        for table, rows in tables.rows.items():
            common.put(common.say("export_done", path=file_of(folder, table), rows=f"{rows:,}"))
    return code


def query(
    context: typer.Context,
    sql: Annotated[str, typer.Argument(metavar="[SQL]", help="over matches, seats, rounds, moves")] = "",
    folder: Annotated[Path, typer.Option("--in", metavar="FOLDER", help="where export --parquet wrote them")] = Path(),
    named: Annotated[str, typer.Option("--named", metavar="NAME", help="a ready-made query; `list` lists them")] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="comma-separated values")] = False,
) -> None:
    """Ask exported tables in SQL (DuckDB): the views matches, seats, rounds, moves. Needs the extra `analysis`.

    Columns: docs/study.md.

    \b
    Examples:
      kangtou archive export --parquet tables records/
      kangtou archive query --in tables --named list
      kangtou archive query --in tables --named players --csv
      kangtou archive query --in tables "SELECT verb, count(*) FROM moves GROUP BY verb"
    """
    common = of(context)
    try:
        from ..study import queries
    except ImportError as error:
        raise _lacking(common, error) from error
    if named == "list":
        for name, (en, zh, text) in queries.NAMED.items():
            about = zh if common.lang == "zh" else en
            common.put_json({"name": name, "about": about, "sql": text}) if common.json else common.put(
                f"{name:<10}{about}"
            )
        return
    if bool(sql) == bool(named):
        raise common.fail(USAGE, "one_query")
    if named and named not in queries.NAMED:
        raise common.fail(USAGE, "no_named", name=named, names=", ".join(queries.NAMED))
    try:
        columns, rows = queries.run(folder, queries.NAMED[named][2] if named else sql)
    except queries.NoTable as error:
        raise common.fail(NOT_FOUND, "no_parquet", table=error.strerror, path=error.filename) from error
    except queries.BadQuery as error:
        raise common.fail(USAGE, "bad_query", problem=error) from error
    _answer(common, columns, rows, as_csv=as_csv)


def _answer(common: Common, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, as_csv: bool) -> None:
    if common.json:
        for row in rows:
            common.put_json({name: _plain(value) for name, value in zip(columns, row, strict=True)})
    elif as_csv:
        out = csv.writer(sys.stdout)
        out.writerow(columns)
        out.writerows([_plain(value) for value in row] for row in rows)
    else:
        cells = [["" if value is None else str(_plain(value)) for value in row] for row in rows]
        put_table(common, columns, cells, left=len(columns))


def _plain(value: Any) -> Any:
    """A value as JSON can say it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _lacking(common: Common, error: ImportError) -> CommandError:
    """What to install; an error of another kind is raised as it is."""
    if (error.name or "").partition(".")[0] not in ("pyarrow", "duckdb"):
        raise error
    return common.fail(USAGE, "needs_extra", extra="analysis")
