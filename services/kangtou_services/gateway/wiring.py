"""What a gateway serves beside play, on Redis or in memory: accounts, lobby, archive, replay, ratings, people."""

from __future__ import annotations

from collections.abc import Sequence

from ..accounts.accounts import Accounts
from ..accounts.base import AccountStore
from ..accounts.deletion import Deletions
from ..accounts.memory import MemoryAccountStore
from ..accounts.redis import RedisAccountStore
from ..archive.names import forget_names
from ..identity import Identity
from ..marks import Marks, MemoryMarks, RedisMarks
from ..runtime import Backend
from . import (
    account_service,
    archive_service,
    house_service,
    lobby_service,
    operate_service,
    people_service,
    rating_service,
    replay_service,
    spectate_service,
    talk_service,
    tournament_service,
)
from .server import Extra


def wired(backend: Backend) -> tuple[Identity, Sequence[Extra]]:
    """Identity, and the services that a gateway adds."""
    client, settings = backend.client, backend.settings
    store: AccountStore = MemoryAccountStore() if client is None else RedisAccountStore(client, settings.replicas)
    marks: Marks = MemoryMarks() if client is None else RedisMarks(client)
    identity = Accounts(store, marks, account_service.account_settings(settings))
    blocks = backend.blocks
    deletions = Deletions(identity)
    deletions.on_delete += [forget_names(backend.archiver.names), blocks.forget, backend.ratings.forget]
    return identity, (
        account_service.add(identity, deletions),
        lobby_service.add(identity, marks, deletions, blocks),
        archive_service.add,
        replay_service.add,
        rating_service.add(identity),
        tournament_service.add,
        people_service.add(identity, blocks),
        house_service.add(identity, backend.needs),
        spectate_service.add,
        talk_service.add(marks),
        operate_service.add(identity, deletions),
    )
