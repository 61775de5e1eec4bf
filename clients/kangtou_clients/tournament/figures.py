"""Numbers of a report as texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
NONE = "–"


def signed(value: float | None) -> str:
    """`+1.25`, with fewer digits for large ones; `–` for none."""
    if value is None:
        return NONE
    digits = 2 if abs(value) < 100 else 1
    return f"{value if abs(value) >= 0.5 * 10**-digits else 0.0:+.{digits}f}".replace("-", "−")


def plain(value: float | None, digits: int = 2) -> str:
    """`1.25`; `–` for none."""
    return NONE if value is None else f"{value:.{digits}f}".replace("-", "−")


def interval(mean: Json, low: str = "low", high: str = "high") -> str:
    """`+0.50 … +2.00`; without bounds `± error` if that is known."""
    if mean[low] is not None:
        return f"{signed(mean[low])} … {signed(mean[high])}"
    error = mean.get("error")
    return f"(± {plain(error)})" if error is not None else NONE


def elo(strength: Json | None) -> str:
    """`+120 (+95 … +145)`."""
    if strength is None:
        return NONE
    value = f"{strength['elo']:+.0f}"
    if strength["low"] is not None:
        value += f" ({strength['low']:+.0f} … {strength['high']:+.0f})"
    return value.replace("-", "−")


def mean_place(mean: Json) -> str:
    """`1.50 (1.40 … 1.60)`."""
    if mean["value"] is None:
        return NONE
    bounds = "" if mean["low"] is None else f" ({plain(mean['low'])} … {plain(mean['high'])})"
    return plain(mean["value"]) + bounds


def level(report: Json) -> str:
    """`95`."""
    return f"{100 * report['spec']['confidence']:g}"


def difference(report: Json, row: int, column: int) -> Json | None:
    """The pair of two entrants as seen from the first; None: they have not met."""
    for pair in report["pairs"]:
        if {pair["one"], pair["other"]} == {row, column}:
            return pair if pair["one"] == row else _turned(pair)
    return None


def _turned(pair: Json) -> Json:
    mean = pair["difference"]
    back = {
        name: None if mean[name] is None else -mean[name] for name in ("value", "low", "high", "boot_low", "boot_high")
    }
    turned = {
        **mean,
        "value": back["value"],
        "low": back["high"],
        "high": back["low"],
        "boot_low": back["boot_high"],
        "boot_high": back["boot_low"],
    }
    verdict = {"better": "worse", "worse": "better"}.get(pair["verdict"], pair["verdict"])
    return {
        **pair,
        "one": pair["other"],
        "other": pair["one"],
        "difference": turned,
        "wins": pair["wins"][::-1],
        "verdict": verdict,
    }


def score_text(row: Json) -> str:
    """What decides before the difference: points and Buchholz in a Swiss, encounters won in a knock-out."""
    return " / ".join(f"{part:g}" for part in row["decided"])


def faults_text(row: Json) -> str:
    """`crash 2`; "" if there are none."""
    return ", ".join(f"{kind} {number}" for kind, number in row["faults"].items())
