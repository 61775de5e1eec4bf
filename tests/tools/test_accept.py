"""The acceptance runner: what it runs, skips, judges, keeps and kills."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.accept import runner
from tests.accept.__main__ import main
from tests.accept.lines import PartError, found, read_part

ROOT = Path(__file__).resolve().parents[2]
PART = """
[[line]]
id = "1"
title = "counts and measures"
command = "echo x >> ran; echo '12 passed'; echo 'rate 3 moves/s'; echo 'rate 5 moves/s, p99 7 ms'"
count = '(\\d+) passed'
figure = 'rate (?P<rate>\\d+) moves/s(?:, p99 (?P<p99>\\d+))?'

[[line]]
id = "2"
title = "may fail"
command = "test -e allowed"
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and one part."""
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines/small.toml").write_text(PART)
    (tmp_path / ".gitignore").write_text(".accept/\nran\nallowed\nstarted\n")
    for command in ("init -q", "add .", "-c user.name=x -c user.email=x@example.org commit -qm one"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    return tmp_path


def arguments(repository: Path, *more: str) -> list[str]:
    """The command line for the part in that repository."""
    return ["--root", str(repository), "--folder", str(repository / "lines"), *more]


def results(repository: Path) -> dict[str, dict[str, object]]:
    """The verdicts written, by line."""
    (file,) = (repository / ".accept").glob("*.json")
    return {entry["id"]: entry for entry in json.loads(file.read_text())["lines"]}


def test_a_failing_line_fails_the_run(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, the reason is told, the other line's count and figures are kept; the last occurrence counts."""
    assert main(arguments(repository, "small")) == 1
    written = results(repository)
    assert (written["1"]["count"], written["1"]["figure"]) == ("12", "rate 5, p99 7")
    assert written["2"]["reason"] == "exit code 1"
    assert "1 passed, 1 failed" in capsys.readouterr().out
    (text,) = (repository / ".accept").glob("*.txt")
    assert "FAIL" in text.read_text()


def test_resumes_where_it_stood(repository: Path) -> None:
    """Lines that passed are not run again on the same commit, unless asked for; failed ones are."""
    main(arguments(repository, "small"))
    (repository / "allowed").touch()
    assert main(arguments(repository, "small")) == 0
    assert (repository / "ran").read_text() == "x\n"
    assert main(arguments(repository, "small", "--again")) == 0
    assert (repository / "ran").read_text() == "x\nx\n"


def test_a_changed_command_or_tree_is_run_again(repository: Path) -> None:
    """A verdict is worth something for its commit and command only."""
    main(arguments(repository, "small", "--line", "1"))
    (repository / "new file").touch()
    main(arguments(repository, "small", "--line", "1"))
    main(arguments(repository, "small", "--line", "1"))
    assert (repository / "ran").read_text() == "x\n" * 3


def test_a_missing_figure_fails(repository: Path) -> None:
    """A command that exits 0 without saying what it should say does not hold."""
    part = repository / "lines/small.toml"
    part.write_text(PART.replace("rate 5 moves/s, p99 7 ms", "").replace("rate 3 moves/s", ""))
    assert main(arguments(repository, "small", "--line", "1")) == 1
    assert results(repository)["1"]["reason"] == "no figure in the output"


SHORT = """
[[line]]
id = "1"
title = "has a short form"
command = "touch ran; echo '300 passed'; echo seed $FAULTS_SEED"
short = "echo '3 passed'; echo seed $FAULTS_SEED"
settings = "none [at all]"
count = '(\\d+) passed'
figure = '(?P<seed>seed \\d+)'

[[line]]
id = "2"
title = "has none"
command = "true"
"""


def test_the_short_form_is_apart(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that have one, with its command, in a table and a file of their own; its seed is told and passed on."""
    part = repository / "lines/small.toml"
    part.write_text(SHORT)
    assert main(arguments(repository, "small", "--short", "--seed", "77", "--json")) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["short"]
    (line,) = said["lines"]
    assert (line["count"], line["figure"], line["seed"], line["settings"]) == ("3", "seed seed 77", 77, "none [at all]")
    (text,) = (repository / ".accept").glob("*.txt")
    assert text.stem.endswith("-short")
    assert "short form, seed 77" in text.read_text()
    assert "none [at all]" in text.read_text()
    assert not (repository / "ran").exists()
    assert main(arguments(repository, "small", "--only", "1")) == 0
    assert (repository / "ran").exists()
    assert main(arguments(repository, "small", "--only", "2", "--short")) == 2


def test_unknown_part_and_line_are_told(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer names what there is."""
    assert main(arguments(repository, "large")) == 2
    assert "parts: small" in capsys.readouterr().err
    assert main(arguments(repository)) == 2
    assert main(arguments(repository, "small", "--line", "9")) == 2
    assert "lines: 1, 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no [[line]]"),
        ("[[line]]\nid = '1'\ntitle = 't'", "lacks command"),
        ("[[line]]\nid = '1'\ntitle = 't'\ncommand = 'c'\nfigures = 'x'", "unknown figures"),
        ("[[line]]\nid = '1'\ntitle = 't'\ncommand = 'c'\nfigure = 'x'", "figure needs a group"),
        ("[[line]]\nid = '1'\ntitle = 't'\ncommand = 'c'\nfigure = '(x'", "figure: "),
        ("[[line]]\nid = '1'\ntitle = 't'\ncommand = 'c'\n" * 2, "several lines with id 1"),
        ("[[line", "small.toml: "),
    ],
)
def test_a_bad_file_is_told(tmp_path: Path, text: str, problem: str) -> None:
    """Where and why."""
    (tmp_path / "small.toml").write_text(text)
    with pytest.raises(PartError) as caught:
        read_part(tmp_path / "small.toml")
    assert problem in str(caught.value)


def test_a_line_that_hangs_is_stopped(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its timeout, with everything that it started (a shell's background job ignores the first signal)."""
    monkeypatch.setattr(runner, "GRACE", 0.2)
    part = repository / "lines/small.toml"
    part.write_text("[[line]]\nid = '1'\ntitle = 't'\ntimeout = 1\ncommand = 'sleep 600 & echo $! > started; wait'")
    assert main(arguments(repository, "small")) == 1
    assert results(repository)["1"]["reason"] == "took longer than 1 s"
    assert gone(int((repository / "started").read_text()))


def test_ctrl_c_ends_the_command_too(repository: Path) -> None:
    """An interrupted run leaves no process and exits 130."""
    part = repository / "lines/small.toml"
    part.write_text("[[line]]\nid = '1'\ntitle = 't'\ncommand = 'echo $$ > started; sleep 600'")
    command = [sys.executable, "-m", "tests.accept", *arguments(repository, "small")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        started = repository / "started"
        until(lambda: started.exists() and started.read_text().strip() != "")
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
    assert gone(int(started.read_text()))


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def gone(process: int) -> bool:
    """Whether a process has ended (or is about to be collected by whoever inherited it)."""
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_every_declared_part_can_be_read() -> None:
    """The parts of this repository."""
    for path in (ROOT / "tests/accept").glob("*.toml"):
        assert read_part(path), path


def test_a_pattern_without_names_gives_its_group() -> None:
    """One group, its text."""
    pattern = re.compile(r"p99 (\d+) ms")
    assert found(pattern, "p99 3 ms\np99 4 ms\n") == "4"
    assert found(pattern, "nothing") is None
