"""The network between simulated processes: connections in order and whole until they are cut, as TCP gives them.

Loss is what a cut loses: of each direction, whatever was on its way from a drawn point on. A cut is told to the ends (a
reset) or to nobody (a cable), until the keepalive finds out. What was sent over an older connection may arrive after
what came over a newer one: that is how messages of a client are reordered and doubled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .loop import Process, SimLoop

KEEPALIVE_S = 6.0  # until an end of a connection that is cut silently sees that it is


@dataclass(slots=True)
class Weather:
    """How the network is: seconds on the way (least, spread), how often a message is held up, and how long at most."""

    least_s: float = 0.0005
    spread_s: float = 0.004
    held: float = 0.0
    held_s: float = 1.0


class Pipe:
    """One direction of a connection."""

    __slots__ = ("_arrive", "_cut", "_loop", "_next", "_to", "_weather")

    def __init__(self, loop: SimLoop, to: Process, weather: Weather, arrive: Callable[[Any], None]) -> None:
        self._loop, self._to, self._weather, self._arrive = loop, to, weather, arrive
        self._next = 0.0
        self._cut = False

    def send(self, what: Any) -> None:
        """In order, after a time."""
        if self._cut:
            self._loop.network.count("message lost")
            return
        loop, weather = self._loop, self._weather
        delay = weather.least_s + weather.spread_s * loop.rng.random()
        if weather.held and loop.rng.random() < weather.held:
            loop.network.count("message held up")
            delay += weather.held_s * loop.rng.random()
        self._next = max(self._next, loop.time() + delay)
        loop.at(self._next - loop.time(), self._to, self._came, what)

    def _came(self, what: Any) -> None:
        if self._cut:
            self._loop.network.count("message lost")
        else:
            self._arrive(what)

    def cut(self) -> None:
        """What is on its way from a drawn moment on, and all after it, is lost."""
        late = self._loop.rng.random() * self._weather.spread_s if self._loop.rng.random() < 0.5 else 0.0
        if late:
            self._loop.at(late, self._loop.outside, self._lose)
        else:
            self._cut = True

    def _lose(self) -> None:
        self._cut = True


class Connection:
    """Two pipes, two ends. `ended` of each end is called once, in its process."""

    def __init__(self, network: Network, kind: str, client: Process, server: Process) -> None:
        self.network, self.kind, self.ends = network, kind, (client, server)
        self.pipes: list[Pipe] = []
        self.ended: list[Callable[[], None]] = []
        self.over = self.silent = False

    def cut(self, *, silent: bool = False) -> None:
        """Let it break; `silent`: nobody is told for a while."""
        if self.over or (self.silent and silent):
            return
        loop = self.network.loop
        loop.note("cut", self.kind, *self.ends, "silently" if silent else "")
        for pipe in self.pipes:
            pipe.cut()
        self.silent = True
        for process, ended in zip(self.ends, self.ended, strict=True):
            wait = KEEPALIVE_S * (0.5 + loop.rng.random()) if silent else 0.004 + 0.01 * loop.rng.random()
            loop.at(wait, process, ended)
        if not silent:
            self.forget()

    def forget(self) -> None:
        """Both ends know."""
        self.over = True
        self.network.open.pop(self, None)


class Network:
    """All connections that are open, and who cannot reach whom."""

    def __init__(self, loop: SimLoop, weather: Weather, count: Callable[[str], None]) -> None:
        self.loop, self.weather, self.count = loop, weather, count
        self.open: dict[Connection, None] = {}
        self.apart: set[tuple[str, str]] = set()  # names of processes
        self._listening: dict[str, tuple[Process, Callable[[], Any]]] = {}
        loop.network = self

    def between(self, *kinds: str) -> list[Connection]:
        """The open ones of some kinds."""
        return [one for one in self.open if one.kind in kinds]

    def connection(self, kind: str, client: Process, server: Process) -> Connection:
        """A new one."""
        made = Connection(self, kind, client, server)
        self.open[made] = None
        return made

    def separated(self, one: Process, other: Process) -> bool:
        """Whether nothing goes between them now."""
        return (one.name, other.name) in self.apart or (other.name, one.name) in self.apart

    def process_gone(self, process: Process, *, silent: bool) -> None:
        """Its connections end."""
        for one in [one for one in self.open if process in one.ends]:
            one.cut(silent=silent)

    # ---- sockets ----

    def listen(self, process: Process, made: Callable[[], Any], path: str) -> SimServer:
        """As create_unix_server."""
        self._listening[path] = (process, made)
        return SimServer(self, path)

    def close(self, path: str) -> None:
        """Nobody listens there any more."""
        self._listening.pop(path, None)

    async def connect(self, process: Process, made: Callable[[], Any], path: str) -> tuple[Any, Any]:
        """As create_unix_connection. Raises ConnectionRefusedError where nobody listens, OSError where no way leads."""
        await asyncio.sleep(self.weather.least_s)
        found = self._listening.get(path)
        server = found[0] if found is not None else None
        if server is not None and self.separated(process, server):
            await asyncio.sleep(30)
            raise OSError("no route")
        if found is None or server is None or server.dead:
            raise ConnectionRefusedError(path)
        ours, theirs = made(), found[1]()
        one = self.connection("link", process, server)
        here, there = SimTransport(one, ours), SimTransport(one, theirs)
        one.pipes = [
            Pipe(self.loop, server, self.weather, there.received),
            Pipe(self.loop, process, self.weather, here.received),
        ]
        here.out, there.out = one.pipes
        one.ended = [here.lost, there.lost]
        self.loop.at(0, server, theirs.connection_made, there)
        ours.connection_made(here)
        return here, ours


class SimServer:
    """What create_unix_server gives."""

    def __init__(self, network: Network, path: str) -> None:
        self._network, self._path = network, path

    def close(self) -> None:
        """See asyncio."""
        self._network.close(self._path)

    async def wait_closed(self) -> None:
        """See asyncio."""


class SimTransport:
    """A transport of one end: as much of asyncio.Transport as link.py uses. Now and then bytes come in two parts."""

    def __init__(self, connection: Connection, protocol: Any) -> None:
        self._connection, self._protocol = connection, protocol
        self._over = False
        self.out: Pipe

    def set_write_buffer_limits(self, high: int) -> None:
        """See asyncio."""

    def get_write_buffer_size(self) -> int:
        """See asyncio."""
        return 0

    def write(self, data: bytes) -> None:
        """See asyncio."""
        rng = self._connection.network.loop.rng
        if len(data) > 1 and rng.random() < 0.03:
            self._connection.network.count("frame in two parts")
            middle = 1 + int(rng.random() * (len(data) - 1))
            self.out.send(data[:middle])
            data = data[middle:]
        self.out.send(data)

    def abort(self) -> None:
        """See asyncio."""
        if not self._over:
            self._connection.cut()

    def received(self, data: bytes) -> None:
        """From the other end."""
        if not self._over:
            self._connection.network.loop.seen("link", self._connection.ends, data)
            self._protocol.data_received(data)

    def lost(self) -> None:
        """The connection has ended."""
        if not self._over:
            self._over = True
            self._connection.forget()
            self._protocol.connection_lost(None)
