"""A hostile client as a program of its own: `python -m bench._hostile flood|never-reads|streams ADDRESS`.

It reads lines: `go MATCH,MATCH…` (what is in play), `go N` for streams (how many), `halt`, and writes one JSON object
of counts after each of them; `streams` writes that of `go` when it has opened and dropped so many. It ends with its
input.

flood        a bot with a seat: commands on its stream, questions beside it, each ten times as many as are allowed
never-reads  looks on at everything in play and has a seat; takes nothing, and opens another such stream every 10 s
streams      opens 300 streams a second, drops each at once, after an answer or in the middle of a match's view; by
             four accounts, so that more are admitted at first
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import grpc
import uvloop

from bench._load import channel_to
from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc
from kangtou_clients.api import Client, Refused, Wanted
from kangtou_services.gateway.limits import QUESTIONS_S
from kangtou_services.gateway.streams import SEAT_MESSAGES_S
from kangtou_services.settings import Settings

TIMES = 10
TICK_S = 0.01
QUESTIONS_AT_ONCE = 64
AGAIN_S = 10.0
ACCOUNTS = 4  # so that four bursts are admitted at first; who goes on like that is not admitted again
DROPS_S = 300.0
DROPS_AT_ONCE = 32
PATIENCE_S = 0.05  # for an answer
ROUNDS = {"rounds": 1000, "cut": False, "between": False}
# A window that stays small: what is not read waits in the server.
SMALL = (("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536))


class Hostile(ABC):
    """One kind. `run` goes on until it is cancelled, or until it has done its work."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.counts: Counter[str] = Counter()

    @abstractmethod
    async def prepare(self) -> None:
        """Accounts and tables."""

    @abstractmethod
    async def run(self, words: str) -> None:
        """Be hostile."""

    async def registered(self, name: str) -> Client:
        """A bot's account on a connection of its own."""
        client = Client(self.address, channel=channel_to(self.address))
        done = await client.accounts.register(name, "bot")
        assert not isinstance(done, Refused), done
        return client

    async def seated(self) -> tuple[Client, str]:
        """A bot with a seat at a table where nobody else is."""
        clients = [await self.registered(f"hostile {number}") for number in range(4)]
        table = await clients[0].lobby.open(Wanted("hongshi", seats=4, options=ROUNDS))
        assert not isinstance(table, Refused), table
        for client in clients:
            place = await client.lobby.sit(table.match_id)
            assert not isinstance(place, Refused), place
        for client in clients[1:]:
            await client.channel.close()
        return clients[0], table.match_id


