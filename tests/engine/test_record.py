"""The record's text: writing and reading is the identity; every damage is found and located."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kangtou_engine.errors import BadText
from kangtou_engine.match.match import Game
from kangtou_engine.notation import chain
from kangtou_engine.record import (
    Record,
    RecordFault,
    canonical_text,
    examine,
    make_record,
    read_record,
    write_record,
)
from kangtou_engine.record.text import digest
from kangtou_engine.registry import REGISTRY
from kangtou_services.archive.archiver import terms_of
from tests.conftest import Counts
from tests.games.parrot import GAME
from tests.records.make import ENGINE, play

PARROT = Game(GAME)


@cache
def a_record(number: int = 1, **how: int) -> Record:
    """A short match, with takeovers and time-outs."""
    return play(PARROT, number, {"rounds": 1}, takeover_every=how.get("takeover", 9), timeout_every=7).record


@cache
def text_of(number: int = 1) -> str:
    """Of the parrots' game, or from number 5 on a round of one of the real games."""
    if number < 5:
        return write_record(a_record(number))
    game = REGISTRY.game(REGISTRY.names()[number % len(REGISTRY.names())])
    return write_record(play(game, number, {"rounds": 1}, takeover_every=40, timeout_every=23).record)


TEXTS = st.integers(1, 4 + len(REGISTRY.names()))


def faults_of(data: bytes | str) -> tuple[tuple[int, int], ...]:
    """The lines between which each fault lies; () if there is none."""
    try:
        _, faults = examine(data)
    except RecordFault as error:
        faults = error.faults
    return tuple((fault.first, fault.last) for fault in faults)


def resealed(lines: list[str]) -> str:
    """Lines with the hashes over header and whole text made anew: damage that only its place can tell."""
    at = next(place for place, line in enumerate(lines) if line.startswith("header "))
    lines[at] = f"header {digest(lines[:at])}"
    lines[-1] = f"! sha256 {digest(lines[:-1])}"
    return "\n".join(lines) + "\n"


# ---- identity ----


def test_write_and_read_is_the_identity() -> None:
    """Both ways."""
    for number in range(1, 9):
        record = a_record(number)
        text = write_record(record)
        assert read_record(text) == record
        assert write_record(read_record(text.encode())) == text


def test_a_match_that_ended_before_it_began() -> None:
    """No `started`, no scores but zeros, no places."""
    record = play(PARROT, 5, stop_after=1).record
    assert record.head.outcome.started_ms is None
    assert record.entropies is None
    assert record.head.outcome.places is None
    assert record.head.outcome.cause == "abandoned"
    assert write_record(read_record(write_record(record))) == write_record(record)


def test_entries_after_the_end_are_left_out() -> None:
    """A takeover after the end writes a marker; the record is the same."""
    played = play(PARROT, 2)
    rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in played.entries]
    body = "@ 1800000000000\n= claim owner=late"
    last = rows[-1]
    later = (last[0] + 1, last[1] + 1, chain(last[2], f"{last[0] + 1}-{last[1] + 1}", body), body)
    assert make_record(terms_of(played.agreement), [*rows, later], played.seed, ENGINE) == played.record


def test_a_log_without_an_end_makes_no_record() -> None:
    """It is not over."""
    played = play(PARROT, 2)
    rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in played.entries[:-1]]
    with pytest.raises(BadText, match="has not ended"):
        make_record(terms_of(played.agreement), rows, played.seed, ENGINE)


# ---- versions ----


def test_unknown_header_fields_are_kept() -> None:
    """A later minor version puts its fields behind the known ones."""
    lines = text_of().removesuffix("\n").split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith("header "))
    lines[0] = "kangtou-record 1.3"
    lines[at:at] = ["venue 炕头 two", "venue other", "x-1 {}"]
    text = resealed(lines)
    record = read_record(text)
    assert record.head.extra == (("venue", "炕头 two"), ("venue", "other"), ("x-1", "{}"))
    assert record.head.minor == 3
    assert write_record(record) == text


def test_a_higher_major_version_is_refused() -> None:
    """By its name, on line 1."""
    with pytest.raises(RecordFault, match=r"line 1: format version 2: .* reads version 1") as found:
        read_record(text_of().replace("kangtou-record 1\n", "kangtou-record 2\n", 1))
    assert found.value.faults[0].code == "version"


def test_something_else_is_refused() -> None:
    """Not a record at all."""
    for text in ("", "\n", "hello\n", "kangtou-record\n", "kangtou-record 1", "kangtou-record 1\n"):
        with pytest.raises(RecordFault):
            read_record(text)


# ---- damage ----


def place_of(text: bytes, offset: int) -> int:
    """The line, from 1, that holds a byte."""
    return text.count(b"\n", 0, offset) + 1


@given(data=st.data())
def test_a_changed_byte_is_found_and_located(data: st.DataObject) -> None:
    """Any byte, any other value. A line end that goes or comes touches two lines."""
    text = text_of(data.draw(TEXTS)).encode()
    offset = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != text[offset]))
    changed = text[:offset] + bytes([other]) + text[offset + 1 :]
    where = place_of(text, offset)
    slack = 1 if b"\n" in (text[offset : offset + 1], bytes([other])) else 0
    found = faults_of(changed)
    assert any(first - slack <= where <= last + slack for first, last in found), (where, found)


