"""A table goes to another actor in order: at most the entry under way is written, then the next owner is named.

Nothing is lost if any of it fails: whoever claims last writes, and what was named is only whom to ask. The time from
here until the next owner has the table is given back to its clocks (takeover.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from kangtou.internal.v1 import link_pb2 as lpb

from ..directory import Directory, DirectoryUnavailable, choose
from ..identity import StoreUnavailable
from ..link import ActorLink
from ..log.base import LogError
from ..operate import STOP, Orders
from ..operate.base import LOOK_S
from .slot import Slot, reply
from .watching import problem

if TYPE_CHECKING:
    from .host import Host

log = structlog.get_logger(__name__)

AT_ONCE = 16
BUSY_S = 0.002


def move(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """An operator has a match moved."""

    async def work() -> None:
        code = await hand_on(host, slot, call.move.actor_id)
        if code:
            problem(peer, call, code)
        else:
            reply(peer, lpb.Reply(ref=call.ref))

    host.serve(peer, call, work())


async def hand_on(host: Host, slot: Slot, to: str) -> str:
    """Let a table go to an actor; "" or a problem's code. A repeat that comes to the next owner has nothing to do."""
    if to == host.actor_id:
        return ""
    if slot.leaving:
        return "table_unavailable"
    slot.leaving = True
    try:
        code = await _named(host, slot, to)
    except LogError:
        code = "log_unavailable"  # if it was done all the same, the one that is named claims it, and this one is fenced
    finally:
        slot.leaving = False
    if host.slots.get(slot.match) is slot:
        if code:
            host.pump(slot)
        else:
            log.info("table_moved", match=slot.match, to=to)
            host.lost(slot, None)
    return code


async def _named(host: Host, slot: Slot, to: str) -> str:
    """Wait for the entry under way, then name the next owner in the log. Raises LogError."""
    if await host.store.deaths(slot.match):
        return "suspect"  # nobody who has tables would open it
    while slot.table.busy:  # noqa: ASYNC110 - an append has no event of its own, and ends in milliseconds
        await asyncio.sleep(BUSY_S)
    if slot.table.over:
        return "match_over"
    if slot.faulted or host.slots.get(slot.match) is not slot:
        return "not_here"
    done = await host.log.hand_on(slot.match, host.actor_id, to, host.now_ms())
    return "" if done else "not_here"


class Drain:
    """Follows the orders to one actor. `ended` is called once it was told to stop and has no table that can go."""

    def __init__(
        self, host: Host, directory: Directory, orders: Orders, told: Callable[[], object], ended: Callable[[], None]
    ) -> None:
        self._host = host
        self._directory = directory
        self._orders = orders
        self._told = told
        self._ended = ended

    async def watch(self) -> None:
        """For as long as this task runs."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                if await self._look():
                    return
            except (StoreUnavailable, DirectoryUnavailable, LogError) as error:
                log.warning("drain_delayed", error=type(error).__name__)

    async def _look(self) -> bool:
        host = self._host
        how = (await self._orders.ordered([host.actor_id])).get(host.actor_id, "")
        if bool(how) != host.draining:
            host.draining = bool(how)
            log.info("draining" if how else "draining_ended", actor=host.actor_id, tables=len(host.slots))
            self._told()
        if not how:
            return False
        await self._let_go()
        left = [slot for slot in host.slots.values() if not slot.faulted]
        if how != STOP or left:
            return False
        log.info("drained", actor=host.actor_id)
        self._ended()
        return True

    async def _let_go(self) -> None:
        host = self._host
        others = [one for one in await self._directory.living() if one.id != host.actor_id]
        placed: dict[str, int] = {}
        slots = [slot for slot in host.slots.values() if not (slot.faulted or slot.leaving or slot.table.over)]
        for start in range(0, len(slots), AT_ONCE):
            going = []
            for slot in slots[start : start + AT_ONCE]:
                target = choose(slot.match, others, placed)
                if target is None:
                    log.warning("nowhere_to_go", actor=host.actor_id, tables=len(slots))
                    return
                placed[target.id] = placed.get(target.id, 0) + 1
                going.append(hand_on(host, slot, target.id))
            await asyncio.gather(*going)
