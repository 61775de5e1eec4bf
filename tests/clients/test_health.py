"""`kangtou health`: one exit code for each thing that may be so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kangtou_clients.cli import main
from tests.clients.rooms import Rooms


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    found = Rooms(tmp_path_factory.mktemp("data"))
    yield found
    found.stop()


@pytest.mark.parametrize("service", ["", "kangtou.live", "kangtou.actors", "kangtou.v1.PlayService"])
def test_serving(
    rooms: Rooms, service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path))
    words = ["--server", rooms.address, "health", "--service", service]
    assert main(words) == 0
    assert "SERVING" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith('{"server"')]
    assert json.loads(lines[-1]) == {"server": rooms.address, "service": service, "status": "SERVING"}


@pytest.mark.parametrize(
    ("server", "service", "code"), [("", "kangtou.v1.NoService", 8), ("127.0.0.1:1", "", 6)], ids=["unknown", "nobody"]
)
def test_not(
    rooms: Rooms,
    server: str,
    service: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path))
    words = ["--lang", "en", "--server", server or rooms.address, "health", "--service", service, "--timeout", "3"]
    assert main(words) == code
    assert capsys.readouterr().err.startswith("kangtou: ")
