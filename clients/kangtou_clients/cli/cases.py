"""`kangtou cases`: worked cases of the rules through the engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from kangtou_engine.cases import run_case
from kangtou_engine.match.match import Game
from kangtou_engine.registry import REGISTRY

from .common import Common, of
from .exits import FAILED, NOT_FOUND, OK, USAGE


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("cases")(cases)


def cases(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="YAML files of cases (`kangtou rules common`, Case files)")],
    game: Annotated[str, typer.Option("--game", help="default: by the id of each case (HS-…: hongshi)")] = "",
    only: Annotated[str, typer.Option("--only", metavar="ID", help="run this case alone")] = "",
) -> int:
    """Run worked cases of the rule books.

    Prints every failure and a closing line "N passed, M failed". Exit code 1 if a case failed.

    \b
    Examples:
      kangtou cases tests/cases/hongshi.yaml
      kangtou cases my-cases.yaml --game hongshi --only HS-C00
    """
    common = of(context)
    passed = 0
    failures: list[dict[str, Any]] = []
    for path in files:
        for case in _read(common, path):
            if only and case.get("id") != only:
                continue
            problems = run_case(_game(common, path, case, game), case)
            passed += not problems
            if problems:
                failures.append({"file": str(path), "id": case.get("id"), "problems": problems})
                _show(common, case, problems)
    if only and not passed and not failures:
        raise common.fail(NOT_FOUND, "no_rule", rule=only, book=", ".join(map(str, files)))
    if common.json:
        common.put_json({"passed": passed, "failed": len(failures), "failures": failures})
    else:
        common.put(common.say("cases_total", passed=passed, failed=len(failures)))
    return FAILED if failures else OK


def _show(common: Common, case: Mapping[str, Any], problems: list[str]) -> None:
    if common.json:
        return
    common.put(f"{case.get('id')}  {case.get('title', '')}")
    for problem in problems:
        common.put(f"    {problem}")


def _read(common: Common, path: Path) -> list[Mapping[str, Any]]:
    if not path.is_file():
        raise common.fail(NOT_FOUND, "no_file", path=path)
    try:
        found = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        raise common.fail(USAGE, "bad_yaml", path=path, problem=problem) from error
    if not isinstance(found, list) or not all(isinstance(case, dict) for case in found):
        raise common.fail(USAGE, "bad_yaml", path=path, problem="a list of maps is wanted")
    return found


def _game(common: Common, path: Path, case: Mapping[str, Any], wanted: str) -> Game:
    """The game that was asked for, or by the prefix of the case's id, or by the name of the file."""
    names = REGISTRY.names()
    if wanted and wanted not in names:
        raise common.fail(NOT_FOUND, "no_game", game=wanted, games=", ".join(names))
    prefix = str(case.get("id")).partition("-")[0]
    by_prefix = {REGISTRY.game(name).spec.prefix: name for name in names}
    name = wanted or by_prefix.get(prefix) or path.stem
    if name not in names:
        raise common.fail(NOT_FOUND, "no_game", game=name, games=", ".join(names))
    return REGISTRY.game(name)
