"""How much one account and one address may ask; guessing tokens and secrets is bounded and hurts nobody else."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import account_pb2 as accounts
from kangtou.v1 import account_pb2_grpc as accounts_rpc
from kangtou.v1 import house_pb2 as house
from kangtou.v1 import house_pb2_grpc as house_rpc
from kangtou_services.gateway.auth import Callers
from kangtou_services.gateway.calls import CallError
from kangtou_services.gateway.throttle import BURST_S, Rate, Throttle
from kangtou_services.link import connect
from kangtou_services.settings import Settings
from tests.inprocess import NamesAsTokens, until, whole_server
from tests.services.towns import town_of

THERE, BESIDE, HERE = "ipv4:203.0.113.7:1", "ipv4:203.0.113.8:1", "ipv4:127.0.0.1:1"


class Call:
    """A context: who calls, from where."""

    def __init__(self, peer: str, token: str = "") -> None:
        self._peer = peer
        self._token = token

    def peer(self) -> str:
        """grpc.aio."""
        return self._peer

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """grpc.aio."""
        return (("authorization", f"Bearer {self._token}"),)


def call(peer: str, token: str = "") -> Any:
    """One."""
    return Call(peer, token)


class Counted(NamesAsTokens):
    """An Identity that counts how often it is asked."""

    asked = 0

    async def who(self, token: str) -> Any:
        """See Identity."""
        self.asked += 1
        return await super().who(token)


def settings(**given: Any) -> Settings:
    """Small numbers."""
    return Settings(**{"calls_per_account": 2, "calls_per_address": 5, "wrong_tokens": 10, **given})


async def refused(callers: Callers, peer: str, token: str) -> str:
    """The status with which a token is refused; "" if it is good."""
    try:
        await callers.session(call(peer, token))
    except CallError as error:
        return error.status.name
    return ""


async def test_guesses_of_tokens_are_bounded() -> None:
    """A thousand guesses from one address are ten questions to the store; others come in, also from there."""
    now, identity = [0.0], Counted()
    callers = Callers(identity, lambda: now[0], Throttle(settings(), lambda: now[0]))
    assert await refused(callers, THERE, "t-ann") == ""
    before = identity.asked
    said = [await refused(callers, THERE, f"x-{number}") for number in range(1_000)]
    assert said == ["UNAUTHENTICATED"] * 10 + ["RESOURCE_EXHAUSTED"] * 990
    assert identity.asked == before + 10
    assert await refused(callers, THERE, "t-bob") == "RESOURCE_EXHAUSTED"  # new, and from the same address
    now[0] = 30.0
    assert await refused(callers, THERE, "t-ann") == ""  # at work already
    assert await refused(callers, BESIDE, "t-bob") == ""
    assert await refused(callers, BESIDE, "x-1") == "UNAUTHENTICATED"
    assert await refused(callers, THERE, "t-bob") == ""  # its token is known good by now
    now[0] = 61.0
    assert await refused(callers, THERE, "x-1") == "UNAUTHENTICATED"  # another minute
    print("1,000 guesses, 10 looked at")


async def test_a_token_that_has_ended_is_not_taken_for_good() -> None:
    """It is looked for again, whatever it was before."""
    now, identity = [0.0], Counted()
    callers = Callers(identity, lambda: now[0], Throttle(settings(), lambda: now[0]))
    assert await refused(callers, THERE, "t-ann") == ""
    for number in range(20):
        await refused(callers, THERE, f"x-{number}")
    identity.ended.add("t-ann")
    now[0] = 30.0
    assert await refused(callers, THERE, "t-ann") == "UNAUTHENTICATED"


def many(throttle: Throttle, peer: str, count: int) -> int:
    """How many of so many calls an address may make at once."""
    return sum(_allowed(throttle, peer) for _ in range(count))


def _allowed(throttle: Throttle, peer: str) -> bool:
    try:
        throttle.address(call(peer))
    except CallError as error:
        return error.status is not grpc.StatusCode.RESOURCE_EXHAUSTED
    return True


def test_calls_of_an_address() -> None:
    """A burst, then a steady rate; each address for itself; this machine a hundred times as much."""
    now = [0.0]
    throttle = Throttle(settings(), lambda: now[0])
    assert many(throttle, THERE, 1_000) == 5 * BURST_S
    assert many(throttle, BESIDE, 10) == 10
    now[0] = 2.0
    assert many(throttle, THERE, 1_000) == 10
    assert many(throttle, HERE, 6_000) == pytest.approx(500 * BURST_S, abs=2)


def test_a_network_of_ipv6_is_one_address() -> None:
    """Whoever has a /64 has 2^64 addresses."""
    throttle = Throttle(settings(), lambda: 0.0)
    allowed = sum(many(throttle, f"ipv6:%5B2001:db8::{number:x}%5D:1", 1) for number in range(1, 200))
    assert allowed == 5 * BURST_S


def test_memory_is_bounded() -> None:
    """Whoever has not come for the longest time is forgotten, not everybody."""
    rate = Rate(1.0, 2.0, lambda: 0.0)
    assert rate.allowed("first")
    for number in range(9_999):
        assert rate.allowed(f"n{number}")
        assert number % 100 or rate.allowed("busy") is (number < 200)
    assert not rate.allowed("busy")


async def test_an_account_that_floods() -> None:
    """On a real port: it is told to wait, another one of the same address is not."""
    async with town_of(gateways=1, calls_per_account=3) as town:
        flooding, other = await town.client("Flo"), await town.client("Otto")
        async with grpc.aio.insecure_channel(town.addresses[0]) as channel:
            stub = accounts_rpc.AccountServiceStub(channel)
            codes = []
            for _ in range(60):
                try:
                    await stub.WhoAmI(accounts.WhoAmIRequest(), metadata=_bearer(flooding.token))
                    codes.append("OK")
                except grpc.aio.AioRpcError as error:
                    codes.append(error.code().name)
            assert codes[:20] == ["OK"] * 20
            assert "RESOURCE_EXHAUSTED" in codes
            await stub.WhoAmI(accounts.WhoAmIRequest(), metadata=_bearer(other.token))


async def test_guesses_of_the_house_secret() -> None:
    """On a real port: after a hundred (this machine's share of one) no more are looked at, the right one included."""
    async with town_of(gateways=1, wrong_tokens=1, house_secret="right") as town:
        guesser, bot = await town.client("Gus"), await town.client("Bo")
        async with grpc.aio.insecure_channel(town.addresses[0]) as channel:
            stub = house_rpc.HouseServiceStub(channel)
            join = house.JoinHouseRequest(secret="right")
            assert not (await stub.JoinHouse(join, metadata=_bearer(bot.token))).HasField("refused")
            for number in range(100):
                answer = await stub.JoinHouse(
                    house.JoinHouseRequest(secret=f"guess {number}"), metadata=_bearer(guesser.token)
                )
                assert answer.refused.code == "not_of_the_house"
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.JoinHouse(house.JoinHouseRequest(secret="guess"), metadata=_bearer(guesser.token))
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert not (await stub.JoinHouse(join, metadata=_bearer(bot.token))).HasField("refused")


async def test_one_guess_of_the_links_secret_a_connection() -> None:
    """The host answers it, and ends the connection."""
    async with whole_server() as server:
        replies: list[lpb.Reply] = []
        ended: list[bool] = []
        link = await connect(
            server.hosts[0].address, lambda down: replies.extend(down.replies), lambda: ended.append(True)
        )
        for guess in ("wrong", "s"):
            link.send(lpb.Call(ref=1, hello=lpb.Hello(gateway_id="g", secret=guess)))
        await until(lambda: ended)
        assert [one.problem.code for one in replies] == ["bad_secret"]


async def test_tables_on_a_port_need_a_secret() -> None:
    """Else whoever reaches the port could play for anybody."""
    with pytest.raises(OSError, match="link_secret"):
        async with whole_server(link="tcp", link_secret=""):
            pass


def _bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)
