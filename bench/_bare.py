"""A bare grpc.aio server for comparison: the same messages, sizes and client, and nothing behind them.

`python -m bench._bare PORT ENTRY_BYTES PROMPT_BYTES`: four seats a match; a command is answered, all four seats get an
entry, the next one a prompt. No rules, no log, no tokens, no actors.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import uvloop

from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play

Queue = asyncio.Queue[play.PlayResponse]


@dataclass(slots=True)
class Match:
    """Who sits, and what is sent."""

    seats: dict[int, Queue] = field(default_factory=dict)
    seq: int = 0


class Bare:
    """Play, without playing."""

    def __init__(self, entry_bytes: int, prompt_bytes: int) -> None:
        self._matches: dict[str, Match] = {}
        self._entry = _padded(entry_bytes)
        self._prompt = _legal(prompt_bytes)

    async def Play(self, request_iterator: AsyncIterator[play.PlayRequest], context: Any) -> None:  # noqa: N802
        """One writer task a stream, as in the gateway."""
        queue: Queue = asyncio.Queue()
        writer = asyncio.ensure_future(self._write(queue, context))
        try:
            async for request in request_iterator:
                if request.HasField("attach"):
                    self._attach(request.attach, queue)
                elif request.HasField("command"):
                    self._command(request.command)
        finally:
            writer.cancel()

    def _attach(self, attach: play.Attach, queue: Queue) -> None:
        match = self._matches.setdefault(attach.match_id, Match())
        match.seats[attach.seat] = queue
        if len(match.seats) == 4:
            match.seats[0].put_nowait(play.PlayResponse(updates=[self._asked(attach.match_id, match, 0)]))

    def _command(self, command: play.Command) -> None:
        match = self._matches[command.match_id]
        match.seq += 1
        asked = (command.seat + 1) % 4
        for seat, queue in match.seats.items():
            response = play.PlayResponse()
            if seat == command.seat:
                answer = play.Answer(command_id=command.command_id, accepted=play.Accepted(seq=match.seq))
                response.updates.add(match_id=command.match_id, seat=seat, answer=answer)
            response.updates.add(match_id=command.match_id, seat=seat, entry=self._entry)
            if seat == asked:
                response.updates.append(self._asked(command.match_id, match, asked))
            queue.put_nowait(response)

    def _asked(self, match_id: str, match: Match, seat: int) -> play.Update:
        update = play.Update(match_id=match_id, seat=seat, prompt=self._prompt)
        update.prompt.number = match.seq
        return update

    async def _write(self, queue: Queue, context: Any) -> None:
        while True:
            response = await queue.get()
            while not queue.empty():
                response.MergeFrom(queue.get_nowait())
            await context.write(response)


def _padded(size: int) -> play.Entry:
    entry = play.Entry(seq=1, time_ms=1_796_000_000_000)
    while entry.ByteSize() < size - 26:
        entry.events.add(kind="played", seat=1, cards=["H6", "HT"])
    return entry


def _legal(size: int) -> play.Prompt:
    prompt = play.Prompt(number=1, left_ms=30_000, deadline_ms=1_796_000_000_000, default_action=pb.Action(verb="pass"))
    prompt.legal.add(verb="pass")
    while prompt.ByteSize() < size - 26:
        prompt.legal.add(verb="play", args=["H6", "D6"])
    return prompt


async def main(port: int, entry_bytes: int, prompt_bytes: int) -> None:
    """Serve until killed."""
    server = grpc.aio.server(options=[("grpc.max_concurrent_streams", 10_000)])
    play_only = grpc.stream_stream_rpc_method_handler(
        Bare(entry_bytes, prompt_bytes).Play, play.PlayRequest.FromString, play.PlayResponse.SerializeToString
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("kangtou.v1.PlayService", {"Play": play_only}),)
    )
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(main(*map(int, sys.argv[1:4])))
