"""Rules that the public cases do not show, as cases of the same form; ids are rules."""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_engine.cases import run_case
from kangtou_engine.errors import BadOptions
from kangtou_engine.games.duizhu import GAME
from kangtou_engine.games.duizhu.events import Waited
from kangtou_engine.match.match import Game
from kangtou_engine.shuffle import SeededChance

DUIZHU = Game(GAME)

HANDS = [
    "D2 H3 D6 S6 H5 S5 DQ CQ ST S2 HJ SJ",
    "BJ CT C4 DJ C5 CA C7 H4 D7 HK DK D3",
    "S9 S3 DA H8 C6 D8 HA D9 H6 CJ S4 H9",
    "C3 S7 H7 C9 C2 CK D4 SQ HT S8 DT SA",
]
KITTY = "C8 SK D5 HQ H2 RJ"
DEAL = {"deal": True, "first": 2, "hands": HANDS, "kitty": KITTY}
J_DEAL = {"deal": True, "drawn": 48, "round": 9, "dealer": 0, "levels": ["J", "9"], "kitty": "HJ H5 S8 C4 DK HT"} | {
    "hands": [
        "H6 D3 SJ S4 ST S6 S9 DA C3 S2 H3 HA",
        "HK SA CT C8 S5 D6 C7 D4 D2 DQ SQ D7",
        "H2 C2 CK CQ C9 CJ DJ HQ RJ C5 H4 H7",
        "H9 DT S3 S7 BJ CA D9 C6 SK D5 D8 H8",
    ]
}
PLAY = {"dealer": 0, "levels": ["8", "8"], "trump": "H", "round": 3}
LAST = {**PLAY, "tricks": 11, "to_act": 0}
BURY = {**PLAY, "phase": "bury", "hands": ["HA HK H4 C4 C7 D3 D6 ST BJ", "S3 S4 S6", "RJ C9 CT", "D9 DT DJ"]}
WON = {"levels": ["T", "8"], "last_round": {"outcome": "guang"}}


def fix(**start: Any) -> dict[str, Any]:
    """A position in `fix` at level 7."""
    hands = ["SA SK", "HA D3", "CK CQ", "DK DQ"]
    return {"phase": "fix", "dealer": 0, "levels": ["7", "7"], "hands": hands, **start}


def snatch(**start: Any) -> dict[str, Any]:
    """A position in `snatch`: a joker and a three can be snatched."""
    hands = ["HA HK", "S3 S4", "RJ C9", "D9 DT"]
    return {**PLAY, "phase": "snatch", "hands": hands, "buried": "BJ H3 C4 C5 C6 C7", **start}


def last(hands: list[str], **start: Any) -> dict[str, Any]:
    """The last trick, led by seat 0."""
    return {**LAST, "hands": hands, **start}


UP = ["HA", "C4", "C5", "C6"]  # seat 0 wins with a trump, no points in the trick but 5
PLAYED = ["0 play HA", "1 play C4", "2 play C5", "3 play C6"]
FOUR_TWOS = ["S2 H2 C2 D2 S3", "H3 H4 H5 H6 C3", "RJ BJ C4 C5 C6", "D3 D4 D5 D6 D7"]

