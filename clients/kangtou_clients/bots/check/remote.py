"""A bot that connects by its account, wherever it runs: short tournaments of it against greedy, seen by the inspector.

The inspector stands before the server at which the account is known. The bot connects there instead, and waits to be
told of its games (`EnterTournament`), as in any tournament.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from ...api import Client
from ...api.tournaments import Problem, Tournaments
from .inspector import Inspector
from .trial import Run

CHECKED = "checked"


class NotPlayed(Exception):
    """The server does not play what the check needs. The text is for people."""


class NobodyCame(Exception):
    """No bot has connected and asked for its games."""


@dataclass(slots=True)
class Remote:
    """`client` is signed in at the server as whoever checks; `account` is the bot's."""

    client: Client
    inspector: Inspector
    account: str
    turn_ms: int

    async def come(self, wait_s: float) -> None:
        """Until a bot waits for its games. Raises NobodyCame."""
        try:
            async with asyncio.timeout(wait_s):
                await self.inspector.entered.wait()
        except TimeoutError:
            raise NobodyCame(f"no bot has called EnterTournament within {wait_s:.0f} s") from None

    async def play(self, game: str, rounds: int, tables: int = 1, drop: int = 0) -> Run:
        """That many boards at once. Raises NotPlayed, CallFailed."""
        api, seen, began = Tournaments(self.client), self.inspector.start(drop), time.monotonic()
        tournament, state = await self._submitted(api, game, rounds, tables), "unknown"
        try:
            async with aclosing(api.watch(tournament)) as changes:
                async for progress in changes:
                    state = progress.summary.state
        except asyncio.CancelledError:
            await api.cancel(tournament)
            raise
        if state != "complete":
            raise NotPlayed(f"the tournament {tournament} was closed: {state}")
        report = await api.report(tournament)
        blamed = [fault for fault in report["faults"] if fault["entrant"] == 0]
        games = {one["game"] for one in report["matches"]}
        run = Run(len(games), seen=seen, seconds=time.monotonic() - began)
        run.over = len(games) - len({fault["game"] for fault in blamed})
        run.faults = Counter(fault["kind"] for fault in blamed)
        return run

    async def _submitted(self, api: Tournaments, game: str, rounds: int, tables: int) -> str:
        """Games with fixed sides are played by pairs."""
        told: tuple[Problem, ...] = ()
        for unit in ("single", "pair"):
            found = await api.submit(self._spec(game, unit, rounds, tables))
            if isinstance(found, str):
                return found
            told = told or found
        raise NotPlayed("; ".join(f"{one.name}: {one.value!r} cannot be; allowed: {one.allowed}" for one in told))

    def _spec(self, game: str, unit: str, rounds: int, tables: int) -> Mapping[str, Any]:
        entrants = [{"name": CHECKED, "account": self.account}, {"name": "greedy", "bot": "greedy"}]
        return {
            "name": f"check of {self.account}",
            "game": game,
            "unit": unit,
            "rotation": "cross",
            "sets": tables,
            "concurrency": tables,
            "turn_ms": self.turn_ms,
            "options": {"rounds": rounds},
            "entrants": entrants,
        }
