"""The people of the evening. Each has a connection to a gateway, and for moving about one to another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from kangtou_clients.api import Client, Login, connect
from kangtou_engine.registry import REGISTRY

HANDS_UP_MOST = 120.0  # seconds that anything may take


@dataclass
class Person:
    """Somebody with an account. `busy` is held while they are somewhere: they are in one place at a time."""

    name: str
    account_id: str
    client: Client
    elsewhere: Client
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __repr__(self) -> str:
        return self.name


@asynccontextmanager
async def come(addresses: Sequence[str], number: int, kind: str = "human") -> AsyncIterator[list[Person]]:
    """So many people with new accounts, spread over the gateways; in the end they hang up."""
    async with AsyncExitStack() as stack:

        async def one(place: int) -> Person:
            home, other = addresses[place % len(addresses)], addresses[(place + 1) % len(addresses)]
            client = await stack.enter_async_context(connect(home, registry=REGISTRY))
            name = f"客{place}"
            login = await client.accounts.register(name, "human" if kind == "human" else "bot")
            assert isinstance(login, Login), login
            assert login.account is not None
            elsewhere = await stack.enter_async_context(connect(other, login.token, registry=REGISTRY))
            return Person(name, login.account.account_id, client, elsewhere)

        yield list(await asyncio.gather(*map(one, range(number))))


@asynccontextmanager
async def together(people: Sequence[Person]) -> AsyncIterator[None]:
    """Once all of them are free they are here. In one order for everybody, so that nobody waits in a ring."""
    async with AsyncExitStack() as stack:
        for person in sorted(people, key=lambda one: one.account_id):
            await stack.enter_async_context(person.busy)
        yield
