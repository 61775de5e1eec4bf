"""What one client may have: open streams, and for how long it need not read. Counted in this process.

An account's place is taken until gRPC has done with the call: a client that reads nothing does not take the status with
which its stream ends either, and what waits for it (one message of WRITE_BYTES at most) is held by gRPC until it reads,
leaves or its connection fails. It cannot have more of that than it may have open streams.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator

import structlog

from ..identity import BANNED, StoreUnavailable
from ..settings import Settings
from .auth import Callers, banned, expired
from .calls import CallError, Code
from .streams import PlayStream, too_slow
from .throttle import Rate

log = structlog.get_logger(__name__)

LOOK_S = 5.0
TOKENS_S = 20.0  # how often the tokens of open streams are looked at again
STALL_S = 20.0  # a seat whose client takes nothing for so long is cut off
WATCHER_STALL_S = 60.0  # the same for one who only looks on, perhaps over a slow line
QUESTIONS_S, QUESTIONS_BURST = 50.0, 200.0
MESSAGES_BURST = 2_000.0  # a client that connects again attaches to all its tables at once
OPENINGS_S, OPENINGS_BURST = 20.0, 256.0  # of play streams
HASTY_S = 0.5  # how long an account that opens them faster waits to be told so
HASTY_MOST = 256  # so many wait at once; the others are told at once


def questions(clock: Callable[[], float] = time.monotonic) -> Rate:
    """How often an account may ask what costs a table some time."""
    return Rate(QUESTIONS_S, QUESTIONS_BURST, clock)


class Streams:
    """The open play streams of this gateway."""

    def __init__(self, settings: Settings, callers: Callers) -> None:
        self._most = settings.max_streams_per_account
        self._callers = callers
        self._open: set[PlayStream] = set()
        self._of: Counter[str] = Counter()
        clock = asyncio.get_running_loop().time
        self.questions = questions(clock)
        self._openings = Rate(OPENINGS_S, OPENINGS_BURST, clock)
        self._hasty = 0
        self.messages = Rate(float(settings.messages_per_s), MESSAGES_BURST, clock)
        self._draining = False

    def __len__(self) -> int:
        return len(self._open)

    def all(self) -> list[PlayStream]:
        """Those that are open."""
        return list(self._open)

    @property
    def blocked(self) -> int:
        """How many have a write under way that the client has not taken."""
        return sum(bool(stream.blocked_since) for stream in self._open)

    @property
    def ending(self) -> int:
        """How many have ended here, and their clients have not taken that yet."""
        return self._of.total() - len(self._open)

    async def unhurried(self, account: str) -> None:
        """Raises CallError if an account opens streams too fast: after a while, for to give up meanwhile is cheap."""
        if self._openings.allowed(account):
            return
        if self._hasty < HASTY_MOST:
            self._hasty += 1
            try:
                await asyncio.sleep(HASTY_S)
            finally:
                self._hasty -= 1
        raise CallError(
            Code.RESOURCE_EXHAUSTED, "this account opens streams too fast; wait a little", "该账号连接过于频繁，请稍候"
        )

    @contextlib.contextmanager
    def place(self, account: str) -> Iterator[None]:
        """For one more stream of an account. Raises CallError if it has too many."""
        if self._of[account] >= self._most:
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                f"this account has {self._most} streams open",
                f"该账号已有 {self._most} 个连接",
            )
        self._of[account] += 1
        try:
            yield
        finally:
            self._of[account] -= 1
            if not self._of[account]:
                del self._of[account]

    @contextlib.contextmanager
    def admitted(self, stream: PlayStream) -> Iterator[None]:
        """List a stream while it is open. Raises CallError if none are taken now."""
        if self._draining:
            raise CallError(Code.UNAVAILABLE, "this gateway is stopping; connect again", "网关正在停止，请重新连接")
        self._open.add(stream)
        try:
            yield
        finally:
            self._open.discard(stream)

    async def watch(self) -> None:
        """End streams whose token is no longer good, and those that are not read."""
        tokens_at = 0.0
        while True:
            await asyncio.sleep(LOOK_S)
            now = asyncio.get_running_loop().time()
            for stream in list(self._open):
                patience = STALL_S if stream.seated else WATCHER_STALL_S
                if stream.blocked_since and now - stream.blocked_since > patience:
                    log.info("stream_not_read", account=stream.account_id)
                    stream.end(too_slow())
            if now - tokens_at >= TOKENS_S:
                tokens_at = now
                await self.check_tokens()

    async def check_tokens(self) -> None:
        """Ask again about the token of each open stream."""
        by_token: dict[str, list[PlayStream]] = {}
        for stream in self._open:
            by_token.setdefault(stream.token, []).append(stream)
        for token, streams in by_token.items():
            try:
                session = await self._callers.look(token, afresh=True)
            except StoreUnavailable:
                return  # nobody's token has ended because of that
            if session is None or BANNED in session.account.roles:
                for stream in streams:
                    stream.end(expired() if session is None else banned())

    async def drain(self, seconds: float) -> None:
        """End all streams in order."""
        self._draining = True
        await asyncio.gather(*(stream.drain(seconds) for stream in list(self._open)))
