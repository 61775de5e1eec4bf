"""Whole matches over gRPC in one process: gateway, hosts and log in memory, clients through the library."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from typing import Any

import pytest

from kangtou_clients.api import Ending, Match, TrustWarning, Untrustworthy, connect
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_clients.bots.runner import Job, run_seats
from kangtou_engine.registry import REGISTRY, Registry
from kangtou_engine.shuffle import entropy_commitment
from kangtou_services.games import load_registry
from kangtou_services.table.core import Table
from tests.inprocess import Server, until, whole_server

NAMES = ("ann", "bob", "cat", "dan")
GAMES: Registry = load_registry("tests.games.parrot:GAME")


async def seat(server: Server, match: str, name: str, entropy: bytes = b"", policy: str = "random") -> Match:
    """Play one seat to the end, by a client of its own."""
    async with connect(server.address, f"t-{name}", registry=GAMES) as client, client.play() as session:
        followed = await session.attach(match, entropy=entropy)
        assert isinstance(followed, Match), followed
        await play(followed, policy, dice(), Tally())
        return followed


@pytest.mark.parametrize("game", ["parrot", *REGISTRY.names()])
async def test_a_match_of_every_game_to_its_end(game: str) -> None:
    """All seats agree on the end; each view is what the table shows; nothing about the chance is suspicious."""
    async with whole_server(hosts=2) as server:
        entropies = {number: secrets.token_bytes(16) for number in range(4)}
        await server.make("m1", game=game, entropies=entropies, options={"rounds": 3})
        seats = [
            seat(server, "m1", name, entropies[number], "greedy" if number % 2 else "random")
            for number, name in enumerate(NAMES)
        ]
        matches = await asyncio.wait_for(asyncio.gather(*seats), 60)
        endings = {match.ending for match in matches}
        assert len(endings) == 1
        ending = endings.pop()
        assert isinstance(ending, Ending)
        assert ending.cause == "rules"
        assert ending.entropies == tuple(entropies.values())
        table = _table(server, "m1")
        for number, match in enumerate(matches):
            assert match.seat == number
            assert match.warnings == ()
            assert match.view == table.game.view(table.state, number)
            assert ending.receipt == table.receipt


def _table(server: Server, match: str) -> Table:
    return next(host.host.slots[match].table for host in server.hosts if match in host.host.slots)


async def test_many_seats_on_one_stream() -> None:
    """A tournament's bot: all seats of several tables over one multiplexed stream."""
    async with whole_server() as server:
        jobs = []
        for number in range(4):
            await server.make(f"m{number}", ("all",) * 4)
            jobs += [Job(f"m{number}", place) for place in range(4)]
        async with connect(server.address, "t-all", registry=GAMES) as client:
            tally = await asyncio.wait_for(run_seats(client, jobs, "random"), 60)
        assert (tally.matches, tally.refused, tally.warnings) == (16, 0, 0)
        assert tally.moves == 4 * 2 * 20  # tables, rounds, plays
        await until(lambda: len(server.gateways[0].streams) == 0)


async def test_a_spectator_sees_the_public_side() -> None:
    """A spectator's view folds to the table's, and it is no way around one's own seat."""
    async with whole_server() as server:
        await server.make("m1", turn_ms=5000)
        async with connect(server.address, "t-eve", registry=GAMES) as client, client.play() as session:
            watched = await session.watch("m1")
            assert isinstance(watched, Match)
            seats = [seat(server, "m1", name) for name in NAMES]
            await asyncio.wait_for(asyncio.gather(*seats), 60)
            ending = await watched.finished()
            assert isinstance(ending, Ending)
            table = _table(server, "m1")
            assert watched.view == table.game.view(table.state, None)
            assert watched.warnings == ()
        async with connect(server.address, "t-ann", registry=GAMES) as client, client.play() as session:
            refused = await session.watch("m1")
            assert getattr(refused, "code", "") == "not_allowed"


async def test_a_server_that_changes_its_seed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client alone notices: commitment, lot and deals do not fit what is revealed. Main job, acceptance 9."""
    other = secrets.token_bytes(32)
    monkeypatch.setattr(Table, "reveal_seed", lambda self: other)
    warned: list[TrustWarning] = []
    async with whole_server() as server:
        await server.make("m1")
        others = [asyncio.create_task(seat(server, "m1", name)) for name in NAMES[1:]]
        async with (
            connect(server.address, "t-ann", registry=GAMES) as client,
            client.play(on_warning=warned.append) as session,
        ):
            match = await session.attach("m1")
            assert isinstance(match, Match)
            await play(match, "random", dice(), Tally())
        await asyncio.gather(*others)
    assert {warning.code for warning in warned} >= {"seed_not_committed", "deal"}
    assert match.warnings == tuple(warned)
    with pytest.raises(Untrustworthy):
        match.check_trust()


@pytest.mark.parametrize(
    ("how", "code"),
    [("leave_out", "own_entropy"), ("other_commitment", "own_commitment")],
)
async def test_a_server_that_does_not_use_ones_entropy_is_caught(
    how: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One's own entropy must enter the shuffle under one's own commitment."""
    entropies = {number: secrets.token_bytes(16) for number in range(4)}
    async with whole_server(open_wait_ms=100) as server:
        given: dict[str, Any] = {"open_wait_ms": 100}
        agreement = await server.make("m1", entropies=entropies, **given)
        if how == "leave_out":
            monkeypatch.setattr(Table, "open_entropy", lambda self, seat, entropy: None)
        else:
            forged = dataclasses.replace(agreement.members[0], commitment=entropy_commitment(b"another"))
            changed = dataclasses.replace(agreement, members=(forged, *agreement.members[1:]))
            server.backend.store.server.find("m1").agreement = changed.to_json()  # type: ignore[attr-defined]
        seats = [seat(server, "m1", name, entropies[number]) for number, name in enumerate(NAMES)]
        matches = await asyncio.wait_for(asyncio.gather(*seats), 60)
        assert code in {warning.code for warning in matches[0].warnings}
