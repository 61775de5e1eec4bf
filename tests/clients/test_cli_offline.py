"""The commands that need no server: what they print, and their exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from kangtou_clients import books
from kangtou_clients.cli import main, source
from kangtou_clients.cli.common import options_first
from kangtou_clients.cli.config import Config, Profile
from kangtou_clients.replaying import WallClock
from kangtou_engine.match.match import Game
from kangtou_engine.record import canonical_text, write_record
from kangtou_engine.registry import REGISTRY
from tests.games.parrot import GAME
from tests.records.make import TOURNAMENT_SEED, Played, play

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command line: exit code, output, errors."""
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("KANGTOU_LANG", "en")

    def command(*words: object) -> tuple[int, str, str]:
        code = main(list(map(str, words)))
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture(scope="module")
def hongshi() -> Played:
    """A match of two rounds."""
    return play(REGISTRY.game("hongshi"), 5, {"rounds": 2})


@pytest.fixture
def file(hongshi: Played, tmp_path: Path) -> Path:
    """Its record, compressed as the archive has it."""
    path = tmp_path / "match.ktr.zst"
    path.write_bytes(zstandard.compress(write_record(hongshi.record).encode()))
    return path


# ---- the command line itself ----


def test_common_options_stand_anywhere() -> None:
    """Before the command, after it, with `=`; not behind `--`."""
    given = ["replay", "x", "--lang", "zh", "--json", "--server=a:1", "--", "--json"]
    assert options_first(given) == ["--lang", "zh", "--json", "--server=a:1", "replay", "x", "--", "--json"]
    assert options_first(["--json=1"]) == ["--json=1"]


