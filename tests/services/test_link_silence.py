"""A link over a network that falls silent without an end: the gateway finds out, and goes on over another."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_services import link
from kangtou_services.directory import Actor
from kangtou_services.gateway import links
from kangtou_services.link import GatewayLink
from tests.faults.proxy import Net, Proxy
from tests.inprocess import until, whole_server
from tests.services.raw import raw_stream
from tests.services.test_gateway_router import follow


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Links of gateways go through it, and are looked after twenty times as often."""
    with Net() as net:
        made = net.proxy()

        async def through(address: str, received: Callable[[lpb.Down], None], ended: Callable[[], None]) -> GatewayLink:
            opened = await link.connect(f"tcp:{made.address}", received, ended)
            assert opened._transport is not None
            opened._transport.write(f"{address}\n".encode())
            return opened

        monkeypatch.setattr(links, "connect", through)
        monkeypatch.setattr(links, "TICK_S", 0.05)
        yield made


async def silent(proxy: Proxy, near: bool) -> None:
    """Make the links half-open, away from the loop that they need for it."""
    assert await asyncio.to_thread(lambda: proxy.half_open(near=near)) == 1


@pytest.mark.parametrize("near", [True, False])
async def test_a_silent_link_is_given_up(proxy: Proxy, near: bool) -> None:
    """Whoever follows a table is attached again over a new link; a call that was under way is answered."""
    async with whole_server(link="tcp") as server:
        await server.make("m1")
        async with raw_stream(server.address, "ann") as stream:
            await stream.attach("m1")
            before = len(stream.seen)
            await silent(proxy, near)
            asked = asyncio.create_task(server.gateways[0].parts.router.open("m1"))
            await stream.first(lambda one: one.HasField("attached"), after=before)
            assert await asyncio.wait_for(asked, 30)
            assert not stream.call.done()


async def test_an_idle_link_is_kept(proxy: Proxy) -> None:
    """It is asked now and then, and answers."""
    async with whole_server(link="tcp") as server:
        await server.make("m1")
        heard, _ = follow(server, "m1", "ann", 0)
        await until(lambda: heard.updates)
        conns = server.gateways[0].parts.router.links
        (conn,) = conns._conns.values()
        await asyncio.sleep(3 * links.SILENT_TICKS * links.TICK_S)
        assert list(conns._conns.values()) == [conn]
        assert conn.open
        assert heard.moves == 0


async def test_a_gateway_that_is_held_up_blames_nobody(proxy: Proxy) -> None:
    """What has come meanwhile counts, however long it has waited to be read."""
    async with whole_server(link="tcp") as server:
        await server.make("m1")
        heard, _ = follow(server, "m1", "ann", 0)
        await until(lambda: heard.updates)
        (conn,) = server.gateways[0].parts.router.links._conns.values()
        for _ in range(3):
            _hold_up(2 * links.SILENT_TICKS * links.TICK_S)
            await asyncio.sleep(links.TICK_S)
        assert conn.open


def _hold_up(seconds: float) -> None:
    """The whole process, as another one on a busy machine might."""
    time.sleep(seconds)


def test_links_of_one_machine_need_no_looking_after() -> None:
    """A unix socket ends with the process behind it."""
    conn = links.Conn(Actor("a", "unix:/nowhere", "local", 1, 0), lambda *_: None)
    for _ in range(3 * links.SILENT_TICKS):
        conn.tick()
    assert conn._silent == 0


async def test_the_system_watches_both_ends() -> None:
    """What is sent to a machine that is gone is given up after 20 s, by the gateway's end and by the actor's."""
    met: asyncio.Future[link.ActorLink] = asyncio.get_running_loop().create_future()
    address, stop = await link.listen("tcp:127.0.0.1:0", lambda peer, _: met.set_result(peer), lambda _: None)
    near = await link.connect(address, lambda _: None, lambda: None)
    near.send(lpb.Call(stats=lpb.Stats()))
    far = await asyncio.wait_for(met, 60)
    for peer in (near, far):
        assert peer._transport is not None
        made: socket.socket = peer._transport.get_extra_info("socket")
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == link.KEPT_ALIVE["TCP_USER_TIMEOUT"]
    near.close()
    await stop()
