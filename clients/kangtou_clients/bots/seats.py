"""Built-in bots for many seats at once: `python -m kangtou_clients.bots.seats HOST:PORT`, told by a parent process.

A line of JSON on standard input is an order; a line on standard output says how a seat ended:

    {"play": MATCH, "seat": 0, "token": T, "bot": "greedy", "dice": HEX, "alone": true}
    {"drop": MATCH}                                               follow it no longer
    {"match": MATCH, "seat": 0, "cause": "rules", "scores": […], "places": […], "moves": 12, "late": 0, "whole": true}
    {"match": MATCH, "seat": 0, "failed": CODE}

`late`: how often the clock was seen to play, for whichever seat; `whole`: nothing of the match was missed.

Seats of one account share a stream. A bot's chance follows from `dice` and from what it sees, so that it plays the same
after it was interrupted. (What `search` remembers of a round is lost with this process.) `alone`: all seats are played
here; where several are asked at once, the lowest answers first, so that a match comes out the same every time.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import random
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

import uvloop

from kangtou_engine.cards import Seat
from kangtou_engine.events import Event
from kangtou_engine.game import Pick, TooMany
from kangtou_engine.match.events import TimedOut
from kangtou_engine.match.match import AnyState
from kangtou_engine.plain import view_to_plain

from ..api import ApiError, Client, Ending, Match, Prompt, Refused, Session, connect
from .bot import Bot
from .player import asked, observation
from .policies import bot_named
from .search import Memory

LINE_MOST = 1 << 20


class Seats:
    """The seats that are played here. Sessions by token, made when first needed."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._clients: dict[str, tuple[Client, Session]] = {}
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._opening = asyncio.Lock()

    async def obey(self, orders: AsyncIterator[str]) -> None:
        """Until there are no more orders."""
        try:
            async for line in orders:
                order = json.loads(line)
                if "drop" in order:
                    self._drop(str(order["drop"]))
                else:
                    self._start(order)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            for client, session in self._clients.values():
                await session.close()
                await client.close()

    def _drop(self, match: str) -> None:
        for key in [key for key in self._tasks if key[0] == match]:
            self._tasks[key].cancel()

    def _start(self, order: Mapping[str, Any]) -> None:
        key = (str(order["play"]), int(order["seat"]))
        if key in self._tasks:
            return
        task = self._tasks[key] = asyncio.create_task(self._play(*key, order), name="seat")
        task.add_done_callback(lambda _: self._tasks.pop(key, None))

    async def _session(self, token: str) -> Session:
        async with self._opening:
            if token not in self._clients:
                client = connect(self._address, token)
                session = client.play()
                await session.__aenter__()
                self._clients[token] = (client, session)
            return self._clients[token][1]

    async def _play(self, match_id: str, seat: int, order: Mapping[str, Any]) -> None:
        """A seat, to the end of its match or of the session."""
        try:
            session = await self._session(str(order["token"]))
            match = await session.attach(match_id, seat=seat)
            if isinstance(match, Refused):
                self._say({"match": match_id, "seat": seat, "failed": match.code})
                return
            try:
                await self._to_the_end(match, seat, order)
            except asyncio.CancelledError:
                await session.leave(match)
                raise
        except ApiError as error:
            self._clients.pop(str(order["token"]), None)
            self._say({"match": match_id, "seat": seat, "failed": type(error).__name__})

    async def _to_the_end(self, match: Match, seat: int, order: Mapping[str, Any]) -> None:
        bot, memory, moves = bot_named(str(order["bot"])), Memory(match.game), 0
        clock = Clock(match, memory)
        async for prompt in match.prompts():
            if order.get("alone"):
                while not match.over and prompt.open and min(match.game.to_act(match.view)) < seat:
                    await match.news()
            if prompt.open:
                moves += await _answer(match, prompt, bot, memory, _chance(match, seat, str(order["dice"])))
        ending = await match.finished()
        if isinstance(ending, Ending):
            told = {"cause": ending.cause, "scores": ending.scores, "places": ending.places, "moves": moves}
            told |= {"late": clock.late, "whole": clock.whole}
            self._say({"match": match.match_id, "seat": seat, **told})
        else:
            self._say({"match": match.match_id, "seat": seat, "failed": ending.code})

    def _say(self, what: Mapping[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps(what) + "\n")
            sys.stdout.flush()


class Clock:
    """What a seat sees of the clock: how often it played for somebody (`late`), and whether that is all (`whole`)."""

    def __init__(self, match: Match, memory: Memory) -> None:
        self.late = 0
        self.whole = match.seq == 0
        self._memory = memory
        match.on_event, match.on_gap = self._saw, self._missed

    def _saw(self, view: AnyState, event: Event) -> None:
        self.late += isinstance(event, TimedOut)
        self._memory.saw(view, event)

    def _missed(self) -> None:
        self.whole = False
        self._memory.missed()


async def _answer(match: Match, prompt: Prompt, bot: Bot, memory: Memory, pick: Pick) -> int:
    """Answer a prompt, by its default if the bot's own answer is refused; how many answers were taken."""
    if match.seat not in match.game.to_act(match.view):
        return 0
    legal = prompt.legal
    action = legal[0] if not isinstance(legal, TooMany) and len(legal) == 1 else None
    chosen = action or await asked(bot, observation(match, prompt, memory, pick))
    for wanted in (chosen, prompt.default):
        if not isinstance(await prompt.answer(wanted), Refused):
            return 1
        if not prompt.open:
            return 0
    return 0


def _chance(match: Match, seat: Seat, dice: str) -> Pick:
    """A bot's chance for one answer: follows from what it sees. Made only if it is asked for."""
    made: list[random.Random] = []
    view = match.view  # that of the question: a bot in a thread may ask later

    def pick(limit: int) -> int:
        if not made:
            seen = json.dumps(view_to_plain(view), sort_keys=True, default=str)
            made.append(random.Random(hashlib.sha256(f"{dice} {seat} {seen}".encode()).digest()))
        return made[0].randrange(limit)

    return pick


async def _orders() -> AsyncIterator[str]:
    reader = asyncio.StreamReader(limit=LINE_MOST)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(0, "rb"))
    while line := await reader.readline():
        yield line.decode()


def main() -> int:
    """Serve until the end of the standard input."""
    uvloop.run(Seats(sys.argv[1]).obey(_orders()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
