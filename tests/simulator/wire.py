"""The log as Redis gives it: production `Line` and `GroupCommit` on connections whose bytes may be lost, late or torn.

Stands in place of redis-py's connection and of the server behind it, which knows the few commands that appends need.
What a batch loses is a tail of its bytes, at any of them: commands before that are carried out, and nobody is told.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from hiredis import Reader, pack_command
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import ResponseError

from kangtou_services.log.base import Entry
from kangtou_services.log.commit import GroupCommit
from kangtou_services.log.disks import Disks
from kangtou_services.log.line import Line
from kangtou_services.log.stream import entry_of, key, rounds_text

from .loop import CURRENT
from .network import Pipe, Weather
from .store import ReachedLog, Store

SMALLER = b"-ERR The ID specified in XADD is equal or smaller than the target stream top item\r\n"
NIL = b"$-1\r\n"


def commit_of(store: Store, replicas: int) -> GroupCommit:
    """The appends of the running process."""
    pool = SimpleNamespace(make_connection=lambda: Connection(store))
    return GroupCommit(Line(cast("Redis", SimpleNamespace(connection_pool=pool)), store.patience), Disks(replicas))


class Connection:
    """As much of redis.asyncio's connection as Line uses."""

    def __init__(self, store: Store) -> None:
        self._store, self._owner = store, CURRENT.get()
        self._reader = Reader(encoding="utf-8", replyError=ResponseError)
        self._replies: deque[Any] = deque()
        self._news = asyncio.Event()
        self._broken = False
        self.is_connected = False
        temper = store.temper
        weather = Weather(temper.least_s, temper.spread_s, temper.slow, temper.slow_s)
        self._served = Served(store, self)
        self._out = Pipe(store.loop, store.process, weather, self._served.came)
        self.back = Pipe(store.loop, self._owner, weather, self._came)

    async def connect(self) -> None:
        """See redis."""
        store = self._store
        await asyncio.sleep(0.001 + 0.004 * store.loop.rng.random())
        if not store.reached_by(self._owner.name):
            raise Lost("refused")
        self.is_connected = True
        store.connections[self] = None

    async def disconnect(self, nowait: bool = False) -> None:
        """See redis. What has been sent arrives all the same."""
        self.is_connected = False
        self._store.connections.pop(self, None)

    async def can_read(self) -> bool:
        """See redis: whether something is there that nobody asked for, or the end."""
        return self._broken or bool(self._replies)

    async def send_command(self, *words: str) -> None:
        """See redis."""
        self._out.send(pack_command(words))  # type: ignore[arg-type]

    async def send_packed_command(self, packed: bytes, check_health: bool = True) -> None:
        """See redis. Here a batch has its fate."""
        store, rng, temper = self._store, self._store.loop.rng, self._store.temper
        if self._broken or not store.reached_by(self._owner.name):
            raise Lost("reset")
        fate, draw = "", rng.random() if b"XADD" in packed else 1.0
        for name, share in (("lost", temper.lost), ("unanswered", temper.unanswered), ("late", temper.late)):
            if draw < share:
                fate = name
                store.count(f"append {name}")
                break
            draw -= share
        if fate == "lost":
            packed = packed[: int(rng.random() * len(packed))]
        if fate:
            self.back.cut()
        if fate == "late":
            late = 0.02 + (store.patience.reply_s + 0.5) * rng.random()
            store.loop.at(late, store.process, self._served.came, packed)
        else:
            self._out.send(packed)
        if fate == "late" or (fate and rng.random() < 0.7):
            store.loop.at(0.002 + 0.01 * rng.random(), self._owner, self.broken)

    async def read_response(self, timeout: float = 0, disconnect_on_error: bool = True) -> Any:
        """See redis."""
        while not self._replies:
            if self._broken:
                raise Lost("reset")
            self._news.clear()
            await self._news.wait()
        reply = self._replies.popleft()
        if isinstance(reply, ResponseError):
            raise reply
        return reply

    def broken(self) -> None:
        """The connection has been reset."""
        self._broken, self.is_connected = True, False
        self._store.connections.pop(self, None)
        self._news.set()

    def reset(self) -> None:
        """By the server's end, or the network: told a moment later."""
        self.back.cut()
        self._store.loop.at(0.002, self._owner, self.broken)

    def _came(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            self._replies.append(reply)
        self._news.set()


class Served:
    """The server's end of one connection."""

    def __init__(self, store: Store, connection: Connection) -> None:
        self._store, self._connection = store, connection
        self._reader = Reader()
        self._writer = CURRENT.get().name

    def came(self, data: bytes) -> None:
        """Bytes: every command that is whole is carried out."""
        store = self._store
        if store.away:
            self._connection.reset()
            return
        self._reader.feed(data)
        replies: list[bytes] = []
        if data.count(b"XADD") > 1:
            store.count("entries written together")
        while (words := self._reader.gets()) is not False:
            replies.append(self._carry_out([word.decode() for word in words]))
        if replies:
            self._connection.back.send(b"".join(replies))

    def _carry_out(self, words: Sequence[str]) -> bytes:
        match words:
            case ["XADD", name, "NOMKSTREAM", entry_id, *fields]:
                return self._append(name, entry_of((entry_id, fields)))
            case ["XREVRANGE", name, "+", "-", "COUNT", "1"]:
                return _rows(self._entries(name)[-1:])
            case ["XRANGE", name, first, _]:
                return _rows([entry for entry in self._entries(name) if entry.id == first])
            case ["INFO", _]:
                return _bulk(f"run_id:{self._store.server.incarnation}\r\n")
            case ["WAIT", replicas, _]:
                return f":{replicas}\r\n".encode()
            case ["WAITAOF", _, replicas, _]:
                behind = self._store.loop.rng.random() < self._store.temper.behind
                if behind:
                    self._store.count("replica behind")
                return f"*2\r\n:1\r\n:{0 if behind else replicas}\r\n".encode()
            case ["PING"] | ["SET", *_]:
                return b"+OK\r\n"
            case _:
                raise AssertionError(f"no such command: {words}")

    def _entries(self, name: str) -> list[Entry]:
        found = self._store.server.find(name[3:].partition("}")[0])
        return found.entries if found is not None else []

    def _append(self, name: str, entry: Entry) -> bytes:
        """As XADD NOMKSTREAM: the id must be greater than the last, no more."""
        entries = self._entries(name)
        if not entries:
            return NIL
        if (entry.epoch, entry.seq) <= (entries[-1].epoch, entries[-1].seq):
            self._store.count("append refused by its id")
            return SMALLER
        entries.append(entry)
        match = name[3:].partition("}")[0]
        assert name == key(match, "log")
        self._store.noted(match, entry, self._writer)
        return _bulk(entry.id)


def _bulk(text: str) -> bytes:
    raw = text.encode()
    return b"$%d\r\n%s\r\n" % (len(raw), raw)


def _rows(entries: Sequence[Entry]) -> bytes:
    """As XRANGE."""
    made = [b"*%d\r\n" % len(entries)]
    for entry in entries:
        fields = ("b", entry.body, "h", entry.chain, "r", rounds_text(entry))
        made += [b"*2\r\n", _bulk(entry.id), b"*6\r\n", *map(_bulk, fields)]
    return b"".join(made)


class WiredLog(ReachedLog):
    """The log of one process, whose appends go through production's group commit."""

    def __init__(self, store: Store, writer: str, replicas: int) -> None:
        super().__init__(store, writer)
        self._commit = commit_of(store, replicas)

    async def append(self, match: str, entry: Entry) -> None:
        """See EventLog."""
        await self._commit.append(match, entry)

    async def incarnation(self) -> str:
        """See EventLog."""
        return await self._commit.incarnation()
