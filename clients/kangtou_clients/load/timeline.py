"""When each answer at a table is meant to be sent.

A generator that waits for a slow server before it sends the next command leaves out exactly the commands that would
have waited ("coordinated omission"). Here every answer is due a thinking time after its *question was due*: after the
moment at which the move that led to it was meant to be sent. A server that falls behind finds the answers to its late
questions overdue, and what is measured counts from when they were due.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Timeline:
    """Of one table. Instants in seconds of any one clock; `moved` is when its last move was meant to be sent."""

    moved: float
    _asked: dict[int, int] = field(default_factory=dict)

    def due(self, seat: int, number: int, think_s: float) -> float | None:
        """When a seat means to answer question `number`; None if it is known already, or older than one that is."""
        if number <= self._asked.get(seat, -1):
            return None
        self._asked[seat] = number
        return self.moved + think_s

    def sent(self, due: float) -> None:
        """An answer that was due then has been sent: what follows from it is due after that."""
        self.moved = max(self.moved, due)

    def waited(self, now: float) -> None:
        """The table itself let time go by (a clock ran out): nobody could have answered what came of it earlier."""
        self.moved = max(self.moved, now)
