"""The link between a gateway and a table actor: length-prefixed protobuf frames over a unix or TCP socket.

Whatever waits goes into one frame and one write. A frame is a 4-byte big-endian length and an `Up` (to the actor) or a
`Down` (to the gateway). Addresses: `unix:/path` or `tcp:host:port`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar, cast

from google.protobuf.message import DecodeError, Message

from kangtou.internal.v1 import link_pb2 as lpb

MAX_FRAME = 16 * 1024 * 1024
FULL_FRAME = 4 * 1024 * 1024  # what waits is written when it has grown to this
MAX_WAITING = 64 * 1024 * 1024  # bytes a peer may leave unread before it is cut off
# Of TCP: a connection whose other end is gone without a word is given up by the system after 20 to 30 s.
KEPT_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 20_000}

In = TypeVar("In", bound=Message)
Out = TypeVar("Out", bound=Message)


class LinkClosed(ConnectionError):
    """The other end is gone, or cannot be reached."""


class Link(Protocol):
    """One end of a link, as gateway code sees it."""

    def send(self, call: lpb.Call) -> None:
        """Queue a call; it leaves with the next frame. Raises LinkClosed."""
        ...

    @property
    def closed(self) -> bool:
        """Whether nothing can be sent any more."""
        ...

    def close(self) -> None:
        """End it."""
        ...


def keep_alive(connection: socket.socket) -> None:
    """See KEPT_ALIVE; options that the system does not have are left out."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEPT_ALIVE.items():
        if (option := getattr(socket, name, None)) is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


class FramedPeer(asyncio.Protocol, Generic[In, Out]):
    """Either end: collects what is sent in a turn of the event loop and writes it as one frame."""

    def __init__(
        self,
        read: type[In],
        fresh: Callable[[], Out],
        received: Callable[[FramedPeer[In, Out], In], None],
        ended: Callable[[FramedPeer[In, Out]], None],
    ) -> None:
        self._read = read
        self._fresh = fresh
        self._received = received
        self._ended = ended
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._out: Out | None = None
        self._out_size = 0
        self._over = False

    @property
    def closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._over or self._transport is None

    @property
    def waiting(self) -> int:
        """Bytes that the other end has not taken yet."""
        return 0 if self.closed or self._transport is None else self._transport.get_write_buffer_size()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        transport = self._transport
        transport.set_write_buffer_limits(high=MAX_WAITING)

    def data_received(self, data: bytes) -> None:
        """asyncio."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= 4:
            length = int.from_bytes(buffer[start : start + 4], "big")
            if length > MAX_FRAME:
                self.close()
                return
            if len(buffer) - start - 4 < length:
                break
            frame = self._read()
            try:
                frame.ParseFromString(bytes(buffer[start + 4 : start + 4 + length]))
            except DecodeError:
                self.close()
                return
            start += 4 + length
            self._received(self, frame)
            if self._over:
                return
        if start:
            del buffer[:start]

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio."""
        self._over = True
        self._ended(self)

    def outgoing(self, size: int) -> Out:
        """The frame that leaves at the end of this turn of the loop, for `size` bytes more. Raises LinkClosed."""
        if self._transport is None or self._over:
            raise LinkClosed("the link is closed")
        if self._out_size + size > FULL_FRAME:
            self.flush()  # a frame has a limit: what many tables send in one turn may need several
        self._out_size += size
        if self._out is None:
            self._out = self._fresh()
            asyncio.get_running_loop().call_soon(self.flush)
        return self._out

    def flush(self) -> None:
        """Write what waits."""
        out, self._out = self._out, None
        self._out_size = 0
        if out is None or self._transport is None or self._over:
            return
        data = out.SerializeToString()
        if self._transport.get_write_buffer_size() > MAX_WAITING:
            self.close()
            return
        self._transport.write(len(data).to_bytes(4, "big") + data)

    def close(self) -> None:
        """End the connection."""
        self._over = True
        if self._transport is not None:
            self._transport.abort()


class GatewayLink(FramedPeer[lpb.Down, lpb.Up]):
    """The gateway's end."""

    def __init__(self, received: Callable[[lpb.Down], None], ended: Callable[[], None]) -> None:
        super().__init__(lpb.Down, lpb.Up, lambda _, down: received(down), lambda _: ended())

    def send(self, call: lpb.Call) -> None:
        """Queue a call; it leaves with the next frame. Raises LinkClosed."""
        self.outgoing(call.ByteSize()).calls.append(call)


class ActorLink(FramedPeer[lpb.Up, lpb.Down]):
    """The actor's end of one gateway's link."""

    def __init__(
        self,
        received: Callable[[ActorLink, lpb.Up], None],
        ended: Callable[[ActorLink], None],
    ) -> None:
        super().__init__(
            lpb.Up,
            lpb.Down,
            lambda peer, up: received(self, up),
            lambda peer: ended(self),
        )
        self.known = False  # has said Hello with the right secret

    def deliver(self, subs: list[int], seq: int, payload: bytes, last: bool = False) -> None:
        """Queue bytes of a PlayResponse for some subscriptions. Raises LinkClosed."""
        size = len(payload) + 10 * len(subs) + 32
        self.outgoing(size).delivers.add(subs=subs, seq=seq, payload=payload, last=last)

    def reply(self, reply: lpb.Reply) -> None:
        """Queue a reply. Raises LinkClosed."""
        self.outgoing(reply.ByteSize()).replies.append(reply)


async def connect(
    address: str,
    received: Callable[[lpb.Down], None],
    ended: Callable[[], None],
    timeout: float = 2.0,
) -> GatewayLink:
    """Open a link to an actor. Raises LinkClosed."""
    loop = asyncio.get_running_loop()
    link = GatewayLink(received, ended)
    scheme, _, rest = address.partition(":")
    try:
        async with asyncio.timeout(timeout):
            if scheme == "unix":
                await loop.create_unix_connection(lambda: link, rest)
            else:
                host, _, port = rest.rpartition(":")
                transport, _ = await loop.create_connection(lambda: link, host, int(port))
                keep_alive(transport.get_extra_info("socket"))
    except (OSError, TimeoutError) as error:
        raise LinkClosed(f"{address}: {error}") from error
    return link


async def listen(
    address: str,
    received: Callable[[ActorLink, lpb.Up], None],
    ended: Callable[[ActorLink], None],
) -> tuple[str, Callable[[], Awaitable[None]]]:
    """Listen for gateways; returns the address that was bound (port 0 is filled in) and how to stop."""
    loop = asyncio.get_running_loop()
    peers: set[ActorLink] = set()
    stopped: list[bool] = []

    def made() -> ActorLink:
        def gone(peer: ActorLink) -> None:
            peers.discard(peer)
            ended(peer)

        peer = ActorLink(received, gone)
        peers.add(peer)
        if stopped:  # it was on its way in
            loop.call_soon(peer.close)
        return peer

    scheme, _, rest = address.partition(":")
    if scheme == "unix":
        server = await loop.create_unix_server(made, rest)
    else:
        host, _, port = rest.rpartition(":")
        server = await loop.create_server(made, host, int(port))
        address = f"tcp:{host}:{server.sockets[0].getsockname()[1]}"
        for listening in server.sockets:
            keep_alive(listening)  # which the connections inherit

    async def stop() -> None:
        stopped.append(True)
        server.close()
        for peer in list(peers):
            peer.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await server.wait_closed()

    return address, stop
