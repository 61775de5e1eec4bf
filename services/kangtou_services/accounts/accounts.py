"""Identity on a store of accounts.

A token is `kt_<account>_<43 letters>`: 256 random bits behind the account that they belong to, so that one look-up in
the account's own slot decides. A recovery code is 25 letters, 125 random bits.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import structlog

from kangtou.v1 import game_pb2 as pb

from ..agreement import new_id
from ..identity import KINDS, Account, Issued, Session, clean_name, good_command_id, is_here
from ..marks import Marks, digest
from ..refusals import refusal
from .base import AccountStore

_log = structlog.get_logger(__name__)

_TOKEN = re.compile(r"kt_([a-z0-9]{16})_[A-Za-z0-9_-]{43}")
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_REGISTER_ID_LEAST = 16
_DAY_MS = 24 * 3_600_000
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class AccountSettings:
    """Times in ms. The limits count attempts of one host in a minute.

    This machine itself may register a hundred times as often: bots, tests and benchmarks do.
    """

    token_ms: int = 90 * _DAY_MS
    repeat_ms: int = 10 * _MINUTE_MS
    renew_grace_ms: int = _MINUTE_MS
    registrations: int = 120
    recoveries: int = 10


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class Accounts:
    """An Identity."""

    def __init__(
        self, store: AccountStore, marks: Marks, settings: AccountSettings, now_ms: Callable[[], int] = _wall_ms
    ) -> None:
        self._store = store
        self._marks = marks
        self._settings = settings
        self._now_ms = now_ms

    async def who(self, token: str) -> Session | None:
        """See Identity."""
        found = _TOKEN.fullmatch(token)
        return await self._store.session(found[1], _hash(token), self._now_ms()) if found else None

    async def register(self, name: str, kind: str, command_id: str, peer: str) -> Issued | pb.Refusal:
        """See Identity. A crash between claim and creation is finished by the repeat."""
        if not good_command_id(command_id) or len(command_id) < _REGISTER_ID_LEAST:
            return refusal("bad_register_id")
        shown = clean_name(name)
        if shown is None:
            return refusal("bad_name")
        if kind not in KINDS:
            return refusal("bad_kind")
        most = self._settings.registrations * (100 if is_here(peer) else 1)
        if late := await self._too_many("register", peer, most):
            return late
        content = digest(shown, kind, peer)
        mine = f"{new_id()} {content}"
        claimed = await self._marks.claim("register", "", command_id, mine, self._settings.repeat_ms)
        account_id, first = claimed.split(" ")
        if first != content:
            return refusal("id_reused")
        issued = self._issue(Account(account_id, shown, kind), with_code=True)
        stored = await self._store.admit(
            issued.account, _hash(issued.token), issued.expires_ms, _hash(issued.recovery_code), self._now_ms()
        )
        if stored is None:  # a repeat, after the account was deleted
            return refusal("id_reused")
        _log.info("account_registered", account=account_id, kind=kind, repeat=claimed != mine)
        return Issued(stored, issued.token, issued.expires_ms, issued.recovery_code)

    async def renew(self, token: str) -> Issued | pb.Refusal:
        """See Identity."""
        session = await self.who(token)
        if session is None:
            return refusal("bad_token")
        now = self._now_ms()
        issued = self._issue(session.account)
        until = now + self._settings.renew_grace_ms
        args = (_hash(token), until, _hash(issued.token), issued.expires_ms, now)
        if not await self._store.swap(session.account.account_id, *args):
            return refusal("bad_token")
        return issued

    async def recover(self, account_id: str, code: str, command_id: str, peer: str) -> Issued | pb.Refusal:
        """See Identity. Whether the account exists is not told."""
        if command_id and not good_command_id(command_id):
            return refusal("bad_id")
        if late := await self._too_many("recover", peer, self._settings.recoveries):
            return late
        found = (await self._store.accounts([account_id])).get(account_id) if len(account_id) == 16 else None
        if found is None:
            return refusal("bad_recovery")
        now = self._now_ms()
        issued = self._issue(found, with_code=True)
        until = now + self._settings.repeat_ms if command_id else 0
        done = await self._store.recover(
            account_id,
            _hash(_plain_code(code)),
            digest("recover", command_id),
            until,
            _hash(issued.recovery_code),
            _hash(issued.token),
            issued.expires_ms,
            now,
        )
        _log.info("account_recovery", account=account_id, accepted=done)
        return issued if done else refusal("bad_recovery")

    async def issue(self, account: Account, keep_ms: int) -> Issued:
        """A token for an account that the server makes for itself, or of one that is there. Nobody else may call it."""
        until = self._now_ms() + keep_ms
        issued = Issued(account, f"kt_{account.account_id}_{secrets.token_urlsafe(32)}", until)
        unknown_code = _hash(_new_code())
        stored = await self._store.admit(account, _hash(issued.token), until, unknown_code, self._now_ms())
        if stored is None:
            raise LookupError(f"account {account.account_id} was deleted")
        return issued

    async def revoke(self, token: str) -> None:
        """See Identity."""
        if found := _TOKEN.fullmatch(token):
            await self._store.revoke(found[1], _hash(token))

    async def delete(self, account_id: str) -> None:
        """See Identity."""
        await self._store.delete(account_id, self._now_ms())
        _log.info("account_deleted", account=account_id)

    async def deleted(self, since_ms: int) -> list[str]:
        """See Identity."""
        return await self._store.deleted(since_ms)

    async def accounts(self, account_ids: Iterable[str]) -> Mapping[str, Account]:
        """See Identity."""
        return await self._store.accounts(account_ids)

    async def joined(self, account_id: str) -> int:
        """See Identity."""
        return await self._store.joined(account_id)

    async def set_roles(self, account_id: str, roles: frozenset[str]) -> bool:
        """See Identity."""
        return await self._store.set_roles(account_id, roles)

    async def find(self, text: str, role: str, limit: int) -> list[Account]:
        """See Identity."""
        if len(text) == 16 and (found := await self._store.accounts([text])):
            return [account for account in found.values() if not role or role in account.roles]
        return await self._store.find(text, role, limit)

    async def end_tokens(self, account_id: str) -> None:
        """See Identity."""
        await self._store.end_tokens(account_id)
        _log.info("tokens_ended", account=account_id)

    def _issue(self, account: Account, *, with_code: bool = False) -> Issued:
        token = f"kt_{account.account_id}_{secrets.token_urlsafe(32)}"
        return Issued(account, token, self._now_ms() + self._settings.token_ms, _new_code() if with_code else "")

    async def _too_many(self, what: str, whom: str, most: int) -> pb.Refusal | None:
        count, left_ms = await self._marks.count(what, whom, _MINUTE_MS)
        if count <= most:
            return None
        if count == most + 1:
            _log.warning("throttled", what=what)
        return refusal("throttled", seconds=-(-left_ms // 1000))


def _new_code() -> str:
    letters = [secrets.choice(_CODE_LETTERS) for _ in range(25)]
    return "-".join("".join(letters[start : start + 5]) for start in range(0, 25, 5))


def _plain_code(code: str) -> str:
    """A code as people type it: any case, dashes or spaces anywhere."""
    letters = "".join(letter for letter in code[:64].upper() if letter.isalnum())
    return "-".join(letters[start : start + 5] for start in range(0, len(letters), 5))


def _hash(secret: str) -> str:
    """What is stored of a token or code: they are random enough for a plain hash."""
    return hashlib.sha256(b"kangtou/token/1\0" + secret.encode()).hexdigest()
