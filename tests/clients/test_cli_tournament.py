"""`kangtou tournament` against a whole server with a runner in this process: every command, as text and as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from kangtou_services.accounts.accounts import Accounts
from kangtou_services.gateway.server import Running
from kangtou_services.identity import Identity
from kangtou_services.tournament.runner import Runner
from tests.clients.served import Run, commands, serving_commands
from tests.clients.served import Server as Plain

SPEC = """
name = "{name}"
game = "hongshi"
sets = {sets}
concurrency = 4
[options]
rounds = 1
[[entrants]]
name = "A"
bot = "greedy"
[[entrants]]
name = "B"
{second}
"""
ENDLESS = 10_000
LOG_MOST = 4_000


class Server(Plain):
    """The same with a runner."""

    @asynccontextmanager
    async def beside(self, identity: Identity, running: Running) -> AsyncIterator[None]:
        """It plays what is submitted."""
        assert isinstance(identity, Accounts)
        runner = asyncio.create_task(Runner(self.backend, identity, running.address, 1).run())
        yield
        runner.cancel()
        await asyncio.gather(runner, return_exceptions=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plain]:
    with serving_commands(Server, tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture
def run(server: Plain, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command line against it, signed in."""
    command = commands(server, capsys, monkeypatch, tmp_path)
    assert command("register", "Tester", "--bot")[0] == 0
    return command


def spec(folder: Path, name: str = "spring", sets: int = 1, second: str = 'bot = "random"') -> Path:
    """A file."""
    file = folder / f"{name}.toml"
    file.write_text(SPEC.format(name=name, sets=sets, second=second))
    return file


