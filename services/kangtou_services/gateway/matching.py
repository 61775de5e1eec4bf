"""Matchmaking as a gateway has it: its stores, and what the settings make of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from redis.asyncio import Redis

from ..blocks import Blocks
from ..house.filling import PoolFillers
from ..marks import Marks
from ..matchmaking import Matchmaker, MatchmakingSettings, MemoryPoolStore, PoolStore, RedisPoolStore
from ..matchmaking.grouping import Windows
from ..matchmaking.known import KnownPeople
from ..matchmaking.matcher import Matcher, MatcherSettings
from ..matchmaking.parties import MemoryPartyStore, PartyStore, RedisPartyStore
from ..matchmaking.penalties import MemoryPenalties, Penalties, RedisPenalties
from ..observe.gateway import QueueMeter
from ..opening import LiveMatches, Opening
from ..runtime import Backend
from ..settings import Settings


@dataclass(frozen=True, slots=True)
class QueueStores:
    """What gateways share of matchmaking."""

    pools: PoolStore
    penalties: Penalties
    parties: PartyStore

    @classmethod
    def in_memory(cls) -> Self:
        """For gateways of one process."""
        return cls(MemoryPoolStore(), MemoryPenalties(), MemoryPartyStore())

    @classmethod
    def on(cls, client: Redis, replicas: int) -> Self:
        """In Redis."""
        return cls(
            RedisPoolStore(client, replicas), RedisPenalties(client, replicas), RedisPartyStore(client, replicas)
        )


def matcher_settings(settings: Settings) -> MatcherSettings:
    """The matcher's part of the settings."""
    windows = Windows(settings.window_points, settings.window_per_s, settings.window_open_s)
    return MatcherSettings(accept_ms=settings.accept_ms, windows=windows)


def matchmaker_of(
    stores: QueueStores,
    backend: Backend,
    marks: Marks,
    opening: Opening,
    live: LiveMatches,
    blocks: Blocks,
    paused: Callable[[], bool],
    meter: QueueMeter | None = None,
) -> Matchmaker:
    """One gateway's part. While it is `paused` no groups are formed."""
    settings, games = backend.settings, backend.registry
    matcher = Matcher(
        stores.pools,
        games,
        opening,
        live,
        matcher_settings(settings),
        stores.penalties,
        PoolFillers(backend.needs),
        meter=meter,
    )
    matcher.paused = paused
    return Matchmaker(
        stores.pools,
        marks,
        matcher,
        live,
        MatchmakingSettings(bot_tickets=settings.bot_tickets, fill_after_ms=settings.fill_after_ms),
        KnownPeople(backend.ratings, blocks, games),
        stores.penalties,
        stores.parties,
    )
