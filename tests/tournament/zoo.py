"""Entrants by command: a good one, and one of each kind of bad ones. `python -m tests.tournament.zoo KIND`.

They are told what to play as every entrant is: KANGTOU_SERVER, KANGTOU_TOKEN, KANGTOU_MATCH, KANGTOU_SEAT.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from kangtou.v1 import play_pb2 as play
from kangtou_clients.api import Match, Prompt, Session, connect
from kangtou_clients.bots.player import Tally, dice
from kangtou_clients.bots.player import play as play_on
from kangtou_engine.actions import Action

FOREVER_S = 3600.0
HUGE = 10 << 20


def environment() -> tuple[str, str, str, int]:
    """Server, token, match, seat."""
    return (
        os.environ["KANGTOU_SERVER"],
        os.environ["KANGTOU_TOKEN"],
        os.environ["KANGTOU_MATCH"],
        int(os.environ["KANGTOU_SEAT"]),
    )


async def good(match: Match, session: Session) -> None:
    """Plays."""
    await play_on(match, "greedy", dice(1), Tally())


async def late(match: Match, session: Session) -> None:
    """Answers each question after its time."""
    async for prompt in match.prompts():
        await asyncio.sleep(prompt.left_ms / 1000 + 0.5)
        await prompt.answer(prompt.default)


async def silent(match: Match, session: Session) -> None:
    """Takes its seat and says nothing."""
    await asyncio.sleep(FOREVER_S)


async def illegal(match: Match, session: Session) -> None:
    """Answers what no rule allows, again and again, until it is told that the question is over."""
    async for prompt in match.prompts():
        while prompt.open:
            await prompt.answer(Action("nonsense"))
            await asyncio.sleep(0.05)


async def wrong_seat(match: Match, session: Session) -> None:
    """Answers for the seat beside it, and not for its own."""
    assert match.seat is not None
    other = (match.seat + 1) % match.config.seats
    async for prompt in match.prompts():
        server, token, match_id, _ = environment()
        async with connect(server, token) as client:
            while prompt.open:
                await client.act(match_id, prompt.default, prompt=prompt.number, command_id="x1", seat=other)
                await asyncio.sleep(0.1)


async def crash(match: Match, session: Session) -> None:
    """Ends in the middle, with something to say."""
    await _first(match)
    sys.stdout.write("an assertion of mine has failed\n")
    sys.stdout.flush()
    os._exit(3)


async def _first(match: Match) -> Prompt:
    async for prompt in match.prompts():
        return prompt
    raise SystemExit(0)


async def raw(what: Callable[[Any], Awaitable[None]]) -> None:
    """A play stream of bytes."""
    server, token, match, seat = environment()
    async with grpc.aio.insecure_channel(server) as channel:
        call: Any = channel.stream_stream("/kangtou.v1.PlayService/Play")(
            metadata=(("authorization", f"Bearer {token}"),)
        )
        attach = play.PlayRequest(attach=play.Attach(match_id=match, seat=seat))
        await call.write(attach.SerializeToString())
        await call.read()
        await what(call)
        await asyncio.sleep(FOREVER_S)


async def garbage(call: Any) -> None:
    """Bytes that are no message."""
    await call.write(b"\xff" * 500)


async def half_closed(call: Any) -> None:
    """Sends no more, and goes on to read."""
    await call.done_writing()


async def huge(call: Any) -> None:
    """A message of 10 MB."""
    await call.write(b"\x0a" * HUGE)


PLAYING = {one.__name__: one for one in (good, late, silent, illegal, wrong_seat, crash)}
RAW = {one.__name__: one for one in (garbage, half_closed, huge)}
BAD = (*(name for name in PLAYING if name != "good"), *RAW)


async def main(kind: str) -> None:
    """Play as it says."""
    if kind in RAW:
        await raw(RAW[kind])
        return
    server, token, match_id, seat = environment()
    async with connect(server, token) as client, client.play() as session:
        match = await session.attach(match_id, seat=seat)
        assert isinstance(match, Match), match
        await PLAYING[kind](match, session)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
