"""Practice against bots: a small server of one's own, started and ended with the table."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..api import ApiError, Wanted
from ..desk.standing import StandsBy
from ..practice import PracticeError, practice
from .seat import Seat

if TYPE_CHECKING:
    from .app import Play


async def practise(play: Play, wanted: Wanted) -> str:
    """A match against bots on this computer, until it is left. What went wrong, in words; "": nothing."""
    left = asyncio.Event()
    try:
        table = practice(wanted.game, options=wanted.options, seats=wanted.seats, turn_ms=wanted.turn_ms)
        async with table as found, found.client.play() as session:
            match = await found.attach(session)
            if not play.closing.is_set():
                play.push_screen(Seat(match, found.client, StandsBy(session)), lambda _: left.set())
                await _either(left, play.closing)
    except (PracticeError, ApiError) as error:
        return str(error)
    return ""


async def _either(*signs: asyncio.Event) -> None:
    """Until one of them is set."""
    waiting = [asyncio.create_task(sign.wait()) for sign in signs]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
