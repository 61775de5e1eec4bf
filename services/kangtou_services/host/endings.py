"""How matches end at their host: closed with a cause, archived, let go. Design §4."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

import structlog

from .slot import Slot

if TYPE_CHECKING:
    from .host import Host

log = structlog.get_logger(__name__)

LINGER_S = 5.0  # how long a table that has ended is kept for late joiners
AGAIN_S = 0.05  # until a match is closed whose table writes, or cannot


def end(host: Host, slot: Slot, cause: str) -> None:
    """Close a match with a cause, as soon as that can be written. Design §4, "Ends outside the rules"."""
    table = slot.table
    if table.over or host.slots.get(slot.match) is not slot:
        return
    draft = None if host.down_since is not None or slot.leaving else table.close(host.now_ms(), cause)
    if draft is not None:
        host.write(slot, draft)
    else:
        asyncio.get_running_loop().call_later(AGAIN_S, end, host, slot, cause)


async def finish(host: Host, slot: Slot) -> None:
    """The match has ended: write its record, then let the live log expire, then let the table go."""
    wait, began = 0.2, perf_counter()
    host.meter.archiving += 1
    while True:
        try:
            await host.archiver.archive(slot.match)
            await host.store.retire(slot.match, host.settings.keep_log_ms)
            break
        except Exception as error:  # noqa: BLE001 - the log is kept as long as there is no record
            host.meter.archive_failures += 1
            log.warning("archive_delayed", match=slot.match, error=type(error).__name__)
            await asyncio.sleep(wait)
            wait = min(wait * 2, 30.0)
    host.meter.archiving -= 1
    host.meter.archives.add(perf_counter() - began)
    linger_s = LINGER_S + slot.table.agreement.watch_delay_ms / 1000
    await asyncio.sleep(linger_s)  # late joiners still see the end here, and delayed spectators come to it
    host.forget(slot)
