"""Ratings of players, derived from a log of results. docs/ratings.md."""

from __future__ import annotations

from .applier import Applier
from .base import Mark, RatingStore, Row
from .memory import MemoryRatingStore
from .redis import RedisRatingStore
from .values import Ladder, Result, Standing, result_of

__all__ = [
    "Applier",
    "Ladder",
    "Mark",
    "MemoryRatingStore",
    "RatingStore",
    "RedisRatingStore",
    "Result",
    "Row",
    "Standing",
    "result_of",
]
