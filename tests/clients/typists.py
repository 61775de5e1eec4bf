"""People of the line mode in this process: what they type goes through a pipe, what they read is kept."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self

from kangtou_clients.api import Login, connect
from kangtou_clients.desk.room import Room
from kangtou_clients.plain.input import Lines
from kangtou_clients.plain.shell import Shell
from kangtou_clients.render import Renderer

WAIT_S = 60.0


class Typist:
    """Somebody at the line mode. `said` is what was written so far; `account` is theirs."""

    def __init__(self, shell: Shell, account: str, said: list[str], writes: int) -> None:
        self.shell, self.account, self.said, self._writes = shell, account, said, writes
        self._seen = 0

    def types(self, *lines: str) -> Self:
        """Type lines."""
        os.write(self._writes, "".join(f"{line}\n" for line in lines).encode())
        return self

    async def reads(self, text: str) -> str:
        """Wait for a line with this text behind those that were waited for before."""
        try:
            async with asyncio.timeout(WAIT_S):
                while True:
                    for number in range(self._seen, len(self.said)):
                        if text in self.said[number]:
                            self._seen = number + 1
                            return self.said[number]
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{text!r} was not said: {self.said[self._seen :]}") from None

    async def asks(self, line: str, text: str) -> str:
        """Type a line and wait for an answer."""
        self.types(line)
        return await self.reads(text)

    async def plays_on(self) -> None:
        """Play as the game's bot would, to the end of the match."""
        dice = random.Random(self.account)
        table = self.shell.here.at_table()
        while True:
            await table.wait()
            if table.match.over:
                return
            assert table.choices is not None
            await table.act(str(table.choices.hint(dice.randrange)))


@asynccontextmanager
async def typist(address: str, name: str, lang: str = "en") -> AsyncIterator[Typist]:
    """A signed-in person; at the end their input ends, and so must the line mode."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(connect(address))
        login = await client.accounts.register(name, "human")
        assert isinstance(login, Login)
        assert login.account is not None
        session = await stack.enter_async_context(client.play())
        reads, writes = os.pipe()
        source = stack.enter_context(os.fdopen(reads))
        said: list[str] = []
        shell = Shell(Room(client, session), Renderer(lang), said.append)
        running = asyncio.create_task(shell.run(Lines(source)))
        try:
            yield Typist(shell, login.account.account_id, said, writes)
        finally:
            os.close(writes)
            async with asyncio.timeout(WAIT_S):
                await running
