"""Records as Parquet tables: matches, seats, rounds, moves. docs/study.md has the columns. Needs the extra `analysis`.

Written a batch at a time, so memory does not grow with the records; the files are there whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from kangtou_engine.record.text import show_json
from kangtou_engine.study import Facts

TIME = pa.timestamp("ms", tz="UTC")
COUNTS = pa.map_(pa.string(), pa.int32())
_MATCH = [("match", pa.string()), ("game", pa.string()), ("variant", pa.string())]
SCHEMAS: Mapping[str, Any] = {
    "matches": pa.schema(
        [
            *_MATCH,
            ("rules", pa.int32()),
            ("options", pa.string()),
            ("seats", pa.int32()),
            ("created", TIME),
            ("started", TIME),
            ("ended", TIME),
            ("cause", pa.string()),
            ("rounds", pa.int32()),
            ("moves", pa.int32()),
            ("rated", pa.bool_()),
            ("pool", pa.string()),
            ("tournament", pa.string()),
            ("turn_ms", pa.int64()),
            ("window_ms", pa.int64()),
        ]
    ),
    "seats": pa.schema(
        [
            *_MATCH,
            ("seat", pa.int32()),
            ("player", pa.string()),
            ("name", pa.string()),
            ("kind", pa.string()),
            ("score", pa.int64()),
            ("place", pa.int32()),
            ("won", pa.bool_()),
            ("moves", pa.int32()),
            ("timeouts", pa.int32()),
            ("think_ms", pa.int64()),
        ]
    ),
    "rounds": pa.schema(
        [
            *_MATCH,
            ("round", pa.int32()),
            ("deal", pa.int32()),
            ("seat", pa.int32()),
            ("player", pa.string()),
            ("dealer", pa.int32()),
            ("began", TIME),
            ("ended", TIME),
            ("end", pa.string()),
            ("points", pa.int64()),
            ("won", pa.bool_()),
            ("hand", pa.list_(pa.string())),
            ("features", COUNTS),
        ]
    ),
    "moves": pa.schema(
        [
            *_MATCH,
            ("number", pa.int32()),
            ("seq", pa.int64()),
            ("time", TIME),
            ("round", pa.int32()),
            ("seat", pa.int32()),
            ("player", pa.string()),
            ("verb", pa.string()),
            ("action", pa.string()),
            ("think_ms", pa.int64()),
            ("standing", pa.bool_()),
            ("timed_out", pa.bool_()),
        ]
    ),
}
BATCH = 20_000  # rows of a table that wait in memory
Row = dict[str, Any]


def file_of(folder: Path, table: str) -> Path:
    """Where a table lies."""
    return folder / f"{table}.parquet"


class Tables:
    """The four files of a folder. As a context manager: without an error they take their places when it ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = dict.fromkeys(SCHEMAS, 0)
        self._waiting: dict[str, list[Row]] = {table: [] for table in SCHEMAS}
        self._writers: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            for table, schema in SCHEMAS.items():
                self._writers[table] = pq.ParquetWriter(self._part(table), schema, compression="zstd")
        except BaseException:
            self._drop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None:
                for table in SCHEMAS:
                    self._flush(table)
                    self._writers[table].close()
        except BaseException:
            self._drop()
            raise
        if kind is not None:
            self._drop()
            return
        for table in SCHEMAS:
            self._part(table).replace(file_of(self.folder, table))

    def _part(self, table: str) -> Path:
        return self.folder / f".{table}.{os.getpid()}.part"

    def _drop(self) -> None:
        for writer in self._writers.values():
            with contextlib.suppress(OSError):  # on a full disk a file cannot be closed properly, but taken away
                writer.close()
        for table in SCHEMAS:
            self._part(table).unlink(missing_ok=True)

    def add(self, facts: Facts, names: Sequence[str] = ()) -> None:
        """One record. `names` of the players by seat, where they were asked for."""
        terms = facts.head.terms
        common: Row = {"match": terms.match, "game": terms.game, "variant": facts.variant}
        players = [place.account for place in terms.seats]
        self._add("matches", [_match(facts, common)])
        self._add("seats", _seats(facts, common, names))
        self._add("rounds", _rounds(facts, common, players))
        self._add("moves", _moves(facts, common, players))

    def _add(self, table: str, rows: list[Row]) -> None:
        self._waiting[table] += rows
        if len(self._waiting[table]) >= BATCH:
            self._flush(table)

    def _flush(self, table: str) -> None:
        rows = self._waiting[table]
        if rows:
            self._writers[table].write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[table]))
            self.rows[table] += len(rows)
            self._waiting[table] = []


def _match(facts: Facts, common: Row) -> Row:
    terms, outcome = facts.head.terms, facts.head.outcome
    return {
        **common,
        "rules": terms.version,
        "options": show_json(terms.options),
        "seats": len(terms.seats),
        "created": terms.created_ms,
        "started": outcome.started_ms,
        "ended": outcome.ended_ms,
        "cause": outcome.cause,
        "rounds": outcome.rounds,
        "moves": outcome.moves,
        "rated": terms.rated,
        "pool": terms.pool,
        "tournament": terms.tags.get("tournament", ""),
        "turn_ms": terms.turn_ms,
        "window_ms": terms.window_ms,
    }


def _seats(facts: Facts, common: Row, names: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    outcome, winners = facts.head.outcome, facts.winners
    for seat, place in enumerate(facts.head.terms.seats):
        acts = [act for act in facts.acts if act.seat == seat]
        moves = sum(not act.timed_out for act in acts)
        rows.append(
            {
                **common,
                "seat": seat,
                "player": place.account,
                "name": names[seat] if seat < len(names) else None,
                "kind": place.kind,
                "score": outcome.scores[seat],
                "place": outcome.places[seat] if outcome.places else None,
                "won": None if winners is None else seat in winners,
                "moves": moves,
                "timeouts": len(acts) - moves,
                "think_ms": sum(act.think_ms or 0 for act in acts),
            }
        )
    return rows


def _rounds(facts: Facts, common: Row, players: Sequence[str]) -> list[Row]:
    return [
        {
            **common,
            "round": part.round,
            "deal": part.deal,
            "seat": seat,
            "player": player,
            "dealer": part.dealer,
            "began": part.began_ms,
            "ended": part.ended_ms,
            "end": part.end,
            "points": part.points[seat] if part.points else None,
            "won": seat in part.winners if part.points else None,
            "hand": list(part.hands[seat]) if part.hands else None,
            "features": list(part.features[seat].items()) if part.features else None,
        }
        for part in facts.rounds
        for seat, player in enumerate(players)
    ]


def _moves(facts: Facts, common: Row, players: Sequence[str]) -> list[Row]:
    return [
        {
            **common,
            "number": number,
            "seq": act.seq,
            "time": act.time_ms,
            "round": act.round,
            "seat": act.seat,
            "player": players[act.seat],
            "verb": act.verb,
            "action": act.text,
            "think_ms": act.think_ms,
            "standing": act.standing,
            "timed_out": act.timed_out,
        }
        for number, act in enumerate(facts.acts, 1)
    ]
