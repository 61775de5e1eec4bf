"""Statistics over records: against a slow count of the replayed matches, and against other people's formulas."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import random
import resource
import shutil
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from kangtou_clients.cli import archive, main
from kangtou_clients.study.stats import DEFAULT, KEYS, BadKeys, Stats, keys_of
from kangtou_clients.study.tally import Tally, Times, half_width, wilson
from kangtou_engine.errors import BadText
from kangtou_engine.match.events import RoundBegan, Scored
from kangtou_engine.notation import Step
from kangtou_engine.record import moments_of, read_record, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import Replay
from kangtou_engine.shuffle import SeededChance
from kangtou_engine.study import Facts, facts_of
from kangtou_engine.words import say
from tests.conftest import Counts
from tests.engine.toy import TOY_1 as TOY
from tests.records.make import play

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "records").glob("*.ktr"))
NAMES = ("hongshi", "duizhu", "erbaiwu", "wushik")


def golden(name: str) -> Facts:
    """The facts of a golden record."""
    return facts_of(next(path for path in GOLDEN if path.stem == name).read_bytes(), REGISTRY)


# ---- facts ----


@pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
def test_facts_against_the_replay(path: Path) -> None:
    """Actions, think times, rounds, hands as dealt: as the strict reader and the engine's fold have them."""
    record = read_record(path.read_bytes())
    facts = facts_of(path.read_bytes(), REGISTRY)
    moments = moments_of(record)
    asked = {entry.seq: entry.body.time_ms for entry in record.entries}
    steps = [(moment, moment.item) for moment in moments if isinstance(moment.item, Step)]
    wanted = [
        (moment.seq, step.seat, str(step.action), None if step.command == "*" else moment.time_ms - asked[step.prompt])
        for moment, step in steps
        if step.seat is not None
    ]
    assert [(act.seq, act.seat, act.text, act.think_ms) for act in facts.acts if not act.timed_out] == wanted
    assert sum(not act.timed_out for act in facts.acts) == record.head.outcome.moves
    replay = Replay(REGISTRY.game(record.head.terms.game), record)
    events = [event for number in range(len(moments)) for event in replay.events(number)]
    scored = [event for event in events if isinstance(event, Scored)]
    assert [part.deal for part in facts.rounds] == [e.deals for e in events if isinstance(e, RoundBegan)]
    assert [part.points for part in facts.rounds if part.end == "scored"] == [event.points for event in scored]
    assert sum(part.end == "scored" for part in facts.rounds) == record.head.outcome.rounds
    assert [part.hands for part in facts.rounds] == hands_as_dealt(replay)
    assert all(len(part.features) == len(record.head.terms.seats) for part in facts.rounds)


def hands_as_dealt(replay: Replay) -> list[Any]:
    """By round, from states: the first in which the deal is done."""
    found: dict[int, Any] = {}
    state = replay.game.before(replay.config)
    for number in range(len(replay.moments)):
        for event in replay.events(number):
            state = replay.game.evolve(state, event)
            drawn = getattr(state.game, "drawn", 48)
            if state.sheet.deals not in found and any(state.game.hands) and drawn == 48:
                found[state.sheet.deals] = state.game.hands
    return list(found.values())


def test_the_golden_duizhu_match_by_hand() -> None:
    """Read off the record: po, zhi, guang, kou with the dealers 2, 3, 1, 3."""
    assert [part.winners for part in golden("duizhu").rounds] == [(1, 3), (0, 2), (1, 3), (0, 2)]
    assert golden("duizhu").winners == (0, 2)
    assert golden("jiangnan").rounds[0].winners == (1, 3)


