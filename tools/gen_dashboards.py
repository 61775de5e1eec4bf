"""Write deploy/grafana/*.json: the panels are listed here, Grafana's form of them is the same for all.

    python tools/gen_dashboards.py [--check]

`--check` compares instead and says which file is not as it should be (exit code 1).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "deploy" / "grafana"
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 8, 7  # of a panel, in Grafana's grid of 24 columns


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph. `series`: PromQL and legend; `unit`: as Grafana names it."""

    title: str
    unit: str
    series: Sequence[tuple[str, str]]


def quantiles(metric: str, by: str = "", where: str = "") -> list[tuple[str, str]]:
    """Median and 99th percentile of a histogram, by one more label if wanted."""
    labels, legend = (f"le, {by}", f" {{{{{by}}}}}") if by else ("le", "")
    return [
        (f"histogram_quantile({part}, sum by ({labels}) (rate({metric}_bucket{where}[1m])))", f"{name}{legend}")
        for part, name in (("0.5", "p50"), ("0.99", "p99"))
    ]


def rate(metric: str, by: str) -> tuple[str, str]:
    """A counter by one label, a second."""
    return f"sum by ({by}) (rate({metric}[1m]))", f"{{{{{by}}}}}"


OVERVIEW = [
    Panel("Moves", "ops", [rate("kangtou_moves_total", "game")]),
    Panel("Answers", "s", quantiles("kangtou_gateway_stage_seconds", where='{stage="answer"}')),
    Panel(
        "Tables",
        "short",
        [
            ("kangtou_tables", "{{process}}"),
            ("kangtou_tables_faulted > 0", "faulted {{process}}"),
        ],
    ),
    Panel(
        "Clients",
        "short",
        [
            ("sum(kangtou_streams)", "streams"),
            ("sum(kangtou_seats_followed)", "seats"),
            ("sum(kangtou_watchers)", "watchers"),
        ],
    ),
    Panel(
        "Refusals",
        "ops",
        [
            rate("kangtou_table_refusals_total", "code"),
            ("sum by (code) (rate(kangtou_gateway_refusals_total[1m]))", "gateway {{code}}"),
        ],
    ),
    Panel(
        "What waits",
        "short",
        [
            ('sum(kangtou_actor_queue{queue="table"})', "commands at tables"),
            ("sum(kangtou_log_waiting)", "entries"),
            ('sum(kangtou_gateway_queue{queue="outbox"})', "messages for streams"),
            ("sum(kangtou_tables_sought)", "tables without an actor"),
        ],
    ),
    Panel(
        "Recoveries",
        "short",
        [
            ("sum(increase(kangtou_takeovers_total[1m]))", "takeovers"),
            ("sum(increase(kangtou_child_restarts_total[1m]))", "restarts"),
            ("sum by (cause) (increase(kangtou_outage_seconds_sum[1m]))", "s given back, {{cause}}"),
        ],
    ),
    Panel(
        "Ready",
        "short",
        [
            ("min by (check) (kangtou_check)", "{{check}}"),
            ("min(kangtou_child_up)", "processes"),
            ("max(kangtou_log_down)", "log down"),
        ],
    ),
    Panel(
        "Matchmaking",
        "short",
        [
            ("max by (game, kind) (kangtou_queue_waiting)", "waiting {{game}} {{kind}}"),
            ("sum by (game) (rate(kangtou_queue_groups_total[1m]) * 60)", "groups a minute {{game}}"),
        ],
    ),
    Panel("Waits for a match", "s", quantiles("kangtou_queue_wait_seconds", by="game")),
    Panel(
        "Archive",
        "short",
        [
            ("sum(kangtou_archive_waiting)", "without a record"),
            ("sum(rate(kangtou_archive_seconds_count[1m])) * 60", "records a minute"),
            ("sum(increase(kangtou_archive_failures_total[5m]))", "failures"),
        ],
    ),
    Panel(
        "Tournaments",
        "short",
        [
            ("sum(kangtou_tournament_games_running)", "games running"),
            ("sum by (outcome) (rate(kangtou_tournament_games_total[1m]) * 60)", "{{outcome}} a minute"),
            ("sum(kangtou_tournaments)", "tournaments"),
        ],
    ),
]

MOVES = [
    Panel("Stages in the actor", "s", quantiles("kangtou_table_stage_seconds", by="stage")),
    Panel("Stages at the gateway", "s", quantiles("kangtou_gateway_stage_seconds", by="stage")),
    Panel("Log: a batch until it is on disk", "s", quantiles("kangtou_log_batch_seconds")),
    Panel(
        "Log: entries in a batch",
        "short",
        [("sum(rate(kangtou_log_batch_entries_sum[1m])) / sum(rate(kangtou_log_batch_entries_count[1m]))", "mean")],
    ),
    Panel(
        "Entries and moves",
        "ops",
        [("sum(rate(kangtou_entries_total[1m]))", "entries"), ("sum(rate(kangtou_moves_total[1m]))", "moves")],
    ),
    Panel(
        "Slow readers",
        "ops",
        [
            ("sum(rate(kangtou_lagging_total[1m]))", "backlogs left out"),
            ("sum(rate(kangtou_streams_cut_total[1m]))", "streams cut"),
            ("sum(kangtou_streams_blocked)", "writes under way"),
        ],
    ),
    Panel("Processor", "percentunit", [("rate(process_cpu_seconds_total[1m])", "{{process}}")]),
    Panel("Memory", "bytes", [("process_resident_memory_bytes", "{{process}}")]),
    Panel(
        "Event loop lag",
        "s",
        quantiles("kangtou_loop_lag_seconds", by="process"),
    ),
    Panel(
        "Redis: memory",
        "bytes",
        [
            ('max(kangtou_redis{figure="used_memory"})', "used"),
            ('max(kangtou_redis{figure="aof_current_size"})', "append-only file"),
        ],
    ),
    Panel("Redis: operations", "ops", [('max(kangtou_redis{figure="instantaneous_ops_per_sec"})', "operations")]),
    Panel("Calls", "ops", [("sum by (method, status) (rate(kangtou_calls_total[1m]))", "{{method}} {{status}}")]),
]

DASHBOARDS = {
    "overview": ("Kangtou: overview", OVERVIEW),
    "moves": ("Kangtou: the way of a move", MOVES),
}


def panel_json(number: int, panel: Panel) -> dict[str, Any]:
    """One panel, placed three in a row."""
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": DATASOURCE,
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": number % 3 * WIDTH, "y": number // 3 * HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, "custom": {"fillOpacity": 8}}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": DATASOURCE, "expr": expression, "legendFormat": legend}
            for place, (expression, legend) in enumerate(panel.series)
        ],
    }


def dashboard(name: str) -> str:
    """A file's content."""
    title, panels = DASHBOARDS[name]
    content = {
        "uid": f"kangtou-{name}",
        "title": title,
        "tags": ["kangtou"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": [panel_json(number, panel) for number, panel in enumerate(panels)],
    }
    return json.dumps(content, indent=2) + "\n"


def main() -> int:
    """Write or compare."""
    wrong = 0
    for name in DASHBOARDS:
        path = FOLDER / f"{name}.json"
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text() != dashboard(name):
                sys.stderr.write(f"{path.name} is not what tools/gen_dashboards.py writes\n")
                wrong = 1
        else:
            path.write_text(dashboard(name))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
