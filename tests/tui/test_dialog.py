"""What every screen has in common: work in the background ends before its widgets go."""

from __future__ import annotations

import asyncio

from textual import work
from textual.app import App, ComposeResult
from textual.widgets import Static

from kangtou_clients.tui.dialog import Dialog


class Told(Static):
    """Wakes its dialog's work when it goes: the worst moment."""

    def on_unmount(self) -> None:
        assert isinstance(self.screen, Late)
        self.screen.told.set()


class Late(Dialog[None]):
    """Work in the background that writes a text as soon as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told = asyncio.Event()
        self.wrote = 0

    def between(self) -> ComposeResult:
        yield Told()

    def on_mount(self) -> None:
        self.wait()

    @work
    async def wait(self) -> None:
        while True:
            await self.told.wait()
            self.told.clear()
            self.query_one("#text", Static).update("told")
            self.wrote += 1


async def test_work_does_not_look_for_what_is_gone() -> None:
    """Neither when the screen goes nor when the program ends over it."""
    async with App[None]().run_test() as pilot:
        for dialog in (Late(), Late()):
            await pilot.app.push_screen(dialog)
            dialog.told.set()
            await pilot.pause()
            assert dialog.wrote == 1
            await pilot.app.pop_screen()
        await pilot.app.push_screen(Late())
