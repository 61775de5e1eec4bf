"""Chat in this process: for practice and tests."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count

from .base import CHAT_MOST, REPORTS_MOST, Message, Report


class MemoryTalk:
    """See Talk. Nothing expires."""

    def __init__(self) -> None:
        self._said: dict[str, list[Message]] = {}
        self._muted: dict[str, set[str]] = {}
        self._reports: list[Report] = []
        self._numbers = count(1)

    async def say(self, match: str, message: Message) -> tuple[Message, bool]:
        """See Talk."""
        first = await self.find(match, message.account_id, message.command)
        if first is not None:
            return first, False
        stored = replace(message, chat_id=f"{message.time_ms}-{next(self._numbers)}")
        said = self._said.setdefault(match, [])
        said.append(stored)
        del said[:-CHAT_MOST]
        return stored, True

    async def find(self, match: str, account_id: str, command: str) -> Message | None:
        """See Talk."""
        for one in await self.last(match):
            if (one.account_id, one.command) == (account_id, command):
                return one
        return None

    async def last(self, match: str) -> list[Message]:
        """See Talk."""
        await asyncio.sleep(0)
        return list(self._said.get(match, ()))

    async def mute(self, match: str, account_id: str, muted: bool) -> None:
        """See Talk."""
        await asyncio.sleep(0)
        held = self._muted.setdefault(match, set())
        held.add(account_id) if muted else held.discard(account_id)

    async def muted(self, match: str) -> frozenset[str]:
        """See Talk."""
        await asyncio.sleep(0)
        return frozenset(self._muted.get(match, ()))

    async def report(self, report: Report) -> None:
        """See Talk."""
        await asyncio.sleep(0)
        key = (report.match_id, report.reporter_id, report.chat_id)
        if key not in [(one.match_id, one.reporter_id, one.chat_id) for one in self._reports]:
            self._reports.append(replace(report, report_id=f"{report.time_ms}-{next(self._numbers)}"))
            del self._reports[:-REPORTS_MOST]

    async def reports(self, most: int) -> list[Report]:
        """See Talk."""
        await asyncio.sleep(0)
        return self._reports[::-1][:most]
