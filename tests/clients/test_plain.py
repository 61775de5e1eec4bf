"""The line mode through a pseudo-terminal and through a pipe: a whole match, every command, both languages."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pexpect.fdpexpect
import pytest

from kangtou_clients.api import Login, connect
from kangtou_clients.cli.config import Config, Profile
from tests.clients.rooms import Rooms

COMMAND = [sys.executable, "-m", "kangtou_clients"]
WAIT_S = 90


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    found = Rooms(tmp_path_factory.mktemp("data"))
    found.address  # noqa: B018 - waits until it is up
    yield found
    found.stop()


@pytest.fixture
def env(rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a signed-in user."""
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path))

    async def register() -> Login:
        async with connect(rooms.address) as client:
            login = await client.accounts.register("Xiaoming", "human")
            assert isinstance(login, Login)
            return login

    login = rooms.do(register()).result(30)
    assert login.account is not None
    account = login.account
    Config().keep(rooms.address, "", Profile(account.account_id, account.name, "human", login.token, login.expires_ms))
    given = {**os.environ, "KANGTOU_CONFIG": str(tmp_path), "KANGTOU_SERVER": rooms.address, "KANGTOU_LANG": "en"}
    given.pop("NO_COLOR", None)
    return given


class Typist:
    """Types into the command and reads what it says, at a pseudo-terminal.

    The command is started by `subprocess`: a plain fork, as `pexpect.spawn` does, is not safe in a process with gRPC.
    """

    def __init__(self, env: dict[str, str], *words: str) -> None:
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *(words or ("play", "--plain"))],
            env=env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.child = pexpect.fdpexpect.fdspawn(ours, encoding="utf-8", timeout=WAIT_S)

    def interrupt(self) -> None:
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """Wait for the command's end; its exit code."""
        with contextlib.suppress(OSError):  # EIO: how Linux says that nobody has the other side any more
            self.child.expect(pexpect.EOF)
        self.child.close()
        return self.process.wait(WAIT_S)

    def ask(self, line: str, answer: str) -> re.Match[str]:
        """Type a line; what is said must fit."""
        self.child.sendline(line)
        self.child.expect_exact(line)
        self.child.expect(answer)
        found = self.child.match
        assert isinstance(found, re.Match)
        return found

    def turn(self) -> bool:
        """Until this seat is asked; False when the match is over."""
        found = self.child.expect([r"your turn: [^\n]*\n", "the match is over", "refused: [^\n]*\n"])
        assert found < 2, self.child.after
        return found == 0

    def choose(self, *, by_number: bool) -> str:
        """What to type: the first of the list if it is one, else what the hint says."""
        if by_number:
            self.child.sendline("legal")
            if self.child.expect([r"   1  [^\n]*\n", "your turn: "]) == 0:
                return "1"
        hint = self.ask("hint", r"hint: ([^\r]*)\r")[1]
        found = re.search(r"\[(.*)\]", hint)
        return found[1] if found else hint


@pytest.mark.parametrize("game", ["hongshi", "duizhu", "erbaiwu", "wushik"])
def test_a_whole_match_through_a_terminal(rooms: Rooms, env: dict[str, str], game: str) -> None:
    """Opened, filled with bots, played to its end by typed actions and by numbers."""
    typist = Typist(env)
    typist.child.expect("Xiaoming on")
    match = typist.ask(f"open {game} rounds=1", r"(\w+): you have seat 0; 3 seats are free")[1]
    rooms.bots(match, [1, 2, 3])
    typist.child.expect("you have seat 0\r\n")
    turns = 0
    while typist.turn():
        turns += 1
        typist.child.sendline(typist.choose(by_number=turns % 2 == 0))
    typist.child.expect("receipt [0-9a-f]{64}")
    typist.child.sendline("quit")
    assert typist.end() == 0
    assert turns > 1


def test_every_command(rooms: Rooms, env: dict[str, str]) -> None:
    """What each says; refusals name their rule and the book opens at it; Ctrl-C gives a seat back."""
    typist = Typist(env)
    typist.ask("help", "any action as the book writes it")
    typist.ask("games erbaiwu", r"settle_at=5  \(EB-13.4")
    typist.ask("open hongshi rounds=0", "HS-15.1: rounds cannot be 0")
    typist.ask("open poker", "there are: duizhu, erbaiwu, hongshi, wushik")
    typist.ask("sit nowhere", "there is no such table")
    typist.ask("legal", "you are at no table")
    match = typist.ask("open hongshi rounds=1 cut=false lightning=false", r"(\w+): you have seat 0")[1]
    typist.interrupt()
    typist.child.expect("you gave the seat back")
    typist.ask("list hongshi", f"{match}  hongshi  open  free, free, free, free  cut=false")
    typist.ask(f"sit {match} 2", "you have seat 2; 3 seats are free")
    rooms.bots(match, [0, 1, 3])
    assert typist.turn()
    typist.ask("play S9 S3", r"refused: \w\w-[\d.]+: ")
    typist.ask("rules", r"HS-|CM-")
    typist.ask("rules HS-4.3", r"\*\*HS-4\.3")
    typist.ask("lang zh", "中文")
    typist.ask("hand", "你的牌")
    typist.ask("letters", r"你的牌：[^\r]*[SHCD][3-9TJQKA2]")
    typist.ask("legal", "1  不要  \\[pass\\]")
    typist.ask("99", "没有第 99 项")
    typist.ask("score", "总分")
    typist.ask("table", "亮牌")
    typist.ask("pass", "不亮|出")
    typist.ask("say /hello", "Xiaoming：你好")
    typist.ask("log", "2 号位 Xiaoming (不亮|不要)")
    typist.ask("leave", "座位仍归你")
    typist.ask(f"enter {match}", f"对局 {match}，你坐 2 号位")
    typist.ask("nonsense and more", "拒绝|轮到")
    typist.child.send("\x04")  # the end of the input
    assert typist.end() == 0


def test_through_a_pipe(env: dict[str, str]) -> None:
    """A script's input is done in order, without colours, and the command ends with it."""
    done = subprocess.run(
        [*COMMAND, "play", "--plain"],
        input="games\nlist\nopen\nsit\n",
        env=env,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert "hongshi  Hongshi 红十" in done.stdout
    assert "say which game; there are: duizhu, " in done.stdout
    assert "say which match; " in done.stdout
    assert "\x1b" not in done.stdout


def test_the_screen_needs_a_terminal(env: dict[str, str]) -> None:
    """One clear line, and the way out."""
    done = subprocess.run([*COMMAND, "play"], input="", env=env, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2
    assert "--plain" in done.stderr


def test_practice_in_lines(env: dict[str, str]) -> None:
    """A table of one's own, played by typing; ready within two seconds of work; its server ends with it."""
    typist = Typist(env, "practice", "hongshi", "-o", "cut=false", "-o", "rounds=1", "--plain")
    typist.child.expect("you have seat 0")
    assert typist.turn()
    typist.child.sendline(typist.choose(by_number=False))
    typist.child.expect("seat 0")
    typist.child.sendline("quit")
    assert typist.end() == 0


def test_the_screen_at_a_terminal(env: dict[str, str]) -> None:
    """The real program draws a practice table, answers a key in the other language, and ends without a trace."""
    given = {**env, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", "NO_COLOR": "1"}
    typist = Typist(given, "practice", "hongshi", "-o", "cut=false")
    typist.child.expect("Hongshi 红十")
    typist.child.expect("Enter play")
    typist.child.send("\x1bOQ")  # F2
    typist.child.expect("回车 出牌")
    typist.child.send("\x11")  # Ctrl+Q
    assert typist.end() == 0
