"""An archive of so many matches of one round each, of all games and variants: written, indexed, searched, replayed, and
its index rebuilt from the records alone.

    python -m bench.archive_records [--count 100000] [--processes 2]

The matches are played by the engine with random and greedy bots. Every record is written as the archiver does it:
durable (file and folders synced), then read back and compared. One in a hundred, drawn by lot, is replayed: the engine
runs again over its actions, and it must be to the byte what its number makes again. Answers of the index are compared
with those of a plain walk over all rows, and with those of the index that is rebuilt. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from random import Random

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kangtou_engine.record import read_record, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify
from kangtou_services.archive import Index, Listed, Query, RecordStore
from kangtou_services.archive.index import listed

from ._archive_matches import EVERY_MS, FROM_MS, KINDS, PLAYERS, record_of

CHUNK, PAGE = 50, 200


class Wrong(Exception):
    """Something differs that must not."""


class Bar:
    """Progress on the error stream."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)

    def over(self, what: str, total: int, steps: Iterator[int]) -> None:
        """Run through steps, each of which says how much it did."""
        task = self.progress.add_task(what, total=total)
        for done in steps:
            self.progress.advance(task, done)
        self.progress.remove_task(task)


def _write(job: tuple[str, int, int]) -> tuple[list[Listed], int, int, float]:
    """Play and keep some matches: their rows, bytes of text, bytes as they lie there, seconds in the store."""
    folder, first, last = job
    store = RecordStore(folder)
    rows: list[Listed] = []
    plain, packed, spent = 0, 0, 0.0
    for number in range(first, last):
        record = record_of(number)
        began = time.perf_counter()
        path = store.put(record)
        spent += time.perf_counter() - began
        rows.append(listed(record, path))
        plain += len(write_record(record))
        packed += store.size(path)
    return rows, plain, packed, spent