@given(data=st.data())
def test_a_lost_or_added_byte_is_found_and_located(data: st.DataObject) -> None:
    """At any place."""
    text = text_of(data.draw(TEXTS)).encode()
    offset = data.draw(st.integers(0, len(text) - 1))
    more = data.draw(st.sampled_from([b"", b"\n", b"0", b" ", b"a", b"!", b"\xff", b"\r"]))
    changed = text[:offset] + more + text[offset + (not more) :]
    where = place_of(text, offset)
    assert any(first - 1 <= where <= last + 1 for first, last in faults_of(changed))


@given(data=st.data())
def test_a_truncation_is_found_at_its_end(data: st.DataObject) -> None:
    """Wherever the text breaks off."""
    text = text_of(data.draw(TEXTS)).encode()
    length = data.draw(st.integers(0, len(text) - 1))
    where = text.count(b"\n", 0, length) + 1
    assert any(first - 1 <= where <= last + 1 for first, last in faults_of(text[:length]))


def test_every_single_byte(counts: Counts) -> None:
    """Every byte of one record, changed in its lowest bit."""
    text = text_of(3).encode()
    for offset in range(0, len(text), counts(23, 1)):
        changed = text[:offset] + bytes([text[offset] ^ 1]) + text[offset + 1 :]
        assert faults_of(changed), offset


def test_concatenations_are_found_at_the_seam() -> None:
    """Two records are none, nor is a record with anything behind it."""
    one, other = text_of(1), text_of(2)
    end = one.count("\n") + 1
    for more in (other, one, "\n", "x\n", "! sha256 0\n"):
        assert (end, end) in faults_of(one + more)
    assert faults_of("\n" + one) == ((1, 1),)


@given(data=st.data())
def test_records_put_together_are_found_at_the_seam(data: st.DataObject) -> None:
    """Two records, whole or from any place of the second on: the end of the first is the last that is right."""
    one, other = text_of(data.draw(TEXTS)), text_of(data.draw(TEXTS))
    more = other[data.draw(st.integers(0, len(other) - 1)) :]
    end = one.count("\n") + 1
    assert any(first - 1 <= end <= last + 1 for first, last in faults_of(one + more))


@given(data=st.data())
def test_halves_of_two_records_are_found_at_the_seam(data: st.DataObject) -> None:
    """The beginning of one, cut between two lines, and the end of another: what is behind the cut does not fit."""
    number = data.draw(st.integers(1, 3))
    one, other = text_of(number).split("\n")[:-1], text_of(number + 1).split("\n")[:-1]
    at = data.draw(st.integers(2, min(len(one), len(other)) - 1))  # line 1 is the same in both
    found = faults_of("\n".join([*one[:at], *other[at:]]) + "\n")
    assert found, at


def test_lines_swapped_or_left_out() -> None:
    """Also when the hash over the whole was made anew."""
    lines = text_of().removesuffix("\n").split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith("1-3 "))
    after = next(place for place, line in enumerate(lines) if line.startswith("1-4 "))
    assert (at + 1, at + 1) in faults_of(resealed([*lines[:at], *lines[after:]]))
    swapped = [*lines]
    swapped[2], swapped[3] = swapped[3], swapped[2]
    assert faults_of(resealed(swapped)) == ((1, 3),)


def test_an_edited_entry_is_named() -> None:
    """The entry whose text was edited, not those after it."""
    lines = text_of().removesuffix("\n").split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith("> "))
    lines[at] = lines[at].replace(" play ", " pass ")
    with pytest.raises(RecordFault) as found:
        read_record("\n".join(lines) + "\n")
    fault = found.value.faults[0]
    assert fault.code == "chain"
    assert fault.first <= at + 1 <= fault.last
    assert fault.last - fault.first < 6


def test_a_header_that_contradicts_the_entries() -> None:
    """Even with its hashes made anew, the result is checked against the events."""
    lines = text_of().removesuffix("\n").split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith("result "))
    lines[at] = lines[at].replace("moves=", "moves=1")
    with pytest.raises(RecordFault, match="the header says moves=") as found:
        read_record(resealed(lines))
    assert found.value.line == at + 1


# ---- canonical form ----


def test_canonical_text_says_only_what_was_played() -> None:
    """Takeovers, times, ids and hashes leave no trace: the same play has the same text."""
    calm, moved = play(PARROT, 4).record, play(PARROT, 4, takeover_every=5).record
    assert canonical_text(calm) == canonical_text(calm)
    assert "claim" not in canonical_text(moved)
    text = canonical_text(calm)
    assert text.startswith("kangtou-play 1\ngame parrot@1\n")
    assert text.endswith("= end cause=rules\n")
    for entry in calm.entries:
        assert entry.chain not in text
    assert sum(line.startswith("> ") for line in text.split("\n")) == calm.head.outcome.moves
