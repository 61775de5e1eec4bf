"""Seats that this user has taken by single commands, and the entropies that belong to them."""

from __future__ import annotations

import asyncio

from kangtou_engine.cards import Seat

from ..api import ApiError, Match, Place
from .remote import Remote

OPEN_S = 5.0


def keep(remote: Remote, place: Place) -> None:
    """Remember the entropy that was committed to, until it has been opened."""
    profile = remote.profile
    assert profile is not None
    profile.entropies[place.match_id] = place.entropy.hex()
    _keep(remote, place.match_id, place.entropy.hex())


def _keep(remote: Remote, match: str, entropy: str) -> None:
    remote.config.keep_entropy(remote.client.address, remote.common.profile, match, entropy)


def entropy_of(remote: Remote, match: str) -> bytes:
    """What belongs to a seat that was taken here; b"" if it is not known."""
    profile = remote.profile
    return bytes.fromhex(profile.entropies.get(match, "")) if profile else b""


async def opened(remote: Remote, match: str, seat: Seat | None = None) -> None:
    """Open it at the table, once: without it the table waits a while and counts it as empty."""
    entropy = entropy_of(remote, match)
    if not entropy or remote.profile is None:
        return
    try:
        async with asyncio.timeout(OPEN_S), remote.client.play() as session:
            if isinstance(await session.attach(match, seat=seat, entropy=entropy), Match):
                del remote.profile.entropies[match]
                _keep(remote, match, "")
    except (TimeoutError, ApiError):
        return  # the match has not started yet, or goes on without it
