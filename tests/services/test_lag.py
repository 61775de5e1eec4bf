"""The round trip of a stream: by the server's own pings, whatever the client says. docs/clocks.md"""

from __future__ import annotations

import asyncio

import pytest

from kangtou.v1 import play_pb2 as play
from kangtou_clients.api import Match, connect
from kangtou_clients.api.session import Session
from kangtou_services.games import load_registry
from kangtou_services.gateway.lag import LAST, Lag
from tests.inprocess import until, whole_server

GAMES = load_registry("tests.games.parrot:GAME")


class Clock:
    """Seconds, in hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Now."""
        return self.now


def nonce(ping: bytes) -> int:
    """Of a ping."""
    (update,) = play.PlayResponse.FromString(ping).updates
    return update.ping.nonce


def test_the_median_of_the_last_round_trips() -> None:
    """One slow answer among several changes little; old ones are forgotten."""
    clock = Clock()
    lag = Lag(clock)
    for trip_ms, median_ms in [(50, 50), (900, 475), (60, 60), (70, 65), (55, 60), (65, 65), *[(10, None)] * LAST]:
        number = nonce(lag.ping())
        clock.now += trip_ms / 1000
        lag.pong(number)
        assert median_ms is None or lag.ms == median_ms
    assert lag.ms == 10


def test_only_the_ping_that_is_out_is_answered() -> None:
    """A made-up number, a second answer, an answer to an older ping: nothing is learnt from them."""
    clock = Clock()
    lag = Lag(clock)
    first = nonce(lag.ping())
    second = nonce(lag.ping())
    clock.now += 5
    for number in (0, first, second + 1):
        lag.pong(number)
        assert lag.ms == 0
    clock.now += 0.1
    lag.pong(second)
    assert lag.ms == 5_100
    clock.now += 3
    lag.pong(second)
    assert lag.ms == 5_100


async def test_a_client_that_delays_its_pongs_gains_no_more_than_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the wire: the server measures a quarter of a second, and waits by the cap longer, not more."""
    put = Session._put

    def late(self: Session, request: play.PlayRequest) -> None:
        if request.HasField("pong"):
            asyncio.get_running_loop().call_later(0.25, put, self, request)
        else:
            put(self, request)

    monkeypatch.setattr(Session, "_put", late)
    async with whole_server(ping_ms=500) as server:
        await server.make("m1", people=("ann",), turn_ms=400, lag_ms=100, lag_match_ms=1_000, options={"rounds": 6})
        async with connect(server.address, "t-ann", registry=GAMES) as client, client.play() as session:
            match = await _attached(session)
            stream = next(iter(server.gateways[0].streams._open))
            await until(lambda: stream.lag.ms >= 250)
            assert stream.lag.ms >= 250
            await until(lambda: match.prompt is not None)
            prompt = match.prompt
            assert prompt is not None
            table = server.hosts[0].host.slots["m1"].table
            await prompt.answer("play S3")  # refused or not: what was measured comes with it
            seat_lag = table.substitutes.lag_ms.get(0, 0)
            assert seat_lag >= 250
            assert table.prompts.lag(0, seat_lag, table.clock) <= 100


async def _attached(session: Session) -> Match:
    match = await session.attach("m1")
    assert isinstance(match, Match)
    return match
