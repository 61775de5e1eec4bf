"""What a gateway counts: streams, calls, the way of a move through it, and matchmaking."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from kangtou.tracing import Tracing

from .families import counter, counters, gauge, gauges
from .tally import SLOW, Tally, histogram

if TYPE_CHECKING:
    from ..gateway.health import Readiness
    from ..gateway.limits import Streams
    from ..gateway.server import Parts

LOOKED_S = 30.0  # a pool that this gateway has not looked at for so long is another's to tell about


class GatewayMeter:
    """Written by gateway/streams.py, requests.py, commands.py, play.py and calls.py.

    answer  seconds from reading a command until its answer is queued for the client
    link    the part of that which no table spent: both ways on the link, and waiting for either event loop
    """

    __slots__ = ("answer", "calls", "cut", "held", "lagging", "link", "refusals", "tracing")

    def __init__(self) -> None:
        self.answer, self.link = Tally(), Tally()
        self.refusals: Counter[str] = Counter()  # by code
        self.calls: Counter[tuple[str, str]] = Counter()  # by method and status
        self.lagging = self.cut = self.held = 0
        self.tracing: Tracing | None = None

    def answered(self, began: float, table_us: int) -> None:
        """A reply has come to a command that was read at `began` (perf_counter seconds)."""
        took = time.perf_counter() - began
        self.answer.add(took)
        if table_us:
            self.link.add(max(0.0, took - table_us / 1e6))

    def gather(self, parts: Parts, open_streams: Streams, readiness: Readiness) -> Iterable[Metric]:
        """As metrics, with what is open now."""
        yield histogram(
            "kangtou_gateway_stage_seconds",
            "A move in its gateway: answer (all of it), link (what no table spent of it).",
            [(("answer",), self.answer), (("link",), self.link)],
            ["stage"],
        )
        yield counters("kangtou_gateway_refusals", "Commands that gateways have refused.", "code", self.refusals)
        calls = CounterMetricFamily("kangtou_calls", "Calls that have ended, streams too.", labels=["method", "status"])
        for (method, status), count in self.calls.items():
            calls.add_metric([method, status], count)
        yield calls
        yield counter("kangtou_lagging", "Subscriptions whose backlog was left out.", self.lagging)
        yield counter("kangtou_streams_cut", "Streams ended because they were not read.", self.cut)
        yield counter("kangtou_held_back", "Messages after which an account was not read for a while.", self.held)
        streams = open_streams.all()
        yield gauge("kangtou_streams", "Open play streams.", len(streams))
        yield gauge("kangtou_streams_ending", "Streams whose clients have not taken their end.", open_streams.ending)
        yield gauge("kangtou_streams_blocked", "Streams whose last write is not taken yet.", open_streams.blocked)
        followed = sum(len(stream.followers) for stream in streams)
        yield gauge("kangtou_followed", "Seats and watched tables on streams.", followed)
        router = parts.router
        depths = {"outbox": sum(stream.outbox.waiting for stream in streams), "link": router.links.waiting}
        yield gauges("kangtou_gateway_queue", "What waits: messages for streams, bytes on links.", "queue", depths)
        yield gauge("kangtou_links", "Links to actors.", len(router.links))
        yield gauge("kangtou_tables_sought", "Tables whose actor is being looked for.", router.seeking)
        checks = {name: float(good) for name, good in readiness.checks.items()}
        yield gauges("kangtou_check", "What a gateway needs to be ready: 1 if it is so.", "check", checks)
        yield gauge("kangtou_ready", "1 if this gateway is ready.", float(readiness.ready))
        yield from _redis(readiness.redis)
        yield from parts.queues.gather()


def _redis(figures: dict[str, float]) -> Iterable[Metric]:
    """What INFO said a moment ago, by the names there."""
    if figures:
        yield gauges("kangtou_redis", "Figures of INFO, by their names there.", "figure", figures)


class QueueMeter:
    """Matchmaking as the matcher of this gateway sees it. Written by matchmaking/matcher.py."""

    __slots__ = ("_pools", "formed", "waits")

    def __init__(self) -> None:
        self.waits: dict[tuple[str, str], Tally] = {}  # by game and kind
        self.formed: Counter[str] = Counter()  # by game
        self._pools: dict[str, tuple[str, str, int, float]] = {}

    def looked(self, pool_id: str, game: str, kind: str, waiting: int) -> None:
        """So many tickets wait in a pool."""
        if waiting:
            self._pools[pool_id] = (game, kind, waiting, time.monotonic())
        else:
            self._pools.pop(pool_id, None)

    def matched(self, game: str, kind: str, waits_ms: Iterable[int]) -> None:
        """A group was formed of tickets that have waited so long."""
        self.formed[game] += 1
        tally = self.waits.setdefault((game, kind), Tally(SLOW))
        for wait in waits_ms:
            tally.add(wait / 1000)

    def waiting(self) -> dict[tuple[str, str], int]:
        """Tickets by game and kind, of pools that were looked at lately."""
        now = time.monotonic()
        self._pools = {name: one for name, one in self._pools.items() if now - one[3] < LOOKED_S}
        found: Counter[tuple[str, str]] = Counter()
        for game, kind, waiting, _ in self._pools.values():
            found[game, kind] += waiting
        return found

    def gather(self) -> Iterable[Metric]:
        """As metrics."""
        labels = ["game", "kind"]
        waiting = GaugeMetricFamily("kangtou_queue_waiting", "Tickets in pools, as last looked at here.", labels=labels)
        for key, count in self.waiting().items():
            waiting.add_metric(key, count)
        yield waiting
        waits = [(key, tally) for key, tally in self.waits.items()]
        yield histogram("kangtou_queue_wait_seconds", "From a ticket until its group was formed.", waits, labels)
        yield counters("kangtou_queue_groups", "Groups formed.", "game", self.formed)
