"""Lines from the standard input, without holding up the event loop or the end of the program."""

from __future__ import annotations

import asyncio
import sys
import threading
from concurrent.futures import CancelledError
from typing import TextIO

WAITING_MOST = 64  # lines


class Lines:
    """What is typed, in order; None once the input has ended. Of a long file no more is read than is soon needed."""

    def __init__(self, source: TextIO | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(WAITING_MOST)
        self._source = source or sys.stdin
        threading.Thread(target=self._read, name="input", daemon=True).start()

    def _read(self) -> None:
        for line in self._source:
            if not self._put(line):
                return
        self._put(None)

    def _put(self, line: str | None) -> bool:
        putting = self._queue.put(line)
        try:
            asyncio.run_coroutine_threadsafe(putting, self._loop).result()
        except (RuntimeError, CancelledError):
            putting.close()
            return False  # the loop has ended, and with it the program
        return True

    async def next(self) -> str | None:
        """The next line, without blanks around it; None at the end."""
        line = await self._queue.get()
        if line is None:
            self._queue.put_nowait(None)
        return None if line is None else line.strip()
