"""Load on a server: bots that answer every prompt at once with a random legal action. Raw gRPC, no folding.

The same client serves for the platform and for the bare server beside it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import grpc

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc

# Refusals of answers to a question that another seat's answer closed meanwhile.
CROSSED = ("stale_prompt", "not_your_turn")


@dataclass(slots=True)
class Tally:
    """What a run has seen: moves answered, milliseconds from command to answer, refusals other than crossed ones."""

    moves: int = 0
    waits: list[float] = field(default_factory=list)
    refused: int = 0
    why: str = ""
    ended: int = 0
    entry_bytes: int = 0
    entries: int = 0
    prompt_bytes: int = 0
    prompts: int = 0

    def percentile(self, part: float) -> float:
        """Milliseconds below which that part of the answers came."""
        waits = sorted(self.waits)
        return waits[min(len(waits) - 1, int(len(waits) * part))] if waits else float("nan")


class Stream:
    """One play stream with any number of seats. `think` is a pause before each answer, in seconds."""

    def __init__(self, channel: grpc.aio.Channel, token: str, tally: Tally, think: float = 0.0) -> None:
        metadata = (("authorization", f"Bearer {token}"),)
        self.call = rpc.PlayServiceStub(channel).Play(metadata=metadata)
        self.tally = tally
        self.think = think
        self.playing = True
        self._loop = asyncio.get_running_loop()
        self._sent: dict[str, float] = {}
        self._out: asyncio.Queue[play.PlayRequest] = asyncio.Queue()
        self._number = 0
        self._tasks = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._write())]

    def attach(self, match: str, seat: int) -> None:
        """Take a seat."""
        self._out.put_nowait(play.PlayRequest(attach=play.Attach(match_id=match, seat=seat)))

    async def close(self) -> None:
        """End the stream."""
        self.call.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _write(self) -> None:
        while True:
            await self.call.write(await self._out.get())

    async def _read(self) -> None:
        async for response in self.call:
            for update in response.updates:
                what = update.WhichOneof("body")
                if what == "prompt":
                    self._asked(update)
                elif what == "answer":
                    self._answered(update.answer)
                elif what == "entry":
                    self.tally.entries += 1
                    self.tally.entry_bytes += update.ByteSize()
                elif what == "ended":
                    self.tally.ended += 1
                elif what == "ping":
                    self._out.put_nowait(play.PlayRequest(pong=play.Pong(nonce=update.ping.nonce)))

    def _asked(self, update: play.Update) -> None:
        self.tally.prompts += 1
        self.tally.prompt_bytes += update.ByteSize()
        if not self.playing:
            return
        if self.think:
            self._loop.call_later(self.think * random.uniform(0.5, 1.5), self._answer, update)
        else:
            self._answer(update)

    def _answer(self, update: play.Update) -> None:
        if not self.playing:
            return
        prompt = update.prompt
        self._number += 1
        command = play.Command(
            match_id=update.match_id,
            command_id=f"{update.seat}-{self._number}",
            prompt=prompt.number,
            action=random.choice(prompt.legal) if prompt.legal else prompt.default_action,
            seat=update.seat,
        )
        self._sent[command.command_id] = time.perf_counter()
        self._out.put_nowait(play.PlayRequest(command=command))

    def _answered(self, answer: play.Answer) -> None:
        sent = self._sent.pop(answer.command_id, None)
        if sent is None:
            return
        if answer.HasField("accepted"):
            self.tally.moves += 1
            self.tally.waits.append((time.perf_counter() - sent) * 1000)
        elif answer.refused.code not in CROSSED:
            self.tally.refused += 1
            self.tally.why = f"{answer.refused.rule} {answer.refused.code}"


def channel_to(address: str) -> grpc.aio.Channel:
    """A connection of its own, so that connections spread over the gateway processes of a port."""
    return grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])


async def run(streams: Sequence[Stream], tally: Tally, seconds: float) -> float:
    """Moves a second of streams that are playing, after a moment to get going; forgets what was before."""
    await asyncio.sleep(0.4)
    tally.waits.clear()
    loop = asyncio.get_running_loop()
    before, started = tally.moves, loop.time()
    await asyncio.sleep(seconds)
    return (tally.moves - before) / (loop.time() - started)
