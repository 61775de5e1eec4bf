"""The process that plays many seats of built-in bots, in this process: interruptions, and its orders."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator

import pytest

from kangtou_clients.bots.bot import Observation
from kangtou_clients.bots.search import Search
from kangtou_clients.bots.seats import Seats
from kangtou_engine.actions import Action
from kangtou_engine.registry import REGISTRY
from tests.inprocess import Server, until, whole_server

NAMES = ("ann", "bob", "cat", "dan")


def order(match: str, seat: int, bot: str = "greedy") -> str:
    """As the runner writes it."""
    return json.dumps(
        {"play": match, "seat": seat, "token": f"t-{NAMES[seat]}", "bot": bot, "dice": "d", "alone": True}
    )


async def all_seats(match: str, bot: str = "greedy") -> AsyncIterator[str]:
    """Orders for a whole match, and then nothing more for as long as it is wanted."""
    for seat in range(len(NAMES)):
        yield order(match, seat, bot)
    await asyncio.Event().wait()


async def remind(server: Server, match: str) -> None:
    """Put the open questions again, over and over, as after an outage of the log."""
    host = server.hosts[0].host
    while True:
        await asyncio.sleep(0.001)
        if match in host.slots:
            host._remind(host.slots[match])


@pytest.mark.parametrize("game", REGISTRY.names())
async def test_a_question_that_is_put_again_is_answered(game: str) -> None:
    """Also by a seat that was waiting for those before it: nobody's clock runs out, the match ends at once."""
    async with whole_server() as server:
        await server.make("m1", game=game, options={"rounds": 2}, turn_ms=600_000)
        playing = [
            asyncio.create_task(Seats(server.address).obey(all_seats("m1"))),
            asyncio.create_task(remind(server, "m1")),
        ]
        try:
            await until(lambda: "m1" in server.hosts[0].host.slots)
            table = server.hosts[0].host.slots["m1"].table
            await until(lambda: table.over, 60)
            assert table.cause == "rules"
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
        playing = asyncio.create_task(Seats(server.address).obey(all_seats("m1", "search:6")))
        try:
            await until(lambda: "m1" in server.hosts[0].host.slots)
            table = server.hosts[0].host.slots["m1"].table
            await until(lambda: table.over, 60)
            assert table.cause == "rules"
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
