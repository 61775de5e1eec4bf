"""Draw the panels of a Grafana dashboard as a page, from a running Prometheus; for documents, and without Grafana.

    python tools/dashboard_picture.py deploy/grafana/overview.json --prometheus http://127.0.0.1:9090 -o page.html

The page has the dashboard's panels, expressions and legends; only the drawing is this tool's. `--minutes` is how far
it looks back. With `--png FILE` Chromium (/usr/bin/chromium) takes a picture of it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2", "#72b7b2", "#eeca3b", "#9d755d", "#bab0ac", "#2f4b7c")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 420, 170, 56, 10, 22
POINTS = 240
SHOWN_MOST = 10  # series in a panel


@dataclass(frozen=True, slots=True)
class Series:
    """One line: its legend, and (Unix s, value)."""

    legend: str
    points: Sequence[tuple[float, float]]


def legend_of(form: str, labels: dict[str, str]) -> str:
    """As Grafana fills it in."""
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: labels.get(found[1], ""), form).strip()


def asked(address: str, expression: str, form: str, start: float, end: float) -> list[Series]:
    """A range query. Raises OSError, and ValueError for what Prometheus refuses."""
    step = max(1, int((end - start) / POINTS))
    query = urllib.parse.urlencode({"query": expression, "start": start, "end": end, "step": step})
    try:
        with urllib.request.urlopen(f"{address}/api/v1/query_range?{query}", timeout=30) as response:
            found = json.load(response)
    except urllib.error.HTTPError as error:
        raise ValueError(f"{expression}: {error.read().decode()[:200]}") from error
    return [
        Series(
            legend_of(form, one["metric"]),
            [(float(at), number) for at, text in one["values"] if (number := float(text)) == number],  # not NaN
        )
        for one in found["data"]["result"]
    ]


def shown(value: float, unit: str) -> str:
    """A number in the unit that Grafana would use."""
    if unit == "s":
        return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
    if unit == "bytes":
        return f"{value / 2**20:.3g} MiB"
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{number}/s" if unit == "ops" else number


def panel(title: str, unit: str, series: Sequence[Series], start: float, end: float) -> str:
    """One panel as a figure."""
    most = max((value for one in series for _, value in one.points), default=0.0) * 1.08 or 1.0
    wide, high = WIDTH - LEFT - 8, HEIGHT - TOP - BOTTOM
    lines = []
    for part in (0.0, 0.5, 1.0):
        y = TOP + high * (1 - part)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e3e3"/>')
        lines.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{shown(most * part, unit)}</text>')
    for part in (0.0, 0.5, 1.0):
        clock = time.strftime("%H:%M:%S", time.localtime(start + (end - start) * part))
        anchor = {0.0: "start", 0.5: "middle", 1.0: "end"}[part]
        lines.append(f'<text x="{LEFT + wide * part:.0f}" y="{HEIGHT - 6}" text-anchor="{anchor}">{clock}</text>')
    for number, one in enumerate(series):
        places = [
            f"{LEFT + (at - start) / (end - start) * wide:.1f},{TOP + high * (1 - value / most):.1f}"
            for at, value in one.points
        ]
        colour = COLOURS[number % len(COLOURS)]
        lines.append(f'<polyline points="{" ".join(places)}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    legends = "".join(
        f'<span><i style="background:{COLOURS[number % len(COLOURS)]}"></i>{escape(one.legend)} '
        f"<b>{shown(one.points[-1][1], unit) if one.points else ''}</b></span>"
        for number, one in enumerate(series)
    )
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(lines)}</svg>'
        f"<p>{legends or 'no data'}</p></figure>"
    )


def page(dashboard: dict[str, Any], address: str, minutes: float) -> str:
    """The whole page."""
    end = time.time()
    start = end - minutes * 60
    figures = []
    for one in dashboard["panels"]:
        series: list[Series] = []
        for target in one["targets"]:
            series += asked(address, target["expr"], target["legendFormat"], start, end)
        most = sorted(series, key=lambda line: -max((value for _, value in line.points), default=0.0))[:SHOWN_MOST]
        kept = [line for line in series if line in most]
        figures.append(panel(one["title"], one["fieldConfig"]["defaults"]["unit"], kept, start, end))
    clock = time.strftime("%Y-%m-%d %H:%M", time.localtime(end))
    return f"""<!doctype html><meta charset="utf-8"><title>{escape(dashboard["title"])}</title><style>
body{{font:12px sans-serif;margin:16px;width:1320px;color:#222;background:#fff}} h1{{font-size:18px;margin:0 0 12px}}
main{{display:grid;grid-template-columns:repeat(3,1fr);gap:12px}} figure{{margin:0;border:1px solid #ddd;padding:8px}}
figcaption{{font-weight:bold;margin-bottom:4px}} svg{{width:100%}} svg text{{font-size:10px;fill:#666}}
p{{margin:4px 0 0;line-height:1.5}} span{{margin-right:10px;white-space:nowrap}}
i{{display:inline-block;width:10px;height:3px;margin-right:4px;vertical-align:middle}}</style>
<h1>{escape(dashboard["title"])} <small>{clock}, the last {minutes:g} min</small></h1><main>{"".join(figures)}</main>
"""


def main() -> int:
    """Draw; the exit code is 1 if Prometheus refuses an expression or cannot be reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dashboard", type=Path)
    parser.add_argument("--prometheus", default="http://127.0.0.1:9090")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("-o", "--out", type=Path, default=Path("dashboard.html"))
    parser.add_argument("--png", type=Path)
    given = parser.parse_args()
    try:
        given.out.write_text(page(json.loads(given.dashboard.read_text()), given.prometheus, given.minutes))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if given.png is not None:
        flags = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1352,1250"]
        url = given.out.absolute().as_uri()
        subprocess.run([CHROMIUM, *flags, f"--screenshot={given.png.absolute()}", url], check=True, capture_output=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
