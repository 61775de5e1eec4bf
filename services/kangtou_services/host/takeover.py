"""Opening tables here: claim in the log, load, and take over those of an actor that died. Design §1, §4.

The epoch makes it safe: whoever claims last is the only one whose appends are taken. Everything else here is about
being quick and about doing it once: each living actor takes the share that rendezvous hashing gives it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import structlog

from kangtou_engine.errors import BadOptions, BadText
from kangtou_engine.notation import valid_id

from ..agreement import Agreement
from ..directory import Actor, Directory, DirectoryUnavailable, place
from ..log.base import LogError, LogUnavailable
from ..table.core import Table
from ..table.load import BrokenLog, entries_to_load, load
from . import endings
from .host import Host, human_delay_ms
from .marker import being_counted, put_back, settle, take, where
from .probation import QUARANTINE
from .slot import Slot

log = structlog.get_logger(__name__)

CLAIM_TRIES = 3
COUNTED_S = 1.0  # how long to wait for somebody else who counts a death


class Opener:
    """Opens tables at one host."""

    def __init__(self, host: Host, directory: Directory) -> None:
        self.host = host
        self.directory = directory
        self._opening: dict[str, asyncio.Task[str]] = {}
        self._broken: set[str] = set()  # cannot be loaded: a sweep does not try again
        self._marks = host.settings.run_dir / "handling"
        host.opener = self.open

    def open(self, match: str) -> asyncio.Task[str]:
        """Host a match; the task gives "" or a problem's code. One at a time for each match."""
        task = self._opening.get(match)
        if task is None:
            task = self._opening[match] = self.host.spawn(self._open(match))
            task.add_done_callback(lambda _: self._opening.pop(match, None))
        return task

    async def _open(self, match: str) -> str:
        if match in self.host.slots:
            return ""
        if not valid_id(match):
            return "unknown_match"
        try:
            problem = await self._fit(match)
            return problem or await self._claim(match)
        except (LogUnavailable, DirectoryUnavailable):
            return "log_unavailable"
        except (BrokenLog, BadText, BadOptions, LogError) as error:
            log.error("table_cannot_load", match=match, error=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - a table's code may raise anything; it must not harm others
            log.error("table_raised", match=match, where=where(error))
        self._broken.add(match)
        return "faulted"

    async def _fit(self, match: str) -> str:
        """Whether this actor may host it: a suspect goes to an actor that has nothing to lose."""
        host = self.host
        owner = await host.log.owner(match)
        if owner is not None and owner != host.actor_id:
            if await self.directory.is_alive(owner):
                return "not_here"
            await self._blame(owner)
        deaths = await host.store.deaths(match)
        if deaths >= QUARANTINE:
            return "quarantined"
        if deaths and host.slots:
            return "not_here"
        if any(slot.suspect for slot in host.slots.values()):
            return "not_here"
        if len(host.slots) >= host.settings.tables_per_actor or (host.draining and owner != host.actor_id):
            return "full"
        return ""

    async def _claim(self, match: str) -> str:
        host = self.host
        text = await host.store.agreement(match)
        seed = await host.store.seed(match)
        if text is None or seed is None:
            return "unknown_match"
        agreement = Agreement.from_json(text)
        try:
            game = host.registry.game(agreement.game, agreement.version)
        except BadOptions:  # an older release: another actor may have these rules
            log.warning("rules_not_here", match=match, rules=f"{agreement.game}@{agreement.version}")
            return "not_here"
        suspect = await host.store.deaths(match) > 0
        for _ in range(CLAIM_TRIES):
            entries = await entries_to_load(host.log, match)
            owner = await host.log.owner(match)  # after the tail: a claim by another since then makes ours fail
            if owner is not None and owner != host.actor_id and await self.directory.is_alive(owner):
                return "not_here"
            table = Table(game, agreement, seed, human_delay_ms)
            with host.marker.handling(match):
                load(table, entries)
            if table.over or await self._claimed(table, owner):
                self._add(table, taken=bool(entries), suspect=suspect)
                return ""
        return "not_here"

    async def _claimed(self, table: Table, owner: str | None) -> bool:
        host = self.host
        match = table.agreement.match_id
        tail = table.tail
        if tail is not None:
            outage = await self._outage(table, owner)
            table.give_back(outage)
            host.meter.outages["takeover"].add(outage / 1000)
        draft = table.claim(host.now_ms(), host.actor_id)
        assert draft.entry is not None
        if not await host.log.claim(match, host.actor_id, tail, draft.entry):
            return False
        table.commit(draft)
        return True

    async def _outage(self, table: Table, owner: str | None) -> int:
        """Since the last sign of life of the owner before: its last entry or its last heartbeat. Design §4.

        Without a limit if it is known when the match was put down: no owner was there to let it wait.
        """
        host = self.host
        last = table.history[-1][1] if table.history else table.agreement.created_ms
        left = await host.log.put_down(table.agreement.match_id)
        if left is not None:
            return max(0, host.now_ms() - max(last, left))
        beat = await self.directory.last_beat(owner) if owner else None
        return max(0, min(host.now_ms() - max(last, beat or 0), host.settings.max_outage_ms))

    def _add(self, table: Table, *, taken: bool, suspect: bool) -> None:
        host = self.host
        match = table.agreement.match_id
        self._broken.discard(match)
        slot = host.add(table, suspect=suspect)
        host.takeovers += taken
        if table.over:
            host.spawn(endings.finish(host, slot))
        else:
            log.info("table_opened", match=match, actor=host.actor_id, epoch=table.epoch)
            host.pump(slot)

    # ---- after a death ----

    async def watch(self) -> None:
        """Take over what dead actors leave, for as long as this task runs."""
        async for actor_id in self.directory.watch_dead():
            self.host.spawn(self.after(actor_id))  # another may die meanwhile

    async def sweep_forever(self, every: float) -> None:
        """A look at all live matches now and then, for whatever no announcement told."""
        while True:
            try:
                await self.sweep(None)
            except (LogError, DirectoryUnavailable) as error:
                log.warning("sweep_delayed", error=type(error).__name__)
            await asyncio.sleep(every)

    async def after(self, actor_id: str) -> None:
        """An actor died: blame the table it was handling, take over this actor's share of its tables."""
        try:
            await self._blame(actor_id)
            await self.sweep(actor_id)
        except (LogError, DirectoryUnavailable) as error:
            log.warning("takeover_delayed", actor=actor_id, error=type(error).__name__)

    async def _blame(self, actor_id: str) -> None:
        """Count a death for the table that was handled then: once, and before anybody opens that table."""
        match = take(self._marks, actor_id)
        if match is None:
            await self._counted(actor_id)
            return
        try:
            if match:
                deaths = await self.host.store.blame(match)
                log.warning("actor_died_handling", match=match, actor=actor_id, deaths=deaths)
        except BaseException:
            put_back(self._marks, actor_id)
            raise
        settle(self._marks, actor_id)

    async def _counted(self, actor_id: str) -> None:
        for _ in range(int(COUNTED_S / 0.01)):
            if not being_counted(self._marks, actor_id):
                return
            await asyncio.sleep(0.01)
        log.warning("blame_not_seen", actor=actor_id)  # who took it died meanwhile

    async def sweep(self, dead: str | None) -> None:
        """Open the live matches without a living owner that fall to this actor."""
        host = self.host
        hosted = list(host.slots.values())
        matches = [match for match in await host.store.live() if match not in self._broken]
        owners = dict(zip(matches, await host.log.owners(matches), strict=True))
        self._look_for_lost(hosted, owners)
        living = [actor for actor in await self.directory.living() if actor.id != dead]
        alive = {actor.id for actor in living if actor.id != host.actor_id}
        if len(alive) == len(living):
            return  # this actor is not listed (yet, or any more)
        owned = [
            (match, owner)
            for match, owner in owners.items()
            if owner is not None and owner not in alive and match not in host.slots
        ]
        able = [
            actor for actor in living if actor.tables < actor.cap or (actor.id == host.actor_id and not host.draining)
        ]
        mine = [  # among them those that this actor has let go
            match for match, owner in owned if owner == host.actor_id or _falls_to(match, able, host.actor_id)
        ]
        for start in range(0, len(mine), 32):
            await asyncio.gather(*(self.open(match) for match in mine[start : start + 32]))
        await self._take_a_suspect([match for match, _ in owned if match not in host.slots])

    def _look_for_lost(self, hosted: list[Slot], owners: Mapping[str, str | None]) -> None:
        """Tables that somebody else has claimed while there was nothing to write here (this actor seemed dead)."""
        for slot in hosted:
            owner = owners.get(slot.match)
            if owner is None or owner == self.host.actor_id or slot.table.busy:
                continue
            if self.host.slots.get(slot.match) is slot and not slot.table.over:
                self.host.lost(slot, None)

    async def _take_a_suspect(self, orphans: list[str]) -> None:
        """Nobody who has tables opens a match that was blamed for a death: whoever has none takes one."""
        for match in orphans:
            if self.host.slots:
                return
            if await self.host.store.deaths(match):
                await self.open(match)


def _falls_to(match: str, living: list[Actor], actor_id: str) -> bool:
    chosen = place(match, living)
    return chosen is not None and chosen.id == actor_id
