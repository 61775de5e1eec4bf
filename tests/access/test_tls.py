"""TLS on the gateways' port: who is believed, what is refused, certificates that are renewed under a running server."""

from __future__ import annotations

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509

from kangtou_clients.api import BadAddress, Unavailable, connect
from kangtou_services import tls
from kangtou_services.settings import Settings
from tests.e2e.test_play_inprocess import GAMES, NAMES, seat
from tests.inprocess import Server, whole_server


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """With a certificate for development; clients believe its root."""
    async with whole_server(tls=True) as found:
        monkeypatch.setenv("KANGTOU_CA", str(found.backend.settings.data / "tls" / "ca.pem"))
        yield found


def certificate_of(server: Server) -> x509.Certificate:
    """What a client is shown now."""
    host, port = server.address.split(":")
    return x509.load_pem_x509_certificate(ssl.get_server_certificate((host, int(port))).encode())


async def test_a_match_over_tls(server: Server) -> None:
    """All seats, to the end."""
    await server.make("m1", options={"rounds": 2})
    server.gateways[0] = replace(server.gateways[0], address=f"tls://{server.address}")
    matches = await asyncio.wait_for(asyncio.gather(*(seat(server, "m1", name) for name in NAMES)), 60)
    assert {match.ending.cause for match in matches if match.ending} == {"rules"}


async def test_who_is_not_believed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the clear; by the system's roots; under another name: no connection, and the token never leaves."""
    address = server.address
    for given, environment in (
        (address, {}),
        (f"tls://{address}", {"KANGTOU_CA": ""}),
        (f"tls://{address}", {"KANGTOU_TLS_NAME": "elsewhere.example"}),
    ):
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            async with connect(given, "t-ann", registry=GAMES, retry_s=0.2) as client:
                with pytest.raises(Unavailable):
                    await client.accounts.who_am_i()


async def test_a_renewed_certificate_needs_no_restart(server: Server) -> None:
    """The next connection gets it; one that cannot be used is not taken."""
    settings = server.backend.settings
    files = tls.files_of(settings)
    assert files is not None
    first = certificate_of(server)
    shutil.copy(files.certificate, files.certificate.with_suffix(".old"))
    files.certificate.write_bytes(b"no certificate")
    assert certificate_of(server) == first
    tls.make(files, settings.host)
    second = certificate_of(server)
    assert second != first
    assert second == x509.load_pem_x509_certificate(files.certificate.read_bytes())


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    """Each with what is wrong, before a port is opened."""
    settings = Settings(data=tmp_path, tls=True)
    files = tls.prepare(settings)
    assert files is not None
    assert files.key.stat().st_mode & 0o777 == 0o600
    other = tls.prepare(Settings(data=tmp_path / "other", tls=True))
    assert other is not None
    given = Settings(data=tmp_path, tls=True).model_copy(update={"tls_cert": str(files.certificate)})
    for key, text in (
        (tmp_path / "none", "No such file"),
        (other.key, "is not the key of"),
        (files.certificate, "no certificate and key"),
    ):
        with pytest.raises(tls.BadCertificate, match=text):
            tls.prepare(given.model_copy(update={"tls_key": str(key)}))
    files.key.chmod(0o644)
    with pytest.raises(tls.BadCertificate, match="chmod 600"):
        tls.prepare(given.model_copy(update={"tls_key": str(files.key)}))
    with pytest.raises(ValueError, match="go together"):
        Settings(data=tmp_path, tls_cert="a.pem")


def test_a_certificate_that_runs_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That for development is made anew in time; the operator's is refused with its date."""
    settings = Settings(data=tmp_path, tls=True)
    monkeypatch.setattr(tls, "DAYS", 10)
    files = tls.prepare(settings)
    assert files is not None
    first = files.certificate.read_bytes()
    monkeypatch.setattr(tls, "DAYS", 365)
    tls.prepare(settings)
    assert files.certificate.read_bytes() != first
    kept = files.certificate.read_bytes()
    tls.prepare(settings)
    assert files.certificate.read_bytes() == kept
    monkeypatch.setattr(tls, "DAYS", 0)  # until a moment ago
    tls.make(files, "127.0.0.1")
    given = Settings(data=tmp_path, tls_cert=str(files.certificate), tls_key=str(files.key))
    with pytest.raises(tls.BadCertificate, match="was good until"):
        tls.prepare(given)


@pytest.mark.parametrize("address", ["https://a:1", "tls://", "x://y"])
def test_addresses_that_are_none(address: str) -> None:
    """Said at once."""
    with pytest.raises(BadAddress, match="host:port"):
        connect(address)


@pytest.mark.parametrize("content", [None, "nothing"])
def test_roots_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None) -> None:
    """By the variable that names them."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("KANGTOU_CA", str(path))
    with pytest.raises(BadAddress, match="KANGTOU_CA"):
        connect("tls://127.0.0.1:1")
