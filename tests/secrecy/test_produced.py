"""Whole matches of every game on real processes: all that they produce is searched, and what is planted is found."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kangtou_clients.cli.config import Config, Profile
from kangtou_engine.registry import SPECS, Registry
from kangtou_services.accounts.redis import RedisAccountStore
from kangtou_services.agreement import BOT
from kangtou_services.identity import OPERATOR, PLAYER
from tests.conftest import Counts
from tests.faults import load
from tests.faults.load import judge
from tests.faults.server import Server, running
from tests.servers import patient

from . import leaky
from .known import Finding, Known
from .matches import Open, chains, in_play
from .produced import commanded, exposed, merged, open_to_others, sessions, written

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

VARIANTS = ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")
KINDS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "hongshi": ("hongshi", {"rounds": 1}),
    "duizhu": ("duizhu", {"rounds": 1}),
    "erbaiwu": ("erbaiwu", {"rounds": 1}),
    **{name: ("wushik", {"variant": name, "rounds": 1}) for name in VARIANTS},
}
IN_CI = ("hongshi", "duizhu", "erbaiwu", "jiangnan")


async def test_nothing_that_is_produced_holds_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts: Counts, capsys: pytest.CaptureFixture[str]
) -> None:
    """Logs at debug level, Ray's own, metrics, traces, refusals, a crash, files, command lines, what commands print.

    Then the same processes leak, each thing in its own way, and the same search finds every one of them.
    """
    monkeypatch.setattr(load, "REGISTRY", Registry((*SPECS, leaky.GAME)))
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path / "config"))
    data, known = tmp_path / "d", Known()
    given: dict[str, Any] = {
        "log_level": "debug",
        "gateways": 1,
        "actors": counts(1, 2),
        "house_bots": counts(0, 1),
        "extra_games": "tests.secrecy.leaky:GAME",
        "trace": f"file:{data / 'traces'}",
        "trace_rate": 1.0,
    }
    with running(data, **given) as server:
        for file in data.glob("*.secret"):
            known.add(f"{file.stem} secret", file.read_text().strip())
        names = list(KINDS)[: counts(0, 99)] or IN_CI
        loads = [Open(server, known, *KINDS[name]) for name in names]
        said = await whole_matches(server, loads, tmp_path)
        await crash(server, known)
        texts = merged(await asyncio.to_thread(all_texts, server), said)
        assert known.search(texts) == []
        assert list(open_to_others(server)) == []
        looked_at = f"{len(texts)} texts, {sum(map(len, texts.values())):,} characters, {len(known.parts)} secrets"
        found = await planted(server, known)
    missing = {
        name: (place, what)
        for name, (place, what) in leaky.KINDS.items()
        if not any(place in one.where and what == one.what for one in found)
    }
    assert missing == {}
    with capsys.disabled():
        print(f"\n{len(names)} games: searched {looked_at}; found 0; planted {len(leaky.KINDS)}, all found")


def all_texts(server: Server) -> dict[str, str]:
    """What the server has written so far and shows; that there is something of every sort."""
    ray = sessions(server)
    assert len(ray) == 1
    texts = merged(written(server, ray), exposed(server))
    for sort in (
        "up.err",
        "gateway-0.log",
        "pool.log",
        "traces/",
        "ray/logs/worker-",
        "metrics of table-",
        "command line",
    ):
        assert any(where.startswith(sort) and text for where, text in texts.items()), sort
    return texts


async def whole_matches(server: Server, loads: list[Open], folder: Path) -> dict[str, str]:
    """One match of each; in the middle, what commands print for a seat and what seats are answered is looked at."""
    said: dict[str, str] = {}
    found: list[Finding] = []
    async with in_play(*loads):
        for one in loads:
            account, token = one.bots[0]
            Config().keep(server.address, "", Profile(account, "bot 0", BOT, token, 0))
            for arguments in (
                ["watch", one.match_id, "--once"],
                ["legal", one.match_id],
                ["act", one.match_id, "peek"],
            ):
                for form in ("--json", "--letters"):
                    where = f"{one.game}: kangtou {' '.join((arguments[0], *arguments[2:], form))}"
                    said[where] = await asyncio.to_thread(commanded, *arguments, form, "--server", server.address)
                    found += one.shown(0, where, said[where])
            for seat in range(one.seats):
                found += await one.tried(seat)
        assert "exit code 0" in said[f"{loads[0].game}: kangtou watch --once --json"]
        said |= await operated(server, loads[0])
        for one in loads:
            one.go_on()
        await asyncio.gather(*(one.finish() for one in loads))
        for one in loads:
            verdict, records = await judge(one, 60)
            assert verdict.good, (one.game, verdict)
            for record in records.values():
                one.known.add("chain", *chains(record))
    assert found == []
    return {where: text for where, text in said.items() if not where.startswith(tuple(one.game for one in loads))}


async def operated(server: Server, one: Open) -> dict[str, str]:
    """What an operator's commands print, and the server's own check of itself."""
    async with patient(server.redis_url) as client:
        await RedisAccountStore(client).set_roles(one.bots[0][0], frozenset({PLAYER, OPERATOR}))
    await asyncio.sleep(0)
    commands = (
        ["whoami"],
        ["whoami", "--json"],
        ["status", "--once"],
        ["status", "--json"],
        ["admin", "tables", "--json"],
        ["admin", "members"],
        ["tables", "--json"],
        ["table", one.match_id],
        ["doctor", "--json"],
    )
    return {
        f"kangtou {' '.join(arguments)}": await asyncio.to_thread(commanded, *arguments, "--server", server.address)
        for arguments in commands
    }


async def crash(server: Server, known: Known) -> None:
    """A table's code raises in the middle of a match, with all hands in what it says."""
    one = Open(server, known, "leaky", {"raise_at": 7}, seats=2, hold_after=3)
    async with in_play(one):
        one.go_on()
        await logged(server, "table_faulted")


async def logged(server: Server, word: str) -> None:
    """Until an actor has said so."""
    until = time.monotonic() + 60
    while not any(word in file.read_text() for ray in sessions(server) for file in ray.glob("logs/worker-*.err")):
        assert time.monotonic() < until, word
        await asyncio.sleep(0.1)


async def planted(server: Server, known: Known) -> list[Finding]:
    """The same, once everything leaks."""
    (server.data / leaky.SWITCH).touch()
    one = Open(server, known, "leaky", {"rounds": 1}, seats=2, hold_after=3)
    async with in_play(one):
        found = await one.tried(0)
        one.go_on()
        await one.finish()
        _, records = await judge(one)
        for record in records.values():
            known.add("chain", *chains(record))
    await asyncio.sleep(2.5)  # traces are written every two seconds
    return found + known.search(await asyncio.to_thread(all_texts, server))
