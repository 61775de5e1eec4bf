"""A stream for logs that outlasts a full disk: whoever logs goes on, and the gap is said when there is room."""

from __future__ import annotations

from typing import TextIO


class Lasting:
    """Writes to another stream. To be used as `print(line, file=lasting, flush=True)`, under a lock.

    missed   lines that could not be written when they came, since the last one that could; a few of them may follow it
    """

    def __init__(self, to: TextIO) -> None:
        self._to = to
        self._held: list[str] = []
        self.missed = 0

    def write(self, text: str) -> int:
        """Keep it until `flush`."""
        self._held.append(text)
        return len(text)

    def flush(self) -> None:
        """Write what is kept, or count it as missed."""
        line = "".join(self._held)
        self._held.clear()
        before = f'{{"event": "log_disk_full", "lines": {self.missed}, "level": "error"}}\n' if self.missed else ""
        try:
            self._to.write(before + line)
            self._to.flush()
        except OSError:  # there is nobody to be told now: the next line that can be written tells
            self.missed += 1
        else:
            self.missed = 0
