"""`kangtou bot check`: a good bot passes, bad ones are told what is wrong with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kangtou_clients.bots.check.inspector import Seen
from kangtou_clients.bots.check.trial import Run, with_drop

ROOT = Path(__file__).parents[2]
BAD = """
import sys
from kangtou_clients.bots import Bot, main
from kangtou_engine.actions import Action

class Bad(Bot):
    asked = 0
    def act(self, seen):
        self.asked += 1
        if {how!r} == "illegal":
            return Action("fly", ("H6",))
        if {how!r} == "crash" and self.asked == 2:
            sys.exit(7)
        return seen.default

main(Bad)
"""


def checked(command: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and report."""
    words = [sys.executable, "-m", "kangtou_clients", "bot", "check", command, "--json", "--rounds", "1", *options]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=150, check=False, cwd=ROOT)
    assert ran.stdout, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return ran.returncode, found


def grades(report: dict[str, Any]) -> dict[str, str]:
    """By check."""
    return {one["check"]: one["grade"] for one in report["checks"]}


@pytest.mark.timeout(200)
def test_a_good_bot_passes() -> None:
    """All of it, several tables in one stream too."""
    code, report = checked(f"{sys.executable} examples/bots/first_legal_bot.py", "--game", "erbaiwu")
    assert code == 0, [one for one in report["checks"] if one["grade"] != "ok"]
    assert set(grades(report).values()) == {"ok"}
    assert report["positions"] >= 3
    assert 0 < report["answers_ms"]["p50"] <= report["answers_ms"]["max"]


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("how", "wrong"), [("illegal", "legality"), ("crash", "exit code")])
def test_a_bad_bot_is_told_so(how: str, wrong: str, tmp_path: Path) -> None:
    """The check that names it, with advice."""
    bot = tmp_path / "bot.py"
    bot.write_text(BAD.format(how=how))
    code, report = checked(f"{sys.executable} {bot}", "--game", "hongshi", "--turn-ms", "1000")
    assert code == 1
    (found,) = [one for one in report["checks"] if one["check"] == wrong]
    assert found["grade"] == "bad"
    assert found["advice"]


def test_a_program_that_is_not_there() -> None:
    """One clear error."""
    words = [sys.executable, "-m", "kangtou_clients", "bot", "check", "no-such-bot-here"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert ran.returncode == 8
    assert "no-such-bot-here" in ran.stderr


@pytest.mark.parametrize(
    ("found", "played"), [([(0, 1), (0, 1), (1, 1)], 3), ([(1, 1)], 1), ([(0, 0)], 1), ([(0, 1)] * 9, 5)]
)
async def test_a_match_over_before_its_stream_is_dropped(found: list[tuple[int, int]], played: int) -> None:
    """It says nothing of the bot: another one is played, a few times; not for a bot that does not end any."""
    runs = [Run(1, over=over, seen=Seen(drops=drops)) for drops, over in found]
    left = iter(runs)

    async def play() -> Run:
        return next(left)

    assert await with_drop(play) is runs[played - 1]
    assert len(list(left)) == len(runs) - played
