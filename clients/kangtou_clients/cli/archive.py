"""`kangtou archive`: finished matches of a server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
import zstandard

from kangtou.v1 import archive_pb2 as pb

from ..api.archive import Archive
from . import bulk
from .common import Common, of
from .exits import NOT_FOUND, USAGE
from .remote import Remote, run

SUFFIX = ".ktr.zst"
LEVEL = 6


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="List, look at and export finished matches.", no_args_is_help=True, rich_markup_mode=None)
    group.command("list")(list_records)
    group.command("show")(show)
    group.command("export")(export)
    bulk.register(group)
    app.add_typer(group, name="archive")


def list_records(
    context: typer.Context,
    game: Annotated[str, typer.Option("--game", metavar="GAME")] = "",
    player: Annotated[str, typer.Option("--player", metavar="ACCOUNT", help="an account id; me: your own")] = "",
    tournament: Annotated[str, typer.Option("--tournament", metavar="ID")] = "",
    since: Annotated[str, typer.Option("--since", metavar="DATE", help="ended on or after 2026-01-31 (UTC)")] = "",
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="ended before it")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="at most so many; 0: all")] = 20,
) -> None:
    """List finished matches, the last to end first.

    \b
    Examples:
      kangtou archive list
      kangtou archive list --game hongshi --player me --limit 5
      kangtou archive list --since 2026-01-01 --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        account = remote.profile.account_id if player == "me" and remote.profile else player
        found = Archive(remote.client).records(
            game=game,
            account_id=account,
            tournament=tournament,
            from_ms=_day(common, since),
            to_ms=_day(common, until),
        )
        left = limit
        async for record in found:
            _put(common, record)
            left -= 1
            if left == 0:
                break
        if left == limit:
            common.note("no_records")

    run(common, work)


def show(
    context: typer.Context,
    match: Annotated[str, typer.Argument(metavar="MATCH")],
) -> None:
    """Show what a finished match was: the header of its record. `kangtou replay` shows its course.

    \b
    Examples:
      kangtou archive show mx4k2p7q
    """
    common = of(context)
    head = _text(common, match).decode().partition("\nheader ")[0].split("\n")
    if common.json:
        fields: dict[str, list[str]] = {}
        for line in head:
            name, _, value = line.partition(" ")
            fields.setdefault(name, []).append(value)
        common.put_json({name: values if name == "seat" else values[0] for name, values in fields.items()})
        return
    for line in head:
        name, _, value = line.partition(" ")
        common.put(f"{name:<16}{value}")


def export(
    context: typer.Context,
    matches: Annotated[list[str], typer.Argument(metavar="MATCH...")],
    folder: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="default: here")] = Path(),
    plain: Annotated[bool, typer.Option("--plain", help="as text (.ktr), not compressed")] = False,
) -> None:
    """Write the records of matches into files. They can be verified and replayed without the server.

    \b
    Examples:
      kangtou archive export mx4k2p7q
      kangtou archive export mx4k2p7q 8fkw3s9d --to records --plain
    """
    common = of(context)
    folder.mkdir(parents=True, exist_ok=True)
    for match in matches:
        data = _text(common, match)
        path = folder / f"{match}{'.ktr' if plain else SUFFIX}"
        packed = data if plain else zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(data)
        path.write_bytes(packed)
        common.put_json({"match": match, "file": str(path)}) if common.json else common.put(str(path))


def _text(common: Common, match: str) -> bytes:
    async def work(remote: Remote) -> bytes:
        data = await Archive(remote.client).text(match)
        if data is None:
            raise common.fail(NOT_FOUND, "no_match", match=match)
        return data

    return run(common, work)


def _put(common: Common, record: pb.RecordInfo) -> None:
    names = [name or account for name, account in zip(record.names, record.account_ids, strict=False)]
    if common.json:
        common.put_json(
            {
                "match": record.match_id,
                "game": record.game,
                "version": record.version,
                "ended_ms": record.ended_ms,
                "cause": record.cause,
                "players": names,
                "account_ids": list(record.account_ids),
                "scores": list(record.scores),
                "places": list(record.places),
                "rounds": record.rounds,
                "moves": record.moves,
                "rated": record.rated,
                "pool": record.pool,
            }
        )
        return
    ended = datetime.fromtimestamp(record.ended_ms / 1000, UTC)
    seats = "  ".join(f"{name} {score:+d}" for name, score in zip(names, record.scores, strict=False))
    cause = "" if record.cause == "rules" else f"  ({common.word(f'cause.{record.cause}')})"
    count = common.say("record_counts", rounds=record.rounds, moves=record.moves)
    common.put(f"{record.match_id}  {ended:%Y-%m-%d %H:%M}  {record.game:<8} {count}  {seats}{cause}")


def _day(common: Common, text: str) -> int:
    """The first instant of a day, Unix ms; 0 for no day."""
    if not text:
        return 0
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError as error:
        raise common.fail(USAGE, "bad_day", text=text) from error
