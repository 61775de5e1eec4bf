"""Draw one trace as an SVG: spans one below the other, as long as they took.

    python tools/trace_picture.py FOLDER [-o FILE] [--trace ID]

FOLDER is where `KANGTOU_TRACE=file:FOLDER` had the processes write. Without `--trace` the complete trace of median
length is drawn: neither a lucky one nor the worst.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LEFT, ROW, TOP = 1000, 250, 26, 64
FONT = 'font-family="sans-serif" font-size="12"'
COLOURS = {"client": "#4c78a8", "gateway": "#f58518", "table": "#54a24b", "log": "#b279a2", "redis": "#e45756"}


@dataclass(frozen=True, slots=True)
class Span:
    """One span; times in microseconds of Unix time."""

    trace: str
    id: str
    parent: str
    name: str
    process: str
    began: float
    ended: float
    attributes: dict[str, Any]


def read(folder: Path) -> dict[str, list[Span]]:
    """All spans by trace."""
    found: dict[str, list[Span]] = defaultdict(list)
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            one = json.loads(line)
            began, ended = (datetime.fromisoformat(one[key]).timestamp() * 1e6 for key in ("start_time", "end_time"))
            process = one["resource"]["attributes"].get("service.instance.id", file.stem)
            context = one["context"]
            found[context["trace_id"]].append(
                Span(
                    context["trace_id"],
                    context["span_id"],
                    one["parent_id"] or "",
                    one["name"],
                    process,
                    began,
                    ended,
                    one["attributes"],
                )
            )
    return found


def median(traces: dict[str, list[Span]]) -> str:
    """Of the traces with most spans, the one of median length. Raises ValueError without any."""
    if not traces:
        raise ValueError("there is no trace")
    most = max(len(spans) for spans in traces.values())
    whole = [
        (max(one.ended - one.began for one in spans), name) for name, spans in traces.items() if len(spans) == most
    ]
    return sorted(whole)[len(whole) // 2][1]


def in_order(spans: list[Span]) -> list[tuple[int, Span]]:
    """From the root down, with depths."""
    below: dict[str, list[Span]] = defaultdict(list)
    known = {one.id for one in spans}
    for one in sorted(spans, key=lambda span: (span.began, -span.ended)):
        below[one.parent if one.parent in known else ""].append(one)
    ordered: list[tuple[int, Span]] = []

    def walk(parent: str, depth: int) -> None:
        for one in below[parent]:
            ordered.append((depth, one))
            walk(one.id, depth + 1)

    walk("", 0)
    return ordered


def draw(spans: list[Span]) -> str:
    """The picture."""
    rows = in_order(spans)
    start, end = min(one.began for one in spans), max(one.ended for one in spans)
    scale = (WIDTH - LEFT - 90) / max(end - start, 1)
    height = TOP + ROW * len(rows) + 12
    ids = {name: value for one in spans for name, value in one.attributes.items()}
    title = "  ".join(
        f"{name} {ids[f'kangtou.{name}']}" for name in ("game", "match", "seq", "seat") if f"kangtou.{name}" in ids
    )
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">One move, {(end - start) / 1000:.2f} ms</text>',
        f'<text x="12" y="42" fill="#555">{escape(title)}  trace {spans[0].trace}</text>',
    ]
    process = ""
    for number, (depth, one) in enumerate(rows):
        y = TOP + number * ROW
        x, width = LEFT + (one.began - start) * scale, max(1.5, (one.ended - one.began) * scale)
        colour = COLOURS.get(one.name.partition(".")[0], "#888")
        where = f" {escape(one.process)}" if one.process != process else ""
        process = one.process
        entries = one.attributes.get("kangtou.entries")
        took = f"{(one.ended - one.began) / 1000:.2f} ms" + (f", {entries} entries" if entries else "")
        out += [
            f'<rect x="0" y="{y}" width="{WIDTH}" height="{ROW}" fill="{"#f6f6f6" if number % 2 else "#fff"}"/>',
            f'<text x="{12 + depth * 14}" y="{y + 17}">{escape(one.name)}<tspan fill="#888">{where}</tspan></text>',
            f'<rect x="{x:.1f}" y="{y + 6}" width="{width:.1f}" height="{ROW - 12}" rx="2" fill="{colour}"/>',
            f'<text x="{min(x + width + 5, WIDTH - 86):.1f}" y="{y + 17}" fill="#333">{took}</text>',
        ]
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> int:
    """Draw; the exit code is 2 without a trace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("trace.svg"))
    parser.add_argument("--trace", default="")
    given = parser.parse_args()
    traces = read(given.folder)
    try:
        chosen = given.trace or median(traces)
        args = traces[chosen]
    except (KeyError, ValueError):
        sys.stderr.write(f"no such trace in {given.folder}\n")
        return 2
    given.out.write_text(draw(args))
    print(f"{len(traces)} traces; drawn: {chosen}, {len(args)} spans, in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
