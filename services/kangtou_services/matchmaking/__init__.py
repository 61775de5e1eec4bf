"""Matchmaking: pools of tickets, a matcher at a time for each, offers that become matches. Design §6."""

from .base import ASKED, OVER, Offer, Pool, PoolStore, State, Status, Ticket
from .memory import MemoryPoolStore
from .quick import Matchmaker
from .redis import RedisPoolStore
from .settings import MatchmakingSettings

__all__ = [
    "ASKED",
    "OVER",
    "Matchmaker",
    "MatchmakingSettings",
    "MemoryPoolStore",
    "Offer",
    "Pool",
    "PoolStore",
    "RedisPoolStore",
    "State",
    "Status",
    "Ticket",
]
