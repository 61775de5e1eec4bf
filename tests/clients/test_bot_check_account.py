"""`kangtou bot check ACCOUNT`: a bot that connects by itself, at a server with a runner in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kangtou_clients.api import Login, connect
from tests.clients.served import Run
from tests.clients.test_cli_tournament import Server, run, server

__all__ = ["run", "server"]  # fixtures
ROOT = Path(__file__).parents[2]
LATE = """
import time
from kangtou_clients.bots import Bot, main

class Late(Bot):
    slow = True
    def act(self, seen):
        time.sleep(1.5)
        return seen.default

main(Late)
"""


async def registered(server: Server) -> tuple[str, str]:
    """A new bot's account and token."""
    async with connect(server.address.result()) as client:
        login = await client.accounts.register("checked", "bot")
        assert isinstance(login, Login)
        assert login.account is not None
        return login.account.account_id, login.token


def checked(server: Server, login: tuple[str, str], bot: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and report of the check, with that bot connected."""
    words = [sys.executable, "-m", "kangtou_clients", "bot", "check", login[0], "--json", "--rounds", "1"]
    with subprocess.Popen([*words, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT) as checking:
        assert checking.stdout is not None
        told = json.loads(checking.stdout.readline())
        assert told["account"] == login[0]
        mine = [sys.executable, str(bot), "--enter", "--server", told["connect"]]
        with subprocess.Popen(mine, env={**os.environ, "KANGTOU_TOKEN": login[1]}, cwd=ROOT) as playing:
            try:
                report: dict[str, Any] = json.loads(checking.stdout.readline())
            finally:
                playing.kill()
    return checking.returncode, report


@pytest.mark.timeout(200)
def test_a_good_bot_passes(run: Run, server: Server) -> None:
    """Every check, over several tables in one stream and over dropped streams."""
    login = server.do(registered(server)).result(60)
    bot = ROOT / "examples/bots/first_legal_bot.py"
    code, report = checked(server, login, bot, "--game", "hongshi", "--most-ms", "60000")
    assert code == 0, report
    assert {one["check"]: one["grade"] for one in report["checks"]} == dict.fromkeys(
        ("connects", "protocol", "legality", "time", "plays to the end", "faults", "reconnects", "several tables"), "ok"
    )
    assert report["positions"] >= 3


@pytest.mark.timeout(200)
def test_a_late_bot_is_told_so(run: Run, server: Server, tmp_path: Path) -> None:
    """It forfeits, and the check says by which fault."""
    login = server.do(registered(server)).result(60)
    bot = tmp_path / "late.py"
    bot.write_text(LATE)
    code, report = checked(server, login, bot, "--game", "hongshi", "--turn-ms", "500")
    found = {one["check"]: one for one in report["checks"]}
    assert code == 1
    assert found["faults"]["grade"] == found["time"]["grade"] == "bad"
    assert "timeout in 1 games" in found["faults"]["found"]
    assert found["faults"]["advice"]


def test_nobody_comes_and_nobody_is_there(run: Run, server: Server) -> None:
    """One clear error each."""
    login = server.do(registered(server)).result(60)
    code, _, err = run("bot", "check", login[0], "--wait-s", "1")
    assert (code, "no bot has called EnterTournament within 1 s" in err) == (1, True)
    code, _, err = run("bot", "check", login[0], "--listen", "192.0.2.1:1", "--wait-s", "1")
    assert (code, "192.0.2.1:1" in err) == (2, True)
