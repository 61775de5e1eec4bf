"""The log's outages: no table decides anything, and the time is given back to the clocks. Design §4."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from ..log.base import Entry, LogUnavailable

if TYPE_CHECKING:
    from .host import Host
    from .slot import Slot

log = structlog.get_logger(__name__)

AGAIN_S = 0.1
REMIND_AT_ONCE = 16  # tables in one turn of the event loop


def note_down(host: Host) -> None:
    """The log cannot be written now; the health watch will say when it can."""
    if host.down_since is not None:
        return
    host.down_since = host.now_ms()
    host.up.clear()
    log.error("log_unavailable")
    for slot in host.slots.values():
        slot.tell_all(4, "moves cannot be stored now", "暂时无法保存动作")


def note_up(host: Host) -> None:
    """It can again: the time of the outage is given back, and whatever waited goes on."""
    if host.down_since is None:
        return
    outage = min(host.now_ms() - host.down_since, host.settings.max_outage_ms)
    host.down_since = None
    host.meter.outages["log"].add(outage / 1000)
    log.info("log_available", outage_ms=outage)
    for slot in host.slots.values():
        slot.seen_ms += outage
        if not slot.table.over:
            slot.table.give_back(outage)
    host.up.set()
    for slot in list(host.slots.values()):
        host.pump(slot)
    host.spawn(_remind_all(host, list(host.slots.values())))


async def _remind_all(host: Host, slots: list[Slot]) -> None:
    for place, slot in enumerate(slots):
        host.remind(slot)
        if place % REMIND_AT_ONCE == 0:
            await asyncio.sleep(0)


async def tail_when_up(host: Host, match: str) -> Entry | None:
    """The end of a match's log, as soon as the log answers."""
    while True:
        await host.up.wait()
        try:
            return await host.log.tail(match)
        except LogUnavailable:
            note_down(host)
            await asyncio.sleep(AGAIN_S)
