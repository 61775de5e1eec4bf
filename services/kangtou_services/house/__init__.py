"""House bots as a server sees them: base.py is the seam to tables, needs.py what they are wanted for and its store."""

from .base import House, MemoryHouse, Unserved
from .lent import Lent
from .memory import MemoryNeeds
from .needs import Kind, Look, Need, NeedStore, Outcome, Worker
from .redis import RedisNeeds

__all__ = [
    "House",
    "Kind",
    "Lent",
    "Look",
    "MemoryHouse",
    "MemoryNeeds",
    "Need",
    "NeedStore",
    "Outcome",
    "RedisNeeds",
    "Unserved",
    "Worker",
]
