"""The lobby: open tables whose match starts when all seats are taken."""

from .base import LobbyStore, Table, TableState
from .lobby import BadPage, Lobby, LobbySettings
from .memory import MemoryLobbyStore
from .redis import RedisLobbyStore

__all__ = [
    "BadPage",
    "Lobby",
    "LobbySettings",
    "LobbyStore",
    "MemoryLobbyStore",
    "RedisLobbyStore",
    "Table",
    "TableState",
]
