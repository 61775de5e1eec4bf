"""On how many disks an entry has to be before it counts as stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .line import Command

TOO_FEW = "too few replicas have stored it"


@dataclass(frozen=True, slots=True)
class Disks:
    """When an entry counts as stored.

    replicas    how many replicas must have it on disk (0: the server alone, as its settings say)
    replica_ms  how long to wait until they have received it, and once more until they have it on disk
    """

    replicas: int = 0
    replica_ms: int = 900

    def wait(self, nudge: str = "") -> list[Command]:
        """What to send behind writes; [] if the server's own disk is enough.

        WAITAOF waits for what its connection has written, so a key (`nudge`) is given where nothing may have been
        written, as in looking for an entry that another connection sent: then something is.

        A replica answers WAITAOF before its fsync, and again only after a second. With WAIT in front, it is asked
        when it has what it needs: 2 ms instead of 800.
        """
        if not self.replicas:
            return []
        write: list[Command] = [("SET", nudge, "1", "PX", 1_000)] if nudge else []
        received: Command = ("WAIT", self.replicas, self.replica_ms)
        return [*write, received, ("WAITAOF", 1, self.replicas, self.replica_ms)]

    def satisfied(self, reply: Any) -> bool:
        """By the last reply: local fsyncs (0 or 1), replicas. True if nothing was asked."""
        return not self.replicas or (
            not isinstance(reply, Exception) and bool(reply[0] >= 1 and reply[1] >= self.replicas)
        )
