"""The heartbeat of an actor or a gateway."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

from .base import BEAT_S, DirectoryUnavailable

_log = structlog.get_logger(__name__)


class Heart:
    """Calls `beat` at once and then regularly, through outages of the directory.

    beat     one sign of life, such as `lambda: directory.register(current_actor())`; False: declared dead
    stopped  called once when that happens; the process must then give up its tables
    """

    def __init__(
        self,
        beat: Callable[[], Awaitable[bool | None]],
        stopped: Callable[[], None] = lambda: None,
        every_s: float = BEAT_S,
    ) -> None:
        self._beat = beat
        self._stopped = stopped
        self._every_s = every_s
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """After the first beat, which must succeed: raises DirectoryUnavailable."""
        if await self._beat() is False:
            self._stopped()
            return
        self._task = asyncio.create_task(self._run(), name="heart")

    async def stop(self) -> None:
        """No more beats."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        reached = True
        while True:
            await asyncio.sleep(self._every_s if reached else self._every_s / 4)
            try:
                alive = await self._beat()
            except DirectoryUnavailable as no:
                if reached:
                    _log.warning("heartbeat_missed", reason=str(no))
                reached = False
                continue
            except Exception as error:  # noqa: BLE001 - whatever it is: who beats no more is taken for dead, and hosts on
                _log.error("heartbeat_failed", error=type(error).__name__)
                reached = False
                continue
            reached = True
            if alive is False:
                _log.error("declared_dead")
                self._stopped()
                return
