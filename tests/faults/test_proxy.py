"""The proxy itself: each thing that it does to a connection is seen at both ends."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from .proxy import Net, Proxy


class Echo:
    """Sends back whatever comes; keeps the sockets that it was given."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.accepted: list[socket.socket] = []
        self.reset = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.getsockname()[1])

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            self.accepted.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while data := connection.recv(4096):
                connection.sendall(data)
        except ConnectionResetError:
            self.reset.set()
        except OSError:
            return  # closed at the end of the test

    def close(self) -> None:
        """Of everything."""
        self.server.close()
        for connection in self.accepted:
            connection.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    """One for a test."""
    made = Echo()
    yield made
    made.close()


@pytest.fixture
def net(fault_seed: int) -> Iterator[Net]:
    """One for a test."""
    with Net(fault_seed) as made:
        yield made


def client(proxy: Proxy) -> socket.socket:
    """Connected through the proxy, to the far end."""
    made = socket.create_connection(("127.0.0.1", proxy.port), 30)
    assert echoed(made, b"hello") == b"hello"
    return made


def echoed(connection: socket.socket, data: bytes) -> bytes:
    """What comes back."""
    connection.sendall(data)
    found = b""
    while len(found) < len(data):
        some = connection.recv(len(data) - len(found))
        if not some:
            return found
        found += some
    return found


def test_order_is_kept_and_delay_is_had(net: Net, echo: Echo) -> None:
    """Chunks with delays of their own arrive in order; a round trip takes two of them."""
    proxy = net.proxy("127.0.0.1", echo.port)
    with client(proxy) as connection:
        proxy.delay(0.02, 0.06)
        began = time.monotonic()
        text = b"".join(b"%04d" % number for number in range(2000))
        for start in range(0, len(text), 1000):
            connection.sendall(text[start : start + 1000])
        assert echoed(connection, b"") == b""
        found = b""
        while len(found) < len(text):
            found += connection.recv(65536)
        assert found == text
        assert time.monotonic() - began >= 0.04


def test_cut(net: Net, echo: Echo) -> None:
    """Both ends are reset; the next connection works."""
    proxy = net.proxy("127.0.0.1", echo.port)
    with client(proxy) as connection:
        assert proxy.cut() == 1
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    client(proxy).close()


def test_a_hole_says_nothing(net: Net, echo: Echo) -> None:
    """Neither on old connections nor on new ones; afterwards what was sent arrives."""
    proxy = net.proxy("127.0.0.1", echo.port)
    with client(proxy) as old:
        proxy.hole()
        with socket.create_connection(("127.0.0.1", proxy.port)) as new:
            for connection in (old, new):
                connection.settimeout(0.2)
                connection.sendall(b"there?")
                with pytest.raises(TimeoutError):
                    connection.recv(1)
            proxy.calm()
            for connection in (old, new):
                connection.settimeout(30)
                assert echoed(connection, b"") == b""
                assert connection.recv(6) == b"there?"


@pytest.mark.parametrize("near", [True, False])
def test_half_open(net: Net, echo: Echo, near: bool) -> None:
    """One end is reset; the other is neither told nor answered."""
    proxy = net.proxy("127.0.0.1", echo.port)
    with client(proxy) as connection:
        assert proxy.half_open(near=near) == 1
        if near:
            assert echo.reset.wait(30)
            connection.settimeout(0.2)
            connection.sendall(b"there?")
            with pytest.raises(TimeoutError):
                connection.recv(1)
        else:
            with pytest.raises(ConnectionResetError):
                connection.recv(1)
            assert not echo.reset.wait(0.2)
        assert proxy.connections == 0


def test_trickle(net: Net, echo: Echo) -> None:
    """So many bytes a second and no more."""
    proxy = net.proxy("127.0.0.1", echo.port)
    with client(proxy) as connection:
        proxy.trickle(2000)
        began = time.monotonic()
        assert echoed(connection, b"x" * 1000) == b"x" * 1000
        assert time.monotonic() - began >= 0.3


def test_a_target_by_name(net: Net, echo: Echo) -> None:
    """A proxy without one reads it from the connection; what cannot be reached is a reset."""
    proxy = net.proxy()
    with socket.create_connection(("127.0.0.1", proxy.port), 30) as connection:
        connection.sendall(f"tcp:127.0.0.1:{echo.port}\n".encode())
        assert echoed(connection, b"hello") == b"hello"
    with socket.create_connection(("127.0.0.1", proxy.port), 30) as connection:
        connection.sendall(b"nonsense\n")
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
