"""Lines from the standard input, without holding up the event loop or the end of the program."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import TextIO


class Lines:
    """What is typed. Waiting lines are kept in order; None once the input has ended."""

    def __init__(self, source: TextIO | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._source = source or sys.stdin
        threading.Thread(target=self._read, name="input", daemon=True).start()

    def _read(self) -> None:
        for line in self._source:
            if not self._put(line):
                return
        self._put(None)

    def _put(self, line: str | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
        except RuntimeError:
            return False  # the loop has ended, and with it the program
        return True

    async def next(self) -> str | None:
        """The next line, without blanks around it; None at the end."""
        line = await self._queue.get()
        if line is None:
            self._queue.put_nowait(None)
        return None if line is None else line.strip()
