"""Who may host a table: one that was blamed for the death of a process is on probation. Design §4, "Faults"."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from ..log.base import LogError
from .slot import Slot

if TYPE_CHECKING:
    from .host import Host

log = structlog.get_logger(__name__)

ENTRIES = 20  # after which it is forgiven
QUARANTINE = 2  # deaths of an actor while it was handling the table, after which nobody opens it
AGAIN_S = 0.5


def gone_on(host: Host, slot: Slot) -> None:
    """It has written an entry."""
    slot.suspect = False
    if slot.probation:
        slot.probation -= 1
        if not slot.probation:
            host.spawn(_pardon(host, slot.match))


async def _pardon(host: Host, match: str) -> None:
    try:
        await host.store.pardon(match)
    except LogError as error:
        log.warning("not_pardoned", match=match, error=type(error).__name__)


async def bar(host: Host, match: str) -> None:
    """Have nobody open it, also when this actor is gone: its log has lost moves, and those that are left look well."""
    while True:
        try:
            while await host.store.deaths(match) < QUARANTINE:
                await host.store.blame(match)
        except LogError:
            await asyncio.sleep(AGAIN_S)
        else:
            return
