"""A whole server with a proxy on every way: client to gateway, gateway to actor, gateway to Redis, actor to Redis.

`up` runs the pool; the gateways, two, are processes of their own (far_gateway.py). Loopback only.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers import free_port, redis_server

from .proxy import Net, Proxy
from .server import ROOT, Server, running
from .test_games import Kind, Watched

GATEWAYS = 2
START_S = 120.0


class Network:
    """What a Load wants, and the proxies by where they are."""

    def __init__(self, server: Server, redis_url: str, proxies: Mapping[str, tuple[Proxy, ...]]) -> None:
        self.data = server.data
        self.redis_url = redis_url
        self.server = server
        self.proxies = proxies

    @property
    def address(self) -> str:
        """Both gateways: a client uses the first that it reaches."""
        return self.at(0)

    def at(self, seat: int) -> str:
        """The same, half of the seats with the second gateway first."""
        fronts = [proxy.address for proxy in self.proxies["client"]]
        return "ipv4:" + ",".join(fronts[seat % 2 :] + fronts[: seat % 2])

    def calm(self) -> None:
        """All proxies."""
        for proxies in self.proxies.values():
            for proxy in proxies:
                proxy.calm()


class Far(Watched):
    """A game over this network."""

    def __init__(self, network: Network, kind: Kind, *, think: float) -> None:
        super().__init__(network, kind, think=think)
        self.network = network
        self.open.clear()

    def _address(self, seat: int) -> str:
        return self.network.at(seat)


@contextmanager
def network(folder: Path, seed: int) -> Iterator[Network]:
    """The whole of it, for the time of a module; nothing of it is left over."""
    with ExitStack() as stack:
        net = stack.enter_context(Net(seed))
        port = free_port()
        stack.enter_context(redis_server(port=port))
        stores = (net.proxy("127.0.0.1", port), net.proxy("127.0.0.1", port))  # the pool's and the gateways'
        link = net.proxy()
        secret = {"link_secret": "the secret of this network's links", "link": "tcp"}
        given = {**secret, "gateways": 0, "tournaments": "false", "give_up_deaths": 1000}
        server = stack.enter_context(running(folder / "d", redis_url=f"redis://{stores[0].address}", **given))
        fronts = []
        for number in range(GATEWAYS):
            of_gateway = {"redis_url": f"redis://{stores[1].address}", "port": free_port(), **secret}
            stack.enter_context(_gateway(server, number, link, of_gateway))
            fronts.append(net.proxy("127.0.0.1", int(str(of_gateway["port"]))))
        yield Network(server, f"redis://127.0.0.1:{port}", {"client": tuple(fronts), "link": (link,), "redis": stores})


@contextmanager
def _gateway(server: Server, number: int, link: Proxy, given: Mapping[str, object]) -> Iterator[None]:
    environment = {
        **server.environment,
        **{f"KANGTOU_{name.upper()}": str(value) for name, value in given.items()},
        "FAR_LINKS": link.address,
    }
    with (server.data / f"gateway-{number}.err").open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.far_gateway", "gateway", str(number)],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )
    try:
        _until_listening(process, int(str(given["port"])))
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_S
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 1.0):
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"a gateway did not start: {process.returncode}") from None
            time.sleep(0.05)
