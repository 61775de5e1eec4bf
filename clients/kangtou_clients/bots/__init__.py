"""Bots: programs that take seats through the client library, like anybody else.

For authors: `Bot` (one method), `Observation` (what it is shown), `main` (runs it). See docs/bots.md.
"""

from __future__ import annotations

from .bot import Bot, Observation
from .main import main

__all__ = ["Bot", "Observation", "main"]
