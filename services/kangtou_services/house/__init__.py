"""The seam to whoever lends house bots to seats whose owners are away. base.py is it."""

from .base import House, MemoryHouse, Unserved

__all__ = ["House", "MemoryHouse", "Unserved"]