class Bench:
    """One run in one folder."""

    def __init__(self, folder: Path, count: int, processes: int, bar: Bar) -> None:
        self.count, self.processes, self.bar = count, processes, bar
        self.store = RecordStore(str(folder / "archive"))
        self.index = Index(folder / "records.db")
        self.again = Index(folder / "again.db")
        self.rows: list[Listed] = []
        self.rng = Random(1)

    def write(self) -> None:
        """Everything that the archiver does."""
        sizes = [0, 0]
        spent = [0.0, 0.0]
        jobs = [(self.store.url, first, min(first + CHUNK, self.count)) for first in range(0, self.count, CHUNK)]

        def steps() -> Iterator[int]:
            with Pool(self.processes) as pool:
                for rows, plain, packed, put_s in pool.imap_unordered(_write, jobs):
                    began = time.perf_counter()
                    self.index.add(rows)
                    spent[1] += time.perf_counter() - began
                    self.rows += rows
                    sizes[0] += plain
                    sizes[1] += packed
                    spent[0] += put_s
                    yield len(rows)

        began = time.perf_counter()
        self.bar.over("written", self.count, steps())
        whole = time.perf_counter() - began
        print(f"{self.count:,} matches of one round each, {len(KINDS)} games and variants")
        print(f"size: {sizes[1] / self.count:,.0f} bytes a match compressed, {sizes[0] / self.count:,.0f} as text")
        print(
            f"written: {self.count / whole:,.0f} records/s by {self.processes} processes, played, durable and indexed; "
            f"{self.count / spent[0]:,.0f} a second in one process that only writes, {spent[0] / self.count * 1e3:.1f} "
            f"ms each; index {self.count / spent[1]:,.0f} rows/s"
        )

    def queries(self) -> list[Query]:
        """A few of each way of asking."""
        found = [Query(), Query(kind="rated"), Query(tournament="t0"), Query(variant="jinzhou", options=("rounds=1",))]
        for _ in range(20):
            player = f"acc{self.rng.randrange(PLAYERS):05}"
            since = FROM_MS + self.rng.randrange(self.count) * EVERY_MS
            game = self.rng.choice(REGISTRY.names())
            found += [
                Query(account=player),
                Query(game=game, won_by=player),
                Query(account=player, least=1, kind="unrated"),
                Query(game=game, from_ms=since, to_ms=since + 50 * EVERY_MS),
            ]
        return found

    def search(self) -> None:
        """Answers against a plain walk, and how long they take."""
        self.rows.sort(key=lambda row: (row.ended_ms, row.match), reverse=True)
        times: list[float] = []
        for query in self.queries():
            began = time.perf_counter()
            page, _ = self.index.page(query, PAGE)
            times.append((time.perf_counter() - began) * 1e3)
            if page != [row for row in self.rows if _fits(row, query)][: len(page)] or _missed(self, page, query):
                raise Wrong(f"another answer to {query}")
        p95 = sorted(times)[int(0.95 * (len(times) - 1))]
        print(f"search: {len(times)} queries, answers as those of a plain walk, p95 {p95:.1f} ms")

    def replay(self) -> None:
        """One in a hundred: read, run again by the engine, made again from its number."""
        numbers = self.rng.sample(range(self.count), max(1, self.count // 100))
        spent = [0.0]

        def steps() -> Iterator[int]:
            for number in numbers:
                wanted = write_record(record_of(number))
                match = read_record(wanted).head.terms.match
                began = time.perf_counter()
                row = self.index.find(match)
                text = self.store.text(row.path) if row else ""
                result = verify(text, REGISTRY)
                spent[0] += time.perf_counter() - began
                if text != wanted or result.findings:
                    raise Wrong(f"match {match} is not replayed as it was played: {result.findings}")
                yield 1

        self.bar.over("replayed", len(numbers), steps())
        print(
            f"replayed: {len(numbers):,} exactly, {len(numbers) / spent[0]:,.0f} replays/s (found, read, verified, run)"
        )

    def rebuild(self) -> None:
        """Another index from the records alone."""
        done = [0]
        task = self.bar.progress.add_task("rebuilt", total=self.count)

        def tell(files: int) -> None:
            self.bar.progress.update(task, completed=files)
            done[0] = files

        began = time.perf_counter()
        rebuilt = self.again.rebuild(self.store, tell=tell)
        spent = time.perf_counter() - began
        self.bar.progress.remove_task(task)
        if (rebuilt.added, rebuilt.damaged) != (self.count, ()):
            raise Wrong(f"rebuilt {rebuilt}")
        self.rng = Random(2)
        queries = self.queries()
        for query in queries:
            if list(_all(self.index, query)) != list(_all(self.again, query)):
                raise Wrong(f"the rebuilt index has another answer to {query}")
        print(f"rebuilt: {self.count / spent:,.0f} records/s, equal answers to {len(queries)} queries, all pages")


def _fits(row: Listed, query: Query) -> bool:
    """A query, read plainly."""
    seats = [seat for seat, account in enumerate(row.accounts) if account == query.account]
    won = [seat for seat, account in enumerate(row.accounts) if account == query.won_by and row.places]
    return (
        query.game in ("", row.game)
        and query.tournament in ("", row.tournament)
        and query.variant in ("", row.variant)
        and query.kind in ("", row.kind)
        and query.from_ms <= row.ended_ms < (query.to_ms or row.ended_ms + 1)
        and all(f" {pair} " in row.full for pair in query.options)
        and (not query.account or bool(seats))
        and (query.least is None or any(row.scores[seat] >= query.least for seat in seats))
        and (not query.won_by or any(row.places[seat] == 1 for seat in won))
    )


def _missed(bench: Bench, page: Sequence[Listed], query: Query) -> bool:
    """Whether a page that is not full has left something out, also behind its token."""
    return len(page) < PAGE and list(_all(bench.index, query)) != [row for row in bench.rows if _fits(row, query)]


def _all(index: Index, query: Query) -> Iterator[Listed]:
    """All pages."""
    token = ""
    while True:
        page, token = index.page(query, PAGE, token)
        yield from page
        if not token:
            return


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="an archive of many matches")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    bar, began = Bar(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kt-bench-") as folder, bar.progress:
        bench = Bench(Path(folder), given.count, given.processes, bar)
        try:
            for step in (bench.write, bench.search, bench.replay, bench.rebuild):
                step()
        except Wrong as wrong:
            print(f"WRONG: {wrong}", file=sys.stderr)
            return 1
        finally:
            bench.index.close()
            bench.again.close()
    print(f"in all {time.monotonic() - began:,.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
