"""The lobby: tables where people find together, before, between and after their matches."""

from .base import LobbyStore
from .keeper import Matches, Results
from .lobby import BadPage, Lobby, LobbySettings, may_see
from .memory import MemoryLobbyStore
from .redis import RedisLobbyStore
from .sweep import Sweeper
from .table import StartRule, Table, TableState, Terms

__all__ = [
    "BadPage",
    "Lobby",
    "LobbySettings",
    "LobbyStore",
    "Matches",
    "MemoryLobbyStore",
    "RedisLobbyStore",
    "Results",
    "StartRule",
    "Sweeper",
    "Table",
    "TableState",
    "Terms",
    "may_see",
]
