"""Starting the screen."""

from __future__ import annotations

import os

from ..api import Match
from ..cli.common import Common
from ..cli.front import room_of
from ..cli.remote import Remote
from ..desk.room import Room
from .app import Play
from .follow import Pace
from .look import Look


async def show(common: Common, remote: Remote, match_id: str, watch: bool) -> None:
    """The lobby, or the table of a match. Raises CommandError if that match cannot be entered."""
    async with remote.client.play() as session:
        room = room_of(remote, session)
        start = None
        if match_id:
            start = remote.given(await room.watch(match_id) if watch else await room.enter(match_id))
        name = remote.profile.name if remote.profile is not None else ""
        await _run(Play(room, _look(common), Pace(), name=name, start=start))


async def show_match(common: Common, room: Room, match: Match) -> None:
    """The table of one match, and nothing after it."""
    await _run(Play(room, _look(common), Pace(), start=match, only=True))


def _look(common: Common) -> Look:
    if not common.colour:
        os.environ["NO_COLOR"] = "1"  # Textual reads it when a program is made
    return Look(common.lang, common.letters)


async def _run(app: Play) -> None:
    try:
        await app.run_async()
    finally:
        await app.settled()
