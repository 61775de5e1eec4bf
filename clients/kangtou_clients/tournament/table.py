"""The report as CSV: the final table, the pairs or the matches."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from .figures import Json

TABLES = ("table", "pairs", "matches")
_BOUNDS = ("value", "error", "low", "high", "boot_low", "boot_high", "sets")


def write_csv(report: Json, table: str = "table") -> str:
    """One of TABLES with a head line; numbers in full, nothing where one is not known. Raises ValueError."""
    if table not in TABLES:
        raise ValueError(f"no table {table!r}; there are: {', '.join(TABLES)}")
    out = io.StringIO()
    rows = list({"table": _table, "pairs": _pairs, "matches": _matches}[table](report))
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["entrant"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _table(report: Json) -> Iterable[dict[str, object]]:
    for row in report["table"]:
        strength = row["strength"] or {}
        places = dict.fromkeys((f"place_{n + 1}" for n in range(report["games"]["places"])), 0)
        places.update({f"place_{n + 1}": count for n, count in enumerate(row["places"])})
        yield {
            "rank": row["rank"],
            "entrant": _safe(row["name"]),
            "decided": " ".join(f"{part:g}" for part in row["decided"]),
            **{f"edge_{name}": row["edge"][name] for name in _BOUNDS},
            "points": row["points"],
            **{f"elo_{name}": strength.get(name) for name in ("elo", "low", "high")},
            **{f"mean_place_{name}": row["place"][name] for name in ("value", "low", "high")},
            **places,
            "faults": sum(row["faults"].values()),
        }


def _pairs(report: Json) -> Iterable[dict[str, object]]:
    entrants = report["spec"]["entrants"]
    for pair in report["pairs"]:
        yield {
            "one": _safe(entrants[pair["one"]]["name"]),
            "other": _safe(entrants[pair["other"]]["name"]),
            **{f"difference_{name}": pair["difference"][name] for name in _BOUNDS},
            **dict(zip(("won", "tied", "lost"), pair["wins"], strict=True)),
            "verdict": pair["verdict"],
            "sets_needed": pair["sets_needed"],
        }


def _matches(report: Json) -> Iterable[dict[str, object]]:
    entrants = report["spec"]["entrants"]
    for match in report["matches"]:
        yield {
            "game": match["game"],
            "counted": int(match["counted"]),
            "match": match["match"],
            "board": match["board"],
            "entrants": _safe(" ".join(entrants[who]["name"] for who in match["entrants"])),
            "scores": " ".join(map(str, match["scores"])),
            "places": " ".join(map(str, match["places"])),
        }


def _safe(text: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
