"""`verify` recomputes everything and names the line of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from kangtou_engine.events import Event
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import State
from kangtou_engine.notation import CHAIN_START, chain
from kangtou_engine.record import Line, Record, make_record, read_record, write_record
from kangtou_engine.registry import REGISTRY, Registry
from kangtou_engine.verify import Report, verify
from kangtou_services.archive.archiver import terms_of
from tests.conftest import Counts
from tests.games.parrot import GAME, Own, TrickWon
from tests.records.make import ENGINE, play

PARROT = Game(GAME)
GAMES = Registry([GAME])


def rewritten(record: Record, change: Callable[[str, str], str]) -> Record:
    """The record with its bodies changed (given id and text) and the whole chain computed anew: a careful forger's."""
    rows: list[tuple[int, int, str, str]] = []
    before = CHAIN_START
    for entry in record.entries:
        text = change(entry.id, entry.text)
        before = chain(before, entry.id, text)
        rows.append((entry.epoch, entry.seq, before, text))
    made = make_record(record.head.terms, rows, record.seed, record.head.engine)
    return replace(made, head=replace(made.head, extra=record.head.extra))


def line_of(text: str, pattern: str) -> int:
    """The first line that a pattern matches at its beginning, from 1."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if re.match(pattern, line))


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize("name", REGISTRY.names())
def test_matches_of_every_game_verify(name: str, counts: Counts) -> None:
    """Random matches, with takeovers and time-outs, of every game there is."""
    game = REGISTRY.game(name)
    for number in range(counts(2, 60)):
        played = play(game, number, {"rounds": 1}, takeover_every=23, timeout_every=11)
        report = verify(write_record(played.record), REGISTRY, played.entries[-1].chain)
        assert report.findings == []
        assert report.rerun
        assert report.actions == played.record.head.outcome.moves + sum(
            entry.text.count("\n> - ") for entry in played.record.entries
        )
        assert report.deals >= 1


def test_ended_outside_the_rules_verifies() -> None:
    """Before it began, and in the middle."""
    for entries in (1, 2, 12):
        record = play(PARROT, 3, stop_after=entries).record
        assert verify(write_record(record), GAMES).findings == []


def test_an_edited_entry_is_named() -> None:
    """Design acceptance 9: its line, by the chain and by the engine."""
    text = write_record(play(PARROT, 1).record)
    at = line_of(text, r"> 2 .* play ")
    lines = text.split("\n")
    lines[at - 1] = lines[at - 1][:-2] + "ZZ"
    report = verify("\n".join(lines), GAMES)
    assert any(str(finding.line) == str(at) or f"-{at}" in finding.text for finding in report.findings)


@pytest.mark.parametrize(
    ("what", "pattern", "new", "code"),
    [
        ("another card", r"(> \d \S+ \d+ play )(\S\S)", r"\1XX", "syntax"),
        ("an event", r"trick_won seat=(\d)", "trick_won seat=9", "event"),
        ("a deal", r"(pile=)(..),(..)", r"\1\3,\2", "deal"),
        ("the lot", r"highest=\d", "highest=9", "event"),
        ("a score", r"scored points=(\d),(\d)", r"scored points=\2\1,\2", "event"),
    ],
)
def test_a_record_rewritten_as_a_whole(what: str, pattern: str, new: str, code: str) -> None:
    """The forger made all hashes anew: rules, deals and results give it away, by line."""
    record = play(PARROT, 6, {"rounds": 1}).record
    done: list[str] = []

    def change(entry: str, text: str) -> str:
        changed = text if done else re.sub(pattern, new, text, count=1)
        done.extend([entry] if changed != text else [])
        return changed

    forged = write_record(rewritten(record, change))
    if code != "syntax":
        read_record(forged)  # nothing is wrong with its text
    report = verify(forged, GAMES)
    assert code in codes(report), what
    head = line_of(forged, f"{done[0]} ")
    after = forged.split("\n")[head:]
    length = next(place for place, line in enumerate(after) if line[:1].isdigit() or line.startswith("!"))
    assert head < min(finding.line for finding in report.findings if finding.code == code) <= head + length


def test_an_action_that_the_rules_refuse() -> None:
    """A seat plays what it does not hold; the events go along."""
    record = play(PARROT, 6, {"rounds": 1}).record
    target = next(entry for entry in record.entries if "> " in entry.text and "trick_won" not in entry.text)
    card = re.findall(r"play (\S\S)", target.text)[0]
    other = next(c for c in GAME.pack(PARROT.config()) if c not in target.text)
    forged = write_record(
        rewritten(record, lambda entry, text: text.replace(card, other) if entry == target.id else text)
    )
    report = verify(forged, GAMES)
    assert "action" in codes(report)
    found = next(finding for finding in report.findings if finding.code == "action")
    assert forged.split("\n")[found.line - 1].startswith("> ")
    assert "PT-3" in found.text


def test_the_receipt_catches_what_nothing_else_can() -> None:
    """A command id changed and the chain recomputed: only a seat's receipt tells."""
    played = play(PARROT, 7, {"rounds": 1})
    forged = write_record(rewritten(played.record, lambda entry, text: text.replace(" c5 ", " c5x ")))
    assert verify(forged, GAMES).ok
    report = verify(forged, GAMES, played.entries[-1].chain)
    assert codes(report) == {"receipt"}
    assert forged.split("\n")[report.findings[0].line - 1].startswith("! receipt ")
    assert verify(write_record(played.record), GAMES, played.entries[-1].chain.upper()).ok


