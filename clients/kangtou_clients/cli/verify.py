"""`kangtou verify`: recompute everything that a record says."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from kangtou_engine.registry import REGISTRY
from kangtou_engine.shuffle import SEED_BYTES
from kangtou_engine.verify import Report
from kangtou_engine.verify import verify as verify_record

from .common import Common, of
from .exits import FAILED, OK, USAGE, CommandError
from .source import load

_SEED = re.compile(f"[0-9a-fA-F]{{{2 * SEED_BYTES}}}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def verify(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE|MATCH", help="a record's file, - , or a match of the server")],
    receipt: Annotated[
        str, typer.Option("--receipt", metavar="HEX", help="the receipt that a seat was given at the end")
    ] = "",
    tournament_seed: Annotated[
        str, typer.Option("--tournament-seed", metavar="HEX", help="the tournament's seed, from its report")
    ] = "",
) -> int:
    """Verify a record: hashes, commitments, every deal, every event, the result.

    Runs the rules' engine over all actions. Names the line of everything that is wrong; exit code 1 then.
    A record that was rewritten as a whole is told by the receipt that each seat got when the match ended.

    \b
    Examples:
      kangtou verify match.ktr.zst
      kangtou verify mx4k2p7q --receipt 3f9a...
      kangtou verify board.ktr.zst --tournament-seed 09ab...
    """
    common = of(context)
    if tournament_seed and not _SEED.fullmatch(tournament_seed):
        raise CommandError(USAGE, f"--tournament-seed is {2 * SEED_BYTES} hexadecimal digits")
    source = load(common, target)
    report = verify_record(source.data, REGISTRY, receipt, bytes.fromhex(tournament_seed))
    if common.json:
        common.put_json(_plain(report))
    else:
        _show(common, report, receipt)
    return OK if report.ok else FAILED


def _show(common: Common, report: Report, receipt: str) -> None:
    for finding in report.findings:
        common.put(str(finding))
    for note in report.notes:
        common.put(f"({note})")
    if report.record is not None:
        head = report.record.head
        common.put(f"{head.terms.match}  {head.terms.game}@{head.terms.version}  {head.outcome.cause}")
        counts = {"deals": report.deals, "actions": report.actions, "events": report.events}
        common.put(common.say("verify_counts", entries=report.entries, **counts))
    if not report.ok:
        common.put(common.say("verify_bad", count=len(report.findings)))
        return
    if report.rerun:
        common.put(common.say("verify_rerun"))
    if receipt:
        common.put(common.say("verify_receipt"))
    elif report.record is not None:
        common.put(common.say("verify_keep", receipt=report.record.receipt))
    common.put(common.say("verify_ok"))


def _plain(report: Report) -> dict[str, Any]:
    return {
        "ok": report.ok,
        "match": report.record.head.terms.match if report.record else "",
        "receipt": report.record.receipt if report.record else "",
        "findings": [{"line": one.line, "code": one.code, "text": one.text} for one in report.findings],
        "notes": report.notes,
        "entries": report.entries,
        "deals": report.deals,
        "actions": report.actions,
        "events": report.events,
        "rerun": report.rerun,
    }
