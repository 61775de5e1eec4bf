"""Nothing of a server listens beyond loopback unless asked; what its folder holds is this user's alone."""

from __future__ import annotations

import ipaddress
import stat
from pathlib import Path

import psutil
import pytest

from tests.faults.server import running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]


def test_where_a_server_listens(tmp_path: Path) -> None:
    """Every listening socket of every process, Ray's included; every socket and secret file in the data folder."""
    with running(tmp_path / "d", gateways=2, actors=2, house_bots=2, log_level="warning") as server:
        found = {
            (one.laddr.ip, one.laddr.port, process.name())
            for process in server.processes()
            for one in process.net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        }
        assert any(port == server.port for _, port, _ in found)
        wide = sorted(one for one in found if not _loopback(one[0]))
        print(*wide, sep="\n")
        assert wide == []
        kept = [path for path in server.data.rglob("*") if path.is_socket() or "secret" in path.name]
        assert len(kept) > 4
        assert [path for path in kept if not _private(path, server.data)] == []
    print(f"{len(found)} listening sockets, {len(wide)} beyond loopback")


def _private(path: Path, top: Path) -> bool:
    """Whether its own rights, or those of a folder on the way to it, keep others out."""
    if not stat.S_IMODE(path.lstat().st_mode) & 0o077:
        return True
    return any(not stat.S_IMODE(one.stat().st_mode) & 0o011 for one in path.parents if one.is_relative_to(top))


def _loopback(ip: str) -> bool:
    address = ipaddress.ip_address(ip)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
