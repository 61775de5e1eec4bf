"""A command sent again and again, at once, through two gateways, across a restart. Issue: main job, 7."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import grpc
import pytest

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc
from kangtou_engine.shuffle import SEED_BYTES, seed_commitment
from kangtou_services.agreement import BOT, Agreement, Member, new_id
from kangtou_services.log.redis import RedisLog, RedisMatchStore
from tests.servers import patient

from .load import Load
from .server import Server, running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(200)]


class Caller:
    """A seat that speaks through two gateways. Which process a connection reaches is the kernel's choice."""

    def __init__(self, server: Server, match: str, token: str) -> None:
        self.match = match
        self.metadata = (("authorization", f"Bearer {token}"),)
        options = [("grpc.use_local_subchannel_pool", 1)]
        self.channels = [grpc.aio.insecure_channel(server.address, options=options) for _ in range(8)]
        self.stubs = [rpc.PlayServiceStub(channel) for channel in self.channels]

    async def prompt(self) -> play.GetViewResponse:
        """The seat's question and view now."""
        return await self.stubs[0].GetView(play.GetViewRequest(match_id=self.match), metadata=self.metadata, timeout=20)

    async def act(self, stub: int, command_id: str, prompt: int, action: object) -> play.Answer:
        """One Act through one of the connections; unreachable gateways are asked again."""
        command = play.Command(match_id=self.match, command_id=command_id, prompt=prompt, action=action)  # type: ignore[arg-type]
        request = play.ActRequest(command=command)
        while True:
            try:
                response = await self.stubs[stub % 8].Act(request, metadata=self.metadata, timeout=20)
                return response.answer
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
                await asyncio.sleep(0.1)

    async def close(self) -> None:
        """End the connections."""
        await asyncio.gather(*(channel.close() for channel in self.channels))


async def test_repeats(tmp_path: Path) -> None:
    """Applied once and answered alike; other content under the id, and an older prompt, are refused."""
    with running(tmp_path / "d", gateways=2) as server:
        load = Load(server, 1)
        await load.start()
        await load.close()
        redis = patient(f"unix://{server.data / 'redis' / 'redis.sock'}")
        seed, match = os.urandom(SEED_BYTES), new_id()
        members = tuple(Member(account, "bot", BOT) for account, _ in load.bots)
        agreement = Agreement(
            match, "hongshi", 1, 4, {"cut": True}, members, seed_commitment(match, seed), time.time_ns() // 1_000_000
        )
        await RedisMatchStore(redis).create(match, agreement.to_json(), seed)
        callers = [Caller(server, match, token) for _, token in load.bots]
        try:
            await _repeats(server, callers, RedisLog(redis), match)
        finally:
            for caller in callers:
                await caller.close()
            await redis.aclose()


async def _repeats(server: Server, callers: list[Caller], log: RedisLog, match: str) -> None:
    while True:
        views = [await caller.prompt() for caller in callers]
        asked = [place for place, view in enumerate(views) if view.HasField("prompt")]
        if asked:
            break
        await asyncio.sleep(0.05)
    caller, prompt = callers[asked[0]], views[asked[0]].prompt
    action, other = prompt.legal[0], prompt.legal[1]
    answers = await asyncio.gather(*(caller.act(place, "c1", prompt.number, action) for place in range(8)))
    assert all(answer == answers[0] and answer.HasField("accepted") for answer in answers)
    reused = await caller.act(1, "c1", prompt.number, other)
    assert reused.refused.code == "id_reused"
    os.kill(server.actors()[server.owner(match) or ""], signal.SIGKILL)
    again = await asyncio.gather(*(caller.act(place, "c1", prompt.number, action) for place in range(3)))
    assert all(answer == answers[0] for answer in again)
    reused = await caller.act(2, "c1", prompt.number, other)
    assert reused.refused.code == "id_reused"
    later = [await one.prompt() for one in callers]
    second = next(place for place, view in enumerate(later) if view.HasField("prompt"))
    number, passing = later[second].prompt.number, later[second].prompt.legal[0]
    stale = await callers[second].act(0, "c2", number - 1, passing)
    assert stale.refused.code == "stale_prompt"
    bodies = [entry.body for entry in await log.read(match)]
    assert sum(f"> {asked[0]} c1 " in body for body in bodies) == 1
    assert not any(" c2 " in body for body in bodies), "a refusal is not stored"
