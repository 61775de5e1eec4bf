"""A table that was blamed for the death of a process: what it writes clears it. Design §4, "Faults"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from ..log.base import LogError
from .slot import Slot

if TYPE_CHECKING:
    from .host import Host

log = structlog.get_logger(__name__)

ENTRIES = 20  # after which it is forgiven


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
