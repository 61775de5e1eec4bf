"""The spans of a move in its actor: made when it is over, from times that were taken for the metrics."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from kangtou.tracing import Tracing

from .log import LogMeter

if TYPE_CHECKING:
    from ..host.slot import Slot
    from ..table.draft import Draft


def stored(tracing: Tracing, log: LogMeter, slot: Slot, draft: Draft, told: float) -> None:
    """An entry with answers is in the log and was told to all from `told` (perf_counter seconds) on."""
    from ..host.slot import Ref

    now = perf_counter()
    for command, _ in draft.answers:
        ref = command.ref
        if not isinstance(ref, Ref) or not ref.trace:
            continue
        whole = tracing.begin("table.command", ref.trace, ref.at)
        if whole is None or draft.entry is None:
            continue
        whole.below("table.wait", ref.at, draft.began)
        whole.below("table.decide", draft.began, draft.decided)
        append = whole.below("log.append", draft.decided, draft.stored)
        left, back, entries = log.last  # this entry's batch: the next cannot be back before this has run
        if left >= draft.decided:
            append.below("redis.xadd", left, back, entries=entries)
        whole.below("table.publish", told, now)
        whole.end(
            now,
            match=slot.match,
            seq=draft.entry.seq,
            command=command.command_id,
            seat=command.seat,
            game=slot.table.agreement.game,
        )


def refused(tracing: Tracing, slot: Slot, trace: str, began: float, command_id: str, code: str) -> None:
    """A command was refused: nothing was stored."""
    whole = tracing.begin("table.command", trace, began)
    if whole is not None:
        whole.end(match=slot.match, command=command_id, refused=code)
