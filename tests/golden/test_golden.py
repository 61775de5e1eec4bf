"""Golden records and unfinished logs: read, verified, replayed, shown and resumed as on the day they were written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kangtou_clients.cli import main
from kangtou_engine.game import TooMany
from kangtou_engine.match.match import AnyState
from kangtou_engine.record import Record, canonical_text, read_record, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import OPEN, Replay
from kangtou_engine.verify import verify
from kangtou_services.agreement import Agreement
from kangtou_services.log.base import Entry
from kangtou_services.table.commands import Command
from tests.conftest import Counts
from tests.records.make import Played

from .make import DIGESTS, LOGS, RECORDS, UNFINISHED, digests_of, golden, resumed, state_digest, unfinished
from .plans import NUMBERS, PLANS
from .specials import OF

NAMES = tuple(PLANS)
# What a reader must find at the specials of each record, in English and in Chinese: the book's terms.
WORDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "duizhu": (
        ("甩: throws ♠J joker JOKER, it stands", "甩 ♠J 小王 大王，成立"),
        ("甩 fails: ♣J ♣A ♦2 can be beaten, only its smallest card ♣A is led", "甩 ♣J ♣A ♦2 不成，只出最小的 ♣A"),
        ("嗡: plays ♠10 ♥10 ♣10 ♦10", "嗡：♠10 ♥10 ♣10 ♦10"),
        ("扣王: buries joker and takes ♠3", "扣王：扣 小王，取 ♠3"),
        ("抢主: snatches ♣J ♦7 and gives ♠4 ♦J", "抢主：抢 ♣J ♦7，给 ♠4 ♦J"),
        ("直 (a J takes the last trick)", "第 2 轮：直"),
        ("打光 (shut out), 0 points", "第 3 轮：打光，打 3，得 0 分"),
        ("回龙: back to level J", "回龙：回到 J"),
        ("抠 (last trick taken with trumps), 85 points", "第 4 轮：抠，打 J，得 85 分"),
        ("嘎巴锅", "嘎巴锅"),
        ("next: sink a joker?", "进入 扣王？"),
    ),
    "erbaiwu": (
        ("岔: pongs ♥Q with ♣Q ♦Q", "岔 ♥Q：♣Q ♦Q"),
        ("锁: locks the run of ♣ with ♠6 ♥6", "锁 ♣：♠6 ♥6"),
        (
            "提: lifts a group with joker=♦6; under the pile: JOKER ♠6 ♥6 joker",
            "提 小王=♦6，大王 ♠6 ♥6 小王 压废牌堆底",
        ),
        ("gets 30 points: 黑帮死亡", "加 30 分：黑帮死亡（♦6）"),
        ("dumps the black", "打出黑帮"),
        (
            "整五: seat 1 holds only ♦5; the others' scores are multiplied by 2",
            "整五：1 号位手中只有 ♦5，其余各家分数乘 2",
        ),
        ("seat 1 settled · caught (抠)", "1 号位算帐 · 被抠"),
        ("seat 1 has exactly 250: -50", "1 号位正好 250：-50"),
        ("贴: attaches JOKER=♣6", "贴 大王=♣6"),
    ),
    "hongshi": (
        ("lightning: shows all four tens", "闪电胜利：亮四个十"),
        ("reveals ♦10", "亮 ♦10"),
        ("车 (cart): nobody beats the last play", "车："),
        ("两张红十: plays the red pair ♥10 ♦10", "出两张红十 ♥10 ♦10"),
    ),
    "chengde1": (("flush straight", "同花顺"), ("pure 5-10-K", "正五十K"), ("is out, seat", "已出完，")),
    "chengde2": (("flush straight", "同花顺"), ("(bomb, 6 cards", "（炸弹，6 张"), ("is out, seat", "已出完，")),
    "liaoning": (
        ("(triple bomb Q)", "（轰 Q）"),
        ("(mixed 5-10-K)", "（混五十K）"),
        ("pure 5-10-K", "纯五十K"),
        ("(both jokers)", "（大小王）"),
        ("is out, seat", "已出完，"),
    ),
    "jiangnan": (
        ("亮相: announces ♠K ♥K ♣K ♣K ♦K ♦K", "亮相：♠K ♥K ♣K ♣K ♦K ♦K"),
        ("plays ♠K ♥K ♣K ♣K ♦K ♦K (bomb, 6 cards, top K)", "出 ♠K ♥K ♣K ♣K ♦K ♦K（炸弹，6 张，最大 K）"),
        ("(three jokers)", "（三王）"),
        ("is out, seat", "已出完，"),
    ),
    "jinzhou": (("two small jokers", "两小王"), ("(run of pairs", "（双龙"), ("(bomb, 4 cards", "（炮，4 张")),
}


@cache
def text_of(name: str) -> str:
    """The text of a golden record."""
    return (RECORDS / f"{name}.ktr").read_text(encoding="utf-8")


@cache
def record_of(name: str) -> Record:
    """The same, read."""
    return read_record(text_of(name))


def replay_of(name: str) -> Replay:
    """Ready to be replayed."""
    record = record_of(name)
    return Replay(REGISTRY.game(record.head.terms.game, record.head.terms.version), record)


# ---- records ----


def test_nothing_is_missing() -> None:
    assert {path.stem for path in RECORDS.glob("*.ktr")} == set(NAMES) == set(NUMBERS)
    assert {path.stem for path in UNFINISHED.glob("*.json")} == set(LOGS) == set(REGISTRY.names())
    assert set(json.loads(DIGESTS.read_text())) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_unchanged(name: str) -> None:
    """The text, and what was played."""
    record, said = record_of(name), json.loads(DIGESTS.read_text())[name]
    assert write_record(record) == text_of(name)
    assert digests_of(record) == said
    assert hashlib.sha256(canonical_text(record).encode()).hexdigest() == said["canonical"]


@pytest.mark.parametrize("name", NAMES)
def test_verifies(name: str) -> None:
    """Hashes, commitments, packs, and every event of the engine run again."""
    report = verify(text_of(name), REGISTRY, record_of(name).receipt)
    assert report.findings == []
    assert report.notes == []
    assert report.rerun
    assert report.actions == record_of(name).head.outcome.moves > 0


@pytest.mark.parametrize("name", NAMES)
def test_holds_its_specials(name: str) -> None:
    replay, plan = replay_of(name), PLANS[name]
    events = [event for number in range(len(replay.moments)) for event in replay.events(number)]
    assert plan.wanted <= OF[plan.game](events)
    assert replay.record.head.outcome.cause == "rules"


@pytest.mark.parametrize("name", NAMES)
def test_replays_exactly(name: str) -> None:
    """At every position: what each seat and a spectator were sent, folded, is the table's view; open, the state."""
    replay = replay_of(name)
    game, record = replay.game, replay.record
    viewers = [*range(replay.config.seats), None]
    folded: dict[int | None, AnyState] = {who: game.before(replay.config) for who in viewers}
    state = game.before(replay.config)
    for number in range(len(replay.moments)):
        state = game.fold(replay.events(number), state)
        assert replay.view(number + 1, OPEN) == state
        for who in viewers:
            folded[who] = game.fold(replay.seen(number, who), folded[who])
            assert folded[who] == replay.view(number + 1, who) == game.view(state, who)
    assert state.phase == "over"
    assert (state.sheet.scores, state.sheet.places) == (record.head.outcome.scores, record.head.outcome.places)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_reads_well(name: str, lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`kangtou replay` names each special by the book's term, openly and for a spectator."""
    shown = replayed(capsys, name, lang)
    for pair in WORDS[name]:
        assert pair[lang == "zh"] in shown, pair
    watched = replayed(capsys, name, lang, "--spectator")
    assert len(watched) < len(shown)  # no hands
    assert "{" not in shown
    assert "None" not in shown


def replayed(capsys: pytest.CaptureFixture[str], name: str, lang: str, who: str = "--open") -> str:
    """What the command prints."""
    capsys.readouterr()
    assert main(["--lang", lang, "--no-color", "replay", str(RECORDS / f"{name}.ktr"), who]) == 0
    return capsys.readouterr().out


def test_made_again(counts: Counts) -> None:
    """The script that wrote them writes the same: a few of them, in a full run all."""
    for name in NAMES if counts(0, 1) else ("chengde1", "jiangnan"):
        assert write_record(golden(name, NUMBERS[name]).record) == text_of(name), name


# ---- unfinished logs ----


def stored(name: str) -> tuple[Agreement, bytes, list[Entry], dict[str, Any]]:
    """An unfinished log as it was written."""
    given = json.loads((UNFINISHED / f"{name}.json").read_text(encoding="utf-8"))
    agreement = Agreement.from_json(json.dumps(given["agreement"]))
    entries = [Entry(epoch, seq, body, chain, tuple(rounds)) for epoch, seq, rounds, chain, body in given["entries"]]
    return agreement, bytes.fromhex(given["seed"]), entries, given


@pytest.mark.parametrize("name", LOGS)
def test_resumes(name: str) -> None:
    """A table loads it in mid-round, knows what its last owner knew, and goes on to an end that verifies."""
    agreement, seed, entries, given = stored(name)
    game = REGISTRY.game(agreement.game, agreement.version)
    table = resumed(game, agreement, seed, entries)
    assert table.state.phase in game.spec.phases
    assert table.epoch == 2
    assert state_digest(table) == given["state"]
    played = Played(game, agreement, seed, list(entries))
    rng, now = Random(1), max(entry.seq for entry in entries) * 1_000 + agreement.created_ms + 600_000
    draft = table.claim(now, "actor-3")
    while True:
        assert draft.entry is not None
        table.commit(draft)
        played.entries.append(draft.entry)
        if table.over:
            break
        now += rng.randrange(1, 500)
        for seat in game.to_act(table.state)[:1]:
            asked = table.prompts.asked[seat]
            assert asked is not None
            legal = game.legal(table.state, seat, 200)
            action = game.spec.random(table.state, seat, legal, rng.randrange)
            assert isinstance(legal, TooMany) or action in legal
            table.submit(Command(seat, f"x{table.seq}", asked.number, action))
        next_draft, _ = table.draft(now)
        assert next_draft is not None
        draft = next_draft
    assert table.cause == "rules"
    report = verify(write_record(played.record), REGISTRY, table.receipt)
    assert report.findings == []
    assert report.rerun


@pytest.mark.parametrize("name", LOGS)
def test_unfinished_made_again(name: str) -> None:
    """Also the digest of what the table knows; it says what has changed when it has."""
    text = json.dumps(unfinished(name), ensure_ascii=False, indent=1) + "\n"
    assert text == Path(UNFINISHED / f"{name}.json").read_text(encoding="utf-8")
