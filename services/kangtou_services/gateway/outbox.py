"""What waits for one stream: a bounded queue for each subscription, and the answers that the gateway gives itself.

Payloads are serialised PlayResponses; one behind the other they are one PlayResponse, so whatever waits leaves as one
message, seats before watched tables. When a subscription's queue is full, its backlog is replaced by one LAGGING
notice; the answers in it are kept. What is due to the client and cannot be left out has a hard bound of its own.
"""

from __future__ import annotations

import asyncio

from kangtou.v1 import play_pb2 as play

MOST_BYTES = 1024 * 1024  # of one subscription's queue
WRITE_BYTES = 512 * 1024  # of one message; a client's limit is 4 MiB
ANSWERS_MOST = 4_096  # answers and notices that wait; a client that lets more wait is cut off


class TooSlow(Exception):
    """The client does not read what cannot be left out."""


class Queue:
    """The queue of one subscription."""

    __slots__ = ("lagging", "parts", "ready", "seated", "size")

    def __init__(self, *, seated: bool) -> None:
        self.seated = seated
        self.parts: list[bytes] = []
        self.size = 0
        self.ready = False
        self.lagging = False  # its backlog was left out: it is subscribed anew when the client has caught up


class Outbox:
    """All that waits for one stream."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._own: list[bytes] = []
        self._first: list[Queue] = []
        self._later: list[Queue] = []
        self._wake = asyncio.Event()

    def put(self, payload: bytes) -> None:
        """An answer or a notice: never left out. Raises TooSlow."""
        if len(self._own) >= ANSWERS_MOST:
            raise TooSlow
        self._own.append(payload)
        self._wake.set()

    def push(self, queue: Queue, payload: bytes) -> bool:
        """What a subscription brings; False if its queue is full now."""
        queue.parts.append(payload)
        queue.size += len(payload)
        if not queue.ready:
            queue.ready = True
            (self._first if queue.seated else self._later).append(queue)
            self._wake.set()
        return len(queue.parts) < self._most and queue.size < MOST_BYTES

    def lag(self, queue: Queue, notice: bytes) -> None:
        """Replace a backlog by a notice, but for the answers in it. Raises TooSlow."""
        kept = _answers(queue.parts)
        queue.parts, queue.size, queue.lagging = [notice], len(notice), True
        for answer in kept:
            self.put(answer)

    def take(self) -> bytes:
        """The next message: all that waits, up to a size. b"" if nothing does."""
        if len(self._first) == 1 and not self._own and not self._later and self._first[0].size < WRITE_BYTES:
            queue = self._first.pop()
            payload = queue.parts[0] if len(queue.parts) == 1 else b"".join(queue.parts)
            queue.parts.clear()
            queue.size, queue.ready = 0, False
            return payload
        return self._gather()

    def _gather(self) -> bytes:
        parts, self._own = self._own, []
        room = WRITE_BYTES - sum(map(len, parts))
        for waiting in (self._first, self._later):
            done = 0
            for queue in waiting:
                if room <= 0:
                    break
                room -= _move(queue, parts, room)
                done += not queue.ready
            if done:
                waiting[:] = [queue for queue in waiting if queue.ready]
        return b"".join(parts)

    def clear(self) -> None:
        """Forget all that waits: nobody will take it."""
        for queue in (*self._first, *self._later):
            queue.parts, queue.size, queue.ready = [], 0, False
        self._own, self._first, self._later = [], [], []

    async def wait(self) -> None:
        """Until something waits."""
        if not (self._own or self._first or self._later):
            self._wake.clear()
            await self._wake.wait()

    @property
    def waiting(self) -> int:
        """Messages that wait."""
        return len(self._own) + sum(len(queue.parts) for queue in (*self._first, *self._later))

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not (self._own or self._first or self._later)


def _move(queue: Queue, parts: list[bytes], room: int) -> int:
    """Move a queue's first payloads, at least one; how many bytes."""
    taken = size = 0
    for payload in queue.parts:
        if taken and size + len(payload) > room:
            break
        parts.append(payload)
        taken += 1
        size += len(payload)
    del queue.parts[:taken]
    queue.size -= size
    queue.ready = bool(queue.parts)
    return size


def _answers(payloads: list[bytes]) -> list[bytes]:
    """The answers in a backlog: the only time that a gateway looks into what it forwards."""
    kept = []
    for payload in payloads:
        for update in play.PlayResponse.FromString(payload).updates:
            if update.HasField("answer"):
                kept.append(play.PlayResponse(updates=[update]).SerializeToString())
    return kept
