"""The gateway's port: bytes of real connections, changed, and bytes that never were HTTP/2."""

from __future__ import annotations

import asyncio
import contextlib
from random import Random
from typing import Any

import grpc

from kangtou.v1 import lobby_pb2 as lobby
from kangtou.v1 import lobby_pb2_grpc as lobby_rpc
from kangtou.v1 import play_pb2 as play

from .mutate import mutated, noise
from .place import Place
from .watch import Watch

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
EVERY = 50  # inputs, after which a right call must be answered
_TYPES = 10
_OTHER = (
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\x00" * 64,
    b"*1\r\n",
)


class Port:
    """A target. One connection is one input."""

    name = "port"

    def __init__(self, place: Place, watch: Watch) -> None:
        self._place = place
        self._watch = watch
        self._host, _, port = place.gateway.address.rpartition(":")
        self._port = place.gateway.port or int(port)
        self._real: list[bytes] = []
        self._count = 0

    async def feed(self, rng: Random) -> None:
        """One connection."""
        if not self._real:
            self._real = await self.recorded()
        self._count += 1
        data, writer = self._data(rng), None
        try:
            async with asyncio.timeout(20):
                reader, writer = await asyncio.open_connection(self._host, self._port)
                at = rng.randrange(len(data) + 1)
                for part in (data[:at], data[at:]):
                    writer.write(part)
                    await writer.drain()
                    if rng.random() < 0.5:
                        await asyncio.wait_for(reader.read(256), 0.02)
        except TimeoutError:
            outcome = "waited"
        except OSError:
            outcome = "cut"
        else:
            outcome = "closed"
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        self._watch.count(self.name, outcome)
        if self._count % EVERY == 0:
            await self.answers()

    async def answers(self) -> None:
        """A right call is answered."""
        address = f"{self._host}:{self._port}"
        async with grpc.aio.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),)) as channel:
            stub = lobby_rpc.LobbyServiceStub(channel)
            response = await stub.ListGames(lobby.ListGamesRequest(), timeout=60, wait_for_ready=True)
            assert response.games

    async def close(self) -> None:
        """It still answers; nothing that came by the port was a fault of ours."""
        await self.answers()
        for (method, status), count in self._place.gateway.parts.meter.calls.items():
            if status in ("INTERNAL", "UNKNOWN"):
                self._watch.bad(f"{count} calls of {method}: {status}")

    def _data(self, rng: Random) -> bytes:
        how = rng.random()
        if how < 0.1:
            return rng.choice(_OTHER) + noise(rng)
        if how < 0.3:
            return PREFACE + b"".join(_frame(rng) for _ in range(rng.randrange(1, 20)))
        if how < 0.4:
            return PREFACE + noise(rng)
        raw = rng.choice(self._real)
        kept = len(PREFACE) if rng.random() < 0.9 else 0
        return raw[:kept] + mutated(rng, raw[kept:], self._real)

    async def recorded(self) -> list[bytes]:
        """What a client really sends: a unary call, and a play stream."""
        found: list[bytes] = []
        writers: list[asyncio.StreamWriter] = []

        async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, out = await asyncio.open_connection(self._host, self._port)
            writers.extend((writer, out))
            place = len(found)
            found.append(b"")

            async def up() -> None:
                while data := await reader.read(65_536):
                    found[place] += data
                    out.write(data)
                out.close()

            async def down() -> None:
                while data := await there.read(65_536):
                    writer.write(data)

            await asyncio.gather(up(), down(), return_exceptions=True)

        proxy = await asyncio.start_server(passed_on, "127.0.0.1", 0)
        address = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        caller = self._place.callers[0]
        metadata = (("authorization", f"Bearer {caller.token}"),)
        for _ in range(2):
            async with grpc.aio.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),)) as channel:
                await lobby_rpc.LobbyServiceStub(channel).ListTables(lobby.ListTablesRequest(), metadata=metadata)
                call: Any = channel.stream_stream("/kangtou.v1.PlayService/Play")(metadata=metadata)
                attach = play.PlayRequest(attach=play.Attach(match_id="nowhere"))
                await call.write(attach.SerializeToString())
                await call.read()
                call.cancel()
        proxy.close()
        for writer in writers:
            writer.close()
        return [one for one in found if one]


def _frame(rng: Random) -> bytes:
    """A frame of HTTP/2: length, type, flags, stream, and a payload that fits or not."""
    payload = noise(rng)[:300]
    length = len(payload) if rng.random() < 0.9 else rng.randrange(2**24)
    kind = rng.randrange(_TYPES + 2)
    stream = rng.choice((0, 1, 3, 5, 2**31 - 1))
    return length.to_bytes(3, "big") + bytes((kind, rng.randrange(256))) + stream.to_bytes(4, "big") + payload
