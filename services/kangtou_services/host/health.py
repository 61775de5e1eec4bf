"""Heartbeats of an actor, and the watch over the log: outages are noticed, measured and given back. Design §4."""

from __future__ import annotations

import asyncio
import os

import structlog

from ..directory import Actor, Directory
from ..log.base import Entry, LogError
from . import endings, outages
from .host import LOST, Host, ahead
from .slot import Slot

log = structlog.get_logger(__name__)

PROBE_S = 0.2
PATIENCE_S = 1.0
ABSENT_CHECK_S = 5.0


class Health:
    """The periodic work of one host."""

    def __init__(self, host: Host, directory: Directory, address: str) -> None:
        self.host = host
        self.directory = directory
        self.address = address
        self._incarnation = ""

    def me(self) -> Actor:
        """What the directory shows of this actor; one that hosts a suspect table, or is drained, looks full."""
        host = self.host
        cap = host.settings.tables_per_actor
        busy = any(slot.suspect for slot in host.slots.values())
        return Actor(
            id=host.actor_id,
            address=self.address,
            node=host.settings.node,
            pid=os.getpid(),
            tables=cap if busy else len(host.slots),
            cap=0 if host.draining else cap,
        )

    async def beat(self) -> bool:
        """One sign of life to the directory; False: this actor was declared dead."""
        return await self.directory.register(self.me())

    async def probe_forever(self) -> None:
        """Is the log there? An outage begins with the last answer and ends with the next."""
        last_ok = self.host.now_ms()
        while True:
            try:
                async with asyncio.timeout(PATIENCE_S):
                    incarnation = await self.host.log.incarnation()
                await self._answered(incarnation)
            except (LogError, OSError, TimeoutError):
                outages.note_down(self.host)
                assert self.host.down_since is not None
                self.host.down_since = min(self.host.down_since, last_ok)
            else:
                last_ok = self.host.now_ms()
            await asyncio.sleep(PROBE_S)

    async def _answered(self, incarnation: str) -> None:
        if self._incarnation not in ("", incarnation):
            await self._compare_tails()
        self._incarnation = incarnation
        outages.note_up(self.host)

    async def _compare_tails(self) -> None:
        """The server was restarted: is everything that it acknowledged still there?"""
        host = self.host
        for slot in list(host.slots.values()):
            if slot.table.busy or slot.faulted or slot.table.over:
                continue  # whoever waits for an append looks by itself
            before = slot.table.tail
            tail = await host.log.tail(slot.match)
            if tail == before or _moved(slot, before):
                continue
            if ahead(tail, slot.table):
                host.lost(slot, None)
            else:
                host.fault(slot, LOST)

    async def absent_forever(self) -> None:
        """A match that all seats have left is ended after a while."""
        while True:
            await asyncio.sleep(ABSENT_CHECK_S)
            host = self.host
            now = host.now_ms()
            for slot in list(host.slots.values()):
                if slot.seats:
                    slot.seen_ms = now
                elif host.down_since is not None or slot.table.over or slot.faulted:
                    continue
                elif now - slot.seen_ms >= host.settings.absent_ms:
                    endings.end(host, slot, "abandoned")


def _moved(slot: Slot, before: Entry | None) -> bool:
    """Whether the table has written, or writes, since its tail was `before`."""
    return slot.table.busy or slot.table.tail is not before
