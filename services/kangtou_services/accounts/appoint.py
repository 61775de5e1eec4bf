"""`python -m kangtou_services appoint ACCOUNT`: make an account an operator. Whoever can reach its Redis may."""

from __future__ import annotations

import asyncio
import sys

from ..identity import OPERATOR, PLAYER, StoreUnavailable
from ..redis_client import connect
from ..settings import Settings
from .redis import RedisAccountStore


async def _appoint(settings: Settings, account_id: str) -> int:
    client = connect(settings.redis)
    try:
        store = RedisAccountStore(client, settings.replicas)
        found = (await store.accounts([account_id])).get(account_id)
        if found is None:
            sys.stderr.write(f"there is no account {account_id}\n")
            return 8
        await store.set_roles(account_id, found.roles | {PLAYER, OPERATOR})
        return 0
    except StoreUnavailable as error:
        sys.stderr.write(f"Redis cannot be reached: {error}\n")
        return 6
    finally:
        await client.aclose()


def main(settings: Settings) -> int:
    """Exit codes: 0 done, 2 no account was named, 6 Redis is not there, 8 there is no such account."""
    if len(sys.argv) != 3:
        sys.stderr.write("usage: python -m kangtou_services appoint ACCOUNT\n")
        return 2
    return asyncio.run(_appoint(settings, sys.argv[2]))
