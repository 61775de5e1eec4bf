"""The play stream's frames: several requests on one stream, each command of which must be answered once."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from random import Random
from typing import Any

from google.protobuf.message import DecodeError

from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_to_pb
from kangtou_engine.game import TooMany

from .calls import BAD, Context, Status
from .messages import made
from .mutate import mutated, noise
from .place import Caller, Place
from .watch import Watch

PATH = "/kangtou.v1.PlayService/Play"
WAIT_S = 60.0
FRAMES = 24  # on one stream at most
_ANSWERED = ("command", "standing", "hand_over", "take_back")


class Duplex(Context):
    """A context that is read from and written to."""

    def __init__(self, caller: Caller, frames: list[bytes]) -> None:
        super().__init__(caller)
        self._frames = deque(frames)
        self.written: list[bytes] = []
        self.news = asyncio.Event()
        self._never = asyncio.Event()
        self.taken = 0

    async def send_initial_metadata(self, _: Any) -> None:
        """grpc.aio."""

    async def read(self) -> bytes:
        """grpc.aio: the next frame; then nothing more comes, and the stream stays open."""
        if not self._frames:
            await self._never.wait()
        self.taken += 1
        return self._frames.popleft()

    async def write(self, payload: bytes) -> None:
        """grpc.aio."""
        self.written.append(payload)
        self.news.set()


class Frames:
    """A target. One stream is one to FRAMES inputs."""

    name = "stream"

    def __init__(self, place: Place, watch: Watch) -> None:
        self._place = place
        self._watch = watch
        self._kept: deque[bytes] = deque(maxlen=128)

    async def feed(self, rng: Random) -> int:
        """One stream; how many frames were taken from it."""
        caller = self._place.seated(rng) if rng.random() < 0.8 else rng.choice(self._place.callers)
        frames = []
        for _ in range(rng.randrange(1, FRAMES + 1)):
            live = rng.random() < 0.3 and self._live(rng, caller)
            frames.append(live or self._raw(rng))
        context = Duplex(caller, frames)
        due = _due(frames)
        serving = asyncio.ensure_future(self._place.handlers[PATH].stream_stream(None, context))
        try:
            async with asyncio.timeout(WAIT_S):
                await self._answers(context, serving, due)
        except TimeoutError:
            self._watch.bad(f"commands without an answer: {due - _answers(context.written)}")
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        self._judge(serving, context, due)
        return context.taken

    async def _answers(self, context: Duplex, serving: asyncio.Future[None], due: Counter[str]) -> None:
        """Until all that is due has come, or the stream has ended."""
        while not serving.done() and due - _answers(context.written):
            context.news.clear()
            waiting = asyncio.ensure_future(context.news.wait())
            await asyncio.wait((waiting, serving), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()

    def _judge(self, serving: asyncio.Future[None], context: Duplex, due: Counter[str]) -> None:
        error = None if serving.cancelled() else serving.exception()
        if isinstance(error, Status):
            self._watch.count(self.name, f"ended {error.code.name}")
            if error.code.name in BAD:
                self._watch.bad(f"stream: {error.code.name} {error.text}")
        elif error is not None:
            self._watch.bad(f"stream: {error!r}")
        more = _answers(context.written) - due
        more.pop("", None)  # what names no command: of an attach, say
        if more:
            self._watch.bad(f"answers that nobody asked for: {more}")
        for payload in context.written:
            for update in play.PlayResponse.FromString(payload).updates:
                what: str = update.WhichOneof("body") or "nothing"
                if what == "answer" and update.answer.HasField("refused"):
                    what = f"refused {update.answer.refused.code}"
                self._watch.count(self.name, what)

    def _raw(self, rng: Random) -> bytes:
        how = rng.random()
        if how < 0.02:
            return noise(rng)
        if how < 0.3 and self._kept:
            return mutated(rng, rng.choice(self._kept), self._kept)
        raw = made(rng, play.PlayRequest.DESCRIPTOR, self._place.values).SerializeToString()
        self._kept.append(raw)
        return raw

    def _live(self, rng: Random, caller: Caller) -> bytes | None:
        """What a client with a seat would send: attach, or an action."""
        mine = [
            slot
            for match in self._place.matches
            if (slot := self._place.hosting.host.slots.get(match)) is not None
            and slot.table.agreement.seats_of(caller.account_id)
        ]
        if not mine:
            return None
        slot = rng.choice(mine)
        table = slot.table
        seat = table.agreement.seats_of(caller.account_id)[0]
        asked = table.prompts.asked[seat]
        legal = table.game.legal(table.state, seat, 300) if table.begun and not table.over else ()
        if asked is None or isinstance(legal, TooMany) or not legal:
            return play.PlayRequest(attach=play.Attach(match_id=slot.match)).SerializeToString()
        command = play.Command(
            match_id=slot.match,
            command_id=f"s{rng.randrange(10**9)}",
            prompt=asked.number,
            action=action_to_pb(rng.choice(legal)),
        )
        raw = play.PlayRequest(command=command).SerializeToString()
        self._kept.append(raw)
        return raw

    async def close(self) -> None:
        """Nothing is kept open."""


def _due(frames: list[bytes]) -> Counter[str]:
    """The commands up to the first frame that is none, which ends the stream, by their ids."""
    due: Counter[str] = Counter()
    for raw in frames:
        try:
            request = play.PlayRequest.FromString(raw)
        except DecodeError:
            break
        what = request.WhichOneof("body")
        if what in _ANSWERED:
            due[getattr(request, what).command_id[:64]] += 1
        elif what is None:
            due[""] += 1
    return due


def _answers(written: list[bytes]) -> Counter[str]:
    """Answers to commands; those to attaches name none."""
    found: Counter[str] = Counter()
    for payload in written:
        for update in play.PlayResponse.FromString(payload).updates:
            if update.HasField("answer"):
                found[update.answer.command_id[:64]] += 1
    return found
