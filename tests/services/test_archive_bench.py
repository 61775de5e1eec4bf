"""The archive's benchmarks at small counts: what they compare is compared here too, what they measure is not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import Counts

ROOT = Path(__file__).resolve().parents[2]


def said_by(*words: str) -> str:
    """What a benchmark prints; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_records(counts: Counts) -> None:
    """Written, found, replayed and rebuilt with equal answers."""
    count = counts(96, 1_000)
    said = said_by("bench.archive_records", "--count", str(count), "--processes", "2")
    assert said.startswith(f"{count:,} matches of one round each, 8 games and variants\n")
    assert re.search(r"\d bytes a match compressed", said)
    assert re.search(r"replayed: \d+ exactly", said)
    assert re.search(r"rebuilt: .* equal answers to 84 queries", said)


def test_index(counts: Counts) -> None:
    """Every way of asking."""
    rows = counts(3_000, 20_000)
    said = said_by("bench.archive_index", "--rows", str(rows), "--times", "5")
    assert f"searches among {rows:,} records, p95 " in said
