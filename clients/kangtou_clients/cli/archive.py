"""`kangtou archive`: finished matches of a server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
import zstandard

from ..api.archive import Archive
from . import bulk, study
from .archive_list import list_records
from .archive_rebuild import rebuild
from .common import Common, of
from .exits import NOT_FOUND, OK, USAGE
from .remote import Remote, run

SUFFIX = ".ktr.zst"
LEVEL = 6


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="List, look at and export finished matches.", no_args_is_help=True, rich_markup_mode=None)
    group.command("list")(list_records)
    group.command("show")(show)
    group.command("export")(export)
    study.register(group)
    bulk.register(group)
    group.command("rebuild")(rebuild)
    app.add_typer(group, name="archive")


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
    matches: Annotated[
        list[str] | None,
        typer.Argument(metavar="MATCH...", help="with --parquet: files, folders, dumps; none: the server"),
    ] = None,
    folder: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="default: here")] = Path(),
    plain: Annotated[bool, typer.Option("--plain", help="as text (.ktr), not compressed")] = False,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FOLDER", help="tables of matches, seats, rounds, moves")
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="with --parquet: players' names too (the server's alone)")
    ] = False,
) -> int:
    """Write the records of matches into files. They can be verified and replayed without the server.

    With --parquet, of many records as tables for one's own analysis: `kangtou archive query` asks them, and so does
    whatever reads Parquet. Needs the extra `analysis`; docs/study.md has the columns.

    \b
    Examples:
      kangtou archive export mx4k2p7q
      kangtou archive export mx4k2p7q 8fkw3s9d --to records --plain
      kangtou archive export --parquet tables records/ 2026-11.zst
      kangtou archive export --parquet tables --names
    """
    common = of(context)
    if parquet is not None:
        return study.export_tables(common, parquet, matches or [], names=names)
    if not matches:
        raise common.fail(USAGE, "export_what")
    folder.mkdir(parents=True, exist_ok=True)
    for match in matches:
        data = _text(common, match)
        path = folder / f"{match}{'.ktr' if plain else SUFFIX}"
        packed = data if plain else zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(data)
        put_file(path, packed)
        common.put_json({"match": match, "file": str(path)}) if common.json else common.put(str(path))
    return OK


def put_file(path: Path, data: bytes) -> None:
    """There whole or not at all. Raises OSError."""
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        half.write_bytes(data)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _text(common: Common, match: str) -> bytes:
    async def work(remote: Remote) -> bytes:
        data = await Archive(remote.client).text(match)
        if data is None:
            raise common.fail(NOT_FOUND, "no_match", match=match)
        return data

    return run(common, work)