FEATURES = [
    ("hongshi", {}, "HT DT BJ RJ S2 H6", {"red_tens": 2, "jokers": 2, "big": 5, "specials": 2, "fours": 0, "opens": 1}),
    ("hongshi", {}, "ST HT CT DT SK HK CK DK", {"red_tens": 2, "specials": 2, "fours": 2, "opens": 0, "big": 2}),
    ("hongshi", {"keep345": True}, "H3 S4", {"opens": 1, "big": 0}),
    ("duizhu", {}, "BJ S3 H3 D2 SK S5 HT D9", {"jokers": 1, "levels": 2, "twos": 1, "points": 25, "fours": 0}),
    ("duizhu", {"start_level": "J"}, "SJ HJ CJ DJ S3", {"levels": 4, "twos": 0, "fours": 1}),
    ("erbaiwu", {}, "BJ S7 H7 S4 H4 D9", {"jokers": 1, "sevens": 2, "pairs": 1, "threes": 0, "points": 70}),
    ("erbaiwu", {}, "S4 H4 C4 D4 SA SK", {"jokers": 0, "sevens": 0, "pairs": 0, "threes": 1, "points": 30}),
    ("wushik", {"variant": "chengde1"}, "S5 ST SK H5 HT DK", {"fifties": 2, "pure": 1, "bombs": 0, "points": 50}),
    ("wushik", {"variant": "jinzhou"}, "S8 S8 H8 C8 BJ BJ RJ D2", {"bombs": 1, "largest": 4, "jokers": 3, "twos": 1}),
]


@pytest.mark.parametrize(("name", "options", "cards", "wanted"), FEATURES)
def test_features(name: str, options: dict[str, object], cards: str, wanted: dict[str, int]) -> None:
    """Hands counted by hand."""
    game = REGISTRY.game(name)
    assert game.spec.opening is not None
    config = game.config(options)
    began = next(
        event for event in game.begin(config, SeededChance("m", bytes(32), ()))[0] if isinstance(event, RoundBegan)
    )
    found = game.spec.opening.features(config, began, (), tuple(cards.split()))
    assert {key: found[key] for key in wanted} == wanted


@pytest.mark.parametrize("name", NAMES)
def test_every_feature_has_its_words(name: str) -> None:
    """In both languages, for every game that gives any; and duizhu's trumps appear once the suit is fixed."""
    seen: set[str] = set()
    for path in GOLDEN:
        facts = facts_of(path.read_bytes(), REGISTRY)
        if facts.head.terms.game == name:
            seen |= {key for part in facts.rounds for features in part.features for key in features}
    words = REGISTRY.game(name).spec.words
    assert seen
    assert all(say(words, f"hand.{key}", {}, lang) for key in seen for lang in ("en", "zh"))
    assert ("trumps" in seen) == (name == "duizhu")


def test_a_game_without_features_and_one_that_is_not_known() -> None:
    """A fifth game is counted all the same; so is a record of a game that this program does not have."""
    from kangtou_engine.match.match import Game
    from kangtou_engine.registry import Registry

    text = write_record(play(Game(TOY), 3, {"rounds": 2}).record).encode()
    for registry in (Registry((TOY,)), REGISTRY):
        facts = facts_of(text, registry)
        assert [part.end for part in facts.rounds] == ["scored", "scored"]
        assert all(part.hands == () for part in facts.rounds)
        counted = Stats()
        counted.add(facts)
        assert [row["matches"] for row in counted.rows(DEFAULT[0])] == [1]
        assert list(counted.rows(DEFAULT[3])) == []


@pytest.mark.parametrize("name", NAMES)
def test_time_outs_and_what_is_broken_off(name: str) -> None:
    """Time-outs are no moves and have no think time; a match that was abandoned has no winner."""
    played = play(REGISTRY.game(name), 11, {"rounds": 2}, timeout_every=3, stop_after=40, takeover_every=9)
    facts = facts_of(write_record(played.record).encode(), REGISTRY)
    late = [act for act in facts.acts if act.timed_out]
    text = write_record(played.record)
    assert len(late) == text.count("\ntimed_out seat=")
    assert late or name == "erbaiwu"
    assert all(act.think_ms is None for act in late)
    assert facts.head.outcome.moves == len(facts.acts) - len(late)
    assert facts.winners is None
    counted = Stats((("game",),))
    counted.add(facts)
    (row,) = counted.rows(("game",))
    assert (row["decided"], row["score"], row["timeouts"]) == (0, None, len(late))


