"""Whole matches of every game on real processes: all that they produce is searched, and what is planted is found."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
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
from .known import CARD, Finding, Known
from .matches import Open, chains, in_play
from .produced import commanded, exposed, merged, open_to_others, sessions, written

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1_800)]

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
        said = await whole_matches(server, loads, counts(2, 99))
        if counts(0, 1):
            said |= await looked_at(server, known, names)
        await crash(server, known)
        texts = merged(await asyncio.to_thread(all_texts, server), said)
        assert known.search(texts) == []
        assert list(open_to_others(server)) == []
        searched = (
            f"{len(texts)} texts, {sum(map(len, texts.values())):,} characters, {len(known.parts)} forms of secrets"
        )
        found = await planted(server, known)
    missing = {
        name: (place, what)
        for name, (place, what) in leaky.KINDS.items()
        if not any(place in one.where and what == one.what for one in found)
    }
    assert missing == {}
    with capsys.disabled():
        print(f"\n{len(names)} games: searched {searched}; found 0; planted {len(leaky.KINDS)}, all found")


def all_texts(server: Server) -> dict[str, str]:
    """What the server has written so far and shows; that there is something of every sort."""
    ray = sessions(server)
    assert len(ray) == 1
    texts = merged(written(server, ray), exposed(server))
    for sort in (
        "up.err",
        "gateway-0.log",
        "traces/",
        "ray/logs/worker-",
        "metrics of table-",
        "command line",
    ):
        assert any(where.startswith(sort) and text for where, text in texts.items()), sort
    return texts


async def whole_matches(server: Server, loads: list[Open], commands: int) -> dict[str, str]:
    """One match of each, to its end. In the middle, what seats are answered and operators see is looked at."""
    found: list[Finding] = []
    async with in_play(*loads):
        for one in loads:
            for seat in range(one.seats):
                found += await one.tried(seat)
        said = await operated(server, loads[0], commands)
        for one in loads:
            one.go_on()
        await asyncio.gather(*(one.finish() for one in loads))
        for one in loads:
            verdict, records = await judge(one, 60)
            assert verdict.good, (one.game, verdict)
            for record in records.values():
                one.known.add("chain", *chains(record))
    assert found == []
    return said


async def looked_at(server: Server, known: Known, kinds: Sequence[str]) -> dict[str, str]:
    """What commands print for a seat in the middle of a match, which they take over from its bot: it ends there."""
    said: dict[str, str] = {}
    found: list[Finding] = []
    for name in kinds:
        one = Open(server, known, *KINDS[name])
        async with in_play(one):
            for where, text in (await of_a_seat(server, one)).items():
                said[f"{name}: {where}"] = without_own_cards(text)
                found += one.shown(0, where, text)
    assert found == []
    return said


def without_own_cards(text: str) -> str:
    """What a seat is shown holds its own cards: those were compared with what is hidden from it."""
    return CARD.sub("", text)


async def of_a_seat(server: Server, one: Open) -> dict[str, str]:
    """What commands print for seat 0, for people and for programs."""
    account, token = one.bots[0]
    Config().keep(server.address, one.game, Profile(account, "bot 0", BOT, token, 0))
    match = one.match_id
    commands = [["legal", match], ["act", match, "peek"], ["watch", match, "--once"]]
    made = [[*arguments, "--json"] for arguments in commands]
    made += [["legal", match, "--letters"], ["watch", match, "--once", "--letters"]]
    said = await printed(server, made, "--as", one.game)
    assert "exit code 0" in said[f"kangtou watch {match} --once --json"]
    assert "exit code 5" in said[f"kangtou act {match} peek --json"]
    return said


async def operated(server: Server, one: Open, most: int) -> dict[str, str]:
    """What so many of an operator's commands print, and the server's own check of itself."""
    account, token = one.bots[0]
    Config().keep(server.address, "ops", Profile(account, "bot 0", BOT, token, 0))
    async with patient(server.redis_url) as client:
        await RedisAccountStore(client).set_roles(account, frozenset({PLAYER, OPERATOR}))
    commands = [
        ["status", "--json"],
        ["admin", "tables", "--json"],
        ["whoami", "--json"],
        ["admin", "members"],
        ["table", one.match_id],
        ["doctor", "--json"],
    ]
    return await printed(server, commands[:most], "--as", "ops")


async def printed(server: Server, commands: list[list[str]], *more: str) -> dict[str, str]:
    """All of them, two at a time."""
    two = asyncio.Semaphore(2)

    async def one(arguments: list[str]) -> str:
        async with two:
            return await commanded(
                *arguments, *more, "--server", server.address, KANGTOU_CONFIG=os.environ["KANGTOU_CONFIG"]
            )

    texts = await asyncio.gather(*map(one, commands))
    return {f"kangtou {' '.join(arguments)}": text for arguments, text in zip(commands, texts, strict=True)}


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
        found = [*await one.tried(0), *await one.tried(1)]
        one.go_on()
        await one.finish()
        _, records = await judge(one)
        for record in records.values():
            known.add("chain", *chains(record))
    return found + await traced(server, known)


async def traced(server: Server, known: Known) -> list[Finding]:
    """What is found once the traces have been written, as they are every two seconds."""
    until = time.monotonic() + 60
    while True:
        found = known.search(await asyncio.to_thread(all_texts, server))
        if any("traces" in one.where for one in found) or time.monotonic() > until:
            return found
        await asyncio.sleep(0.2)
