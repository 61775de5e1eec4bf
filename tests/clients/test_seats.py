"""The process that plays many seats of built-in bots, in this process: interruptions, its orders, what it tells."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from kangtou_clients.api import Match, connect
from kangtou_clients.bots.bot import Observation
from kangtou_clients.bots.search import Search
from kangtou_clients.bots.seats import Seats
from kangtou_engine.actions import Action
from kangtou_engine.registry import REGISTRY
from tests.inprocess import Server, until, whole_server

NAMES = ("ann", "bob", "cat", "dan")
BOARD = "t_boardboard12/1"


def order(match: str, seat: int, bot: str = "greedy") -> str:
    """As the runner writes it."""
    return json.dumps(
        {"play": match, "seat": seat, "token": f"t-{NAMES[seat]}", "bot": bot, "dice": "d", "alone": True}
    )


async def seats(match: str, count: int = len(NAMES), bot: str = "greedy") -> AsyncIterator[str]:
    """Orders for the first seats of a match, and then nothing more for as long as it is wanted."""
    for seat in range(count):
        yield order(match, seat, bot)
    await asyncio.Event().wait()


async def remind(server: Server, match: str) -> None:
    """Put the open questions again, over and over, as after an outage of the log."""
    host = server.hosts[0].host
    while True:
        await asyncio.sleep(0.001)
        if match in host.slots:
            host.remind(host.slots[match])


async def told(capsys: pytest.CaptureFixture[str], count: int) -> list[Mapping[str, Any]]:
    """What is said of the ends of so many seats."""
    said: list[Mapping[str, Any]] = []

    def ends() -> int:
        said.extend(json.loads(line) for line in capsys.readouterr().out.splitlines() if '"cause"' in line)
        return len(said) >= count

    await until(ends, 60)
    return said


@pytest.mark.parametrize("game", REGISTRY.names())
async def test_a_question_that_is_put_again_is_answered(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Also by a seat that was waiting for those before it: nobody's clock runs out, the match ends at once."""
    async with whole_server() as server:
        await server.make("m1", game=game, options={"rounds": 2}, turn_ms=600_000, board=BOARD, open_wait_ms=60_000)
        playing = [
            asyncio.create_task(Seats(server.address).obey(seats("m1"))),
            asyncio.create_task(remind(server, "m1")),
        ]
        try:
            await until(lambda: "m1" in server.hosts[0].host.slots)
            table = server.hosts[0].host.slots["m1"].table
            await until(lambda: table.over, 60)
            assert table.cause == "rules"
            said = await told(capsys, len(NAMES))
            assert {(one["cause"], one["late"], one["whole"]) for one in said} == {("rules", 0, True)}
        finally:
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)


async def test_time_outs_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Also those of a seat that another client holds and leaves to the clock; who comes later has not seen all."""
    async with (
        whole_server() as server,
        connect(server.address, "t-dan") as client,
        client.play() as session,
    ):
        await server.make("m1", game="hongshi", options={"rounds": 1}, turn_ms=200, board=BOARD, open_wait_ms=60_000)
        assert isinstance(await session.attach("m1", seat=3), Match)
        playing = [asyncio.create_task(Seats(server.address).obey(seats("m1", 3)))]
        try:
            await until(lambda: "m1" in server.hosts[0].host.slots, 60)
            table = server.hosts[0].host.slots["m1"].table
            await until(lambda: table.begun, 60)
            playing.append(asyncio.create_task(Seats(server.address).obey(seats("m1", 1))))  # takes seat 0 over
            await until(lambda: table.over, 60)
            said = await told(capsys, 3)
            late = {one["seat"]: (one["late"] > 0, one["whole"]) for one in said}
            assert late == {0: (True, False), 1: (True, True), 2: (True, True)}
        finally:
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)


async def test_a_search_remembers_its_round_and_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It thinks in a thread of its own, with all cards that lay on the table before; twice the same way."""
    asked: list[tuple[bool, int, int, Action]] = []
    act = Search.act

    def noted(bot: Search, seen: Observation) -> Action:
        action = act(bot, seen)
        left = sum(map(len, seen.view.game.hands)) + sum(len(laid.cards) for laid in seen.view.game.trick)
        asked.append((threading.current_thread() is threading.main_thread(), left, len(seen.known.gone), action))
        return action

    monkeypatch.setattr(Search, "act", noted)
    await _searched()
    first = list(asked)
    asked.clear()
    await _searched()
    second = asked
    assert first == second
    assert len(first) > 10
    assert not any(in_loop for in_loop, *_ in first)
    assert any(gone for _, _, gone, _ in first)
    assert all(left + gone >= 40 for _, left, gone, _ in first if left)  # HS-1.1: dealt, and not held any more: seen


async def _searched() -> None:
    """A match of four searches on the same cards."""
    async with whole_server() as server:
        await server.make("m1", game="hongshi", options={"rounds": 1}, seed=bytes(32), turn_ms=600_000)
        playing = asyncio.create_task(Seats(server.address).obey(seats("m1", bot="search:6")))
        try:
            await until(lambda: "m1" in server.hosts[0].host.slots)
            table = server.hosts[0].host.slots["m1"].table
            await until(lambda: table.over, 60)
            assert table.cause == "rules"
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
