"""A whole server behind TLS: its own bots, its tournaments, the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import Counts
from tests.faults.server import ROOT, running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]


def test_everything_that_connects(tmp_path: Path, counts: Counts) -> None:
    """House bots fill a table, a tournament with built-in bots and a process ends, and a stranger is refused."""
    spec = tmp_path / "spec.toml"
    command = json.dumps([sys.executable, "-m", "tests.tournament.zoo", "good"])
    spec.write_text(
        'name = "tls"\ngame = "duizhu"\nsets = 1\nturn_ms = 60000\n'
        f'[[entrants]]\nname = "A"\nbot = "greedy"\n[[entrants]]\nname = "B"\ncommand = {command}\n'
    )
    given = {"gateways": counts(1, 2), "actors": counts(1, 2), "house_bots": 4, "tls": "true", "log_level": "warning"}
    with running(tmp_path / "d", **given) as server, ThreadPoolExecutor() as aside:
        environment = {
            **server.environment,
            "KANGTOU_CA": str(server.data / "tls" / "ca.pem"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }

        def run(*words: str, address: str = f"tls://{server.address}", **more: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-m", "kangtou_clients", "--lang", "en", "--server", address, *words],
                env={**environment, **more},
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )

        done = run("register", "ann")
        assert done.returncode == 0, done.stderr
        refused = aside.submit(run, "whoami", KANGTOU_CA="")  # it does not give up at once
        length = ["--option", "rounds=1"] * counts(1, 0)
        done = run("bot", "run", "--game", "hongshi", "--pool", "house", *length)
        assert done.returncode == 0, done.stderr
        done = run("tournament", "submit", str(spec))
        assert done.returncode == 0, done.stderr
        done = run("tournament", "watch")
        assert done.returncode == 0, done.stdout + done.stderr
        stranger = refused.result()
        assert stranger.returncode != 0
        assert "cannot be reached" in stranger.stderr
        assert "Traceback" not in stranger.stderr
        assert (server.data / "tls" / "gateway.key").stat().st_mode & 0o077 == 0
