"""Tells the house which seats of the tables here want a substitute. Nothing waits for it; a failed call is repeated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog
from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential

from kangtou_engine.cards import Seat

from ..identity import StoreUnavailable
from .slot import Slot

if TYPE_CHECKING:
    from .host import Host

log = structlog.get_logger(__name__)

_RETRY = {"retry": retry_if_exception_type(StoreUnavailable), "wait": wait_exponential(0.1, max=10.0)}


def changed(host: Host, slot: Slot, seats: Iterable[Seat]) -> None:
    """These seats have changed hands (or the table has been loaded, or is over): the house is told how they are now."""
    for seat in set(seats):
        host.spawn(_told(host, slot, seat, away=_away(slot, seat), number=slot.table.seq))


async def _told(host: Host, slot: Slot, seat: Seat, *, away: bool, number: int) -> None:
    table = slot.table
    async for attempt in AsyncRetrying(**_RETRY):  # type: ignore[arg-type]
        with attempt:
            if _away(slot, seat) is not away:
                return  # it has changed again meanwhile; that is told by itself
            if away:
                await host.house.delegated(slot.match, seat, table.game.spec.name, number)
            else:
                await host.house.ended(slot.match, seat)


def _away(slot: Slot, seat: Seat) -> bool:
    return bool(slot.table.prompts.away(seat)) and not slot.table.over
