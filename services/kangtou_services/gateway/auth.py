"""Who calls: the bearer token in a call's metadata (`authorization: Bearer TOKEN`)."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Callable

from ..identity import BANNED, SEAT, Identity, Session
from .calls import CallError, Code, Context
from .throttle import Throttle

REMEMBER_S = 5.0  # how long a token's answer is good for
REMEMBER_MOST = 10_000


def token_of(context: Context) -> str:
    """The token that a call carries, "" if none."""
    for name, value in context.invocation_metadata() or ():
        if name == "authorization" and isinstance(value, str):
            scheme, _, token = value.partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return ""


class Callers:
    """Tells servicers who calls. Answers are remembered for a few seconds, under a hash of the token."""

    def __init__(
        self, identity: Identity, clock: Callable[[], float] = time.monotonic, throttle: Throttle | None = None
    ) -> None:
        self._identity = identity
        self._throttle = throttle
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[float, Session]] = OrderedDict()  # the next to be asked again first

    async def session(self, context: Context, *, playing: bool = False) -> Session:
        """Who calls. An account of one seat may do nothing but play. Raises CallError, StoreUnavailable."""
        token = token_of(context)
        if not token:
            raise CallError(Code.UNAUTHENTICATED, "this call needs a token: register first", "此调用需要令牌，请先注册")
        session = await (self.look(token) if self._throttle is None else self._looked(token, context, self._throttle))
        if session is None:
            raise expired()
        if BANNED in session.account.roles:
            raise banned()
        if not playing and SEAT in session.account.roles:
            raise CallError(Code.PERMISSION_DENIED, "this token is good for one seat only", "此令牌仅限用于一个座位")
        return session

    def guessed(self, secret: str, right: str, context: Context) -> bool:
        """Whether a secret is right; guesses are counted like wrong tokens. Raises CallError after too many."""
        key = _key(secret)
        if self._throttle is not None:
            self._throttle.look(context, key)
        good = hmac.compare_digest(right.encode(), secret.encode())
        if self._throttle is not None:
            self._throttle.found(context, key, good=good)
        return good

    async def _looked(self, token: str, context: Context, throttle: Throttle) -> Session | None:
        """The same, unless too many wrong ones have come from there."""
        key = _key(token)
        throttle.look(context, key)
        session = await self.look(token)
        throttle.found(context, key, good=session is not None)
        return session

    def forget(self, account_id: str) -> None:
        """Ask again about the tokens of an account: something of it has changed."""
        for key in [key for key, one in self._known.items() if one[1].account.account_id == account_id]:
            del self._known[key]

    async def look(self, token: str, *, afresh: bool = False) -> Session | None:
        """Whom a token stands for now; `afresh` asks even if the answer is remembered. Raises StoreUnavailable."""
        key = _key(token)
        now = self._clock()
        known = self._known.get(key)
        if known is not None and not afresh and now < known[0]:
            return known[1] if known[1].expires_ms > _wall_ms() else None
        session = await self._identity.who(token)
        self._known.pop(key, None)
        if session is None:
            return None
        self._known[key] = (now + REMEMBER_S, session)
        while len(self._known) > REMEMBER_MOST or next(iter(self._known.values()))[0] <= now:
            self._known.popitem(last=False)
        return session


def _key(token: str) -> bytes:
    return hashlib.blake2b(token.encode(), digest_size=16).digest()


def banned() -> CallError:
    """The account may not do anything here any more."""
    return CallError(Code.PERMISSION_DENIED, "this account is banned from this server", "该账号已被本站封禁")


def expired() -> CallError:
    """The token is none of ours, or no longer."""
    return CallError(Code.UNAUTHENTICATED, "this token is not valid here, or has expired", "令牌无效或已过期")


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
