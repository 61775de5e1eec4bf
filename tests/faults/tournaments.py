"""Tournaments in fault tests: submitted with a seed of the test's choice, and what became of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kangtou_engine.boards import tournament_commitment
from kangtou_engine.record import canonical_text, read_record
from kangtou_services.archive.archiver import index_file
from kangtou_services.archive.index import Index
from kangtou_services.archive.store import RecordStore
from kangtou_services.identity import StoreUnavailable
from kangtou_services.settings import Settings
from kangtou_services.tournament.events import State, fold, submitted
from kangtou_services.tournament.model import Spec
from kangtou_services.tournament.redis import RedisTournamentStore
from tests.servers import patient

from .load import Playground

SEED = bytes(range(7, 39))


def first_of(tournament: str, spec: Spec) -> str:
    """With what the log of a tournament begins."""
    return submitted(spec, "tester", tournament_commitment(tournament, SEED), time.time_ns() // 1_000_000).to_text()


class Store:
    """A server's tournaments, looked at from beside it. Use it as `async with`."""

    def __init__(self, server: Playground) -> None:
        self._client = patient(server.redis_url)
        self.store = RedisTournamentStore(self._client)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def submit(self, tournament: str, spec: Spec) -> None:
        """As the gateway would, but for the seed."""
        assert await self.store.create(tournament, SEED, first_of(tournament, spec))

    async def state(self, tournament: str) -> State | None:
        """As its log has it; None while Redis is away."""
        try:
            return fold(tournament, await self.store.read(tournament))
        except StoreUnavailable:
            return None

    async def closed(self, tournament: str, seconds: float) -> State:
        """Wait for the end. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while True:
                state = await self.state(tournament)
                if state is not None and state.cause:
                    return state
                await asyncio.sleep(0.2)


@dataclass(frozen=True, slots=True)
class Played:
    """One game: scores, places, faults, and its canonical record."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[str, ...]
    record: str


async def played(data: Path, state: State) -> Mapping[str, Played]:
    """All games of a tournament, with their records as soon as they are in the archive of a server's data folder."""
    settings = Settings(data=data)
    index, records = Index(index_file(settings)), RecordStore(settings.archive)
    found: dict[str, Played] = {}
    for result in state.results:
        async with asyncio.timeout(60):
            while (row := index.find(result.match)) is None:  # noqa: ASYNC110 - no event tells it
                await asyncio.sleep(0.1)
        record = read_record(records.text(row.path))
        found[result.game.id] = Played(result.scores, result.places, result.faults, canonical_text(record))
    assert len(found) == len(state.results), "a game has two results"
    return found
