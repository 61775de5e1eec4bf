"""What the conductor of a tournament works with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..accounts.accounts import Accounts
from ..archive import Archiver
from ..gateway.router import Router
from ..identity import SEAT, Account
from ..log.base import EventLog, MatchStore
from ..observe.runner import RunnerMeter
from ..opening import Clocks, Opening
from ..runtime import Backend
from .commands import Commands
from .evidence import SETTLE_S, World
from .players import Players
from .store import TournamentStore

START_MS = 30_000  # how long a table waits for all seats before it begins; their clocks run from then
TOKEN_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Parts:
    """One set for all tournaments of a runner. `settle_s`: from a fault until it is judged."""

    store: TournamentStore
    log: EventLog
    matches: MatchStore
    archiver: Archiver
    router: Router
    opening: Opening
    accounts: Accounts
    players: Players
    commands: Commands
    world: World
    now_ms: Callable[[], int]
    meter: RunnerMeter = field(default_factory=RunnerMeter)
    elapsed_s: Callable[[], float] = time.monotonic
    settle_s: float = SETTLE_S

    async def token(self, account_id: str, name: str, *, one_seat: bool) -> str:
        """A token of a bot's account that the runner makes. Raises StoreUnavailable."""
        roles = frozenset({SEAT}) if one_seat else frozenset({"player"})
        return (await self.accounts.issue(Account(account_id, name, "bot", roles), TOKEN_MS)).token


def parts_of(
    backend: Backend,
    accounts: Accounts,
    router: Router,
    clocks: Clocks,
    players: Players,
    commands: Commands,
    now_ms: Callable[[], int],
) -> Parts:
    """From what a process of the server stands on."""
    return Parts(
        backend.tournaments,
        backend.log,
        backend.store,
        backend.archiver,
        router,
        Opening(backend.store, router, replace(clocks, open_wait_ms=START_MS), now_ms),
        accounts,
        players,
        commands,
        World(backend.directory, backend.log),
        now_ms,
    )
