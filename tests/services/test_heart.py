"""A heart goes on beating, whatever a beat fails with."""

from __future__ import annotations

import asyncio

from kangtou_services.directory.heart import Heart


async def test_a_failed_beat_is_not_the_last() -> None:
    """An actor that is silent and lives would be taken for dead and go on hosting."""
    beats: list[int] = []
    enough = asyncio.Event()

    async def beat() -> bool:
        beats.append(len(beats))
        if len(beats) == 2:
            raise RuntimeError("unforeseen")
        if len(beats) > 3:
            enough.set()
        return True

    heart = Heart(beat, every_s=0.01)
    await heart.start()
    await asyncio.wait_for(enough.wait(), 60)
    await heart.stop()
