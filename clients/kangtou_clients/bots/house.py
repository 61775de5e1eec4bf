"""House bots: they sit, queue and stand in where the server asks them to. docs/house-bots.md.

A process serves with several accounts, for an account has one seat in a match. Each has a file (kept.py), so that it
comes back to its seats after a restart.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from kangtou_engine.registry import REGISTRY, Registry

from ..api import CallFailed, Client, NotAuthenticated, Refused, Unavailable, connect
from ..api.house import Offer, Withdrawn
from .kept import Kept, Place, places
from .serving import Serving

PAUSE_S = 1.0


class NotOfTheHouse(Exception):
    """The server does not let these bots in. The text is for people."""


def _quiet(line: str) -> None:
    """Nobody is told."""


async def serve(
    address: str,
    *,
    secret: str,
    keep: Path,
    accounts: int,
    tables: int,
    policy: str = "greedy",
    told: Callable[[str], None] = _quiet,
    registry: Registry = REGISTRY,
) -> None:
    """Serve until cancelled, each account in up to `tables` matches of each game at once.

    Raises NotOfTheHouse, OSError (`keep` cannot be written). When cancelled it first hands its seats over.
    """
    with places(keep, address, accounts) as kept:
        try:
            async with asyncio.TaskGroup() as group:
                for place in kept:
                    group.create_task(_account(address, secret, place, tables, policy, told, registry))
        except* NotOfTheHouse as several:
            raise NotOfTheHouse(str(several.exceptions[0])) from None


async def _account(
    address: str, secret: str, place: Place, tables: int, policy: str, told: Callable[[str], None], registry: Registry
) -> None:
    async with connect(address, registry=registry) as client:
        account_id = await _signed_in(client, secret, place)
        async with client.play(give_up_s=float("inf")) as session:
            serving = Serving(client, session, account_id, secrets.token_hex(8), policy)
            capacity = dict.fromkeys(registry.names(), tables)
            try:
                async with aclosing(client.house.serve(serving.process, capacity)) as news:
                    async for one in news:
                        if isinstance(one, Offer):
                            serving.begin(one)
                        elif isinstance(one, Withdrawn):
                            serving.withdraw(one.offer_id)
                        else:
                            told(f"{place.name} {account_id} serves")
            except CallFailed as error:
                raise NotOfTheHouse(error.text or error.status) from error
            finally:
                await serving.hand_over()


async def _signed_in(client: Client, secret: str, place: Place) -> str:
    """As the account of the file, or as a new one, which is then of the house; its id. Waits for the server."""
    while True:
        try:
            return await _once(client, secret, place)
        except Unavailable:
            await asyncio.sleep(PAUSE_S)
        except CallFailed as error:
            raise NotOfTheHouse(error.text or error.status) from error


async def _once(client: Client, secret: str, place: Place) -> str:
    kept = place.read()
    client.token = kept.token
    if kept.token:
        try:
            if kept.is_old() and not isinstance(login := await client.accounts.renew(), Refused):
                kept = Kept(kept.account_id, login.token, login.expires_ms)
                place.write(kept)
            account_id = (await client.accounts.who_am_i()).account_id
        except NotAuthenticated:
            client.token = ""
            account_id = await _registered(client, place)
    else:
        account_id = await _registered(client, place)
    if refused := await client.house.join(secret):
        raise NotOfTheHouse(refused.text_en)
    return account_id


async def _registered(client: Client, place: Place) -> str:
    login = await client.accounts.register(place.name, "bot")
    if isinstance(login, Refused):
        raise NotOfTheHouse(login.text_en)
    assert login.account is not None
    place.write(Kept(login.account.account_id, login.token, login.expires_ms))
    return login.account.account_id
