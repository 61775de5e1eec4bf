"""Built-in bots: processes of the client library that the runner starts and tells which seats to play.

A process that dies is started again and told again what it played: bots play the same after an interruption.
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
    """`count` processes; a match is always played by the same one. `told` gets what they say."""

    def __init__(self, address: str, count: int, told: Told) -> None:
        self._address = address
        self._told = told
        self._orders: list[dict[tuple[str, int], Mapping[str, Any]]] = [{} for _ in range(count)]
        self._processes: list[asyncio.subprocess.Process | None] = [None] * count
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the processes, unless they are."""
        if self._tasks:
            return
        self._tasks = [asyncio.create_task(self._keep(number), name="players") for number in range(len(self._orders))]

    async def stop(self) -> None:
        """End them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def play(self, match: str, seat: int, order: Mapping[str, Any]) -> None:
        """Have a seat played to its end."""
        number = self._number(match)
        told = self._orders[number][match, seat] = {"play": match, "seat": seat, **order}
        self._write(number, told)

    def drop(self, match: str) -> None:
        """Nothing of this match is played any more."""
        number = self._number(match)
        held = self._orders[number]
        gone = [key for key in held if key[0] == match]
        for key in gone:
            del held[key]
        if gone:
            self._write(number, {"drop": match})

    def _number(self, match: str) -> int:
        return zlib.crc32(match.encode()) % len(self._orders)

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