class Flood(Hostile):
    """Far more than is allowed."""

    async def prepare(self) -> None:
        """See Hostile."""
        self.client, self.match = await self.seated()
        self.stub = rpc.PlayServiceStub(self.client.channel)
        limit = Settings().messages_per_s + SEAT_MESSAGES_S
        self.messages_s, self.questions_s = TIMES * limit, TIMES * QUESTIONS_S

    async def run(self, words: str) -> None:
        """See Hostile."""
        call = self.stub.Play(metadata=self.client.metadata())
        tasks = [self._read(call), self._commands(call), self._questions()]
        try:
            await asyncio.gather(*tasks)
        finally:
            call.cancel()

    async def _commands(self, call: Any) -> None:
        await call.write(play.PlayRequest(attach=play.Attach(match_id=self.match)))
        async for number in paced(self.messages_s):
            command = play.Command(match_id=self.match, command_id=f"f{number}", prompt=1)
            command.action.verb = "pass"
            await call.write(play.PlayRequest(command=command))
            self.counts["sent"] += 1

    async def _read(self, call: Any) -> None:
        async for response in call:
            for update in response.updates:
                if update.HasField("answer"):
                    self.counts["answered"] += 1
                    self.counts[update.answer.refused.code or "accepted"] += 1

    async def _questions(self) -> None:
        free = asyncio.Semaphore(QUESTIONS_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            async for _ in paced(self.questions_s):
                await free.acquire()
                group.create_task(self._question(free))

    async def _question(self, free: asyncio.Semaphore) -> None:
        try:
            await self.stub.GetView(play.GetViewRequest(match_id=self.match), metadata=self.client.metadata())
            self.counts["views"] += 1
        except grpc.aio.AioRpcError as error:
            self.counts[error.code().name] += 1
        finally:
            free.release()


class NeverReads(Hostile):
    """Attaches to everything and takes nothing."""

    async def prepare(self) -> None:
        """See Hostile."""
        self.client, self.match = await self.seated()
        self.channel = grpc.aio.insecure_channel(self.address, options=SMALL)

    async def run(self, words: str) -> None:
        """See Hostile."""
        async with contextlib.AsyncExitStack() as stack:
            while True:
                call = rpc.PlayServiceStub(self.channel).Play(metadata=self.client.metadata())
                stack.callback(call.cancel)
                await call.write(play.PlayRequest(attach=play.Attach(match_id=self.match)))
                for match in filter(None, words.split(",")):
                    await call.write(play.PlayRequest(attach=play.Attach(match_id=match, spectate=True)))
                self.counts["streams"] += 1
                await asyncio.sleep(AGAIN_S)


class Streams(Hostile):
    """Opens and drops."""

    async def prepare(self) -> None:
        """See Hostile."""
        first, self.match = await self.seated()
        clients = [first, *[await self.registered(f"drops {number}") for number in range(ACCOUNTS - 1)]]
        self.metadata = [client.metadata() for client in clients]
        self.stubs = [rpc.PlayServiceStub(client.channel) for client in clients]

    async def run(self, words: str) -> None:
        """See Hostile."""
        free = asyncio.Semaphore(DROPS_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            async for number in paced(DROPS_S):
                if number == int(words):
                    break
                await free.acquire()
                group.create_task(self._drop(number, free))

    async def _drop(self, number: int, free: asyncio.Semaphore) -> None:
        call = self.stubs[number % ACCOUNTS].Play(metadata=self.metadata[number % ACCOUNTS])
        try:
            await call.write(play.PlayRequest(attach=play.Attach(match_id=self.match, spectate=True)))
            async with asyncio.timeout(PATIENCE_S):
                if number % 3 == 1:
                    await call.initial_metadata()
                elif number % 3 == 2:
                    await call.read()
        except TimeoutError:
            self.counts["not answered"] += 1
        except grpc.aio.AioRpcError as error:
            self.counts[error.code().name] += 1
        except asyncio.InvalidStateError:  # it was refused before anything was written
            self.counts["refused"] += 1
        finally:
            call.cancel()
            self.counts["dropped"] += 1
            free.release()


async def paced(per_s: float) -> AsyncIterator[int]:
    """Numbers, so many a second; what was missed is not made up for."""
    loop = asyncio.get_running_loop()
    numbers, some = itertools.count(), max(1, round(per_s * TICK_S))
    while True:
        due = loop.time() + some / per_s
        for _ in range(some):
            yield next(numbers)
        await asyncio.sleep(max(0.0, due - loop.time()))


KINDS: dict[str, type[Hostile]] = {"flood": Flood, "never-reads": NeverReads, "streams": Streams}


async def main(kind: str, address: str) -> None:
    """Do as one is told, until the input ends."""
    hostile = KINDS[kind](address)
    await hostile.prepare()
    lines = asyncio.StreamReader(limit=2**20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    task: asyncio.Task[None] | None = None
    print(json.dumps({"ready": kind}), flush=True)
    while line := (await lines.readline()).decode().strip():
        what, _, words = line.partition(" ")
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        task = asyncio.create_task(hostile.run(words)) if what == "go" else None
        if task is not None and kind == "streams":
            await task
        print(json.dumps(dict(hostile.counts)), flush=True)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:3]))
