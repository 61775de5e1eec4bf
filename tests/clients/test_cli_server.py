"""The commands against a whole server in this process: accounts, a table, playing, watching, the archive."""

from __future__ import annotations

import asyncio
import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kangtou_clients.api import Match, NotAuthenticated, Place, connect
from kangtou_clients.cli import main
from kangtou_clients.cli.config import Config
from kangtou_engine.game import TooMany
from kangtou_engine.record import read_record
from kangtou_engine.registry import REGISTRY
from kangtou_services.archive import RecordStore
from kangtou_services.archive.index import listed
from kangtou_services.ratings import Ladder, Result
from tests.clients.served import Run, Server, commands, serving_commands
from tests.records.make import play

SEATS = ("ann", "bob", "cat", "dan")
SAMPLE = Path(__file__).resolve().parents[1] / "golden/records/hongshi.ktr"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving_commands(Server, tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture
def run(server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command line against it."""
    return commands(server, capsys, monkeypatch, tmp_path)


async def finish(address: str, tokens: list[str], match_id: str) -> None:
    """Play a match to its end with defaults and first legal plays."""

    async def one(token: str) -> None:
        async with connect(address, token) as client, client.play() as session:
            match = await session.attach(match_id)
            assert isinstance(match, Match)
            async for prompt in match.prompts():
                choice = prompt.default if isinstance(prompt.legal, TooMany) or not prompt.legal else prompt.legal[-1]
                await prompt.answer(choice)

    await asyncio.gather(*map(one, tokens))


def test_from_an_account_to_a_verified_match(run: Run, server: Server, tmp_path: Path) -> None:
    """Everything that a person or a script does, by commands."""
    for name in SEATS:
        code, out, err = run("register", name.title(), "--bot", "--as", name)
        assert (code, err) == (0, "")
        assert "recovery code" in out
    file = tmp_path / "config/config.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert run("register", "Ann", "--as", "ann")[0] == 5
    assert run("whoami", "--as", "cat")[1].startswith("Cat  ")
    assert run("whoami", "--as", "eve")[0] == 7
    assert run("whoami")[0] == 7

    table = json.loads(run("open", "hongshi", "-o", "rounds=1", "--json", "--as", "ann")[1])
    match = table["match"]
    assert table["options"] == {"rounds": 1}
    assert match in run("tables", "--as", "bob")[1]
    assert run("open", "hongshi", "-o", "rounds=many", "--as", "ann")[0] == 2
    assert run("open", "hongshi", "-o", "rounds", "--as", "ann")[0] == 2
    assert "allowed: 1 … 1000" in run("open", "hongshi", "-o", f"rounds={1 << 70}", "--as", "ann")[2]
    assert "no option" in run("open", "hongshi", "-o", f"nonsense={1 << 63}", "--as", "ann")[2]
    assert run("open", "chess", "--as", "ann")[0] == 5
    assert run("sit", "nowhere", "--as", "ann")[0] == 8
    for words in (("legal", match), ("watch", match, "--once"), ("act", match, "pass")):
        code, out, err = run(*words, "--as", "ann")
        assert (code, out) == (5, "")
        assert "this match has not begun: 4 of 4 seats are free" in err
    for seat, name in enumerate(SEATS):
        code, out, err = run("sit", match, "--seat", seat, "--as", name)
        assert code == 0, err
    assert run("sit", match, "--as", "ann")[0] == 5

    play_some(run, match)
    config = Config()
    profiles = [config.profile(server.address.result(), name) for name in SEATS]
    tokens = [profile.token for profile in profiles if profile]
    playing = server.do(finish(server.address.result(), tokens, match))
    run("register", "Eve", "--as", "eve")
    code, out, err = run("watch", match, "--as", "eve")
    playing.result(60)
    assert code == 0, err
    assert "the match has ended by the rules" in out
    receipt = out.rstrip("\n").rpartition("receipt ")[2]
    after_it(run, match, receipt, tmp_path)


def play_some(run: Run, match: str) -> None:
    """A few actions by single commands, refused ones among them."""
    done = 0
    for name in SEATS * 3:
        code, out, _ = run("legal", match, "--letters", "--as", name)
        assert code == 0
        if not out:
            assert run("act", match, "pass", "--as", name)[0] == 5
            continue
        assert run("act", match, "play", "ZZ", "--as", name)[0] == 5
        code, _, err = run("act", match, "fly", "--as", name)
        assert code == 5
        assert err
        action = "cut 7" if out.startswith("cut") or "cut" in out else out.split("\n")[0]
        code, out, err = run("act", match, *action.split(" "), "--id", f"i{done}", "--as", name)
        assert code == 0, err
        done += 1
    assert done >= 3
    code, out, _ = run("watch", match, "--once", "--as", SEATS[0])
    assert code == 0
    assert "round 1" in out
    shown = json.loads(run("watch", match, "--once", "--json", "--as", SEATS[0])[1])
    assert (shown["match"], shown["seat"]) == (match, 0)
    assert shown["view"]["sheet"]["round"] == 1


def after_it(run: Run, match: str, receipt: str, tmp_path: Path) -> None:
    """The archive: list, show, export, replay, verify."""
    until = time.monotonic() + 20
    code, out, err = run("archive", "list", "--as", "ann", "--player", "me")
    while match not in out and time.monotonic() < until:
        code, out, err = run("archive", "list", "--as", "ann", "--player", "me")
    assert code == 0, err
    assert "Ann " in out
    row = json.loads(run("archive", "list", "--json", "--game", "hongshi", "--as", "ann")[1].splitlines()[0])
    assert row["match"] == match
    assert row["players"] == ["Ann", "Bob", "Cat", "Dan"]
    assert run("archive", "list", "--game", "duizhu", "--as", "ann") == (0, "", "kangtou: no finished match fits\n")
    assert run("archive", "list", "--game", "duizhu", "--json", "--as", "ann") == (0, "", "")
    assert run("archive", "list", "--limit", "-1", "--as", "ann")[0] == 2
    assert run("tables", "duizhu", "--as", "ann") == (0, "", "kangtou: no table has free seats\n")
    assert run("archive", "list", "--since", "2020-01-01", "--until", "2020-02-01", "--as", "ann")[1] == ""
    assert run("archive", "list", "--since", "soon", "--as", "ann")[0] == 2
    by_what_it_was(run, row)
    assert "hongshi@1" in run("archive", "show", match, "--as", "ann")[1]
    assert run("archive", "show", "nothing", "--as", "ann")[0] == 8
    code, out, err = run("archive", "export", match, "--to", tmp_path / "out", "--as", "ann")
    assert code == 0, err
    file = out.strip()
    assert run("verify", file, "--receipt", receipt)[0] == 0
    assert run("verify", match, "--receipt", receipt, "--as", "bob")[0] == 0
    assert run("replay", match, "--seat", "2", "--to", "1:2", "--as", "bob")[0] == 0
    out = run("replay", match, "--as", "bob")[1]
    assert out.count(" holds ") > 4
    assert "seat 3 Dan" in out
    study_it(run, match, tmp_path)
    status = json.loads(run("status", "--json")[1])
    assert status["actors"]
    assert run("status")[1].startswith("kangtou ")
    assert run("account", "delete", "--as", "dan", "--yes")[0] == 0
    row = json.loads(run("archive", "list", "--json", "--game", "hongshi", "--as", "ann")[1].splitlines()[0])
    assert row["players"] == ["Ann", "Bob", "Cat", row["account_ids"][3]]
    assert run("verify", match, "--receipt", receipt, "--as", "bob")[0] == 0


def study_it(run: Run, match: str, tmp_path: Path) -> None:
    """Statistics and tables straight from the server; names only when they are asked for."""
    code, out, err = run("archive", "stats", "--by", "player,game", "--game", "hongshi", "--json", "--as", "ann")
    assert code == 0, err
    assert all(json.loads(line)["matches"] >= 1 for line in out.splitlines())
    assert len(out.splitlines()) >= 4
    for wanted, words in ((0, ()), (4, ("--names",))):
        folder = tmp_path / f"tables{wanted}"
        assert run("archive", "export", "--parquet", folder, "--as", "ann", *words)[0] == 0
        sql = f"SELECT count(name) AS named FROM seats WHERE match = '{match}'"
        assert json.loads(run("archive", "query", "--in", folder, sql, "--json")[1]) == {"named": wanted}


def by_what_it_was(run: Run, row: dict[str, Any]) -> None:
    """Searching: options, players, results; what nobody could mean is refused."""
    ids, winner, last = row["account_ids"], row["places"].index(1), row["places"].index(max(row["places"]))

    def found(*words: object) -> bool:
        code, out, err = run("archive", "list", "--as", "ann", "--json", *words)
        assert code == 0, err
        return row["match"] in out

    rounds = row["options"]["rounds"]
    assert found("--game", "hongshi", "-o", f"rounds={rounds}", "-o", "top=jokers", "--kind", "bots")
    assert not found("--game", "hongshi", "-o", "rounds=7")
    assert not found("--game", "hongshi", "-o", "top=tens")
    assert not found("--kind", "rated")
    assert found("--player", ids[1], "--player", ids[3], "--cause", "rules", "--won-by", ids[winner])
    assert found("--lost-by", ids[last]) is (row["places"][last] > 1)
    assert not found("--lost-by", ids[winner])
    score = row["scores"][winner]
    assert found("--player", ids[winner], "--place", "1", "--score", f"{score}..{score}")
    assert not found("--player", ids[winner], "--score", f"{score + 1}..")
    assert not found("--variant", "chengde1")
    assert not found("--tournament", "cup")
    for words in (["--place", "1"], ["--player", "me", "--score", "5"], ["-o", "rounds"], ["--kind", "old"]):
        code, out, err = run("archive", "list", "--as", "ann", *words)
        assert (code, out) == (2, ""), words
        assert err.strip()


def test_an_account_is_deleted(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its name was typed; its token and name are gone, here and on the server; a record keeps its id."""
    run("register", "Leaver", "--bot", "--as", "leaver")
    account = json.loads(run("whoami", "--json", "--as", "leaver")[1])["account_id"]
    assert run("account", "delete", "--as", "leaver")[0] == 2
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", lambda: "Leave\n", raising=False)
    code, out, err = run("account", "delete", "--as", "leaver")
    assert (code, out) == (5, "")
    assert "nothing was deleted" in err
    assert run("whoami", "--as", "leaver")[0] == 0
    token = Config()._servers[server.address.result()]["leaver"].token
    monkeypatch.setattr("sys.stdin.readline", lambda: "Leaver\n", raising=False)
    code, out, err = run("account", "delete", "--as", "leaver")
    assert (code, out) == (0, f"Leaver is deleted; records of its matches stay under {account}\n"), err
    assert run("whoami", "--as", "leaver")[0] == 7

    async def knock() -> None:
        async with connect(server.address.result(), token) as client:
            await client.accounts.who_am_i()

    with pytest.raises(NotAuthenticated):
        server.do(knock()).result(20)
    run("register", "Second", "--bot", "--as", "leaver")
    out = run("account", "delete", "--as", "leaver", "--yes", "--json")[1]
    assert set(json.loads(out)) == {"deleted"}


def test_the_index_is_rebuilt(server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By a process beside the server; a file that is no record is named."""
    store = RecordStore(str(tmp_path / "archive"))
    for number in range(3):
        store.put(play(REGISTRY.game("erbaiwu"), number, stop_after=9).record)
    assert main(["archive", "rebuild", "--data", str(tmp_path), "--lang", "en"]) == 0
    assert capfd.readouterr().out == "3 records: 3 put in, 0 taken out\n"
    (tmp_path / "archive/2026/11/30/broken.ktr.zst").write_bytes(b"x")
    assert main(["archive", "rebuild", "--data", str(tmp_path), "--afresh", "--json"]) == 1
    said = json.loads(capfd.readouterr().out)
    assert said == {"records": 4, "added": 0, "gone": 0, "damaged": ["2026/11/30/broken.ktr.zst"]}
    assert main(["archive", "rebuild", "--data", str(tmp_path), "--archive", "nothing://x"]) == 2


def test_quick(run: Run, server: Server) -> None:
    """Four queue; each command ends with match and seat."""
    for name in SEATS:
        run("register", f"Q{name}", "--bot", "--as", f"q{name}")
    config = Config()

    async def others() -> None:
        from kangtou_clients.api import Wanted

        async def one(token: str) -> None:
            async with (
                connect(server.address.result(), token) as client,
                client.lobby.quick(Wanted("hongshi", options={"rounds": 1}), pool="t") as queue,
            ):
                await queue.place()

        profiles = [config.profile(server.address.result(), f"q{name}") for name in SEATS[1:]]
        await asyncio.gather(*(one(profile.token) for profile in profiles if profile))

    waiting = server.do(others())
    code, out, err = run("quick", "hongshi", "-o", "rounds=1", "--pool", "t", "--as", "qann")
    waiting.result(30)
    assert code == 0, err
    assert out.rstrip("\n").split("\n")[-1].split("  ")[1].startswith("seat ")
    assert run("quick", "chess", "--as", "qann")[0] == 5


def test_people(run: Run, server: Server) -> None:
    """Ratings, leaderboards, profiles, history, blocks."""
    ids = []
    for name in ("pa", "pb"):
        out = run("register", name.upper(), "--as", name, "--json")[1]
        ids.append(json.loads(out)["account_id"])

    async def results() -> None:
        for number in range(10):
            ladder = Ladder("wushik", "chengde1", "human")
            await server.backend.ratings.append(Result(f"r{number}", ladder, ((ids[0],), (ids[1],)), (1, 2), 5))

    assert run("leaderboard", "wushik", "--as", "pa") == (
        0,
        "",
        "kangtou: nobody has enough results on this ladder yet\n",
    )
    server.do(results()).result(10)
    until = time.monotonic() + 20
    rows: list[str] = []
    while len(rows) < 2 and time.monotonic() < until:
        rows = run("leaderboard", "wushik", "--json", "--as", "pa")[1].splitlines()
    best, other = map(json.loads, rows)
    assert [(row["rank"], row["account_id"], row["name"]) for row in (best, other)] == [
        (1, ids[0], "PA"),
        (2, ids[1], "PB"),
    ]
    assert best["rating"] > 1500 > other["rating"]
    assert best["games"] == 10
    assert len(run("leaderboard", "wushik", "--limit", "1", "--as", "pa")[1].splitlines()) == 1
    assert run("leaderboard", "wushik", "--bots", "--json", "--as", "pa") == (0, "", "")
    assert run("leaderboard", "wushik", "--variant", "nowhere", "--as", "pa")[0] == 2
    assert run("leaderboard", "hongshi", "--variant", "liaoning", "--as", "pa")[0] == 2

    code, out, err = run("profile", "--as", "pa")
    assert (code, err) == (0, "")
    assert out.startswith(f"PA  {ids[0]}  (human)  here since 20")
    assert "wushik/chengde1" in out
    shown = json.loads(run("profile", ids[1], "--json", "--as", "pa")[1])
    assert (shown["name"], shown["kind"], shown["recent"]) == ("PB", "human", [])
    assert shown["ratings"][0]["mu"] == other["mu"]
    assert run("profile", "nobody", "--as", "pa")[0] == 8
    assert run("history", "--as", "pa") == (0, "", "kangtou: no finished match fits\n")
    record = read_record(SAMPLE.read_bytes())
    archiver = server.backend.archiver
    archiver.index.add([listed(record, "sample", archiver.index.registry)])
    who, match = record.head.terms.seats[0].account, record.head.terms.match
    assert f"  {match}  hongshi  place " in run("history", who, "--as", "pa")[1]
    row = json.loads(run("history", who, "--json", "--game", "hongshi", "--as", "pa")[1])
    assert (row["match"], row["seats"], len(row["places"]), len(row["accounts"])) == (match, [0], 1, 4)

    assert run("blocks", "--as", "pa") == (0, "", "kangtou: you have blocked nobody\n")
    assert run("block", ids[1], "--as", "pa") == (0, f"{ids[1]} is blocked\n", "")
    assert json.loads(run("block", ids[1], "--json", "--as", "pa")[1]) == {"blocked": ids[1]}
    assert json.loads(run("blocks", "--json", "--as", "pa")[1]) == {
        "account_id": ids[1],
        "name": "PB",
        "kind": "human",
    }
    assert run("block", ids[0], "--as", "pa")[0] == 5
    assert run("block", "nobody", "--as", "pa")[0] == 8
    assert run("unblock", ids[1], "--as", "pa")[0] == 0
    assert run("blocks", "--json", "--as", "pa") == (0, "", "")


def test_party(run: Run, server: Server) -> None:
    """Two make a party and queue with two others; the command ends with match and seat."""
    from kangtou_clients.api import Wanted

    for name in SEATS:
        run("register", f"P{name}", "--bot", "--as", f"p{name}")
    wanted = Wanted("duizhu", options={"end_level": "4"})
    create = ("party", "create", "duizhu", "-o", "end_level=4", "--pool", "p", "--as", "pann")
    code, out, err = run(*create)
    assert (code, err) == (0, "")
    party = out.split("  ")[0]
    assert out == f"{party}  duizhu  Pann  end_level=4\n"
    assert run("party", "create", "hongshi", "--as", "pann")[0] == 5
    assert run("party", "join", "nowhere", "--as", "pbob")[0] == 8
    assert run("party", "queue", party, "--as", "pann")[0] == 5  # alone
    shown = json.loads(run("party", "join", party, "--json", "--as", "pbob")[1])
    assert shown == {
        "code": party,
        "game": "duizhu",
        "options": {"end_level": "4"},
        "members": ["Pann", "Pbob"],
        "rated": False,
        "pool": "p",
        "over": False,
    }
    assert "Pann, Pbob" in run("party", "show", party, "--as", "pcat")[1]
    config = Config()

    async def others() -> list[int]:
        async def one(token: str, code: str) -> int:
            async with (
                connect(server.address.result(), token) as client,
                client.lobby.quick(wanted, pool="p", party=code) as queue,
            ):
                place = await queue.place()
                assert isinstance(place, Place), place
                return place.seat

        profiles = [config.profile(server.address.result(), f"p{name}") for name in SEATS[1:]]
        codes = [party, "", ""]
        return list(
            await asyncio.gather(*(one(it.token, code) for it, code in zip(profiles, codes, strict=True) if it))
        )

    waiting = server.do(others())
    code, out, err = run("party", "queue", party, "--json", "--as", "pann")
    seats = waiting.result(30)
    assert code == 0, err
    last = json.loads(out.splitlines()[-1])
    assert (last["seat"] - seats[0]) % 2 == 0
    assert run("party", "leave", party, "--as", "pcat")[0] == 5
    assert run("party", "leave", party, "--as", "pann") == (0, f"the party {party} has ended\n", "")
    assert run("party", "show", party, "--as", "pann")[1].rstrip().endswith("over")
    assert run("party", "queue", party, "--as", "pann")[0] == 5
    assert run("quick", "hongshi", "--ask", "--as", "pann") == (
        2,
        "",
        "kangtou: --ask needs a terminal to ask at\n",
    )


def test_tables_by_commands(run: Run, server: Server) -> None:
    """A private table with a ready check: removed, let in again, ready, played, another match, given up."""
    for name in ("tom", "liz", "max"):
        run("register", name.title(), "--bot", "--as", name)
    seats = ("--seats", 2, "-o", "rounds=1", "-o", "cut=false")
    given = ("--private", "--start", "ready", "--json", "--as", "tom")
    table = json.loads(run("open", "erbaiwu", *seats, *given)[1])
    match, code = table["match"], table["code"]
    assert (table["start"], table["private"], table["all_options"]["limit"]) == ("ready", True, 250)
    assert match not in run("tables", "erbaiwu", "--as", "liz")[1]
    assert run("table", match, "--as", "liz")[0] == 5
    out = run("table", "--code", code, "--as", "liz")[1]
    assert "starts when all are ready" in out
    assert "rounds            1           EB-13.3  *" in out
    assert run("sit", match, "--as", "tom")[0] == 0
    assert run("change-seat", match, 1, "--as", "tom")[0] == 0
    assert run("sit", "--code", code, "--as", "liz")[0] == 0
    assert run("remove", match, "Tom", "--as", "liz")[0] == 5
    liz = json.loads(run("table", match, "--json", "--as", "liz")[1])["accounts"][0]
    assert run("remove", match, "Liz", "--as", "tom")[0] == 0
    assert "has removed you" in run("sit", "--code", code, "--as", "liz")[2]
    assert run("allow", match, liz, "--as", "tom")[0] == 0
    assert run("sit", "--code", code, "--as", "liz")[0] == 0
    assert "Liz (ready)" in run("ready", match, "--as", "liz")[1]
    assert "(ready)" not in run("ready", match, "--no", "--as", "liz")[1]
    run("ready", match, "--as", "liz")
    assert json.loads(run("start", match, "--json", "--as", "tom")[1])["state"] == "playing"
    config = Config()
    profiles = [config.profile(server.address.result(), name) for name in ("tom", "liz")]
    tokens = [profile.token for profile in profiles if profile]
    server.do(finish(server.address.result(), tokens, match)).result(60)
    code_, out, err = run("rematch", match, "--no-wait", "--json", "--as", "tom")
    assert code_ == 0, err
    agreed = json.loads(out)
    assert (agreed["state"], agreed["rematch"], agreed["tally"][0]["matches"]) == ("over", [False, True], 1)
    assert run("rematch", match, "--as", "max")[0] == 5
    code_, out, err = run("rematch", match, "--as", "liz")
    assert code_ == 0, err
    assert out.rstrip("\n").split("\n")[-1].startswith(agreed["current_match"])
    assert "Tom: 1 matches" in run("table", match, "--as", "max")[1]
    assert run("stand", match, "--as", "tom")[0] == 5
    assert "allowed: seated, ready, owner" in run("open", "erbaiwu", "--start", "soon", "--as", "tom")[2]
    assert "allowed: open, playing, over" in run("tables", "--state", "shut", "--as", "tom")[2]
    empty = json.loads(run("open", "hongshi", "--rules", "quick", "--json", "--as", "tom")[1])
    assert (empty["rules"], empty["options"]["rounds"]) == ("quick", 10)
    assert empty["match"] in run("tables", "--rules", "quick", "--free", 4, "--as", "max")[1]
    assert "closed" in run("stand", empty["match"], "--as", "tom")[1]
    assert empty["match"] not in run("tables", "--as", "max")[1]
    assert run("open", "hongshi", "--rules", "none", "--as", "tom")[0] == 5
    rules = json.loads(run("games", "wushik", "--json")[1])[0]["rules"]
    assert "jinzhou" in [one["name"] for one in rules]
