"""Waiting in the queue at a terminal: what is shown meanwhile, and taking or declining a match that was found."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Annotated, TypeAlias

import typer

from ..api import Place, Queued, QuickMatch, Wanted
from .common import Common
from .exits import USAGE
from .remote import Remote
from .seats import keep, opened

Ask: TypeAlias = Annotated[
    bool, typer.Option("--ask", help="ask me whether to take a match that was found; else it is taken")
]
_YES, _NO = ("", "y", "yes", "是"), ("n", "no", "否")


def checked_ask(common: Common, ask: bool) -> None:
    """Asking needs somebody who can answer. Raises CommandError."""
    if ask and not sys.stdin.isatty():
        raise common.fail(USAGE, "ask_whom")


async def queue_up(remote: Remote, wanted: Wanted, *, rated: bool, pool: str, ask: bool, party: str = "") -> None:
    """Queue until there is a table; its match and seat are the last line. A refusal ends the command."""
    common = remote.common
    async with remote.client.lobby.quick(wanted, rated=rated, pool=pool, party=party, take=not ask) as queue:
        async for status in queue.statuses():
            if status.refused is not None:
                remote.given(status.refused)
            if status.state == "ready":
                place = Place(status.match_id, status.seat, queue.entropy)
                keep(remote, place)
                await opened(remote, place.match_id, place.seat)
                put_place(common, place)
                return
            _put(common, status)
            if status.state == "offered" and ask and not status.answered:
                await _ask(remote, queue, status)


def put_place(common: Common, place: Place) -> None:
    """Where one sits."""
    if common.json:
        common.put_json({"match": place.match_id, "seat": place.seat})
    else:
        common.put(f"{place.match_id}  {common.renderer().seat(place.seat)}")


def _put(common: Common, status: Queued) -> None:
    if common.json:
        given = {"state": status.state, "waiting": status.waiting, "estimate_ms": status.estimate_ms}
        if status.state == "offered":
            given |= {"match": status.match_id, "answer_by_ms": status.answer_by_ms, "accepted": status.accepted}
        common.put_json(given)
        return
    said = common.say(f"ticket_{status.state}", waiting=status.waiting, accepted=status.accepted)
    if status.state == "waiting" and status.estimate_ms:
        said += common.say("estimate", seconds=-(-status.estimate_ms // 1000))
    common.put(said)


async def _ask(remote: Remote, queue: QuickMatch, status: Queued) -> None:
    """Until there is an answer or the time is up; then the server says what has become of the ticket."""
    common = remote.common
    left_s = max(0.0, status.answer_by_ms / 1000 - time.time())
    common.note("ask_take", seconds=int(left_s))
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str]()
    loop.add_reader(sys.stdin.fileno(), lambda: lines.put_nowait(sys.stdin.readline()))
    try:
        async with asyncio.timeout(left_s):
            said = (await lines.get()).strip().lower()
            while said not in (*_YES, *_NO):
                common.note("ask_take", seconds=int(left_s))
                said = (await lines.get()).strip().lower()
            await queue.answer(status.match_id, accept=said in _YES)
    except TimeoutError:
        common.note("ask_late")
    finally:
        loop.remove_reader(sys.stdin.fileno())
