"""`kangtou games`: the games that this program knows, and their house options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kangtou_engine.game import GameSpec
from kangtou_engine.options import OptionSpec
from kangtou_engine.registry import REGISTRY

from .common import Common, of
from .exits import NOT_FOUND


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("games")(games)


def games(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="show its options too")] = "",
    rules: Annotated[bool, typer.Option("--rules", help="named house rules instead of options")] = False,
) -> None:
    """List the games, or the house options of one, or the named house rules that `quick` and `open` take.

    \b
    Examples:
      kangtou games
      kangtou games hongshi
      kangtou games wushik --rules
      kangtou --json games hongshi
    """
    common = of(context)
    names = REGISTRY.names()
    if game and game not in names:
        raise common.fail(NOT_FOUND, "no_game", game=game, games=", ".join(names))
    specs = [REGISTRY.game(name).spec for name in ([game] if game else names)]
    if common.json:
        common.put_json([_plain(spec) for spec in specs])
        return
    seats = [common.say("seats", seats="/".join(map(str, spec.seats_allowed))) for spec in specs]
    widths = [max(map(len, column)) + 2 for column in ([spec.name for spec in specs], seats)]
    for spec, count in zip(specs, seats, strict=True):
        common.put(f"{spec.name:<{widths[0]}}{count:<{widths[1]}}{spec.title[1]}  {spec.title[0]}")
        if rules:
            _rule_sets(common, spec)
    if game and not rules:
        _options(common, specs[0].option_rows)


def _options(common: Common, rows: tuple[OptionSpec, ...]) -> None:
    table = [tuple(common.say(head) for head in ("options", "default", "rule", "allowed"))]
    table += [(row.name, str(row.default).lower(), row.rule, row.allowed()) for row in rows]
    widths = [max(len(line[column]) for line in table) + 2 for column in range(3)]
    common.put()
    for line in table:
        common.put("  " + "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)) + line[3])


def _rule_sets(common: Common, spec: GameSpec[Any]) -> None:
    for one in spec.rule_sets:
        given = "  ".join(f"{name}={str(value).lower()}" for name, value in one.options.items())
        common.put(f"  {one.name:<12}{one.title[common.lang == 'zh']}" + (f"  [{given}]" if given else ""))


def _plain(spec: GameSpec[Any]) -> dict[str, Any]:
    return {
        "game": spec.name,
        "version": spec.version,
        "title": {"en": spec.title[0], "zh": spec.title[1]},
        "seats": list(spec.seats_allowed),
        "options": [
            {"name": row.name, "default": row.default, "rule": row.rule, "allowed": row.allowed()}
            for row in spec.option_rows
        ],
        "rules": [
            {"name": one.name, "title": {"en": one.title[0], "zh": one.title[1]}, "options": dict(one.options)}
            for one in spec.rule_sets
        ],
    }
