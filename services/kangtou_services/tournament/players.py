"""Built-in bots: processes of the client library that the runner starts and tells which seats to play.

One process plays all seats of quick bots: that is what costs least a move. Matches in which somebody thinks are spread
over further processes, which are started when the first such match is. A process that dies is started again and told
again what it played: bots play the same after an interruption.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import structlog

log = structlog.get_logger(__name__)

AGAIN_S = 0.3
Told = Callable[[Mapping[str, Any]], None]


class Players:
    """A process for quick bots and `thinkers` others; a match is always played by the same one.

    `told` gets what they say.
    """

    def __init__(self, address: str, thinkers: int, told: Told) -> None:
        self._address = address
        self._told = told
        self._orders: list[dict[tuple[str, int], Mapping[str, Any]]] = [{} for _ in range(1 + thinkers)]
        self._processes: list[asyncio.subprocess.Process | None] = [None] * (1 + thinkers)
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def start(self, number: int = 0) -> None:
        """Start one of the processes, unless it is: 0, that of the quick bots."""
        if number not in self._tasks:
            self._tasks[number] = asyncio.create_task(self._keep(number), name="players")

    async def stop(self) -> None:
        """End them."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def play(self, match: str, seat: int, order: Mapping[str, Any], *, thinking: bool = False) -> None:
        """Have a seat played to its end. `thinking`: of all seats of a match in which a bot thinks."""
        number = 1 + zlib.crc32(match.encode()) % (len(self._orders) - 1) if thinking else 0
        self.start(number)
        told = self._orders[number][match, seat] = {"play": match, "seat": seat, **order}
        self._write(number, told)

    def drop(self, match: str) -> None:
        """Nothing of this match is played any more."""
        for number, held in enumerate(self._orders):
            gone = [key for key in held if key[0] == match]
            for key in gone:
                del held[key]
            if gone:
                self._write(number, {"drop": match})

    def _write(self, number: int, what: Mapping[str, Any]) -> None:
        process = self._processes[number]
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(json.dumps(what).encode() + b"\n")

    async def _keep(self, number: int) -> None:
        while True:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kangtou_clients.bots.seats", self._address),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=_environment(),
            )
            self._processes[number] = process
            for order in self._orders[number].values():
                self._write(number, order)
            try:
                await self._listen(number, process)
                log.error("players_died", exit=await process.wait())
            finally:
                self._processes[number] = None
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
                getattr(process, "_transport").close()  # noqa: B009 - the pipes' end is not waited for otherwise
            await asyncio.sleep(AGAIN_S)

    async def _listen(self, number: int, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            said: Mapping[str, Any] = json.loads(line)
            key = (str(said["match"]), int(said["seat"]))
            order = self._orders[number].get(key)
            if order is not None and "failed" in said:
                asyncio.get_running_loop().call_later(AGAIN_S, self._again, number, key)
            elif order is not None:
                del self._orders[number][key]
                self._told(said)

    def _again(self, number: int, key: tuple[str, int]) -> None:
        """A seat could not be had, or its session ended: as long as it is wanted, try again."""
        order = self._orders[number].get(key)
        if order is not None:
            self._write(number, order)


def _environment() -> dict[str, str]:
    """Without the server's secrets."""
    return {name: value for name, value in os.environ.items() if "SECRET" not in name and "TOKEN" not in name}
