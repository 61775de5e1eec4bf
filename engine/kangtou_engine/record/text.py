"""The text of a record. docs/record-format.md is the grammar; `read.py` takes exactly what is written here."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from ..notation import NO_ID, Step
from .values import FORMAT, MAJOR, Head, Line, Outcome, Record, Terms

_PLAIN = re.compile(r"[!#-~][!-~]*")


def write_record(record: Record) -> str:
    """The whole text, with a line end after every line."""
    lines = head_lines(record.head)
    lines.append(f"header {digest(lines)}")
    for entry in record.entries:
        lines += entry_lines(entry)
    lines += [f"! seed {record.seed.hex()}", f"! receipt {record.receipt}"]
    lines.append(f"! sha256 {digest(lines)}")
    return "\n".join(lines) + "\n"


def digest(lines: list[str]) -> str:
    """SHA-256 in hex over lines, each with its line end."""
    return hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()


def entry_lines(entry: Line) -> list[str]:
    """An entry: its id and chain hash, then its body."""
    return [f"{entry.id} {entry.chain}", *entry.text.split("\n")]


def head_lines(head: Head) -> list[str]:
    """The header without the line that closes it."""
    version = f"{MAJOR}.{head.minor}" if head.minor else str(MAJOR)
    return [
        f"{FORMAT} {version}",
        *_terms_lines(head.terms, head.engine),
        *_outcome_lines(head.outcome),
        *_clocks_lines(head.terms),
        *_watched_lines(head.terms),
        *(f"{name} {value}" for name, value in head.extra),
    ]


def _terms_lines(terms: Terms, engine: str) -> list[str]:
    lines = [
        f"match {terms.match}",
        f"game {terms.game}@{terms.version}",
        f"engine {show_word(engine)}",
        f"options {show_json(terms.options)}",
    ]
    for number, seat in enumerate(terms.seats):
        lines.append(f"seat {number} {seat.kind} {seat.account} {seat.commitment or NO_ID}")
    lines += [
        f"seed-commitment {terms.seed_commitment}",
        f"clock turn={terms.turn_ms} window={terms.window_ms}",
        f"rated {'yes' if terms.rated else 'no'}",
    ]
    if terms.pool:
        lines.append(f"pool {show_word(terms.pool)}")
    if terms.board:
        lines.append(f"board {show_word(terms.board)}")
    if terms.tags:
        lines.append(f"tags {show_json(terms.tags)}")
    return [*lines, f"created {terms.created_ms}"]


def _outcome_lines(outcome: Outcome) -> list[str]:
    lines = [] if outcome.started_ms is None else [f"started {outcome.started_ms}"]
    result = f"result rounds={outcome.rounds} moves={outcome.moves} scores={_numbers(outcome.scores)}"
    if outcome.places is not None:
        result += f" places={_numbers(outcome.places)}"
    return [*lines, f"ended {outcome.ended_ms}", f"cause {outcome.cause}", result]


def _clocks_lines(terms: Terms) -> list[str]:
    """Behind the fields of minor version 0, whose readers keep it as one that they do not know."""
    if not any(terms.clocks):
        return []
    names = ("bank", "increment", "lag", "lag-match", "late")
    return ["clocks " + " ".join(f"{name}={value}" for name, value in zip(names, terms.clocks, strict=True))]


def _watched_lines(terms: Terms) -> list[str]:
    if not terms.watched:
        return []
    return [f"watched policy={terms.watch} delay={terms.watch_delay_ms} scorer={terms.scorer or NO_ID}"]


def _numbers(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def show_json(value: Mapping[str, Any]) -> str:
    """Canonical JSON: sorted keys, no blanks, ASCII."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, sort_keys=True)


def show_word(text: str) -> str:
    """Printable ASCII without blanks as it is, anything else as a JSON string."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=True)


def canonical_text(record: Record) -> str:
    """What was played and nothing else: actions and events without times, ids, epochs, markers and hashes.

    Two matches with equal terms, packs and actions have equal texts, wherever and however they were run.
    """
    terms = record.head.terms
    lines = [
        "kangtou-play 1",
        f"game {terms.game}@{terms.version}",
        f"options {show_json(terms.options)}",
        f"seats {len(terms.seats)}",
    ]
    for entry in record.entries:
        lines += entry.body.events
        for item in entry.body.items:
            if isinstance(item, Step):
                lines.append(f"> {NO_ID if item.seat is None else item.seat} {item.action}")
                lines += item.events
    lines.append(f"= end cause={record.head.outcome.cause}")
    return "\n".join(lines) + "\n"
