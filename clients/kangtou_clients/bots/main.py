"""`main(MyBot)`: a bot as a program of its own.

Started by a tournament it finds what to play in its environment, plays that one seat and ends:

    KANGTOU_SERVER   host:port
    KANGTOU_TOKEN    its account
    KANGTOU_MATCH    the match; KANGTOU_SEAT the seat (else the account's only one)
    KANGTOU_MATCHES  several matches, instead: all are played in one stream
    KANGTOU_ENTROPY  hex, what its commitment opens to, where there is one

With `--enter` it waits to be told of its games in tournaments that its account is entered in, plays all of them in one
stream, and goes on until it is interrupted.

Started by hand it takes the same as options, or plays through the queue: `python my_bot.py --game hongshi --matches 5
--concurrency 3`, several tables in one stream. Exit code 0: all was played to its end; 1: it was not, and why is on
stderr; 2: wrong options.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kangtou_engine.registry import REGISTRY

from ..api import ApiError, Client, Place, Refused, Session, Wanted, connect
from .bot import Bot
from .player import Tally, dice
from .runner import Job, play_job, run_entered

OK, FAILED = 0, 1

Make = Callable[[], Bot]
T = TypeVar("T")


def main(make: Make, arguments: Sequence[str] | None = None, environment: Mapping[str, str] | None = None) -> None:
    """Run a bot as this program, and exit."""
    given = _parser(os.environ if environment is None else environment).parse_args(arguments)
    try:
        sys.exit(asyncio.run(_run(make, given)))
    except KeyboardInterrupt:
        sys.exit(130)


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A bot for the games of Kangtou.", epilog="See docs/bots.md.")
    add, get = parser.add_argument, environment.get
    add("--server", default=get("KANGTOU_SERVER", "127.0.0.1:7480"), help="host:port (KANGTOU_SERVER)")
    add("--match", default=get("KANGTOU_MATCH", ""), help="play this match and end (KANGTOU_MATCH)")
    seat = get("KANGTOU_SEAT", "")
    add("--seat", type=int, default=int(seat) if seat.isdigit() else None, help="the seat in it (KANGTOU_SEAT)")
    add("--game", choices=REGISTRY.names(), default="hongshi", help="without --match: queue for this game")
    add("--pool", default="", help="without --match: in this pool")
    add("--matches", type=int, default=1, help="without --match: so many matches")
    add("--concurrency", type=int, default=1, help="without --match: so many at once, in one stream")
    add(
        "--enter", action="store_true", help="wait for the games of tournaments (KANGTOU_TOKEN is an entrant's account)"
    )
    add("--name", default="my bot", help="the account that is made if there is no KANGTOU_TOKEN")
    add("--seed", type=int, default=None, help="repeat the same choices")
    parser.set_defaults(matches_given=tuple(get("KANGTOU_MATCHES", "").split()))
    parser.set_defaults(token=get("KANGTOU_TOKEN", ""), entropy=bytes.fromhex(get("KANGTOU_ENTROPY", "")))
    return parser


async def _run(make: Make, given: argparse.Namespace) -> int:
    try:
        async with connect(given.server, given.token) as client:
            if not given.token:
                _taken(await client.accounts.register(given.name, "bot"))
            async with client.play() as session:
                tally = Tally()
                if given.match:
                    matches = given.matches_given or (given.match,)
                    async with asyncio.TaskGroup() as group:
                        for number, match in enumerate(matches):
                            job = Job(match, given.seat, given.entropy)
                            pick = dice(None if given.seed is None else given.seed + number)
                            group.create_task(play_job(session, job, make(), pick, tally))
                    return _said(tally, len(matches))
                if given.enter:
                    await run_entered(client, session, make, lambda: dice(given.seed), tally)
                await _queue(client, session, make, given, tally)
                return _said(tally, given.matches)
    except* (ApiError, _RefusedError) as errors:
        print(f"bot: {'; '.join(sorted({str(one) for one in errors.exceptions}))}", file=sys.stderr)
    return FAILED


def _said(tally: Tally, wanted: int) -> int:
    print(
        f"{tally.matches} matches, {tally.moves} moves, {tally.refused} refused, score {tally.score}", file=sys.stderr
    )
    return OK if tally.matches == wanted else FAILED


async def _queue(client: Client, session: Session, make: Make, given: argparse.Namespace, tally: Tally) -> None:
    left = given.matches

    async def one(number: int) -> None:
        nonlocal left
        pick = dice(None if given.seed is None else given.seed + number)
        while left > 0:
            left -= 1
            async with client.lobby.quick(Wanted(given.game), pool=given.pool) as queue:
                place: Place = _taken(await queue.place())
            await play_job(session, Job(place.match_id, place.seat, place.entropy), make(), pick, tally)

    async with asyncio.TaskGroup() as group:
        for number in range(min(given.concurrency, given.matches)):
            group.create_task(one(number))


class _RefusedError(Exception):
    """The server does not want it."""


def _taken(result: T | Refused) -> T:
    if isinstance(result, Refused):
        raise _RefusedError(str(result))
    return result
