"""The evening: docs/tables.md, docs/clocks.md, docs/ratings.md and docs/matchmaking.md in one."""

from __future__ import annotations

import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from ...conftest import Counts
from . import afterwards
from .ledger import Ledger
from .people import come
from .places import Place, in_this_process, of_processes
from .programme import FORTY, run

SEED = 20250131


@pytest.mark.timeout(900)
async def test_an_evening(counts: Counts, tmp_path: Path) -> None:
    """In this process; in full against real processes, with longer matches and more of them."""
    if counts(0, 1):
        await _evening(of_processes(tmp_path / "up"), rounds=4, again=3)
    else:
        await _evening(in_this_process(tmp_path / "house"), rounds=1, again=1)


async def _evening(where: AbstractAsyncContextManager[Place], rounds: int, again: int) -> None:
    async with where as place:
        began = time.monotonic()
        ledger = Ledger()
        async with come(place.addresses, FORTY) as people:
            await run(people, ledger, SEED, rounds, again)
            found = await afterwards.records(people, ledger)
            afterwards.scores(found, ledger)
            afterwards.one_place_each(found)
            afterwards.partners(found, ledger)
            stood_in = afterwards.substitutes(found, ledger)
            rated, ratings = await afterwards.ratings(found, people, ledger, place.ratings)
            await afterwards.nobody_left(people, place.house)
        seconds = time.monotonic() - began
    assert len(ledger.tables) == 10
    print(
        f"{FORTY} accounts, {len(ledger.tables)} tables, {len(found)} matches, {ledger.moves} moves "
        f"in {seconds:.0f} s; "
        f"{stood_in} substitutions, {ledger.said} lines of talk, {rated} rated matches, {ratings} ratings equal; "
        f"refusals {dict(sorted(ledger.refusals.items()))}"
    )
