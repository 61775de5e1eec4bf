"""Where a match goes. All gateways come to the same choice without asking one another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from .base import Actor


def place(match: str, living: Sequence[Actor]) -> Actor | None:
    """For a takeover: rendezvous hashing, so that the matches of a dead actor spread over all others.

    Load does not count, as everybody would see another one. None if nobody lives.
    """
    return max(living, key=lambda actor: _weight(match, actor), default=None)


def choose(match: str, living: Sequence[Actor], placed: Mapping[str, int] | None = None) -> Actor | None:
    """For a new table: an idle actor while there is one, else the one with least tables; None if all are full.

    `placed` counts what the caller has sent to each actor since that last reported its number of tables. Among equals
    the match decides, so that gateways that choose at the same time do not all choose the same.
    """
    more = placed or {}
    free = [actor for actor in living if actor.tables + more.get(actor.id, 0) < actor.cap]
    return min(
        free,
        key=lambda actor: (actor.tables + more.get(actor.id, 0), -_weight(match, actor)),
        default=None,
    )


def _weight(match: str, actor: Actor) -> int:
    digest = hashlib.blake2b(f"{match}\n{actor.id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest)
