"""What a gateway knows of the maintenance of its server: asked again every half second."""

from __future__ import annotations

import asyncio

import structlog

from ..identity import StoreUnavailable
from .base import LOOK_S, Maintenance, Orders

log = structlog.get_logger(__name__)


class MaintenanceWatch:
    """`now` is what was found last; while the store cannot be reached it stays."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.now: Maintenance | None = None

    def on(self) -> bool:
        """Whether the server takes nothing new."""
        return self.now is not None

    async def look(self) -> Maintenance | None:
        """Ask now. Raises StoreUnavailable."""
        found = await self.orders.maintenance()
        if (found is None) != (self.now is None):
            log.info("maintenance", on=found is not None)
        self.now = found
        return found

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
            except StoreUnavailable as error:
                log.warning("maintenance_not_known", error=type(error).__name__)
            await asyncio.sleep(LOOK_S)
