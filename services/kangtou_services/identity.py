"""Who somebody is: accounts, their tokens and recovery codes, and what a gateway asks about them. Design §6.

Tokens and codes are random and leave this server once; what is stored of them is a hash.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote

from kangtou.v1 import game_pb2 as pb

from .agreement import BOT, HUMAN
from .plain_text import clean_line

PLAYER, OPERATOR, HOUSE = "player", "operator", "house"
SEAT = "seat"  # of an account made for one seat of one match: it can play, and nothing else
BANNED = "banned"  # it can do nothing any more
KINDS = frozenset({HUMAN, BOT})
NAME_MOST = 24

_COMMAND_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


class StoreUnavailable(Exception):
    """Redis cannot be reached or does not take writes; whether a write was stored is not known. Repeat it by its id."""


@dataclass(frozen=True, slots=True)
class Account:
    """What may be shown of an account. `kind` is `human` or `bot` for ever.

    Roles are of player, operator and house: see `is_house`.
    """

    account_id: str
    name: str
    kind: str
    roles: frozenset[str] = frozenset({PLAYER})


@dataclass(frozen=True, slots=True)
class Session:
    """Whom a token stands for, and until when (Unix ms)."""

    account: Account
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token, and a new recovery code where there is one. Never log or store it."""

    account: Account
    token: str
    expires_ms: int
    recovery_code: str = ""

    def __repr__(self) -> str:
        return f"Issued({self.account.account_id}, …)"


class Identity(Protocol):
    """All methods raise StoreUnavailable. A refusal is a value and has changed nothing.

    `peer` is the host that asks (`peer_host`): registrations and recoveries are counted by it.
    """

    async def who(self, token: str) -> Session | None:
        """Whom a token stands for; None if it is none of ours, has expired or was revoked."""
        ...

    async def register(self, name: str, kind: str, command_id: str, peer: str) -> Issued | pb.Refusal:
        """A new account. For some minutes a repeat from the same host gets the same account with a new token and code.

        Refused: bad_name, bad_kind, bad_register_id, id_reused, throttled.
        """
        ...

    async def renew(self, token: str) -> Issued | pb.Refusal:
        """A new token; the old one ends a minute later, in case the answer is lost. Refused: bad_token."""
        ...

    async def recover(self, account_id: str, code: str, command_id: str, peer: str) -> Issued | pb.Refusal:
        """A new token and code by the code; all other tokens end. The code works once, and for repeats of the command.

        Refused: bad_recovery, throttled.
        """
        ...

    async def revoke(self, token: str) -> None:
        """End a token. Nothing happens if it has ended already."""
        ...

    async def delete(self, account_id: str) -> None:
        """Delete an account for ever: name, tokens and codes. Its id is never given again. A repeat changes nothing."""
        ...

    async def deleted(self, since_ms: int) -> list[str]:
        """Accounts that were deleted since then (Unix ms)."""
        ...

    async def accounts(self, account_ids: Iterable[str]) -> Mapping[str, Account]:
        """Names and kinds by account id; unknown ids are left out."""
        ...

    async def joined(self, account_id: str) -> int:
        """When an account was registered (Unix ms); 0 if that is not known."""
        ...

    async def set_roles(self, account_id: str, roles: frozenset[str]) -> bool:
        """For operators. False if there is no such account."""
        ...

    async def find(self, text: str, role: str, limit: int) -> list[Account]:
        """For operators: accounts of this id, or with this text in the name, and with this role; "" is any.

        Looks at every account there is, so it may take seconds on a large server.
        """
        ...

    async def end_tokens(self, account_id: str) -> None:
        """For operators: all tokens of an account end. Its recovery code still works."""
        ...


def is_house(account: Account) -> bool:
    """Whether an account is a bot of the house: it is offered seats that others are not (docs/house-bots.md)."""
    return HOUSE in account.roles


def fits(account: Account, text: str, role: str) -> bool:
    """Whether `Identity.find` means this account."""
    named = not text or text == account.account_id or text.casefold() in account.name.casefold()
    return named and (not role or role in account.roles)


def clean_name(given: str) -> str | None:
    """A display name as it is kept: NFC, single spaces; None if not 1 to 24 visible characters (plain_text.py)."""
    return clean_line(given.strip(" "), NAME_MOST)


def good_command_id(command_id: str) -> bool:
    """1 to 64 letters, digits or _ . : -"""
    return _COMMAND_ID.fullmatch(command_id) is not None


def peer_host(peer: str) -> str:
    """The host of gRPC's `context.peer()`: an IPv4 address, the /64 network of an IPv6 one, or `local`."""
    scheme, _, rest = peer.partition(":")
    if scheme not in ("ipv4", "ipv6"):
        return "local"
    host = unquote(rest).rpartition(":")[0].strip("[]").partition("%")[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "local"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def is_here(host: str) -> bool:
    """Whether a host as `peer_host` gives it is this machine."""
    return host in ("local", "::/64") or host.startswith("127.")
