"""A whole server of processes, replaced part by part under play: no match ends, nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.load import Load, entry_times, judge
from tests.faults.server import Server, running

from .server import command, told

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

TABLES = 4


async def appointed(server: Server, config: Path) -> dict[str, str]:
    """Variables with which the command line acts as an operator."""
    variables = {"KANGTOU_CONFIG": str(config), "KANGTOU_SERVER": server.address}
    code, out, err = await command("register", "Ops", "--json", **variables)
    assert code == 0, err
    account = told(out)["account_id"]
    code, _, err = await command("admin", "members", **variables)
    assert code == 7, err
    code, out, err = await command("admin", "appoint", account, "--data", str(server.data), "--json", **variables)
    assert code == 0, err
    assert told(out)["account_id"] == account
    await asyncio.sleep(5.5)  # for as long gateways remember what a token is good for
    return variables


async def drained(variables: dict[str, str], member: str, *options: str) -> float:
    """Have one drained by the command; seconds that it took."""
    began = time.monotonic()
    code, out, err = await command("admin", "drain", member, *options, "--wait", "90", "--json", **variables)
    assert (code, told(out or "{}")) == (0, {"id": member, "done": True}), err
    return time.monotonic() - began


async def replaced(listed: Callable[[], dict[str, int]], old: str, count: int) -> None:
    """Until there are as many again, without the old one."""
    async with asyncio.timeout(90):
        while old in (now := await asyncio.to_thread(listed)) or len(now) < count:  # noqa: ASYNC110 - a process
            await asyncio.sleep(0.2)


async def test_actors_and_gateways_are_replaced_under_play(
    tmp_path: Path, counts: Callable[[int, int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each in turn: drained, ended, started again by whoever keeps it. No turn runs out, no client notices."""
    times = counts(1, 3)
    with running(tmp_path / "d", give_up_deaths=2, tournaments=bool(counts(0, 1))) as server:
        load, at = Load(server, TABLES, options={"rounds": counts(1, 3)}), []
        try:
            variables = await appointed(server, tmp_path / "config")
            await load.start()
            for _ in range(times):
                for actor in sorted(server.actors())[: counts(1, 2)]:
                    at.append(time.time_ns() // 1_000_000)
                    await drained(variables, actor, "--stop")
                    await replaced(server.actors, actor, 2)
                for gateway in sorted(server.gateways())[: counts(1, 2)]:
                    await drained(variables, gateway)
                    await replaced(server.gateways, gateway, 2)
            await load.finish(hurry=True)
            verdict, records = await judge(load)
        finally:
            await load.close()
    gaps = [
        max(after - before for before, after in itertools.pairwise(within))
        for record in records.values()
        for began in at
        if len(within := [one for one in entry_times(record) if began - 500 <= one <= began + 10_000]) > 1
    ]
    causes = {record.head.outcome.cause for record in records.values()}
    with capsys.disabled():
        print(
            f"\nreplaced under play: {len(at)} actors and as many gateways, {verdict.matches} matches, "
            f"{verdict.acked} moves acknowledged, {verdict.lost} lost, {verdict.doubled} doubled, "
            f"{verdict.timeouts} turns run out; longest pause of a table around a drain: median "
            f"{statistics.median(gaps or [0]):.0f} ms, most {max(gaps or [0])} ms"
        )
    assert verdict.good
    assert verdict.timeouts == 0
    assert causes == {"rules"}
    assert verdict.acked > 50
