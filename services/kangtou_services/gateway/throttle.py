"""How much one account and one address may ask, and how often an address may come with a token that is none.

Counted in this process, so several gateways allow as many times as much. What comes from this machine may do a hundred
times as much: bots, tests and benchmarks do.

calls    a bucket of calls for each account and each address, of all methods together; a stream is one call
tokens   wrong ones of an address in a minute. Then only tokens are looked at that were found good here before: who
         guesses shuts out neither others nor those behind the same address that are at work already
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

import structlog

from ..identity import is_here, peer_host
from ..settings import Settings
from .calls import CallError, Code, Context

log = structlog.get_logger(__name__)

HERE = 100
MINUTE_S = 60.0
REMEMBERED = 10_000  # accounts, addresses, good tokens
BURST_S = 10.0  # what a bucket holds, in seconds of its rate

_host = lru_cache(maxsize=4_096)(peer_host)


class Rate:
    """A token bucket for each of many names."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allowed(self, name: str, cost: float = 1.0) -> bool:
        """Whether one more is allowed now; counts it."""
        now = self._clock()
        left, since = self._left.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        self._left[name] = (max(0.0, left - cost), now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)  # whoever has not come for the longest time
        return left >= cost

    def owed(self, name: str, more: float = 0.0) -> float:
        """Count one more, which is let through: so many seconds until the name has kept to its rate again. 0: it has.

        `more` is added to the rate.
        """
        rate, now = self._rate + more, self._clock()
        left, since = self._left.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - since) * rate) - 1
        self._left[name] = (left, now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        return max(0.0, -left / rate)


class Throttle:
    """Asked before a call is looked at. `clock` in seconds."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong_most = settings.wrong_tokens
        per_account, per_address = settings.calls_per_account, settings.calls_per_address
        self._accounts = Rate(per_account, per_account * BURST_S, clock)
        self._addresses = Rate(per_address, per_address * BURST_S, clock)
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how many, and until when they count
        self._good: OrderedDict[bytes, None] = OrderedDict()

    def address(self, context: Context) -> None:
        """One more call of an address. Raises CallError."""
        host = _host(context.peer())
        if not self._addresses.allowed(host, 1 / HERE if is_here(host) else 1.0):
            raise too_many()

    def account(self, account_id: str) -> None:
        """One more call of an account. Raises CallError."""
        if not self._accounts.allowed(account_id):
            raise too_many()

    # ---- tokens ----

    def look(self, context: Context, key: bytes) -> None:
        """Before a token (by its hash) is looked for. Raises CallError where too many wrong ones came from."""
        host = _host(context.peer())
        count, until = self._wrong.get(host, (0, 0.0))
        left_s = until - self._clock()
        if left_s > 0 and count >= self._wrong_most * (HERE if is_here(host) else 1) and key not in self._good:
            seconds = int(left_s) + 1
            raise CallError(
                Code.RESOURCE_EXHAUSTED,
                f"too many wrong tokens from this address; try again in {seconds} s",
                f"来自该地址的错误令牌过多，请 {seconds} 秒后再试",
            )

    def found(self, context: Context, key: bytes, *, good: bool) -> None:
        """What it was."""
        if good:
            self._good[key] = None
            self._good.move_to_end(key)
            if len(self._good) > REMEMBERED:
                self._good.popitem(last=False)
            return
        host, now = _host(context.peer()), self._clock()
        count, until = self._wrong.pop(host, (0, 0.0))
        self._wrong[host] = (count + 1, until) if now < until else (1, now + MINUTE_S)
        if len(self._wrong) > REMEMBERED:
            self._wrong.popitem(last=False)
        if count + 1 == self._wrong_most * (HERE if is_here(host) else 1) and now < until:
            log.warning("wrong_tokens", host=host)


def too_many() -> CallError:
    """More than one account or address may."""
    return CallError(Code.RESOURCE_EXHAUSTED, "too many calls at once; wait a moment", "调用过于频繁，请稍候")
