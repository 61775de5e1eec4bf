"""What `kangtou status` shows of a server: one screen of figures, and rates from one look to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kangtou.v1.vitals_pb2 import GetVitalsResponse, ProcessVitals

from .common import Common

HISTORY = 60  # looks that the line of moves goes back
BLOCKS = "▁▂▃▄▅▆▇█"

# Columns: figure, digits after the point.
ACTOR = (
    ("tables", 0),
    ("watchers", 0),
    ("waiting", 0),
    ("append_p50_ms", 1),
    ("append_p99_ms", 1),
    ("takeovers", 0),
    ("outage_s", 1),
    ("faulted", 0),
    ("archiving", 0),
)
GATEWAY = (
    ("streams", 0),
    ("followed", 0),
    ("outbox", 0),
    ("answer_p50_ms", 1),
    ("answer_p99_ms", 1),
    ("queue_waiting", 0),
    ("queue_groups", 0),
)


class Watch:
    """Two looks make a rate; the moves of many make a line."""

    def __init__(self) -> None:
        self._last: GetVitalsResponse | None = None
        self.line: list[float] = []
        self._rates: dict[tuple[str, str], float] = {}

    def look(self, vitals: GetVitalsResponse) -> None:
        """A new look."""
        self._rates = {}
        last = self._last
        if last is not None and vitals.at_ms > last.at_ms:
            seconds = (vitals.at_ms - last.at_ms) / 1000
            before = {one.id: one.figures for one in last.processes}
            for one in vitals.processes:
                for name in ("moves", "refusals"):
                    if one.id in before:
                        more = one.figures.get(name, 0.0) - before[one.id].get(name, 0.0)
                        self._rates[one.id, name] = max(0.0, more / seconds)
            self.line = [*self.line, self.rate(vitals.processes, "actor", "moves") or 0.0][-HISTORY:]
        self._last = vitals

    def of(self, process: ProcessVitals, name: str) -> float | None:
        """A second; None after the first look."""
        return self._rates.get((process.id, name))

    def rate(self, processes: Iterable[ProcessVitals], kind: str, name: str) -> float | None:
        """Of all processes of a kind."""
        known = [self._rates[one.id, name] for one in processes if one.kind == kind and (one.id, name) in self._rates]
        return sum(known) if known else None


def spark(values: Sequence[float]) -> str:
    """A line of blocks, the highest being the greatest value."""
    most = max(values, default=0.0)
    if not most:
        return BLOCKS[0] * len(values)
    return "".join(BLOCKS[min(len(BLOCKS) - 1, int(value / most * len(BLOCKS)))] for value in values)


def screen(common: Common, address: str, vitals: GetVitalsResponse, watch: Watch) -> RenderableType:
    """The whole screen."""
    at = datetime.fromtimestamp(vitals.at_ms / 1000, UTC).astimezone().strftime("%H:%M:%S")
    head = Text.assemble(
        ("kangtou ", "bold"),
        f"{vitals.version}  {address}  {at}  ",
        (
            common.say("vitals_ready" if vitals.ready else "vitals_not_ready"),
            "bold green" if vitals.ready else "bold red",
        ),
    )
    parts: list[RenderableType] = [head, _checks(vitals)]
    moves = watch.rate(vitals.processes, "actor", "moves")
    live = common.say("vitals_live", live=vitals.live_matches, moves="-" if moves is None else f"{moves:,.0f}")
    parts += [Text(live), Text(spark(watch.line), style="cyan")]
    for kind, columns in (("actor", ACTOR), ("gateway", GATEWAY)):
        parts.append(_processes(common, vitals.processes, kind, columns, watch))
    parts.append(_redis(common, vitals))
    return Group(*parts)


def _checks(vitals: GetVitalsResponse) -> Text:
    text = Text()
    for check in vitals.checks:
        text.append(f"{'✓' if check.good else '✗'} {check.name}  ", style="green" if check.good else "bold red")
        if check.why:
            text.append(f"({check.why})  ", style="red")
    return text


def _processes(
    common: Common,
    processes: Iterable[ProcessVitals],
    kind: str,
    columns: Sequence[tuple[str, int]],
    watch: Watch,
) -> Table:
    table = Table(
        title=common.say(f"vitals_{kind}s"), title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for word in (common.say("vitals_process"), common.say("vitals_node"), "pid"):
        table.add_column(word, no_wrap=True)
    for name in (*(name for name, _ in columns), "moves", "refusals"):
        table.add_column(common.say(f"vitals_{name}"), justify="right")
    for one in (one for one in processes if one.kind == kind):
        cells = [f"{one.figures.get(name, 0.0):,.{digits}f}" for name, digits in columns]
        rates = ["-" if (rate := watch.of(one, name)) is None else f"{rate:,.1f}" for name in ("moves", "refusals")]
        table.add_row(one.id, one.node, str(one.pid), *cells, *rates)
    return table


def _redis(common: Common, vitals: GetVitalsResponse) -> Text:
    redis = vitals.redis
    if not redis:
        return Text(common.say("vitals_no_redis"), style="dim")
    kept = redis.get("aof_enabled") and redis.get("aof_last_write_status")
    text = common.say(
        "vitals_redis",
        aof=common.say("vitals_kept" if kept else "vitals_not_kept"),
        memory=f"{redis.get('used_memory', 0) / 2**20:,.1f}",
        file=f"{redis.get('aof_current_size', 0) / 2**20:,.1f}",
        operations=f"{redis.get('instantaneous_ops_per_sec', 0):,.0f}",
        clients=f"{redis.get('connected_clients', 0):,.0f}",
        replicas=f"{redis.get('connected_slaves', 0):,.0f}",
        late=f"{redis.get('aof_delayed_fsync', 0):,.0f}",
    )
    return Text(text, style="" if kept else "bold red")
