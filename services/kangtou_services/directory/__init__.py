"""Who lives: table actors and gateways with heartbeats, and where a match goes."""

from .base import Actor, Directory, DirectoryUnavailable, Gateway
from .choice import choose, place
from .heart import Heart
from .memory import MemoryDirectory
from .redis import RedisDirectory

__all__ = [
    "Actor",
    "Directory",
    "DirectoryUnavailable",
    "Gateway",
    "Heart",
    "MemoryDirectory",
    "RedisDirectory",
    "choose",
    "place",
]
