"""Statistics over many records, a dump of them, its import: records a second, and memory.

    python -m bench.archive_study [RECORDS]          10,000 unless it is said

The records are real matches of one round, all games and variants, put into an archive again and again under other match
ids (the seed's commitment is made anew, packs are not: nothing here runs the engine over them). So they say how fast it
is, not how small a dump becomes. Import writes durably, as a server does: on disk, and read back.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kangtou_clients.study.sources import records_of
from kangtou_clients.study.stats import Stats
from kangtou_engine.errors import BadText
from kangtou_engine.record import Record, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.shuffle import seed_commitment
from kangtou_engine.study import facts_of
from kangtou_services.archive import Index, RecordStore
from kangtou_services.archive.dump import write_dump
from kangtou_services.archive.importing import Importer
from kangtou_services.archive.store import pack, path_of
from tests.records.make import play

RECORDS, PATTERNS = 10_000, 90
MONTH = "2026-11"
WUSHIK = ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")
VARIANTS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("hongshi", {}),
    ("duizhu", {"windows": "end"}),
    ("erbaiwu", {}),
    *[("wushik", {"variant": name, "target": 0}) for name in WUSHIK],
)


def patterns() -> list[Record]:
    """Real records, all in one month."""
    made = []
    for number in range(PATTERNS):
        name, options = VARIANTS[number % len(VARIANTS)]
        made.append(play(REGISTRY.game(name), number, {"rounds": 1, **options}).record)
    return [record for record in made if path_of(record).startswith(MONTH.replace("-", "/"))]


def copies(count: int) -> Iterator[Record]:
    """So many records with ids of their own, taken from the patterns in turn."""
    real = patterns()
    for number in range(count):
        record = real[number % len(real)]
        match = f"bench{number:011d}"
        terms = replace(record.head.terms, match=match, seed_commitment=seed_commitment(match, record.seed))
        yield replace(record, head=replace(record.head, terms=terms))


def timed(what: str, count: int, work: Callable[[], object]) -> None:
    """Do it and say how fast it was."""
    start, used = time.perf_counter(), time.process_time()
    work()
    took, cpu = time.perf_counter() - start, time.process_time() - used
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{what}: {count / took:,.0f} records/s ({took:.1f} s, {cpu / count * 1000:.2f} ms CPU each), at most {most} MB"
    )


def _quiet(done: int, total: int = 0) -> None:
    """No bar."""


def _fail(where: str, error: BadText) -> None:
    raise error


def fill(folder: Path, count: int) -> int:
    """An archive of so many records, written without waiting for the disk; bytes of text in all."""
    size = 0
    for record in copies(count):
        path, text = folder / path_of(record), write_record(record)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pack(text))
        size += len(text)
    return size


def main(count: int = RECORDS) -> int:
    """Run it; 1 if anything was lost on the way."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name) / "month.zst"
        size = fill(folder / "a", count)
        print(f"{count:,} records, {size / count:,.0f} bytes of text each")

        def dump() -> None:
            with out.open("wb") as file:
                write_dump(str(folder / "a"), MONTH, file, anonymous=False, digests=False, progress=_quiet)

        timed("dump", count, dump)
        counted = Stats()

        def count_all() -> None:
            for _, text in records_of([str(out)], _quiet, _fail):
                counted.add(facts_of(text, REGISTRY))

        timed("stats", count, count_all)
        index = Index(folder / "index.sqlite3")
        importer = Importer(RecordStore(str(folder / "b")), index, print, rerun=False)

        def load() -> None:
            with out.open("rb") as file:
                importer.dump(file, _quiet)

        timed("import", count, load)
        timed("import again, all there", count, load)
        importer.close()
        found = (counted.records, importer.counts.added, importer.counts.there, index.count())
        index.close()
        print(f"{found[0]} counted, {found[1]} imported, {found[2]} there the second time, {found[3]} in the index")
        return int(found != (count,) * 4)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
