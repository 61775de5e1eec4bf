"""Drawings of the page as SVG: intervals, and how often an entrant came in where."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from .figures import Json, plain, signed

WIDTH, LABEL, ROW = 880, 190, 30
_RIGHT = 24


def interval_plot(report: Json) -> str:
    """A row for each entrant: point, headline interval (thick), bootstrap (thin), over one axis with 0."""
    rows = [row for row in report["table"] if row["edge"]["value"] is not None]
    if not rows:
        return ""
    ends = [
        value
        for row in rows
        for value in (row["edge"][name] for name in ("value", "low", "high", "boot_low", "boot_high"))
        if value is not None
    ]
    ticks = _ticks(min(*ends, 0.0), max(*ends, 0.0))
    low, high = ticks[0], ticks[-1]

    def x(value: float) -> float:
        return round(LABEL + (WIDTH - LABEL - _RIGHT) * (value - low) / (high - low), 1)

    height = ROW * len(rows) + 34
    parts = [
        f'<line class="{"grid" if tick else "zero"}" x1="{x(tick)}" x2="{x(tick)}" y1="4" y2="{height - 26}"/>'
        f'<text class="tick" x="{x(tick)}" y="{height - 8}">{signed(tick) if tick else "0"}</text>'
        for tick in ticks
    ]
    for number, row in enumerate(rows):
        parts.append(_row(row, ROW * number + ROW // 2 + 4, x))
    return _svg(height, parts, "plot")


def _row(row: Json, y: int, x: object) -> str:
    assert callable(x)
    edge = row["edge"]
    said = f"{row['name']}: {signed(edge['value'])}"
    parts = [f'<text class="name" x="{LABEL - 12}" y="{y + 5}">{html.escape(_short(row["name"]))}</text>']
    if edge["low"] is not None:
        said += f" ({signed(edge['low'])} … {signed(edge['high'])})"
        parts.append(
            f'<line class="boot" x1="{x(edge["boot_low"])}" x2="{x(edge["boot_high"])}" y1="{y + 6}" y2="{y + 6}"/>'
        )
        parts.append(f'<line class="bar" x1="{x(edge["low"])}" x2="{x(edge["high"])}" y1="{y}" y2="{y}"/>')
    parts.append(f'<circle class="dot" cx="{x(edge["value"])}" cy="{y}" r="5"/>')
    return f"<g><title>{html.escape(said)}</title>{''.join(parts)}</g>"


def place_bars(report: Json) -> str:
    """A bar for each entrant, cut into first, second … places."""
    rows = [row for row in report["table"] if sum(row["places"])]
    height, room = ROW * len(rows) + 8, WIDTH - LABEL - _RIGHT
    parts = []
    for number, row in enumerate(rows):
        y, left, total = ROW * number + 6, float(LABEL), sum(row["places"])
        parts.append(f'<text class="name" x="{LABEL - 12}" y="{y + 16}">{html.escape(_short(row["name"]))}</text>')
        for place, count in enumerate(row["places"]):
            wide = room * count / total
            share = plain(100 * count / total, 0)
            parts.append(
                f"<g><title>{html.escape(row['name'])}: {place + 1}. {count} ({share} %)</title>"
                f'<rect class="p{place}" x="{left:.1f}" y="{y}" width="{wide:.1f}" height="{ROW - 8}"/>'
                + (
                    f'<text class="share p{place}" x="{left + wide / 2:.1f}" y="{y + 16}">{share}</text>'
                    if wide > 26
                    else ""
                )
                + "</g>"
            )
            left += wide
    return _svg(height, parts, "bars") if rows else ""


def _svg(height: int, parts: Sequence[str], kind: str) -> str:
    return f'<svg class="{kind}" viewBox="0 0 {WIDTH} {height}" role="img">{"".join(parts)}</svg>'


def _short(name: str) -> str:
    """As much of a name as fits beside a row; Chinese takes twice the room."""
    room, kept = 22, ""
    for sign in name:
        room -= 2 if ord(sign) > 0x2E7F else 1
        if room < 1:
            return kept + "…"
        kept += sign
    return kept


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers that hold both ends: five to nine of them."""
    span = (high - low) or 1.0
    rough = span / 6
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((unit * times for times in (1, 2, 5, 10) if unit * times >= rough), default=unit * 10)
    first, last = math.floor(low / step), math.ceil(high / step)
    if first == last:
        last += 1
    return [round(step * number, 10) for number in range(first, last + 1)]
