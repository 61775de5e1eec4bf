"""The server that is fuzzed: hosts, a gateway and all its services in this process, and tables of every game.

The handlers are those of the gateway's real server, guard and all; they are also called without a socket between, which
is ten times as fast. Accounts of every role, so that refusals do not end at the door.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import grpc

from kangtou_engine.boards import match_commitment
from kangtou_engine.registry import REGISTRY
from kangtou_engine.shuffle import SEED_BYTES
from kangtou_services.agreement import BOT, HUMAN, Agreement, Member, new_id
from kangtou_services.gateway.server import Running, start
from kangtou_services.gateway.wiring import wired
from kangtou_services.host.serve import Serving, serving
from kangtou_services.host.slot import Slot
from kangtou_services.identity import HOUSE, OPERATOR, PLAYER, SEAT, Account
from kangtou_services.runtime import Backend, in_memory
from kangtou_services.settings import Settings

from .messages import Values

PLAYERS = 96
TABLES = 3  # of each game
LATER_MS = 10 * 24 * 3_600_000
ROLES = (frozenset({PLAYER, OPERATOR}), frozenset({PLAYER, HOUSE}), frozenset({SEAT}))


@dataclass(slots=True)
class Caller:
    """An account and its token ("": somebody without), which inputs may end."""

    account_id: str
    token: str
    peer: str
    account: Account | None = None


@dataclass
class Place:
    """What the targets reach into."""

    backend: Backend
    gateway: Running
    hosting: Serving
    accounts: Any
    handlers: dict[str, Any]
    callers: list[Caller] = field(default_factory=list)
    by_account: dict[str, Caller] = field(default_factory=dict)
    matches: dict[str, str] = field(default_factory=dict)  # by id: game
    values: Values = field(default_factory=lambda: Values({}))

    async def people(self) -> None:
        """Accounts of all roles."""
        for number in range(PLAYERS + len(ROLES)):
            roles = ROLES[number - PLAYERS] if number >= PLAYERS else frozenset({PLAYER})
            account = Account(f"f{number:015}", f"Fuzz {number}", HUMAN if number % 3 == 0 else BOT, roles)
            issued = await self.accounts.issue(account, LATER_MS)
            caller = Caller(account.account_id, issued.token, f"ipv4:10.{number}.0.1:9", account)
            self.callers.append(caller)
            self.by_account[account.account_id] = caller
        self.callers.append(Caller("", "", "ipv4:10.250.0.1:9"))
        self.values.fixed.update(
            account_id=[one.account_id for one in self.callers[:8]],
            game=[*REGISTRY.names(), "parrot"],
            confirm_account_id=[self.callers[-2].account_id],
            command_id=[f"fuzz-command-{number:04}" for number in range(40)],
            process_id=["p1"],
            entropy_commitment=["", "ab" * 32],
            pool=["", "casual"],
            rules=["", *(one.name for game in REGISTRY.names() for one in REGISTRY.game(game).spec.rule_sets)],
            cards=["S3", "H3", "D10", "BJ"],
            verb=["play", "pass", "declare", "bid", "bury", "snatch", "take", "give", "squawk"],
        )

    async def renew(self) -> None:
        """Tokens in place of those that have been ended; another account for one that was deleted."""
        for caller in self.callers:
            if caller.account is None or await self.accounts.who(caller.token) is not None:
                continue
            try:
                issued = await self.accounts.issue(caller.account, LATER_MS)
            except LookupError:
                caller.account = replace(caller.account, account_id=new_id())
                caller.account_id = caller.account.account_id
                self.by_account[caller.account_id] = caller
                issued = await self.accounts.issue(caller.account, LATER_MS)
            caller.token = issued.token
            self.gateway.parts.callers.forget(caller.account_id)

    async def tables(self) -> None:
        """Matches of every game, new ones in place of those that are over."""
        slots = self.hosting.host.slots
        for match in [one for one in self.matches if one in slots and slots[one].table.over]:
            del self.matches[match]
        for game in REGISTRY.names():
            for _ in range(TABLES - sum(one == game for one in self.matches.values())):
                people = Random(secrets.randbits(32)).sample(self.callers[:PLAYERS], 4)
                self.matches[await self.table(game, people)] = game
        self.values.fixed["match_id"] = [*self.matches]

    async def more_people(self, count: int, name: str) -> list[Caller]:
        """Accounts that no input is of."""
        found = []
        for number in range(count):
            account = Account(f"{name}{number}".rjust(16, "0"), f"{name} {number}", BOT)
            issued = await self.accounts.issue(account, LATER_MS)
            found.append(Caller(account.account_id, issued.token, "ipv4:127.0.0.1:9"))
        return found

    async def table(self, game: str, people: list[Caller]) -> str:
        """A match of these, hosted."""
        match, seed = new_id(), secrets.token_bytes(SEED_BYTES)
        agreement = Agreement(
            match_id=match,
            game=game,
            version=REGISTRY.game(game).spec.version,
            seats=4,
            options={"rounds": 2},
            members=tuple(Member(one.account_id, "Fuzz", BOT) for one in people),
            seed_commitment=match_commitment(match, "", seed),
            created_ms=time.time_ns() // 1_000_000,
            turn_ms=600_000,
            open_wait_ms=0,
            scorer=people[0].account_id,
            owner=people[0].account_id,
        )
        await self.backend.store.create(match, agreement.to_json(), seed)
        assert self.hosting.host.opener is not None
        problem = await self.hosting.host.opener(match)
        assert not problem, problem
        return match

    def seated(self, rng: Random) -> Caller:
        """Somebody who plays at a table."""
        slot = self.hosting.host.slots.get(rng.choice([*self.matches]))
        if slot is None:
            return rng.choice(self.callers[:PLAYERS])
        return self.by_account[rng.choice(slot.table.agreement.members).account_id]

    def asked(self, rng: Random) -> tuple[Slot, int] | None:
        """A seat that is asked something at a table."""
        slot = self.hosting.host.slots.get(rng.choice([*self.matches]))
        if slot is None or slot.faulted or slot.table.over or not slot.table.begun:
            return None
        seats = slot.table.game.to_act(slot.table.state)
        return (slot, rng.choice(seats)) if seats else None


class _Recording:
    """A gRPC server that tells what is put on it."""

    def __init__(self, real: Any, handlers: dict[str, Any]) -> None:
        self._real = real
        self._handlers = handlers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        for method, handler in handlers.items():
            self._handlers.setdefault(f"/{service}/{method}", handler)
        self._real.add_registered_method_handlers(service, handlers)


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    """The server, as long as the context lasts."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True))
        settings = Settings(
            data=Path(folder),
            port=0,
            link_secret="s",
            house_secret="h",
            extra_games="tests.games.parrot:GAME",
            registrations=5,
        )
        backend = in_memory(settings)
        stack.push_async_callback(backend.close)
        hosting = await stack.enter_async_context(serving(backend, "a0"))
        accounts, extras = wired(backend)
        raw: dict[str, Any] = {}
        guards: list[Any] = []
        make: Callable[..., Any] = grpc.aio.server

        def recorded(*args: Any, interceptors: Any = (), **given: Any) -> Any:
            guards.extend(interceptors)
            return _Recording(make(*args, interceptors=interceptors, **given), raw)

        with patch.object(grpc.aio, "server", recorded):
            gateway = await start(backend, accounts, extras, name="g0")
        stack.push_async_callback(gateway.stop)
        made = Place(backend, gateway, hosting, accounts, {})
        for method, handler in raw.items():
            if method.startswith("/kangtou."):
                made.handlers[method] = await guards[0].intercept_service(
                    _always(handler), SimpleNamespace(method=method, invocation_metadata=())
                )
        await made.people()
        await made.tables()
        yield made


def _always(handler: Any) -> Callable[[Any], Any]:
    async def found(_: Any) -> Any:
        return handler

    return found
