"""Appends on a cluster: a group commit for each primary. On one server there is one."""

from __future__ import annotations

import asyncio
from typing import Protocol

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ..observe.log import LogMeter
from ..redis_cluster import Cluster
from .base import Entry, LogUnavailable
from .commit import GroupCommit
from .disks import Disks
from .line import Line, Patience
from .stream import key


class Commit(Protocol):
    """What carries appends; see EventLog."""

    async def append(self, match: str, entry: Entry) -> None:
        """As EventLog.append."""
        ...

    async def incarnation(self) -> str:
        """Which life of all servers answers."""
        ...

    async def close(self) -> None:
        """Wait for what was begun, then let go of connections."""
        ...


def commit_of(client: Redis, disks: Disks, patience: Patience, meter: LogMeter | None = None) -> Commit:
    """The one that fits the client."""
    if isinstance(client, Cluster):
        return Sharded(client, disks, patience, meter)
    return GroupCommit(Line(client, patience), disks, meter)


class Sharded:
    """A Commit on a cluster.

    A primary that turns out not to hold a match (slots have moved, another took over) makes the append fail as any
    unreachable log does: nothing was written, the table looks at the tail and appends again, where it lies now.
    """

    def __init__(self, cluster: Cluster, disks: Disks, patience: Patience, meter: LogMeter | None = None) -> None:
        self._cluster = cluster
        self._disks = disks
        self._patience = patience
        self._meter = meter
        self._commits: dict[int, GroupCommit] = {}  # by primary's client
        self._closed = False

    async def append(self, match: str, entry: Entry) -> None:
        """See Commit."""
        name = key(match, "log")
        if self._closed:
            raise LogUnavailable("closed")
        try:
            commit = self._at(await self._cluster.primary_of(name))
            await commit.append(match, entry)
        except LogUnavailable:
            self._cluster.forget()
            raise
        except (RedisError, OSError) as no:
            raise LogUnavailable(str(no) or type(no).__name__) from no

    async def incarnation(self) -> str:
        """See Commit. While one primary is away, the log is: which tables that concerns, only Redis knows."""
        try:
            primaries = await self._cluster.primaries()
            ids = await asyncio.gather(*(self._at(primary).incarnation() for primary in primaries))
        except LogUnavailable:
            self._cluster.forget()
            raise
        except (RedisError, OSError) as no:
            raise LogUnavailable(str(no) or type(no).__name__) from no
        return " ".join(sorted(ids))

    async def close(self) -> None:
        """See Commit."""
        self._closed = True
        await asyncio.gather(*(commit.close() for commit in self._commits.values()))

    def _at(self, primary: Redis) -> GroupCommit:
        commit = self._commits.get(id(primary))
        if commit is None:
            commit = self._commits[id(primary)] = GroupCommit(Line(primary, self._patience), self._disks, self._meter)
        return commit