# rule, what it shows, options, start, script, expect
Row = tuple[str, str, dict[str, Any], dict[str, Any], list[str], dict[str, Any]]
DEALING: list[Row] = [
    ("DZ-3.2", "lap: the second window after card 8", {"windows": "lap"}, DEAL, ["- timeout"], {"drawn": 8}),
    ("DZ-3.2", "lap: the first window after card 4", {"windows": "lap"}, DEAL, [], {"drawn": 4, "phase": "deal"}),
    (
        "DZ-3.3",
        "a card of one's own, drawn, of the level rank, and one only",
        {},
        DEAL | {"drawn": 8},
        ["2 declare S3 S9 !illegal", "2 declare !illegal", "2 declare C3 !illegal", "2 declare 3 !illegal"],
        {"legal": {2: ["wait", "declare S3"], 3: ["wait", "declare C3"], 0: ["wait", "declare H3"], 1: ["wait"]}},
    ),
    (
        "DZ-3.4",
        "a known dealer stays dealer in round 1 too",
        {},
        DEAL | {"drawn": 8, "dealer": 1},
        ["2 declare S3"],
        {"dealer": 1, "trump": "S", "shown": "2 S3", "first": 2, "phase": "bury"},
    ),
    (
        "DZ-3.4",
        "the last window still counts",
        {"windows": "end"},
        DEAL,
        ["0 wait", "1 declare D3"],
        {"phase": "bury", "dealer": 1, "trump": "D", "to_act": [1]},
    ),
    (
        "DZ-3.6",
        "the partner's level card forbids the claim; both passed and nobody declared: the way",
        {},
        J_DEAL | {"levels": ["9", "J"], "dealer": 1},
        ["- timeout", "0 claim_redeal !illegal", "2 pass", "0 pass"],
        {"phase": "way", "to_act": [2], "kitty": None},
    ),
    ("DZ-3.6", "claim", {}, J_DEAL, ["- timeout", "3 claim_redeal"], {"phase": "cut", "round": 9, "dealer": 2}),
    ("DZ-3.6", "not at T", {}, J_DEAL | {"levels": ["T", "J"]}, ["- timeout"], {"phase": "way"}),
    ("DZ-3.6", "only the two defenders are asked", {}, J_DEAL, ["- timeout"], {"to_act": [1, 3], "legal": {0: []}}),
    ("DZ-13.9", "no redeal", {"redeal": False}, J_DEAL, ["- timeout"], {"phase": "way", "to_act": [1]}),
    (
        "DZ-3.6",
        "the note stays over a void round, and one defender's pass does not stop the other",
        {"cut": False, "windows": "lap"},
        J_DEAL | {"pending": {"side": 0, "level": "A"}, "round": 1},
        ["- timeout", "1 pass", "3 claim_redeal"],
        {
            "phase": "deal",
            "dealer": 2,
            "first": 2,
            "round": 1,
            "pending": {"side": 0, "level": "A"},
            "level_rank": "J",
            "trump": None,
            "last_round": {"outcome": "void", "last_trick": None, "round": 1, "dealer": 0},
        },
    ),
]
FIXING: list[Row] = [
    ("DZ-3.7", "a word that there is not", {}, fix(phase="way"), ["1 way kind=none !illegal", "1 way !illegal"], {}),
    ("DZ-3.9", "two or level card", {}, fix(way="ends", kitty="S2 H7 C8 BJ D2 C2"), ["0 pick end=low"], {"trump": "H"}),
    (
        "DZ-3.9",
        "no card that counts: any suit, and the way is free",
        {},
        fix(way="ends", kitty="S2 H2 C2 D2 BJ RJ"),
        ["0 pick end=low"],
        {"way": "free", "phase": "fix", "legal": {0: [f"name suit={suit}" for suit in "SHCD"]}, "tied": ""},
    ),
    (
        "DZ-3.9",
        "after a tie one of the tied suits; the tie is gone when play begins",
        {},
        fix(way="ends", kitty="S9 H9 C8 BJ D2 C2"),
        ["0 pick end=high", "0 name suit=C !illegal", "0 name suit=H"],
        {"trump": "H", "tied": "", "way": "ends", "gabaguo": False},
    ),
    ("DZ-3.10", "a two fixes its suit", {}, fix(way="single", kitty="S9 C2 C8"), ["0 pick pos=2"], {"trump": "C"}),
    ("DZ-3.10", "BJ hearts", {}, fix(way="single", kitty="S9 BJ H8"), ["0 pick pos=2"], {"trump": "H"}),
    (
        "DZ-3.10",
        "no place 7",
        {},
        fix(way="single", kitty=KITTY),
        ["0 pick pos=7 !illegal", "0 pick pos=6"],
        {"trump": "S"},
    ),
    ("DZ-3.8", "free: no picking", {}, fix(way="free", kitty=KITTY), ["0 pick pos=1 !illegal", "0 name suit=D"], {}),
    ("DZ-11.4", "ends: high", {}, fix(way="ends", kitty="S9 H8 C8"), ["- timeout"], {"trump": "S", "gabaguo": False}),
    ("DZ-11.4", "single: 1", {}, fix(way="single", kitty="D9 H8 C8"), ["- timeout"], {"trump": "D"}),
    ("DZ-2.2", "no sink", {"partner_sink": False}, BURY, ["0 bury C4 C7 D3 D6 ST HA"], {"phase": "snatch"}),
    (
        "DZ-2.2",
        "neither sink nor snatch",
        {"partner_sink": False, "snatch": False},
        BURY,
        ["0 bury C4 C7 D3 D6 ST HA"],
        {"phase": "play", "snatchable": "", "to_act": [0]},
    ),
    (
        "DZ-2.2",
        "nothing to snatch",
        {"partner_sink": False},
        BURY,
        ["0 bury C4 C7 D3 D6 ST HA announce=HA"],
        {"phase": "play"},
    ),
]
SIX: list[Row] = [
    ("DZ-13.6", "jokers only", {"announce": "jokers"}, BURY, ["0 bury C4 C7 D3 D6 HA BJ announce=HA !illegal"], {}),
    ("DZ-13.6", "none", {"announce": "none"}, BURY, ["0 bury C4 C7 D3 D6 HA BJ announce=BJ !illegal"], {}),
    ("DZ-5.5", "twice", {}, BURY, ["0 bury C4 C7 D3 D6 HA BJ announce=BJ,BJ !illegal"], {"phase": "bury"}),
    (
        "DZ-5.4",
        "six, different",
        {},
        BURY,
        ["0 bury C4 C4 C7 D3 D6 HA !illegal", "0 bury C4 C7 D3 D6 HA HK BJ !illegal"],
        {},
    ),
    (
        "DZ-5.7",
        "the lowest may be a trump, and then it is no longer to be snatched; a two and jokers come last",
        {},
        {**PLAY, "phase": "sink", "hands": ["HA", "S3", "RJ", "D9"], "buried": "H3 S2 BJ CA CK DA"},
        ["2 sink RJ take=S2 !illegal", "2 sink RJ take=H3"],
        {"buried": "S2 BJ CA CK DA RJ", "sunk": "BJ RJ", "snatchable": "S2 BJ", "hands": {2: "H3"}},
    ),
    (
        "DZ-5.8",
        "a snatched joker",
        {},
        snatch(),
        ["1 snatch BJ give=S3"],
        {"sunk": "", "snatchable": "H3", "phase": "snatch"},
    ),
    (
        "DZ-5.8",
        "a joker given in return does not count, and cannot be snatched",
        {},
        snatch(),
        ["2 snatch BJ give=RJ", "1 snatch RJ give=S3 !illegal", "- timeout"],
        {"sunk": "", "buried": "RJ H3 C4 C5 C6 C7", "phase": "play"},
    ),
    (
        "DZ-5.8",
        "left there it counts",
        {},
        snatch(),
        ["- timeout"],
        {"phase": "play", "sunk": "BJ", "buried": "BJ H3 C4 C5 C6 C7"},
    ),
    (
        "DZ-6.3",
        "the hand before",
        {},
        snatch(),
        ["1 snatch BJ give=BJ !illegal", "1 snatch BJ give=S3,S4 !illegal"],
        {},
    ),
    (
        "DZ-6.4",
        "all at once",
        {},
        snatch(),
        ["0 snatch BJ H3 give=HA,HK"],
        {"phase": "play", "to_act": [0], "sunk": ""},
    ),
    ("DZ-5.9", "annulled before", {}, BURY, ["- annul", "0 bury C4 C7 D3 D6 ST BJ"], {"sunk": "", "annulled": True}),
    (
        "DZ-5.9",
        "annulled, and a joker buried later counts neither",
        {},
        {**PLAY, "phase": "sink", "hands": ["HA", "S3", "RJ", "D9"], "buried": "D3 C9 BJ CA CK DA", "announced": "BJ"},
        ["- annul", "2 sink RJ take=D3"],
        {"phase": "play", "sunk": "", "buried": "RJ C9 BJ CA CK DA"},
    ),
    (
        "DZ-5.9",
        "not after 嘎巴锅",
        {},
        {**PLAY, "hands": UP, "gabaguo": True},
        ["- annul !illegal"],
        {"annulled": False},
    ),
    ("DZ-5.9", "not in deal", {}, DEAL, ["- annul !illegal"], {"annulled": False}),
]
PLAYING: list[Row] = [
    (
        "DZ-7.1",
        "four twos as the first lead are a throw, and it can fail; S is first of equals",
        {},
        {**PLAY, "hands": FOUR_TWOS, "tricks": 0},
        ["0 play S2 H2 C2 D2"],
        {"trick": ["0 S2"], "failed_throw": {"seat": 0, "cards": "S2 H2 C2 D2", "played": "S2"}},
    ),
    (
        "DZ-7.1",
        "four twos later are a 嗡, and jokers follow",
        {},
        {**PLAY, "hands": FOUR_TWOS, "tricks": 1},
        ["0 play S2 H2 C2 D2", "1 play H3 H4 H5 H6", "2 play BJ C4 C5 C6 !illegal", "2 play BJ RJ C5 C6"],
        {"to_act": [3], "failed_throw": None},
    ),
    (
        "DZ-11.3",
        "a four of twos is listed once",
        {},
        {**PLAY, "hands": ["S2 H2 C2 D2", "S3", "S4", "S5"], "tricks": 2},
        [],
        {"legal_includes": {0: ["play D2 C2 H2 S2"]}, "legal_excludes": {0: ["play S2 S2", "play"]}},
    ),
    (
        "DZ-4.6",
        "suited_high: the trump suit's level card wins, and is no smallest of a throw",
        {"suited_high": True},
        {**PLAY, "hands": ["S8 C3", "H8 C4", "S3 C5", "D3 C6"]},
        ["0 play S8", "1 play H8", "2 play S3", "3 play D3"],
        {"last_winner": 1},
    ),
    (
        "DZ-4.6",
        "suited_high: a higher two elsewhere breaks a throw",
        {"suited_high": True},
        {**PLAY, "hands": ["RJ S2 D3", "H2 H3 D4", "H4 H5 D6", "D2 C9 CT"]},
        ["0 play RJ S2"],
        {"trick": ["0 S2"]},
    ),
    (
        "DZ-7.4",
        "a ruff by a level card and an equal one later",
        {},
        {**PLAY, "hands": ["SK C3", "C8 C4", "H8 C6", "H5 CT"]},
        ["0 play SK", "1 play C8", "2 play H8", "3 play H5"],
        {"to_act": [1], "points": 15},
    ),
    (
        "DZ-11.4",
        "following by default: all of the suit, then side cards before trumps",
        {},
        {**PLAY, "hands": ["SA SK SQ C3", "S3 H4 D5 CT", "C4 C5 C6 C7", "D3 D4 D6 D7"]},
        ["0 play SQ SK SA", "- timeout"],
        {"trick": ["0 SA SK SQ", "1 S3 D5 CT"]},
    ),
]
SCORING: list[Row] = [
    ("DZ-9.5", "T", {}, last(UP, levels=["8", "8"]), PLAYED, WON | {"next_dealer": 2}),
    ("DZ-9.4", "end_level", {"end_level": "9"}, last(UP), PLAYED, {"levels": ["9", "8"], "phase": "between"}),
    (
        "DZ-10.3",
        "end_level made",
        {"end_level": "8"},
        last(UP),
        PLAYED,
        {"phase": "over", "winner": 0, "next_dealer": None},
    ),
    (
        "DZ-9.11",
        "削, and the buried joker on top",
        {},
        last(["H3", "HA", "C5", "C6"], levels=["A", "5"], buried="BJ C3"),
        ["0 play H3", "1 play HA", "2 play C5", "3 play C6"],
        {
            "levels": ["9", "5"],
            "pending": {"side": 0, "level": "A"},
            "last_round": {"outcome": "xue"},
            "next_dealer": 2,
        },
    ),
    (
        "DZ-9.10",
        "a J at A is a plain 抠",
        {},
        last(["H3", "HJ", "C5", "C6"], levels=["A", "5"]),
        ["0 play H3", "1 play HJ", "2 play C5", "3 play C6"],
        {"levels": ["A", "6"], "pending": None, "last_round": {"outcome": "kou"}, "next_dealer": 1},
    ),
    (
        "DZ-9.10",
        "a joker is no J",
        {},
        last(["H3", "BJ", "C5", "C6"], levels=["J", "5"]),
        ["0 play H3", "1 play BJ", "2 play C5", "3 play C6"],
        {"last_round": {"outcome": "kou"}},
    ),
    (
        "DZ-9.13",
        "the dealer may decline 回龙, and the note is gone",
        {},
        last(UP, levels=["3", "8"], pending={"side": 0, "level": "A"}),
        [*PLAYED, "0 pass"],
        {"phase": "between", "levels": ["5", "8"], "pending": None},
    ),
    (
        "DZ-9.13",
        "回龙 in the last round counts before the match is judged",
        {"rounds": 3},
        last(UP, levels=["3", "8"], pending={"side": 0, "level": "A"}),
        [*PLAYED],
        {"phase": "recover", "to_act": [0], "next_dealer": None, "pending": {"level": "A"}, "levels": ["5", "8"]},
    ),
    (
        "DZ-10.4",
        "and then the higher level wins",
        {"rounds": 3},
        last(UP, levels=["3", "8"], pending={"side": 0, "level": "A"}),
        [*PLAYED, "- timeout"],
        {"phase": "over", "winner": 0, "levels": ["A", "8"], "places": [1, 3, 1, 3]},
    ),
    (
        "DZ-9.13",
        "a made round that is no shut-out: the note is gone",
        {},
        last(UP, levels=["3", "8"], pending={"side": 0, "level": "A"}, points=5),
        PLAYED,
        {"phase": "between", "levels": ["4", "8"], "pending": None},
    ),
    (
        "DZ-10.4",
        "a draw",
        {"rounds": 3},
        last(UP, levels=["7", "8"], points=5),
        PLAYED,
        {"winner": "draw", "places": [1] * 4},
    ),
    (
        "DZ-13.10",
        "stack",
        {"stack": True},
        last(["D9", "H4", "D3", "D4"], points=80),
        ["0 play D9", "1 play H4", "2 play D3", "3 play D4"],
        {"levels": ["8", "T"], "last_round": {"outcome": "kou"}},
    ),
    (
        "DZ-13.11",
        "fail",
        {"weak_last": "fail"},
        last(["D3", "D4", "D5", "D6"]),
        ["0 play D3", "1 play D4", "2 play D5", "3 play D6"],
        {"last_round": {"outcome": "po", "points": 5}, "next_dealer": 1, "levels": ["8", "8"]},
    ),
    (
        "DZ-13.11",
        "kou",
        {"weak_last": "kou"},
        last(["D3", "D4", "D5", "D6"], points=45),
        ["0 play D3", "1 play D4", "2 play D5", "3 play D6"],
        {"last_round": {"outcome": "kou"}, "levels": ["8", "9"]},
    ),
    (
        "DZ-13.13",
        "points of the buried six with the last trick",
        {"bury_points": "last"},
        last(["D3", "D4", "D5", "D6"], points=25, buried="CK C5 C3 ST C4 C7"),
        ["0 play D3", "1 play D4", "2 play D5", "3 play D6"],
        {"points": 55, "last_round": {"outcome": "po", "points": 55}},
    ),
    (
        "DZ-13.13",
        "not if the up side wins it",
        {"bury_points": "last"},
        last(UP, points=25, buried="CK C3"),
        PLAYED,
        {"points": 25, "last_round": {"outcome": "made", "points": 25}},
    ),
    (
        "DZ-8.2",
        "a 嗡 of side cards wins without trumps",
        {},
        last(["S3 S4 S5 S6", "SK HK CK DK", "C3 C4 C5 C6", "D3 D4 D5 D6"], to_act=1),
        ["1 play SK HK CK DK", "2 play C3 C4 C5 C6", "3 play D3 D4 D5 D6", "0 play S3 S4 S5 S6"],
        {"last_round": {"outcome": "po", "points": 55, "last_trick": "1 DK CK HK SK"}},
    ),
]
ROWS = [*DEALING, *FIXING, *SIX, *PLAYING, *SCORING]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} {row[1]}".replace(" ", "_") for row in ROWS])
def test_rule(row: Row) -> None:
    """One row as a case."""
    rule, title, options, start, script, expect = row
    case = {"id": rule, "title": title, "options": options, "start": start, "script": script, "expect": expect}
    assert run_case(DUIZHU, case) == []