def test_lines_that_are_no_actions() -> None:
    """Standing answers left and notes are passed over; a standing answer that was applied has no think time."""
    text = GOLDEN[0].read_bytes().decode().rpartition("! sha256")[0]
    extra = text.replace("\n= end", "\n- delegate seat=1 cause=timeouts\n~ 1 c9 pass\n> 1 * 2 pass\n= end", 1)
    sealed = f"{extra}! sha256 {hashlib.sha256(extra.encode()).hexdigest()}\n"
    facts = facts_of(sealed.encode(), REGISTRY)
    last = facts.acts[-1]
    assert (last.seat, last.standing, last.think_ms, last.verb) == (1, True, None, "pass")
    assert len(facts.acts) == len(golden(GOLDEN[0].stem).acts) + 1


def test_damage_is_told(counts: Counts) -> None:
    """Whatever byte is changed, and wherever the text is cut."""
    text = GOLDEN[0].read_bytes()
    chance = random.Random(1)
    for _ in range(counts(100, 5000)):
        at = chance.randrange(len(text))
        for bad in (text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :], text[:at]):
            with pytest.raises(BadText):
                facts_of(bad, REGISTRY)


# ---- counting ----


def test_rows_against_a_slow_count() -> None:
    """Means, wins, moves, medians of many matches by player, counted plainly."""
    records = [
        facts_of(write_record(play(REGISTRY.game("hongshi"), number, {"rounds": 1}).record).encode(), REGISTRY)
        for number in range(40)
    ]
    counted = Stats((("seat",), ("game", "hand")))
    for facts in records:
        counted.add(facts)
    for row in counted.rows(("seat",)):
        seat = int(str(row["seat"]))
        scores = [facts.head.outcome.scores[seat] for facts in records]
        think = [act.think_ms for facts in records for act in facts.acts if act.seat == seat and act.think_ms]
        assert row["score"] == pytest.approx(statistics.mean(scores), abs=1e-3)
        places = [facts.head.outcome.places or () for facts in records]
        assert row["won"] == sum(one[seat] == 1 and max(one) > 1 for one in places)
        assert row["matches"] == row["samples"] == row["rounds"] == 40
        assert row["think_median_ms"] == pytest.approx(statistics.median_low(think), rel=0.011)
        assert row["moves"] == sum(act.seat == seat for facts in records for act in facts.acts)
    hands = {row["hand"]: row for row in counted.rows(("game", "hand"))}
    for value in range(3):
        parts = [(part, s) for facts in records for part in facts.rounds for s in range(4) if part.features]
        wanted = [(part, s) for part, s in parts if part.features[s]["red_tens"] == value]
        row = hands[f"red_tens={value}"]
        assert row["rounds"] == len(wanted)
        assert row["won"] == sum(part.points[s] > 0 for part, s in wanted)


def test_intervals_are_those_of_scipy() -> None:
    """Student's for means, Wilson's for shares."""
    from scipy import stats as scipy_stats

    chance = random.Random(5)
    for count in (10, 11, 25, 400):
        values = [chance.gauss(3, 10) for _ in range(count)]
        row = Tally()
        for value in values:
            row.score(value)
        right = scipy_stats.t.ppf(0.975, count - 1) * scipy_stats.sem(values)
        assert row.mean == pytest.approx(statistics.mean(values))
        assert half_width(row.scored, row.spread) == pytest.approx(right, rel=1e-3)
    for hits, count in ((0, 5), (3, 7), (50, 100), (9, 9)):
        right = scipy_stats.binomtest(hits, count).proportion_ci(0.95, "wilson")
        assert wilson(hits, count) == pytest.approx((right.low, right.high), abs=1e-9)
    assert half_width(9, 4.0) is None
    assert wilson(0, 0) is None


def test_quantiles_within_one_per_cent() -> None:
    """Of times over six decades, in a bounded number of classes."""
    chance = random.Random(2)
    values = sorted(int(math.exp(chance.uniform(0, 14))) for _ in range(20_000))
    times = Times()
    for value in values:
        times.add(value)
    for share in (0.01, 0.5, 0.95, 1.0):
        right = values[max(0, math.ceil(len(values) * share) - 1)]
        assert times.quantile(share) == pytest.approx(right, rel=0.0101, abs=1)
    assert len(times.classes) < 800
    assert Times().quantile(0.5) is None


