"""Chat in Redis.

{m:<match>}:talk     stream, capped: a (account), c (command), n (name), s (seat), t (text), p (phrase), w, m (Unix ms)
{m:<match>}:muted    set of accounts
{kt:reports}:list    stream, capped: r (JSON); {kt:reports}:keys: what was reported lately
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from redis.asyncio import Redis

from ..functions import Functions, reached
from ..log.stream import key
from .base import CHAT_MOST, KEEP_MS, REPORTS_MOST, Message, Report

_REPORTS, _REPORTED = "{kt:reports}:list", "{kt:reports}:keys"


class RedisTalk:
    """See Talk. The client is the caller's to close. Chat is no move: it is not waited for on replicas."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._functions = Functions(client, "talk/talk.lua")

    async def say(self, match: str, message: Message) -> tuple[Message, bool]:
        """See Talk."""
        fields = ("n", message.name, "s", message.seat, "t", message.text, "p", message.phrase)
        args = (message.account_id, message.command, CHAT_MOST, KEEP_MS, *fields)
        more = ("w", int(message.watchers), "m", message.time_ms)
        chat_id, fresh = await self._functions.call("kt_say_1", [key(match, "talk")], *args, *more)
        async with reached():
            rows: Any = await self._client.xrange(key(match, "talk"), min=chat_id, max=chat_id)
        return _message(rows[0]), bool(fresh)

    async def find(self, match: str, account_id: str, command: str) -> Message | None:
        """See Talk."""
        for one in await self.last(match):
            if (one.account_id, one.command) == (account_id, command):
                return one
        return None

    async def last(self, match: str) -> list[Message]:
        """See Talk."""
        async with reached():
            rows: Any = await self._client.xrange(key(match, "talk"))
        return [_message(row) for row in rows or ()]

    async def mute(self, match: str, account_id: str, muted: bool) -> None:
        """See Talk."""
        await self._functions.call("kt_mute_1", [key(match, "muted")], account_id, int(muted), KEEP_MS)

    async def muted(self, match: str) -> frozenset[str]:
        """See Talk."""
        async with reached():
            return frozenset(cast("set[str]", await self._client.smembers(key(match, "muted"))))

    async def report(self, report: Report) -> None:
        """See Talk."""
        name = f"{report.match_id}/{report.reporter_id}/{report.chat_id}"
        await self._functions.call("kt_report_1", [_REPORTS, _REPORTED], name, report.to_json(), REPORTS_MOST)

    async def reports(self, most: int) -> list[Report]:
        """See Talk."""
        async with reached():
            rows: Any = await self._client.xrevrange(_REPORTS, count=most)
        return [Report.from_json(fields["r"], str(name)) for name, fields in rows or ()]


def _message(row: Any) -> Message:
    name, held = row[0], cast("Mapping[str, str]", row[1])
    return Message(
        account_id=held["a"],
        name=held["n"],
        seat=int(held["s"]),
        text=held["t"],
        phrase=held["p"],
        watchers=held["w"] == "1",
        time_ms=int(held["m"]),
        command=held["c"],
        chat_id=str(name),
    )