@pytest.mark.parametrize(("windows", "count"), [("card", 48), ("lap", 12), ("end", 1)], ids=["card", "lap", "end"])
def test_number_of_windows(windows: str, count: int) -> None:
    """DZ-3.2, DZ-13.5: four answers in each of them if nobody declares."""
    chance = SeededChance("windows", bytes(32), ())
    _, state = DUIZHU.begin(DUIZHU.config({"windows": windows, "cut": False}), chance)
    answers = 0
    while state.phase == "deal":
        seat = DUIZHU.to_act(state)[-1]
        events, state = DUIZHU.step(state, seat, DUIZHU.default(state, seat), chance)
        answers += isinstance(events[0], Waited)
    assert answers == 4 * count


BAD = [
    ("DZ-13.2", {"start_level": 9}),
    ("DZ-13.2", {"start_level": "2"}),
    ("DZ-13.2", {"start_level": "T", "end_level": "9"}),
    ("DZ-13.5", {"windows": "none"}),
    ("DZ-13.1", {"rounds": True}),
]


@pytest.mark.parametrize(("rule", "options"), BAD, ids=[str(options) for _, options in BAD])
def test_options_that_are_refused(rule: str, options: dict[str, object]) -> None:
    """DZ-13, CM-11.1."""
    with pytest.raises(BadOptions) as refusal:
        DUIZHU.config(options)
    assert refusal.value.rule == rule


def test_four_seats_only() -> None:
    """DZ-1.2."""
    with pytest.raises(BadOptions):
        DUIZHU.config({}, 3)
