"""A whole server in this process: hosts on unix sockets, a gateway, a log in memory. A player's token is `t-NAME`."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kangtou.v1 import game_pb2 as pb
from kangtou_engine.boards import match_commitment
from kangtou_engine.shuffle import SEED_BYTES, entropy_commitment
from kangtou_services.agreement import BOT, HUMAN, Agreement, Member
from kangtou_services.gateway.server import Extra, Running, start
from kangtou_services.host.serve import Serving, serving
from kangtou_services.house import House, Unserved
from kangtou_services.identity import Account, Issued, Session, StoreUnavailable
from kangtou_services.runtime import Backend, in_memory
from kangtou_services.settings import Settings


class NamesAsTokens:
    """An Identity: the tokens `t-NAME` and `u-NAME` are the account NAME, until `ended` has them."""

    def __init__(self) -> None:
        self.ended: set[str] = set()
        self.roles: dict[str, frozenset[str]] = {}
        self.reached = True
        self.people: set[str] = set()

    async def who(self, token: str) -> Session | None:
        """See Identity."""
        if not self.reached:
            raise StoreUnavailable("switched off")
        kind, _, name = token.partition("-")
        if kind not in ("t", "u") or not name or token in self.ended:
            return None
        kind_of = HUMAN if name in self.people else BOT
        account = Account(name, name.title(), kind_of, self.roles.get(name, frozenset({"player"})))
        return Session(account, time.time_ns() // 1_000_000 + 3_600_000)

    async def register(self, name: str, kind: str, command_id: str, peer: str) -> Issued | pb.Refusal:
        """Not here."""
        raise NotImplementedError

    async def renew(self, token: str) -> Issued | pb.Refusal:
        """Not here."""
        raise NotImplementedError

    async def recover(self, account_id: str, code: str, command_id: str, peer: str) -> Issued | pb.Refusal:
        """Not here."""
        raise NotImplementedError

    async def revoke(self, token: str) -> None:
        """See Identity."""
        self.ended.add(token)

    async def delete(self, account_id: str) -> None:
        """See Identity."""
        self.ended |= {f"t-{account_id}", f"u-{account_id}"}

    async def deleted(self, since_ms: int) -> list[str]:
        """None is kept."""
        return []

    async def accounts(self, account_ids: Iterable[str]) -> Mapping[str, Account]:
        """See Identity."""
        return {name: Account(name, name.title(), BOT) for name in account_ids}

    async def joined(self, account_id: str) -> int:
        """See Identity."""
        return 0

    async def set_roles(self, account_id: str, roles: frozenset[str]) -> bool:
        """See Identity."""
        self.roles[account_id] = roles
        return True

    async def find(self, text: str, role: str, limit: int) -> list[Account]:
        """Nobody is listed."""
        return []

    async def end_tokens(self, account_id: str) -> None:
        """See Identity."""
        self.ended |= {f"t-{account_id}", f"u-{account_id}"}


@dataclass
class Server:
    """What a test may reach into."""

    backend: Backend
    hosts: list[Serving]
    gateways: list[Running]
    identity: NamesAsTokens
    crashes: dict[int, AsyncExitStack]

    @property
    def address(self) -> str:
        """Of the first gateway."""
        return self.gateways[0].address

    async def make(
        self,
        match: str,
        players: tuple[str, ...] = ("ann", "bob", "cat", "dan"),
        game: str = "parrot",
        entropies: Mapping[int, bytes] | None = None,
        seed: bytes = b"",
        people: Collection[str] = (),
        **given: Any,
    ) -> Agreement:
        """Create a match. Options as `options`; a `board` comes with its seed; `people` are accounts of persons."""
        self.identity.people.update(people)
        seed = seed or secrets.token_bytes(SEED_BYTES)
        opened = entropies or {}
        members = tuple(
            Member(
                name,
                name.title(),
                HUMAN if name in people else BOT,
                entropy_commitment(opened[seat]) if seat in opened else "",
            )
            for seat, name in enumerate(players)
        )
        agreement = Agreement(
            match_id=match,
            game=game,
            version=1,
            seats=len(players),
            members=members,
            seed_commitment=match_commitment(match, given.get("board", ""), seed),
            created_ms=time.time_ns() // 1_000_000,
            **{"options": {}, **given},
        )
        await self.backend.store.create(match, agreement.to_json(), seed)
        return agreement

    async def end_host(self, index: int) -> None:
        """Stop a host in order; what it hosted is left to the others."""
        await self.crashes[index].aclose()

    async def crash_host(self, index: int) -> None:
        """Let a host vanish: it no longer listens, and nobody is told."""
        directory = self.backend.directory
        leave = directory.leave
        directory.leave = _nothing  # type: ignore[method-assign]
        try:
            await self.crashes[index].aclose()
        finally:
            directory.leave = leave  # type: ignore[method-assign]

    def host_of(self, match: str) -> int:
        """Which host has it."""
        return next(number for number, host in enumerate(self.hosts) if match in host.host.slots)


async def _nothing(actor_id: str) -> None:
    """In place of a call that shall not be made."""


@asynccontextmanager
async def whole_server(
    hosts: int = 1, gateways: int = 1, house: House | None = None, extras: Sequence[Extra] = (), **overrides: Any
) -> AsyncIterator[Server]:
    """Everything in one process, on free ports and a temporary folder. `extras`: services beside play."""
    with tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True) as folder:
        given = {"data": Path(folder), "port": 0, "extra_games": "tests.games.parrot:GAME", "link_secret": "s"}
        settings = Settings(**{**given, **overrides})
        backend = replace(in_memory(settings), house=house or Unserved())
        identity = NamesAsTokens()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(backend.close)
            running: list[Serving] = []
            crashes: dict[int, AsyncExitStack] = {}
            for number in range(hosts):
                crashes[number] = await stack.enter_async_context(AsyncExitStack())
                running.append(await crashes[number].enter_async_context(serving(backend, f"a{number}")))
            started: list[Running] = []
            for number in range(gateways):
                gateway = await start(backend, identity, extras, name=f"g{number}")
                stack.push_async_callback(gateway.stop)
                started.append(gateway)
            yield Server(backend, running, started, identity, crashes)


async def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for a condition. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - conditions of a test have no event
            await asyncio.sleep(0.01)
