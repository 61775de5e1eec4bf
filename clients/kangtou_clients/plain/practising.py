"""Practice from the line mode: a small server of one's own, and its table until it is left."""

from __future__ import annotations

from ..desk.room import Room
from ..practice import PracticeError, practice
from .asked import Bad, asked
from .here import Here
from .input import Lines


async def practise(here: Here, lines: Lines, words: list[str]) -> None:
    """A match against bots on this computer. Raises Bad."""
    from .shell import Shell

    what = asked(words, here.lang).wanted
    try:
        table = practice(what.game, options=what.options, seats=what.seats, turn_ms=what.turn_ms)
        async with table as found, found.client.play() as session:
            shell = Shell(Room(found.client, session), here.render, here.put, only=True)
            await shell.here.begin(await found.attach(session))
            await shell.run(lines)
    except PracticeError as error:
        raise Bad(here.text("server_says", text=error)) from error
