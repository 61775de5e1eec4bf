"""Chat of a table: what was said, who is silenced, what was reported. Beside the log, never in it."""

from __future__ import annotations

from .base import Message, Report, Talk
from .memory import MemoryTalk
from .redis import RedisTalk

__all__ = ["MemoryTalk", "Message", "RedisTalk", "Report", "Talk"]
