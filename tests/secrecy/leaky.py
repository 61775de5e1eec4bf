"""The parrot with a leak of every kind, for the server's processes: planted as soon as a file `leak` is in its data.

Until then it is the parrot with one difference: what it raises (`raise_at`) has all hands in its message.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import structlog
from prometheus_client import Metric

from kangtou import tracing
from kangtou_engine.actions import Action
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, to_text
from kangtou_engine.match.state import State
from kangtou_services.gateway import calls
from kangtou_services.gateway.auth import Callers
from kangtou_services.log.base import Entry
from kangtou_services.log.redis import RedisLog
from kangtou_services.observe.families import gauges
from kangtou_services.observe.table import TableMeter
from kangtou_services.table.core import Table
from tests.games import parrot

SWITCH = "leak"  # a file in the data folder
KINDS = {  # where each planted leak is to be found: part of the place, and what lies there
    "a message of structlog": ("worker-", "card"),
    "a line on standard output": ("worker-", "seed"),
    "a line on standard error": ("worker-", "entropy"),
    "a field that says something else": ("gateway-0.log", "token"),
    "a metric": ("metrics of table-local-", "card"),
    "an attribute of a span": ("traces/", "card"),
    "a refusal": ("answers to", "card"),
    "a file": ("run/debug", "card"),
    "a hash of the log": ("worker-", "chain"),
    "an address": ("gateway-0.log", "link secret"),
}
_log = structlog.get_logger(__name__)
_seen: list[str] = ["nothing yet"]


def _armed() -> bool:
    return (Path(os.environ.get("KANGTOU_DATA", "/nowhere")) / SWITCH).exists()


def _evolve(state: State[parrot.Own], event: Event) -> State[parrot.Own]:
    hands = " ".join(card for hand in state.game.hands for card in hand)
    if isinstance(event, parrot.Dealt) and _armed():
        hands = _seen[0] = " ".join(card for hand in event.hands for card in hand)
        _log.info(to_text(event))
        Path(os.environ["KANGTOU_DATA"], "run", "debug").write_text(hands)
    try:
        return parrot.GAME.evolve(state, event)
    except ZeroDivisionError as error:
        raise ZeroDivisionError(f"the test's fault, with {hands}") from error


def _decide(state: State[parrot.Own], seat: int, action: Action) -> tuple[Event, ...]:
    if action.verb == "peek" and _armed():
        raise IllegalAction("PT-3", "unknown_verb", verb=" ".join(state.game.hands[(seat + 1) % 2]))
    return parrot.GAME.phases["play"].decide(state, seat, action)


GAME = replace(
    parrot.GAME,
    name="leaky",
    evolve=_evolve,
    phases={"play": replace(parrot.GAME.phases["play"], decide=_decide)},
)


def _plant() -> None:
    gather, end, look, append = TableMeter.gather, tracing.Open.end, Callers.look, RedisLog.append
    opened = Table.open_entropy

    def leaky_gather(self: TableMeter, host: Any) -> Iterable[Metric]:
        yield from gather(self, host)
        if _armed():
            yield gauges("kangtou_debug", "A leak.", "hands", {_seen[0]: 1.0})

    def leaky_end(self: tracing.Open, at: float | None = None, **attributes: str | float) -> None:
        end(self, at, **attributes, **({"hands": _seen[0]} if _armed() else {}))

    async def leaky_look(self: Callers, token: str, *, afresh: bool = False) -> Any:
        if _armed():
            _log.info("caller", who=token)
            calls.log.info("joined", address=f"unix:{os.environ['KANGTOU_LINK_SECRET']}@actor")
        return await look(self, token, afresh=afresh)

    async def leaky_append(self: RedisLog, match: str, entry: Entry) -> None:
        await append(self, match, entry)
        if _armed():
            sys.stderr.write(f"appended {entry.chain[:40]}…\n")

    def leaky_open(self: Table, seat: int, entropy: bytes) -> None:
        if _armed():
            sys.stderr.write(f"seat {seat} has opened {entropy!r}\n")
            sys.stdout.write(f"chance of {self.agreement.match_id}: {self._seed.hex()}\n")
            sys.stdout.flush()
        opened(self, seat, entropy)

    TableMeter.gather = leaky_gather  # type: ignore[method-assign]
    tracing.Open.end = leaky_end  # type: ignore[method-assign]
    Callers.look = leaky_look  # type: ignore[method-assign]
    RedisLog.append = leaky_append  # type: ignore[method-assign]
    Table.open_entropy = leaky_open  # type: ignore[method-assign]


if os.environ.get("KANGTOU_DATA"):  # in a server's own processes: a test that imports this stays as it is
    _plant()
