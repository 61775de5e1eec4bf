"""Searching the archive's index at a million records: every way of asking, first pages and deep ones.

    python -m bench.archive_index [--rows 1000000] [--times 200]

Rows go in by the index's own `add`, as the archiver and a rebuild use it. Then a connection of its own asks, as a
gateway does after a start; each query has other values each time. Exit code 1 if the p95 of any way is above 100 ms.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kangtou_services.archive.index import Index
from kangtou_services.archive.rows import Listed
from kangtou_services.archive.search import Query, token_of

from ._archive_rows import FROM_MS, GAMES, SPAN_MS, Rows

BATCH, SIZE, TARGET_MS = 2_000, 50, 100.0


def _kinds(rows: Rows, rng: Random) -> dict[str, Callable[[], Query]]:
    """Ways of asking, each with values that change."""
    games = [name for name, _, _ in GAMES]

    def person() -> str:
        return rows.people[min(int(rng.paretovariate(0.5)), len(rows.people)) - 1]

    def options() -> tuple[str, ...]:
        return (f"rounds={rng.choice((1, 3, 4, 8, 20))}",)

    def month() -> tuple[int, int]:
        since = FROM_MS + rng.randrange(SPAN_MS)
        return since, since + 30 * 86_400_000

    return {
        "everything": Query,
        "a game": lambda: Query(game=rng.choice(games)),
        "a player": lambda: Query(account=person()),
        "a house bot": lambda: Query(account=rng.choice(rows.bots), game=rng.choice(games)),
        "player and game": lambda: Query(account=person(), game=rng.choice(games)),
        "two players": lambda: Query(account=person(), others=(person(),)),
        "won by": lambda: Query(won_by=person(), game=rng.choice(games)),
        "player, score": lambda: Query(account=person(), least=12, place=1),
        "a month": lambda: Query("", "", "", *month()),
        "game, month": lambda: Query(rng.choice(games), "", "", *month()),
        "variant": lambda: Query(variant=rng.choice(("chengde1", "jinzhou", "liaoning"))),
        "game, option": lambda: Query(game=rng.choice(games), options=options()),
        "option alone": lambda: Query(options=options()),
        "player, option": lambda: Query(account=person(), game="hongshi", options=("top=tens",)),
        "tournament": lambda: Query(tournament=rng.choice(rows.tournaments)),
        "abandoned": lambda: Query(cause="abandoned", game=rng.choice(games)),
        "kind": lambda: Query(kind=rng.choice(("bots", "rated")), game=rng.choice(games)),
        "nothing fits": lambda: Query(account=person(), tournament="none"),
        "bots that never meet": lambda: Query(account=rows.bots[0], others=(person(),), cause="operator"),
    }


def _fill(path: Path, rows: Iterator[Listed], count: int) -> float:
    index = Index(path)
    spent = 0.0
    columns = (TextColumn("rows"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=count)
        while batch := list(itertools.islice(rows, BATCH)):
            began = time.perf_counter()
            index.add(batch)
            spent += time.perf_counter() - began
            progress.advance(task, len(batch))
    index.close()
    return spent


def _ask(index: Index, query: Query, token: str = "") -> tuple[float, int, str]:
    began = time.perf_counter()
    found, more = index.page(query, SIZE, token)
    return (time.perf_counter() - began) * 1000, len(found), more


def _p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


def _spread(times: list[float]) -> str:
    return f"median {statistics.median(times):7.2f} ms  p95 {_p95(times):7.2f} ms  max {max(times):7.2f} ms"


def main() -> int:
    """Fill and ask."""
    parser = argparse.ArgumentParser(description="searching the archive's index")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=200, help="of each way of asking")
    given = parser.parse_args()
    rng, ways = Random(7), dict[str, list[float]]()
    with tempfile.TemporaryDirectory(prefix="kt-bench-") as folder:
        path, rows = Path(folder) / "records.db", Rows()
        spent = _fill(path, rows.some(given.rows), given.rows)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(f"{given.rows:,} rows put in at {given.rows / spent:,.0f} a second; {size / given.rows:,.0f} bytes a row")
        index = Index(path)
        for name, make in _kinds(rows, rng).items():
            asked = [_ask(index, make()) for _ in range(given.times)]
            ways[name] = [took for took, _, _ in asked]
            print(f"{name:<22} {_spread(ways[name])}  {statistics.mean(found for _, found, _ in asked):4.0f} found")
        ways |= _deep(index, rng, given.times)
        index.close()
    everything = [took for times in ways.values() for took in times]
    slowest = max(ways, key=lambda name: _p95(ways[name]))
    print(
        f"indexed search: {len(everything):,} searches among {given.rows:,} records, p95 {_p95(everything):.1f} ms, "
        f"of the slowest way ({slowest}) {_p95(ways[slowest]):.1f} ms, max {max(everything):.1f} ms "
        f"(target {TARGET_MS:.0f} ms)"
    )
    return 0 if _p95(ways[slowest]) <= TARGET_MS else 1


def _deep(index: Index, rng: Random, times: int) -> dict[str, list[float]]:
    """Pages far from the first."""
    query, token, walked = Query(game="hongshi"), "", list[float]()
    anywhere = [_ask(index, query, token_of((FROM_MS + rng.randrange(SPAN_MS), "")))[0] for _ in range(times)]
    for _ in range(1_000):
        took, _, token = _ask(index, query, token)
        walked.append(took)
        if not token:
            break
    found = {"a page from anywhere": anywhere, "1,000 pages on end": walked, "the last 50 of them": walked[-50:]}
    for name, taken in found.items():
        print(f"{name:<22} {_spread(taken)}")
    return found


if __name__ == "__main__":
    sys.exit(main())
