"""Starting the screen."""

from __future__ import annotations

import os

from ..cli.common import Common
from ..cli.front import room_of
from ..cli.remote import Remote
from .app import Play
from .follow import Pace
from .look import Look


async def show(common: Common, remote: Remote, match_id: str, watch: bool) -> None:
    """The lobby, or the table of a match. Raises CommandError if that match cannot be entered."""
    if not common.colour:
        os.environ["NO_COLOR"] = "1"  # Textual reads it when a program is made
    look = Look(common.lang, common.letters)
    async with remote.client.play() as session:
        room = room_of(remote, session)
        start = None
        if match_id:
            start = remote.given(await room.watch(match_id) if watch else await room.enter(match_id))
        name = remote.profile.name if remote.profile is not None else ""
        app = Play(room, look, Pace(), name=name, start=start)
        try:
            await app.run_async()
        finally:
            await app.settled()