def test_help_teaches_with_examples(run: Run) -> None:
    """Every command has some."""
    from kangtou_clients.cli.app import make

    assert run("--help")[0] == 0
    for command in make().registered_commands:
        code, out, _ = run(command.name, "--help")
        assert code == 0
        assert "Example" in out, command.name
    for name in ("list", "show", "export"):
        assert "Examples:" in run("archive", name, "--help")[1]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nonsense",), 2, "No such command"),
        (("replay",), 2, "Missing argument"),
        (("games", "--lang", "fr"), 2, "--lang is zh or en"),
        (("demo", "--game", "chess"), 8, "there is no game chess; there are: "),
        (("open", "hongshi", "--turn-ms", "99999999999"), 2, "--turn-ms"),
        (("sit", "m1", "--seat", "99999999999"), 2, "--seat"),
        (("act", "m1", "pass", "--prompt", "-1"), 2, "--prompt"),
        (("act", "m1", "pass", "--seat", "99999999999"), 2, "--seat"),
        (("games", "chess"), 8, "there is no game chess; there are: "),
        (("rules", "chess"), 8, "there is no book chess"),
        (("rules", "HS-99.1"), 8, "there is no rule HS-99.1"),
        (("verify", "none.ktr"), 8, "there is no file none.ktr"),
        (("cases", "none.yaml"), 8, "there is no file none.yaml"),
        (("whoami", "--server", "127.0.0.1:1"), 7, "not signed in on 127.0.0.1:1"),
        (("register", "Ann", "--server", "127.0.0.1:1"), 6, "127.0.0.1:1 cannot be reached"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    """One clear line on the error stream, and an exit code."""
    found, out, err = run(*words)
    assert (found, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "raw",
    [
        b"{bad",
        b"[]",
        b"\xff\xfe",
        b'{"servers": {"s:1": {"me": 5}}}',
        b'{"servers": {"s:1": {"me": {"account_id": "a", "name": "A", "kind": "", "token": "\\n", "expires_ms": 1}}}}',
    ],
)
def test_a_configuration_that_cannot_be_read(run: Run, tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.json").write_bytes(raw)
    code, out, err = run("whoami", "--server", "s:1")
    assert (code, out) == (2, "")
    assert "is not a configuration of this program" in err


def test_commands_that_run_at_once_keep_what_each_has_written(run: Run) -> None:
    """A long one (`quick` in the queue) does not undo what a short one (`register`) has put in meanwhile."""
    long = Config()
    Config().keep("s:1", "", Profile("a", "A", "human", "t-a", 1))
    long.keep("s:1", "b", Profile("b", "B", "human", "t-b", 1))
    Config().keep_entropy("s:1", "", "m1", "aa")
    long.keep_entropy("s:1", "", "m2", "bb")
    long.keep_entropy("s:1", "", "m1", "")
    Config().keep_entropy("s:1", "nobody", "m1", "aa")
    found = Config()
    assert found.profiles("s:1") == ["b", "me"]
    profile = found.profile("s:1", "")
    assert profile is not None
    assert profile.entropies == {"m2": "bb"}


def test_an_error_does_not_steer_the_terminal(run: Run) -> None:
    """What was given is repeated, but not its escapes, nor marks that turn the direction of text."""
    code, out, err = run("cases", "\x1b]0;owned\x07\u202egnp.exe")
    assert (code, out) == (8, "")
    assert "owned" in err
    assert not {"\x1b", "\x07", "\u202e"} & set(err)


def test_version(run: Run) -> None:
    """`kangtou 0.1.0`."""
    assert run("--version")[1].startswith("kangtou 0.")


# ---- cases ----


@pytest.mark.parametrize("name", REGISTRY.names())
def test_public_cases_pass(run: Run, name: str) -> None:
    """Design acceptance 2."""
    code, out, _ = run("cases", ROOT / f"tests/cases/{name}.yaml")
    assert code == 0
    assert out.rstrip("\n").endswith(" passed, 0 failed")


WRONG = """
- id: HS-X1
  title: a wrong expectation
  options: {rounds: 1}
  start: {phase: play, hands: ["H6 S2", "HT", "S8", "C9"], to_act: 0}
  expect: {to_act: [3]}
- id: HS-X2
  title: fits
  start: {phase: play, hands: ["H6 S2", "HT", "S8", "C9"], to_act: 0}
  expect: {to_act: [0]}
"""


def test_a_wrong_expectation_fails(run: Run, tmp_path: Path) -> None:
    """It is named; exit code 1; the closing line counts."""
    path = tmp_path / "mine.yaml"
    path.write_text(WRONG)
    code, out, _ = run("cases", path)
    assert code == 1
    assert "HS-X1  a wrong expectation" in out
    assert out.rstrip("\n").endswith("1 passed, 1 failed")
    assert run("cases", path, "--only", "HS-X2")[0] == 0
    assert run("cases", path, "--only", "HS-X3")[0] == 8
    assert json.loads(run("cases", path, "--json")[1])["failures"][0]["id"] == "HS-X1"


@pytest.mark.parametrize("text", ["- [", "a: 1", "- 3", "\t", "- &a [*a]"])
def test_a_file_that_is_no_case_file(run: Run, tmp_path: Path, text: str) -> None:
    """Said with its name."""
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    code, _, err = run("cases", path)
    assert code == 2
    assert "bad.yaml: not a case file" in err


# ---- rules and games ----


def test_rules(run: Run) -> None:
    """Books, sections, rules; a rule that is a row of a table comes with its head."""
    assert "hongshi" in run("rules")[1].split("\n")
    assert run("rules", "hongshi")[1].startswith("#")
    assert run("rules", "HS-4.3")[1].startswith("**HS-4.3 The window.**")
    assert run("rules", "hongshi", "4.3")[1] == run("rules", "hs-4.3")[1]
    assert run("rules", "HS-4")[1].startswith("## HS-4 ")
    assert "**HS-4.6" in run("rules", "HS-4")[1]
    row = run("rules", "DZ-13.4")[1].split("\n")
    assert row[0].startswith("| rule |")
    assert row[2].startswith("| **DZ-13.4** |")
    assert run("rules", "CM-6.2")[1].startswith("**CM-6.2**")
    assert json.loads(run("rules", "HS-4.3", "--json")[1])["book"] == "hongshi"


def test_every_rule_that_the_engine_names_can_be_shown() -> None:
    """Of the games here: the rules of their options."""
    for name in REGISTRY.names():
        for row in REGISTRY.game(name).spec.option_rows:
            book = books.book_of(row.rule)
            assert book is not None, row.rule
            assert books.rule(books.book(book) or "", row.rule), row.rule


def test_games(run: Run) -> None:
    """List and options, in both languages and for programs."""
    lines = run("games")[1].splitlines()
    titles = ("对主", "二百五", "红十", "五十K")
    assert len({line.index(title) for line, title in zip(lines, titles, strict=True)}) == 1  # in columns
    assert "lightning_factor" in run("games", "hongshi")[1]
    assert "选项" in run("games", "hongshi", "--lang", "zh")[1]
    (game,) = json.loads(run("games", "hongshi", "--json")[1])
    assert game["seats"] == [4]


# ---- verify ----


def test_verify(run: Run, file: Path, hongshi: Played) -> None:
    """In order; with the right receipt and with a wrong one."""
    receipt = hongshi.record.receipt
    code, out, _ = run("verify", file)
    assert code == 0
    assert f"receipt {receipt}" in out
    assert run("verify", file, "--receipt", receipt)[0] == 0
    code, out, _ = run("verify", file, "--receipt", "0" * 64)
    assert code == 1
    assert "not the one that this receipt was given for" in out


def test_verify_a_board(run: Run, tmp_path: Path) -> None:
    """With the tournament's seed the board is known to be its own; without, it is said what is missing."""
    path = tmp_path / "board.ktr"
    played = play(REGISTRY.game("hongshi"), 6, {"rounds": 1}, board="cup/4")
    path.write_text(write_record(played.record))
    code, out, _ = run("verify", path)
    assert (code, "is to be compared with the tournament's" in out) == (0, True)
    code, out, _ = run("verify", path, "--tournament-seed", TOURNAMENT_SEED.hex())
    assert (code, "compared" in out) == (0, False)
    code, out, _ = run("verify", path, "--tournament-seed", "00" * 32)
    assert (code, "the seed of board cup/4 does not follow" in out) == (1, True)
    for bad in ("00" * 31, "x" * 64):
        code, _, err = run("verify", path, "--tournament-seed", bad)
        assert (code, "64 hexadecimal digits" in err) == (2, True)


def test_verify_names_the_line(run: Run, hongshi: Played, tmp_path: Path) -> None:
    """Design acceptance 9: one entry edited."""
    lines = write_record(hongshi.record).split("\n")
    at = next(place for place, line in enumerate(lines) if " play " in line)
    lines[at] = lines[at].replace(" play ", " pass ")
    path = tmp_path / "edited.ktr"
    path.write_text("\n".join(lines))
    code, out, _ = run("verify", path)
    assert code == 1
    assert f"line {at + 1}" in out or f"-{at + 1}" in out
    found = json.loads(run("verify", path, "--json")[1])
    assert found["ok"] is False
    assert found["findings"][0]["code"] == "chain"


def test_verify_what_is_no_record(run: Run, tmp_path: Path) -> None:
    """Said, not raised."""
    for name, data in (("a.ktr", b"hello\n"), ("b.ktr.zst", b"\x28\xb5\x2f\xfdxx"), ("c.ktr", b"\xff")):
        path = tmp_path / name
        path.write_bytes(data)
        code, out, err = run("verify", path)
        assert code in (1, 2)
        assert out + err


def test_what_is_too_large_for_a_record(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before memory is taken for it, whether it is long or only says that it will be."""
    monkeypatch.setattr(source, "MAX_BYTES", 1 << 20)
    for name, data in (("a.ktr", bytes((1 << 20) + 1)), ("b.ktr.zst", zstandard.compress(bytes((1 << 20) + 1)))):
        path = tmp_path / name
        path.write_bytes(data)
        code, out, err = run("verify", path)
        assert (code, out) == (2, "")
        assert "it has more than 1 MiB" in err


def test_from_a_pipe(file: Path) -> None:
    """As shells make them of `<(…)`."""
    argv = ["bash", "-c", f"{sys.executable} -m kangtou_clients verify <(cat {file})"]
    assert subprocess.run(argv, cwd=ROOT, capture_output=True, timeout=60, check=False).returncode == 0


def test_from_the_standard_input(run: Run, hongshi: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-`."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(write_record(hongshi.record).encode())))
    assert run("verify", "-")[0] == 0


def test_record(run: Run, file: Path, hongshi: Played) -> None:
    """The text, and what was played."""
    assert run("record", file)[1] == write_record(hongshi.record)
    assert run("record", file, "--canonical")[1] == canonical_text(hongshi.record)


# ---- replay ----


def test_replay_open(run: Run, file: Path) -> None:
    """Everything: all hands, every play, the result."""
    code, out, _ = run("replay", file)
    assert code == 0
    assert "[everything open]" in out
    assert out.count(" holds ") > 8
    assert "the match has ended by the rules" in out


def test_replay_from_a_seat_shows_its_cards_alone(run: Run, file: Path) -> None:
    """Until the cards of a round are open to all."""
    _, out, _ = run("replay", file, "--seat", "1", "--to", "1:2", "--table", "none")
    assert out.count(" holds ") == 1
    assert "seat 1" in out
    _, out, _ = run("replay", file, "--spectator", "--to", "1:2")
    assert " holds " not in out


def test_replay_from_and_to(run: Run, file: Path, hongshi: Played) -> None:
    """Places by round, trick and entry."""
    first = run("replay", file, "--to", "2")[1]
    second = run("replay", file, "--from", "2")[1]
    assert "── round 2" not in first.split("[everything open]")[1] or first.count("── round") == 2
    assert "   2:1" in second
    assert "   1:1" not in second
    at = hongshi.record.entries[10].seq
    rows = run("replay", file, "--from", f"@{at}", "--json")[1].splitlines()
    assert json.loads(rows[0])["seq"] == at + 1
    assert run("replay", file, "--from", "x")[0] == 2
    assert run("replay", file, "--seat", "9")[0] == 8
    assert run("replay", file, "--seat", "1", "--open")[0] == 2


@pytest.mark.parametrize(
    ("place", "code", "said"),
    [
        ("99:99", 8, "there is no round 99: this match has 2"),
        ("1:99", 8, "there is no trick 1:99: round 1 has"),
        ("@9999", 8, "there is no entry @9999: the last is @"),
        ("+9999", 8, "before +9999"),
        ("nowhere", 2, "'nowhere' is no place"),
    ],
)
def test_replay_from_a_place_that_is_not_there(run: Run, file: Path, place: str, code: int, said: str) -> None:
    """Said, in place of nothing."""
    for option in ("--from", "--to"):
        found, out, err = run("replay", file, option, place)
        assert (found, out) == (code, "")
        assert said in err


def test_replay_with_clocks(run: Run, file: Path, hongshi: Played) -> None:
    """How long each thought."""
    out = run("replay", file, "--clocks", "--from", "+2", "--to", "2")[1]
    assert " thought " in out
    assert "s of 30 s" in out
    rows = [json.loads(row) for row in run("replay", file, "--clocks", "--json")[1].splitlines()]
    thoughts = [row["thought"] for row in rows if "thought" in row]
    assert len(thoughts) == hongshi.record.head.outcome.moves
    assert {thought["limit_ms"] for thought in thoughts} == {30_000}


def test_replay_going_on(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Continue from here: bots play to the end; also from a step, which goes on where it was."""
    code, _, err = run("replay", file, "--fork", "end")
    assert code == 4
    assert "the match is over at this place" in err
    typed = iter(["g 2:2", "f 1", "", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    code, out, _ = run("replay", file, "--step")
    assert code == 0
    assert "your seat is 1" in out
    assert "the match is over: scores" in out
    assert "back in the record" in out


def test_replay_in_chinese_and_in_letters(run: Run, file: Path) -> None:
    """Two ways to read it."""
    assert "号位" in run("replay", file, "--lang", "zh", "--to", "1:2")[1]
    letters = run("replay", file, "--letters", "--to", "1:2")[1]
    assert "♥" not in letters
    assert " H" in letters


def test_replay_step_by_step(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward, back, to a place, another view, legal plays."""
    typed = iter(
        ["", "n", "b", "g 1:2", "s 2", "l", "p", "l", "o", "l", "t", "h", "what", "g 9", "g +0", "c", "g end", "", "q"]
    )
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    code, out, _ = run("replay", file, "--step")
    assert code == 0
    assert "nobody may act here" in out
    assert "not understood" in out
    assert "there is no round 9: this match has 2" in out
    assert "is asked, with 30 s" in out
    assert "this is the end" in out
    assert "[as seat 2" in out
    monkeypatch.setattr("builtins.input", lambda prompt: (_ for _ in ()).throw(EOFError))
    assert run("replay", file, "--step")[0] == 0


def test_replay_what_does_not_go_together(run: Run, file: Path) -> None:
    """Said, not left out."""
    for words in (("--html", "x.html", "--step"), ("--step", "--fork", "1"), ("--speed", "nan"), ("--speed", "inf")):
        code, out, err = run("replay", file, *words)
        assert (code, out, err.count("\n")) == (2, "", 1), words


def test_replay_at_speed(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits as long as it took, divided."""
    slept: list[float] = []

    async def sleep(_: WallClock, seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(WallClock, "sleep", sleep)
    assert run("replay", file, "--speed", "10", "--to", "1:2")[0] == 0
    assert slept
    assert 0 < sum(slept) < 10
    assert run("replay", file, "--speed", "-1")[0] == 2


def test_a_game_that_is_not_here(run: Run, tmp_path: Path) -> None:
    """Open as its lines; from a seat not at all, since nobody can say what that may see."""
    path = tmp_path / "parrot.ktr"
    path.write_text(write_record(play(Game(GAME), 1).record))
    code, out, _ = run("replay", path)
    assert code == 0
    assert "trick_won seat=" in out
    code, _, err = run("replay", path, "--seat", "0")
    assert code == 2
    assert "parrot@1 is not known here" in err
    assert "not run again" in run("verify", path)[1]


def test_a_reader_that_goes_away(file: Path) -> None:
    """`kangtou replay … | head -1` ends without a word."""
    argv = f"{sys.executable} -m kangtou_clients replay {file} | head -1"
    done = subprocess.run(argv, shell=True, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S602
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
