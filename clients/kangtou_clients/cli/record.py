"""`kangtou record`: the text of a record, or only what was played."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kangtou_engine.record import canonical_text

from .common import of
from .source import load


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("record")(record)


def record(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE|MATCH", help="a record's file, - , or a match of the server")],
    canonical: Annotated[
        bool, typer.Option("--canonical", help="actions and events only: equal for equal play")
    ] = False,
) -> None:
    """Print the text of a record (docs/record-format.md).

    \b
    Examples:
      kangtou record match.ktr.zst > match.ktr
      diff <(kangtou record a.ktr --canonical) <(kangtou record b.ktr --canonical)
    """
    common = of(context)
    source = load(common, target)
    found = source.record(common)
    sys.stdout.write(canonical_text(found) if canonical else source.data.decode())
