"""`kangtou tournament verify`: a report against the records of its matches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kangtou_engine.boards import read_board, tournament_commitment
from kangtou_engine.errors import BadText
from kangtou_engine.record import read_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify as verify_record

from ..api.archive import Archive
from .common import of
from .exits import FAILED, NOT_FOUND, OK, USAGE, CommandError
from .remote import Remote
from .remote import run as run_remote
from .tournament_server import embedded


def verify(
    context: typer.Context,
    report: Annotated[Path, typer.Argument(metavar="REPORT.json", help="from `report --format json -o`")],
    data: Annotated[Path | None, typer.Option("--data", help="of `run`: its server is started again")] = None,
) -> int:
    """Verify a closed tournament: its seed against the commitment, each record of the archive against the seed.

    Each record is checked in full (hashes, deals, events); its board must follow from the tournament's seed, and its
    scores must be those of the report, but for forfeited games.

    \b
    Examples:
      kangtou tournament report t_k3m9x2q7abcd --format json -o report.json
      kangtou tournament verify report.json
      kangtou tournament verify report.json --data kangtou-tournaments
    """
    common, given = of(context), _read(report)
    run = given.get("run", {})
    tournament, seed = str(run.get("id", "")), bytes.fromhex(str(run.get("seed", "")))
    if not seed:
        raise common.fail(USAGE, "report_not_closed")
    forfeited = {fault["match"] for fault in given.get("faults", ())}
    problems = [] if tournament_commitment(tournament, seed) == run.get("commitment") else [(tournament, "commitment")]

    async def work(remote: Remote) -> int:
        checked = 0
        for match in given["matches"]:
            found = await Archive(remote.client).record(match["match"])
            text = found[1].decode() if found is not None else ""
            scores = None if match["match"] in forfeited else list(match["scores"])
            problems.extend((match["match"], one) for one in _checked(text, scores, tournament, seed))
            checked += 1
        return checked

    checked = run_remote(common, work) if data is None else asyncio.run(embedded(common, data, work))
    for place, problem in problems:
        if common.json:
            common.put_json({"match": place, "problem": problem})
        else:
            common.put(f"! {place}: {problem}")
    if common.json:
        common.put_json({"records": checked, "problems": len(problems)})
    else:
        common.put(common.say("tournament_verified", records=checked, problems=len(problems)))
    return FAILED if problems else OK


def _checked(text: str, scores: list[int] | None, tournament: str, seed: bytes) -> list[str]:
    """What is wrong with the record of a match (scores None: it was forfeited)."""
    if not text:
        return ["no record"]
    try:
        head = read_record(text).head
    except BadText as error:
        return [str(error)]
    found = [finding.code for finding in verify_record(text, REGISTRY, tournament_seed=seed).findings]
    if not head.terms.board or read_board(head.terms.board)[0] != tournament:
        found.append("board")
    if scores is not None and list(head.outcome.scores) != scores:
        found.append("scores")
    return found


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CommandError(NOT_FOUND, f"there is no file {path}") from error
    except ValueError as error:
        raise CommandError(USAGE, f"{path} is no report") from error
    if not isinstance(found, dict) or "matches" not in found:
        raise CommandError(USAGE, f"{path} is no report")
    return found
