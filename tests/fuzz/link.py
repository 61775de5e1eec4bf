"""The link: frames from a gateway into a host, and from a host into a gateway's link; before and after the secret."""

from __future__ import annotations

import asyncio
from collections import deque
from random import Random
from typing import Any

from google.protobuf.message import DecodeError

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_services.directory import Actor
from kangtou_services.gateway.links import Conn
from kangtou_services.link import ActorLink, GatewayLink

from .messages import made
from .mutate import mutated, noise
from .place import Place
from .watch import Watch

FRAMES = 12
_HELLO = lpb.Up(calls=[lpb.Call(ref=1, hello=lpb.Hello(gateway_id="g", secret="s"))])
# What a gateway that knows the secret may do to a match: it would only end what is to be fuzzed.
_ENDS = ("stop", "move")


class Wire:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.aborted = False

    def set_write_buffer_limits(self, high: int) -> None:
        """asyncio."""

    def get_write_buffer_size(self) -> int:
        """asyncio."""
        return 0

    def write(self, data: bytes) -> None:
        """asyncio."""
        self.written += data

    def abort(self) -> None:
        """asyncio."""
        self.aborted = True


def framed(raw: bytes) -> bytes:
    """A frame."""
    return len(raw).to_bytes(4, "big") + raw


class Link:
    """A target. One connection is one to FRAMES inputs."""

    name = "link"

    def __init__(self, place: Place, watch: Watch) -> None:
        self._place = place
        self._watch = watch
        self._kept: dict[type[Any], deque[bytes]] = {lpb.Up: deque(maxlen=128), lpb.Down: deque(maxlen=128)}

    async def feed(self, rng: Random) -> int:
        """One connection; how many frames were delivered by it."""
        frames = rng.randrange(1, FRAMES + 1)
        to = self._to_host if rng.random() < 0.6 else self._to_gateway
        return await to(rng, frames)

    async def _to_host(self, rng: Random, frames: int) -> int:
        host, wire = self._place.hosting.host, Wire()
        peer = ActorLink(host.received, host.ended)
        peer.connection_made(wire)  # type: ignore[arg-type]
        known = rng.random() < 0.8
        if known:
            peer.data_received(framed(_HELLO.SerializeToString()))
        taken = await self._deliver(rng, peer, lpb.Up, frames)
        await asyncio.sleep(0)
        peer.connection_lost(None)
        if not known and (wire.written and not wire.aborted):
            self._told(wire)
        self._watch.count(self.name, "host cut it" if wire.aborted else "host took it")
        return taken

    def _told(self, wire: Wire) -> None:
        """Whoever has not said the secret is told nothing but that."""
        size = int.from_bytes(wire.written[:4], "big")
        down = lpb.Down.FromString(bytes(wire.written[4 : 4 + size]))
        if down.delivers or any(one.WhichOneof("body") not in ("problem", None) for one in down.replies):
            self._watch.bad(f"told to a stranger: {down}"[:200])

    async def _to_gateway(self, rng: Random, frames: int) -> int:
        conn = Conn(Actor("fuzz", "unix:/nowhere", "n", 0), lambda *_: None)
        link, wire = GatewayLink(conn.received, conn.end), Wire()
        link.connection_made(wire)  # type: ignore[arg-type]
        conn.link = link
        conn.ended = lambda _: None
        for _ in range(4):
            conn.ask(lpb.Call(stats=lpb.Stats()), lambda _: None)
        taken = await self._deliver(rng, link, lpb.Down, frames)
        link.connection_lost(None)
        self._watch.count(self.name, "gateway cut it" if wire.aborted else "gateway took it")
        return taken

    async def _deliver(self, rng: Random, end: Any, kind: type[Any], frames: int) -> int:
        for number in range(frames):
            data = self._frame(rng, kind)
            at = rng.randrange(len(data) + 1)  # TCP keeps no borders
            end.data_received(data[:at])
            if end.closed:
                return number + 1
            end.data_received(data[at:])
            if end.closed:
                return number + 1
            await asyncio.sleep(0)
        return frames

    def _frame(self, rng: Random, kind: type[Any]) -> bytes:
        how, kept = rng.random(), self._kept[kind]
        if how < 0.05:
            return noise(rng)
        if how < 0.4 and kept:
            raw = mutated(rng, rng.choice(kept), kept)
            return framed(raw if kind is lpb.Down else _harmless(raw))
        raw = made(rng, kind.DESCRIPTOR, self._place.values).SerializeToString()
        kept.append(raw)
        return framed(raw if kind is lpb.Down else _harmless(raw))

    async def close(self) -> None:
        """Nothing is kept open."""


def _harmless(raw: bytes) -> bytes:
    """The same frame without what a gateway may do to a match."""
    try:
        up = lpb.Up.FromString(raw)
    except DecodeError:
        return raw
    if not any(call.WhichOneof("body") in _ENDS for call in up.calls):
        return raw
    for call in up.calls:
        for what in _ENDS:
            call.ClearField(what)  # type: ignore[arg-type]
    return up.SerializeToString()
