"""Every RPC's request: bytes into the method's decoder, and what can be decoded into its handler, guard and all."""

from __future__ import annotations

import asyncio
from collections import deque
from random import Random
from typing import Any, NoReturn

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor

from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_to_pb
from kangtou_engine.game import TooMany

from . import corpus
from .messages import made
from .mutate import mutated, noise
from .place import Caller, Place
from .watch import Watch

WAIT = ("/AgreeRematch",)  # is answered when others have agreed too, or the time for it is over
STREAMS = 48  # answered by streams that may be open at a time
VICTIMS = ("f000000000000090", "f000000000000091", "nobody")
BAD = ("INTERNAL", "UNKNOWN")


class Status(grpc.aio.AbortError):
    """How a call was ended."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Context:
    """A call's context without a transport."""

    def __init__(self, caller: Caller, more: tuple[tuple[str, str], ...] = ()) -> None:
        token = (("authorization", f"Bearer {caller.token}"),) if caller.token else ()
        self._metadata = (*token, *more)
        self._peer = caller.peer

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """grpc.aio."""
        return self._metadata

    def peer(self) -> str:
        """grpc.aio."""
        return self._peer

    def add_done_callback(self, callback: Any) -> None:
        """grpc.aio."""

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing: Any = ()) -> NoReturn:
        """grpc.aio."""
        details.encode()
        raise Status(code, details)


def described(path: str) -> MethodDescriptor:
    """A method by its path."""
    pool: Any = descriptor_pool.Default()
    found: MethodDescriptor = pool.FindMethodByName(path.strip("/").replace("/", "."))
    return found


class Calls:
    """A target."""

    name = "calls"

    def __init__(self, place: Place, watch: Watch) -> None:
        self._place = place
        self._watch = watch
        self._paths = sorted(path for path in place.handlers if path != "/kangtou.v1.PlayService/Play")
        self._methods = {path: described(path) for path in self._paths}
        self._kept: dict[str, deque[bytes]] = {path: deque(maxlen=24) for path in self._paths}
        self._open: deque[asyncio.Task[None]] = deque()

    async def feed(self, rng: Random) -> None:
        """One request."""
        place = self._place
        caller = rng.choice(place.callers)
        path = rng.choice(self._paths)
        move = rng.random() < 0.15 and self._move(rng)
        if move:
            path, caller, raw = move
        else:
            raw = self._raw(rng, path)
        if path.endswith("/ChangeAccount"):
            place.values.fixed["account_id"], held = list(VICTIMS), place.values.fixed["account_id"]
            raw = made(rng, self._methods[path].input_type, place.values).SerializeToString()
            place.values.fixed["account_id"] = held
        self._watch.now += f" {path.rpartition('.')[2]}"
        context = Context(caller, _metadata(rng))
        handler = place.handlers[path]
        where = self._watch.now
        if handler.unary_unary is not None and not path.endswith(WAIT):
            await self._unary(path, handler, raw, context, where)
            return
        serve = self._stream if handler.unary_unary is None else self._unary
        self._open.append(asyncio.create_task(serve(path, handler, raw, context, where)))
        if len(self._open) > STREAMS:
            await _ended(self._open.popleft())

    def _raw(self, rng: Random, path: str) -> bytes:
        kept = self._kept[path]
        how = rng.random()
        if how < 0.05:
            return noise(rng)
        if how < 0.3 and kept:
            return mutated(rng, rng.choice(kept), [*kept, *corpus.ACTIONS])
        if path.endswith(("/CheckSpec", "/SubmitTournament")) and how < 0.9:
            self._place.values.fixed["spec_json"] = [corpus.spec(rng)]
        raw = made(rng, self._methods[path].input_type, self._place.values).SerializeToString()
        kept.append(raw)
        return raw

    def _move(self, rng: Random) -> tuple[str, Caller, bytes] | None:
        """What somebody who is asked might really send."""
        found = self._place.asked(rng)
        if found is None:
            return None
        slot, seat = found
        table = slot.table
        legal = table.game.legal(table.state, seat, 300)
        asked = table.prompts.asked[seat]
        if isinstance(legal, TooMany) or not legal or asked is None:
            return None
        command = play.Command(
            match_id=slot.match,
            command_id=f"c{rng.randrange(10**9)}",
            prompt=asked.number,
            action=action_to_pb(rng.choice(legal)),
        )
        raw = play.ActRequest(command=command).SerializeToString()
        corpus.ACTIONS.append(raw)
        caller = self._place.by_account[table.agreement.members[seat].account_id]
        others = [*corpus.ACTIONS]
        return (
            "/kangtou.v1.PlayService/Act",
            caller,
            (raw if rng.random() < 0.5 else mutated(rng, raw, others)),
        )

    async def _unary(self, path: str, handler: Any, raw: bytes, context: Context, where: str) -> None:
        try:
            response = await handler.unary_unary(raw, context)
        except Status as status:
            self._note(path, status, where)
            return
        handler.response_serializer(response)
        self._place.values.learn(response)
        self._watch.count(self.name, _outcome(response))

    async def _stream(self, path: str, handler: Any, raw: bytes, context: Context, where: str) -> None:
        told = 0
        try:
            async for response in handler.unary_stream(raw, context):
                handler.response_serializer(response)
                self._place.values.learn(response)
                told += 1
                if told == 20:
                    break
            self._watch.count(self.name, "streamed")
        except Status as status:
            self._note(path, status, where)
        except asyncio.CancelledError:
            self._watch.count(self.name, "stream cut")
            raise

    def _note(self, path: str, status: Status, where: str) -> None:
        self._watch.count(self.name, status.code.name)
        if status.code.name in BAD:
            self._watch.bad(f"{path}: {status.code.name} {status.text}", where)

    async def close(self) -> None:
        """End the streams that are open."""
        while self._open:
            await _ended(self._open.popleft())


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error


def _metadata(rng: Random) -> tuple[tuple[str, str], ...]:
    if rng.random() < 0.95:
        return ()
    return (("kangtou-client", "kangtou-python/" + rng.choice(("9.9", "0.0.1", "²", "9" * 5000, "", "1..x"))),)


def _outcome(response: Any) -> str:
    """What a response says: a refusal by its code."""
    fields = response.DESCRIPTOR.fields_by_name
    answer = response.answer if "answer" in fields and response.HasField("answer") else response
    if "refused" in answer.DESCRIPTOR.fields_by_name and answer.HasField("refused"):
        return f"refused {answer.refused.code}"
    return "accepted" if answer is not response else "answered"
