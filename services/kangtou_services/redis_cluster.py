"""A Redis Cluster behind the face of one server: each command goes to the primary that holds its key.

Which that is, redis-py's RedisCluster finds out. What goes there, plain clients carry, one for each primary: they wait
for a free connection, repeat nothing, and keep commands together that belong together (MULTI; WAITAOF behind the write
that it waits for), which RedisCluster's pipelines do not.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline, PubSub
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MovedError, RedisClusterException
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.maint_notifications import MaintNotificationsConfig

SCHEMES = ("redis+cluster://", "rediss+cluster://")
_MOVES = 3  # how often a command follows slots that have moved
# First words of commands without a key: any primary will do, or the one of the command before.
_KEYLESS = frozenset("CLIENT CLUSTER COMMAND CONFIG DBSIZE FUNCTION INFO PING PUBLISH SCRIPT TIME WAIT WAITAOF".split())

_EVERYWHERE = frozenset({"FLUSHDB", "FLUSHALL", "KEYS"})

Command = tuple[tuple[Any, ...], Mapping[str, Any]]


def key_of(args: Sequence[Any]) -> str | None:
    """The first key of a command; None if it has none."""
    name = str(args[0]).split(" ", 1)[0].upper()
    if name in _KEYLESS:
        return None
    if name == "SCAN":
        raise RedisClusterException("SCAN goes through one server: ask each of `servers()`")
    if name in ("FCALL", "FCALL_RO", "EVAL", "EVALSHA"):
        return _text(args[3]) if int(args[2]) else None
    if name in ("XREAD", "XREADGROUP"):
        return _text(args[[_text(word).upper() for word in args].index("STREAMS") + 1])
    return _text(args[1])


def _text(word: Any) -> str:
    return word.decode() if isinstance(word, bytes) else str(word)


class Cluster(Redis):
    """A client. `connect` makes a plain one from a URL; `url` names some of the servers."""

    def __init__(self, url: str, connect: Callable[[str], Redis], connect_s: float, reply_s: float) -> None:
        self._connect = connect
        parts = urlsplit(url)
        self._scheme = parts.scheme.removesuffix("+cluster")
        self._login, _, listed = parts.netloc.rpartition("@")
        seeds = [urlsplit(f"//{one}") for one in listed.split(",")]
        user, _, password = self._login.partition(":")
        self._map = RedisCluster(
            startup_nodes=[ClusterNode(seed.hostname or "", seed.port or 6379) for seed in seeds],
            username=unquote(user) or None,
            password=unquote(password) or None,
            ssl=self._scheme == "rediss",
            socket_connect_timeout=connect_s,
            socket_timeout=reply_s,
            retry=Retry(NoBackoff(), 0),
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
        self._clients: dict[str, Redis] = {}
        self._known = False
        self._learning = asyncio.Lock()
        super().__init__(connection_pool=self._client(seeds[0].hostname or "", seeds[0].port or 6379).connection_pool)

    def _client(self, host: str, port: int | str) -> Redis:
        at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        client = self._clients.get(at)
        if client is None:
            login = f"{self._login}@" if self._login else ""
            client = self._clients[at] = self._connect(f"{self._scheme}://{login}{at}")
        return client

    async def _learn(self) -> None:
        """Know which primary has which slots. Raises RedisError."""
        if self._known:
            return
        async with self._learning:
            await self._look()

    async def _look(self) -> None:
        if self._known:  # another task was first
            return
        try:
            await self._map.nodes_manager.initialize()
        except RedisClusterException as no:
            raise RedisConnectionError(f"the cluster is not known: {no}") from no
        self._known = True

    def forget(self) -> None:
        """Slots may have moved, or a primary died: look again before the next command."""
        self._known = False

    async def primary_of(self, key: str) -> Redis:
        """The client of the primary that holds a key. Raises RedisError."""
        await self._learn()
        try:
            node = self._map.nodes_manager.get_node_from_slot(key_slot(key.encode()))
        except RedisClusterException as no:
            self.forget()
            raise RedisConnectionError(str(no)) from no
        return self._client(node.host, node.port)

    async def primaries(self) -> list[Redis]:
        """The clients of all of them. Raises RedisError."""
        await self._learn()
        return [self._client(node.host, node.port) for node in self._map.get_primaries()]

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """See Redis."""

        async def once() -> Any:
            replies: list[Any] = []
            for one in await self._asked(args):
                replies.append(await one.execute_command(*args, **options))  # type: ignore[no-untyped-call]
            return [key for keys in replies for key in keys] if args[0] == "KEYS" else replies[-1]

        return await self._following(once)

    async def _asked(self, args: Sequence[Any]) -> list[Redis]:
        if args[0] in _EVERYWHERE:
            return await self.primaries()
        key = key_of(args)
        return [random.choice(await self.primaries()) if key is None else await self.primary_of(key)]

    async def _following(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Do it again where slots have moved: what a server refuses for that has not been done."""
        for tries_left in reversed(range(_MOVES)):
            try:
                return await work()
            except MovedError:
                self.forget()
                if not tries_left:
                    raise
            except (RedisConnectionError, RedisTimeoutError):
                self.forget()
                raise
        raise AssertionError("the last try returns or raises")

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        """See Redis. What concerns one primary is sent together and in order; primaries work side by side."""
        return Batch(self, transaction)

    def pubsub(self, **options: Any) -> PubSub:
        """At any of the servers: a cluster tells what is published to all of them."""
        return random.choice(list(self._clients.values())).pubsub(**options)

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """See Redis."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()
        await self._map.nodes_manager.aclose()
        await self._map.nodes_manager.aclose("startup_nodes")


class Batch(Pipeline):
    """Commands for several primaries. With `transaction`, all keys must lie in one slot."""

    def __init__(self, cluster: Cluster, transaction: bool) -> None:
        super().__init__(cluster.connection_pool, cluster.response_callbacks, transaction, None)
        self._cluster = cluster
        self._together = transaction

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """See Pipeline. Raises RedisError where a primary could not be reached, also if others did their part."""
        commands: list[Command] = [(args, options) for args, options in self.command_stack]
        replies: list[Any] = [None] * len(commands)
        left = list(range(len(commands)))
        try:
            for _ in range(_MOVES):
                if not left:
                    break
                await self._send([(number, commands[number]) for number in left], replies)
                left = [number for number in left if isinstance(replies[number], MovedError)]
                if left:
                    self._cluster.forget()
        except (RedisConnectionError, RedisTimeoutError):
            self._cluster.forget()
            raise
        finally:
            await self.reset()  # type: ignore[no-untyped-call]
        if raise_on_error:
            for reply in replies:
                if isinstance(reply, Exception):
                    raise reply
        return replies

    async def _send(self, commands: Sequence[tuple[int, Command]], replies: list[Any]) -> None:
        parts: dict[int, tuple[Redis, list[tuple[int, Command]]]] = {}
        server: Redis | None = None
        for number, (args, options) in commands:
            key = key_of(args)
            if key is not None:
                server = await self._cluster.primary_of(key)
            elif server is None:
                server = random.choice(await self._cluster.primaries())
            parts.setdefault(id(server), (server, []))[1].append((number, (args, options)))
        done = await asyncio.gather(
            *(self._part(at, [command for _, command in part]) for at, part in parts.values()), return_exceptions=True
        )
        for (_, part), found in zip(parts.values(), done, strict=True):
            if isinstance(found, BaseException):
                raise found
            for (number, _), reply in zip(part, found, strict=True):
                replies[number] = reply

    async def _part(self, server: Redis, commands: list[Command]) -> list[Any]:
        async with server.pipeline(transaction=self._together) as pipe:
            for args, options in commands:
                pipe.execute_command(*args, **options)
            try:
                found: list[Any] = await pipe.execute(raise_on_error=False)
            except MovedError as moved:  # of a transaction, none of which was done
                return [moved] * len(commands)
        return found


async def servers(client: Redis) -> list[Redis]:
    """All that take writes: a cluster's primaries, or the one server."""
    return await client.primaries() if isinstance(client, Cluster) else [client]