def test_another_seed() -> None:
    """Not the one committed to; the deals do not follow from it either."""
    record = play(PARROT, 8, {"rounds": 1}).record
    text = write_record(replace(record, seed=bytes(32)))
    report = verify(text, GAMES)
    assert {"commitment", "deal"} <= codes(report)
    assert text.split("\n")[report.findings[-1].line - 1].startswith("! seed ")


def test_another_entropy() -> None:
    """Not the one that the seat committed to."""
    record = play(PARROT, 8, {"rounds": 1}).record
    forged = write_record(rewritten(record, lambda entry, text: text.replace("02" * 16, "07" * 16)))
    report = verify(forged, GAMES)
    assert "entropy" in codes(report)
    found = next(finding for finding in report.findings if finding.code == "entropy")
    assert forged.split("\n")[found.line - 1].startswith("= begin ")


def test_an_entropy_that_was_not_opened_is_a_note() -> None:
    """It counted as empty: allowed, and said. Design §3."""
    played = play(PARROT, 9, {"rounds": 1}, closed=(1,))
    report = verify(write_record(played.record), GAMES)
    assert report.ok
    assert any("seat 1 did not open" in note for note in report.notes)


def leader_takes_all(state: State[Own]) -> tuple[Event, ...]:
    """The second rules version of the toy game: a trick goes to its leader."""
    events = GAME.automatic(state)
    return (TrickWon(state.game.leader),) if events and isinstance(events[0], TrickWon) else events


SECOND = replace(GAME, version=2, automatic=leader_takes_all)


def test_each_record_is_verified_under_its_own_rules_version() -> None:
    """Both versions in one registry."""
    registry = Registry([GAME, SECOND])
    for version in (1, 2):
        record = play(registry.game("parrot", version), 4, {"rounds": 1}).record
        assert record.head.terms.version == version
        report = verify(write_record(record), registry)
        assert report.ok
        assert report.rerun


def test_rules_version_that_is_not_here() -> None:
    """Said; hashes and deals are checked all the same."""
    record = play(Game(SECOND), 4, {"rounds": 1}).record
    report = verify(write_record(record), GAMES)
    assert report.ok
    assert not report.rerun
    assert report.deals == 1
    assert any("parrot@2" in note for note in report.notes)


def test_rules_that_changed_under_the_same_version() -> None:
    """Running again differs, and the line is named."""
    record = play(PARROT, 4, {"rounds": 1}).record
    report = verify(write_record(record), Registry([replace(SECOND, version=1)]))
    assert "event" in codes(report)
    assert any("parrot@1 run again differs" in finding.text for finding in report.findings)


def test_garbage_never_raises() -> None:
    """Whatever a file holds."""
    for data in (b"", b"\xff\xfe", "kangtou-record 9\n", "kangtou-record 1\nmatch\n"):
        assert not verify(data, GAMES).ok


def test_line_is_a_value() -> None:
    """Two readings of an entry are equal."""
    record = play(PARROT, 1).record
    assert isinstance(record.entries[0], Line)
    assert read_record(write_record(record)).entries == record.entries
    assert record.head.engine == ENGINE
    assert terms_of(play(PARROT, 1).agreement) == record.head.terms