def test_keys() -> None:
    """What can be counted by."""
    assert keys_of("player, game") == ("player", "game")
    for text in ("", "nobody", "game,game", "game,"):
        with pytest.raises(BadKeys):
            keys_of(text)
    for key in KEYS:
        counted = Stats((keys_of(key),))
        counted.add(golden("jiangnan"))
        assert list(counted.rows((key,)))


# ---- commands ----


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run a command line: exit code, output, errors."""
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("KANGTOU_LANG", "en")

    def command(*words: object) -> tuple[int, str, str]:
        code = main(["archive", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_stats_of_files_and_folders(run: Any, tmp_path: Path) -> None:
    """A table, JSON, CSV; a damaged file is named and left out."""
    code, table, _ = run("stats", GOLDEN[0].parent, "--limit", 0)
    assert code == 0
    assert table.startswith("8 records\n")
    assert "red tens = 2" in table
    assert "红十 = 2" in run("stats", GOLDEN[0].parent, "--limit", 0, "--lang", "zh")[1]
    rows = [json.loads(line) for line in run("stats", GOLDEN[0].parent, "--by", "game", "--json")[1].splitlines()]
    assert {row["game"]: row["matches"] for row in rows} == {"duizhu": 1, "erbaiwu": 1, "hongshi": 1, "wushik": 5}
    lines = run("stats", *GOLDEN, "--csv")[1].splitlines()
    assert lines[0].startswith("by,player,game,variant,seat,hand,matches,")
    assert len({line.count(",") - line.split('"')[1].count(",") for line in lines[1:]}) == 1
    packed = zstandard.compress(GOLDEN[0].read_bytes())
    (tmp_path / "bad.ktr.zst").write_bytes(packed[:-20])
    (tmp_path / "good.ktr.zst").write_bytes(packed)
    (tmp_path / "bad.ktr").write_bytes(GOLDEN[1].read_bytes()[:-9])
    code, out, errors = run("stats", tmp_path)
    assert (code, out.split("\n")[0]) == (1, "1 records")
    assert errors.count("left out") == 2


def test_a_record_that_would_command_a_terminal(run: Any, tmp_path: Path) -> None:
    """Shown as it is, for people without what a terminal obeys; JSON and CSV have it all."""
    record = play(REGISTRY.game("hongshi"), 1, {"rounds": 1}).record
    terms = replace(record.head.terms, tags={"tournament": "\x1b[31mred\x9b2J"}, pool='a,"b\n</script>')
    text = write_record(replace(record, head=replace(record.head, terms=terms)))
    (tmp_path / "a.ktr").write_text(text)
    shown = run("stats", tmp_path, "--by", "tournament,pool")[1]
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "[31mred" in shown
    row = json.loads(run("stats", tmp_path, "--by", "tournament,pool", "--json")[1])
    assert (row["tournament"], row["pool"]) == ("\x1b[31mred\x9b2J", 'a,"b\n</script>')
    rows = list(csv.DictReader(io.StringIO(run("stats", tmp_path, "--by", "tournament,pool", "--csv")[1])))
    assert [one["pool"] for one in rows] == ['a,"b\n</script>']


def test_stats_of_what_is_not_there(run: Any, tmp_path: Path) -> None:
    """One clear line each."""
    assert run("stats", tmp_path / "none")[0] == 8
    code, _, errors = run("stats", tmp_path, "--by", "colour")
    assert (code, errors.count("\n")) == (2, 1)
    (tmp_path / "empty").mkdir()
    assert "no record" in run("stats", tmp_path / "empty")[2]


def test_parquet_and_queries(run: Any, tmp_path: Path) -> None:
    """The tables say what the counts say; every ready-made query runs; faults are one line."""
    from kangtou_clients.study.queries import NAMED

    tables = tmp_path / "tables"
    code, said, _ = run("export", "--parquet", tables, GOLDEN[0].parent, "--json")
    assert code == 0
    facts = [facts_of(path.read_bytes(), REGISTRY) for path in GOLDEN]
    assert json.loads(said)["rows"] == {
        "matches": len(facts),
        "seats": sum(len(one.head.terms.seats) for one in facts),
        "rounds": sum(len(one.rounds) * len(one.head.terms.seats) for one in facts),
        "moves": sum(len(one.acts) for one in facts),
    }
    assert list(tables.glob(".*")) == []
    for name in NAMED:
        assert run("query", "--in", tables, "--named", name)[0] == 0
        assert run("query", "--in", tables, "--named", name, "--json")[0] == 0
    sql = "SELECT count(*) AS n, sum(moves) AS moves FROM matches"
    assert json.loads(run("query", "--in", tables, sql, "--json")[1]) == {
        "n": len(facts),
        "moves": sum(one.head.outcome.moves for one in facts),
    }
    hands = "SELECT list_contains(hand, 'HT')::INT + list_contains(hand, 'DT')::INT = features['red_tens'] AS same"
    out = run("query", "--in", tables, f"{hands}, count(*) FROM rounds WHERE game = 'hongshi' GROUP BY 1", "--csv")[1]
    assert out.splitlines() == ["same,count_star()", "True,12"]
    assert "list" not in run("query", "--named", "list")[2]
    assert "SELECT" in run("query", "--named", "list", "--json")[1]
    for words, wanted in (
        (("query", "--in", tables, "SELEC"), 2),
        (("query", "--in", tables, "--named", "nothing"), 2),
        (("query", "--in", tables), 2),
        (("query", "--in", tmp_path, "SELECT 1"), 8),
        (("export", "--parquet", tables, tmp_path / "none"), 8),
        (("export", "--parquet", tables, GOLDEN[0], "--names"), 2),
        (("export", "--parquet", "/sys/tables", GOLDEN[0]), 2),
        (("export",), 2),
    ):
        code, _, errors = run(*words)
        assert code == wanted, words
        assert errors.startswith("kangtou: "), words
    for sql in (";", "-- nothing"):
        assert run("query", "--in", tables, sql)[0] == 2
    damaged = tmp_path / "damaged"
    shutil.copytree(tables, damaged)
    for data in (b"x", (tables / "moves.parquet").read_bytes()[:500]):
        (damaged / "moves.parquet").write_bytes(data)
        code, _, errors = run("query", "--in", damaged, "SELECT 1")
        assert code == 2
        assert errors.startswith("kangtou: the query fails: ")
    assert len(list(tables.iterdir())) == 4  # what failed left the tables and nothing else


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_no_half_files(run: Any, tmp_path: Path) -> None:
    """Neither tables nor a record: what was there stays."""
    (tmp_path / "match.ktr").write_bytes(b"before")
    with disk_of(4096):
        code, _, errors = run("export", "--parquet", tmp_path / "tables", GOLDEN[0].parent)
        with pytest.raises(OSError, match="too large"):
            archive.put_file(tmp_path / "match.ktr", bytes(5000))
    assert code == 2
    assert errors.startswith("kangtou: ")
    assert list((tmp_path / "tables").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["match.ktr"]
    assert (tmp_path / "match.ktr").read_bytes() == b"before"


@pytest.mark.parametrize(
    ("module", "words"), [("duckdb", ("query", "SELECT 1")), ("pyarrow", ("export", "--parquet", "t"))]
)
def test_without_the_extra(run: Any, monkeypatch: pytest.MonkeyPatch, module: str, words: tuple[str, ...]) -> None:
    """What to install is said."""
    monkeypatch.setitem(sys.modules, module, None)
    for name in ("queries", "parquet"):
        monkeypatch.delitem(sys.modules, f"kangtou_clients.study.{name}", raising=False)
        monkeypatch.delattr(f"kangtou_clients.study.{name}", raising=False)
    code, _, errors = run(*words)
    assert (code, "kangtou[analysis]" in errors) == (2, True)