def lines(text: str) -> list[dict[str, Any]]:
    """JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.timeout(120)
def test_run_plays_a_tournament_and_reports(run: Run, tmp_path: Path) -> None:
    """The report on the screen or in a file of every form; afterwards status, report and verify know it."""
    code, out, err = run("tournament", "run", spec(tmp_path))
    assert code == 0, err
    assert all(word in out for word in ("spring", "A", "B"))
    listed = lines(run("tournament", "status", "--json")[1])
    assert [(one["name"], one["state"]) for one in listed][:1] == [("spring", "complete")]
    one = listed[0]
    assert one["games"] == one["planned"] > 0
    assert (one["entrants"], one["game"], one["format"]) == (["A", "B"], "hongshi", "round-robin")
    text = run("tournament", "status", one["tournament"])[1]
    assert text.split() == [
        *(one["tournament"], "complete", f"{one['games']}/{one['planned']}"),
        *("hongshi", "round-robin", "spring:", "A,", "B"),
    ]
    for form, starts in (("text", ""), ("json", "{"), ("csv", ""), ("html", "<!DOCTYPE html>")):
        file = tmp_path / f"report.{form}"
        code, out, err = run("tournament", "report", one["tournament"], "--format", form, "-o", file)
        assert (code, out) == (0, ""), err
        assert str(file) in err
        assert file.read_text().lower().startswith(starts.lower())
        assert "A" in file.read_text()
    report = json.loads(run("tournament", "report", "--json")[1])
    assert report == json.loads((tmp_path / "report.json").read_text())
    code, out, _ = run("tournament", "verify", tmp_path / "report.json", "--json")
    assert (code, lines(out)[-1]["problems"]) == (0, 0)
    broken = tmp_path / "broken.json"
    broken.write_text((tmp_path / "report.json").read_text().replace('"spring"', '"autumn"').replace("[", "[", 1)[:-40])
    assert run("tournament", "verify", broken)[0] == 2


@pytest.mark.timeout(120)
def test_run_as_json_tells_how_it_goes_on(run: Run, tmp_path: Path) -> None:
    """Each line a state of it, the report last; of several specs each report is a file in a folder."""
    code, out, _ = run("tournament", "run", spec(tmp_path, "first"), "--json")
    told = lines(out)
    assert code == 0
    assert told[-2]["state"] == "complete"
    assert told[-2]["games"] == told[-2]["planned"]
    assert {one["entrant"] for one in told[-2]["table"]} == {"A", "B"}
    assert "state" not in told[-1]
    files = [spec(tmp_path, "second"), spec(tmp_path, "third")]
    assert run("tournament", "run", *files, "--format", "csv", "-o", tmp_path / "out")[0] == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["second.csv", "third.csv"]


@pytest.mark.timeout(120)
def test_submit_pause_resume_watch_cancel(run: Run, tmp_path: Path) -> None:
    """A tournament that goes on for longer than this test, and one that is finished by `watch`."""
    code, out, _ = run("tournament", "submit", spec(tmp_path, "long", ENDLESS))
    long = out.strip()
    assert (code, long[:2]) == (0, "t_")
    assert run("tournament", "cancel", long, "--pause") == (0, "", "")
    assert lines(run("tournament", "status", long, "--json")[1])[0]["state"] == "paused"
    assert run("tournament", "cancel", long) == (0, "", "")
    code, out, err = run("tournament", "watch", long, "--json")
    assert (code, lines(out)[-2]["state"]) == (1, "cancelled"), err
    code, out, err = run("tournament", "resume", long)
    assert (code, "long" in out) == (1, True), err  # closed: nothing goes on, the report is shown

    short = lines(run("tournament", "submit", spec(tmp_path, "short"), "--json")[1])[0]["tournament"]
    run("tournament", "cancel", short, "--pause")
    code, out, err = run("tournament", "resume", short)
    assert code == 0, err
    code, again, err = run("tournament", "watch", short)
    assert (code, again) == (0, out), err
    assert run("tournament", "watch")[1] == again  # the newest


@pytest.mark.timeout(120)
def test_output_of_a_process_that_fell(run: Run, tmp_path: Path) -> None:
    """It forfeits; what it said last can be read by who submitted it."""
    command = json.dumps([sys.executable, "-c", "print('last words'); raise SystemExit(3)"])
    code, _, err = run("tournament", "run", spec(tmp_path, "falls", second=f"command = {command}"), "--json")
    assert code == 0, err
    report = json.loads(run("tournament", "report", "--json")[1])
    chosen = lines(run("tournament", "status", "--json")[1])[0]["tournament"]
    assert {(one["entrant"], one["kind"]) for one in report["faults"]} == {(1, "crash")}
    game = report["faults"][0]["game"]
    code, out, _ = run("tournament", "output", chosen, game, "--json")
    assert code == 0
    assert all("last words" in one["output"] for one in lines(out))
    assert "last words" in run("tournament", "output", chosen, game)[1]
    assert run("tournament", "output", chosen, "9-9-9.9")[0] == 8


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_ctrl_c_ends_the_server_and_resume_finishes(tmp_path: Path) -> None:
    """`run` on a server of its own: 130, how to go on, no process left; then `resume` plays the same tournament on."""
    file, data = spec(tmp_path, "broken off", 8), tmp_path / "kept"
    words = [sys.executable, "-m", "kangtou_clients", "tournament"]
    environment = {**os.environ, "KANGTOU_CONFIG": str(tmp_path / "config"), "KANGTOU_LANG": "en", "KANGTOU_SERVER": ""}
    command = [*words, "run", str(file), "--data", str(data)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        line, told = "", ""
        while not re.search(r": [1-9]\d* of \d+ games", line):
            line = child.stderr.readline()
            told += line
            if not line:  # it has ended
                log = data / "up.log"
                kept = log.read_text(errors="replace")[-LOG_MOST:] if log.exists() else ""
                pytest.fail(f"{child.wait(60)}: {told}\n{child.communicate()[0]}\n{log}:\n{kept}")
        began = psutil.Process(child.pid).children(recursive=True)
        child.send_signal(signal.SIGINT)
        out, said = child.communicate(timeout=120)
        assert (child.returncode, out) == (130, "")
    assert len(began) > 5
    assert not psutil.wait_procs(began, timeout=60)[1]
    found = re.search(rf"kangtou tournament resume (t_\w+) --data {data}\n", said)
    assert found
    resumed = [*words, "resume", found[1], "--data", str(data), "--json"]
    ran = subprocess.run(resumed, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    last, report = lines(ran.stdout)[-2:]
    assert (last["tournament"], last["state"]) == (found[1], "complete")
    assert len({one["game"] for one in report["matches"]}) == len(report["matches"]) == last["planned"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"sets": 0}, "sets: '0' cannot be; allowed: a whole number, 1 … 1000000"),
    ({"second": 'bot = "greedy:3"'}, "entrants[1].bot: 'greedy:3' cannot be; allowed: random, greedy, search"),
    ({"second": 'bot = "search:"'}, "entrants[1].bot: 'search:' cannot be; allowed: random, greedy, search"),
    ({"second": 'account = "nobody-here"'}, "rotation: 'full' cannot be; allowed: cross"),
    ({"second": 'bot = "greedy"\ncolour = "red"'}, "entrants[1].colour: "),
]


@pytest.mark.parametrize(("given", "said"), BAD, ids=lambda value: str(value)[:40])
def test_a_bad_spec_is_refused_with_the_field(run: Run, tmp_path: Path, given: dict[str, Any], said: str) -> None:
    """By check, submit and run, with one exit code, as text and as JSON; nothing is played."""
    before = run("tournament", "status")[1]
    file = spec(tmp_path, **given)
    for word in ("check", "submit", "run"):
        code, out, err = run("tournament", word, file)
        assert code == 2
        assert said in out
        assert "the spec cannot be played: 1 problems" in err
    (problem,) = lines(run("tournament", "check", file, "--json")[1])
    assert said.startswith(f"{problem['name']}: ")
    assert run("tournament", "status")[1] == before


def test_what_is_not_there(run: Run, tmp_path: Path) -> None:
    """A file, TOML, a form of report, a tournament."""
    assert run("tournament", "submit", tmp_path / "none.toml")[0] == 8
    bad = tmp_path / "bad.toml"
    bad.write_text("name = ")
    code, out, err = run("tournament", "check", bad)
    assert (code, out) == (2, "")
    assert str(bad) in err
    code, _, err = run("tournament", "run", spec(tmp_path), "--format", "pdf")
    assert code == 2
    assert "text, json, csv, html" in err
    for words in (("status", "t_none"), ("report", "t_none"), ("watch", "t_none"), ("cancel", "t_none")):
        code, out, err = run("tournament", *words)
        assert (code, out) == (8, ""), words
        assert err
