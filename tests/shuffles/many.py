"""The deals of a run, on several processes, and its report."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from kangtou_engine.cards import Cards

from .judge import Test, judged
from .packs import ROUNDS, deals, packs
from .planted import planted
from .tally import Tally

CHUNK = 500  # matches
LEVEL = 1e-4  # the probability with which a run of a uniform shuffle fails


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a run."""

    deals: int
    tests: tuple[Test, ...]
    repeated: int

    @property
    def limit(self) -> float:
        """The p-value below which a test has failed (Bonferroni)."""
        return LEVEL / len(self.tests)

    @property
    def failed(self) -> list[Test]:
        """Those that say that this is no uniform shuffle."""
        return [test for test in self.tests if test.p < self.limit]

    @property
    def good(self) -> bool:
        """Uniform, and no deal came twice."""
        return not self.failed and not self.repeated


def tallied(master: bytes, pack: Cards, first: int, matches: int, bias: str = "") -> Tally:
    """The deals of some matches, here."""
    tally = Tally(pack)
    with planted(bias):
        for start in range(first, first + matches, CHUNK):
            tally.take(list(deals(master, pack, start, min(CHUNK, first + matches - start))))
    return tally


def judge_all(tallies: list[Tally]) -> Verdict:
    """All tests of all packs."""
    tests = tuple(test for tally in tallies for test in judged(tally))
    return Verdict(sum(tally.deals for tally in tallies), tests, sum(tally.repeated() for tally in tallies))


def run_many(master: bytes, wanted: int, workers: int, bias: str = "", *, quiet: bool = False) -> Verdict:
    """At least `wanted` deals, as many of every pack, with a progress bar."""
    each = -(-wanted // (len(packs()) * ROUNDS))  # matches of a pack
    tallies = {pack: Tally(pack) for pack in packs()}
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        ProcessPoolExecutor(workers, get_context("spawn")) as pool,
        Progress(*columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()) as progress,
    ):
        bar = progress.add_task("deals", total=each * ROUNDS * len(tallies))
        waiting = [
            pool.submit(tallied, master, pack, number * each + start, min(CHUNK, each - start), bias)
            for number, pack in enumerate(tallies)
            for start in range(0, each, CHUNK)
        ]
        try:
            for done in as_completed(waiting):
                part = done.result()
                tallies[part.pack].join(part)
                progress.advance(bar, part.deals)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return judge_all(list(tallies.values()))


def show(verdict: Verdict, wall_s: float) -> str:
    """The report."""
    lines = [f"{'pack':26} {'test':10} {'looked at':>12} {'freedom':>8} {'p':>10}"]
    lines += [
        f"{test.pack:26} {test.name:10} {test.looked_at:12,} {test.freedom:8,} {test.p:10.3g}"
        + ("  NOT UNIFORM" if test.p < verdict.limit else "")
        for test in verdict.tests
    ]
    least = min(test.p for test in verdict.tests)
    lines.append(
        f"{verdict.deals:,} deals in {wall_s:.0f} s; {len(verdict.tests)} tests, least p {least:.2g} (limit "
        f"{verdict.limit:.2g}: level {LEVEL:g} for all); failed: {len(verdict.failed)}; repeated deals: "
        f"{verdict.repeated}"
    )
    return "\n".join(lines)
