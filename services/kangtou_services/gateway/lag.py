"""The round trip of one play stream, by the server's own pings. docs/clocks.md

Only the answer to the one ping that is out counts, by a number that cannot be guessed: a client can be slow to answer,
never quick, and what that gains it is capped by the table.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from statistics import median

from kangtou.v1 import play_pb2 as play

LAST = 5  # round trips that are remembered


class Lag:
    """What is known of a stream's lag. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._nonce = 0
        self._sent = 0.0
        self._trips: deque[float] = deque(maxlen=LAST)
        self.ms = 0  # median of the last round trips; 0 before the first

    def ping(self) -> bytes:
        """The next ping, as a PlayResponse. One that is still out is given up: nothing is known of it."""
        self._nonce, self._sent = secrets.randbits(63) | 1, self._clock()
        update = play.Update(ping=play.Ping(nonce=self._nonce))
        return play.PlayResponse(updates=[update]).SerializeToString()

    def pong(self, nonce: int) -> None:
        """An answer to a ping."""
        if nonce != self._nonce or not nonce:
            return
        self._nonce = 0
        self._trips.append((self._clock() - self._sent) * 1000)
        self.ms = round(median(self._trips))
