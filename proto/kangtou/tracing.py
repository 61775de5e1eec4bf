"""Traces of moves, with OpenTelemetry (extra `trace`), which is loaded only when traces are wanted.

Servers and clients use this alike. A trace begins at a client that traces (KANGTOU_TRACE, KANGTOU_TRACE_RATE) or, for
part of the moves of other clients, at the gateway. Its context travels as W3C `traceparent` in the command and over the
link. Spans are made when they are over, from times that were taken anyway; while tracing is off nothing is made.

Attributes are ids, numbers and the game: never an action, a card, a seed or a token.
"""

from __future__ import annotations

import atexit
import os
import random
import re
import time
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, SpanContext, Tracer

TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-0[1-9a-f]")
# perf_counter has no origin that others know: this is its zero as Unix time in ns.
ZERO_NS = time.time_ns() - time.perf_counter_ns()
QUEUE_MOST = 4_096  # spans that wait to be exported; more are left out
FLUSH_MS = 2_000


class CannotTrace(ValueError):
    """The setting is wrong, or the extra is missing."""


def wall_ns(seconds: float) -> int:
    """A time of `perf_counter` as Unix time in ns."""
    return ZERO_NS + int(seconds * 1e9)


class Open:
    """A span that has begun; others may be hung below it. Times are `perf_counter` seconds."""

    __slots__ = ("_span", "_tracing", "began", "traceparent")

    def __init__(self, tracing: Tracing, span: Span, began: float) -> None:
        self._tracing = tracing
        self._span = span
        self.began = began
        context = span.get_span_context()
        self.traceparent = f"00-{context.trace_id:032x}-{context.span_id:016x}-01"

    def end(self, at: float | None = None, **attributes: str | float) -> None:
        """It is over, now or at `at`."""
        for name, value in attributes.items():
            self._span.set_attribute(f"kangtou.{name}", value)
        self._span.end(wall_ns(time.perf_counter() if at is None else at))

    def below(self, name: str, began: float, ended: float, **attributes: str | float) -> Open:
        """A part of it that is over."""
        part = self._tracing.span(name, self._span.get_span_context(), began)
        part.end(ended, **attributes)
        return part


class Tracing:
    """One of a process. `rate`: part of the moves that come without a trace for which one begins here."""

    def __init__(self, process: str, exporter: SpanExporter, rate: float = 0.0, out: TextIO | None = None) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self.rate = rate
        self._out = out
        resource = Resource({"service.name": "kangtou", "service.instance.id": process})
        self._provider: TracerProvider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(
            BatchSpanProcessor(exporter, max_queue_size=QUEUE_MOST, schedule_delay_millis=FLUSH_MS)
        )
        self._tracer: Tracer = self._provider.get_tracer("kangtou")

    def begin(self, name: str, parent: str = "", began: float | None = None) -> Open | None:
        """A span below `parent` (a traceparent); without one, by chance, the first of a new trace, else None."""
        if not parent:
            return self.span(name, None, began) if self.rate and random.random() < self.rate else None
        context = _context(parent)
        return self.span(name, context, began) if context is not None else None

    def span(self, name: str, parent: SpanContext | None, began: float | None) -> Open:
        """A span that is made in any case."""
        from opentelemetry.context import Context
        from opentelemetry.trace import NonRecordingSpan, set_span_in_context

        at = time.perf_counter() if began is None else began
        around = Context() if parent is None else set_span_in_context(NonRecordingSpan(parent), Context())
        return Open(self, self._tracer.start_span(name, around, start_time=wall_ns(at)), at)

    def close(self) -> None:
        """Export what waits. Blocks for as long as the exporter takes."""
        self._provider.shutdown()
        if self._out is not None:
            self._out.close()


def _context(traceparent: str) -> SpanContext | None:
    """None for what is no traceparent of a sampled trace."""
    from opentelemetry.trace import SpanContext, TraceFlags

    found = TRACEPARENT.fullmatch(traceparent)
    if found is None:
        return None
    context = SpanContext(int(found[1], 16), int(found[2], 16), True, TraceFlags(TraceFlags.SAMPLED))
    return context if context.is_valid else None


def check(to: str) -> None:
    """Whether traces can go there. Raises CannotTrace."""
    if not to:
        return
    if not to.startswith(("file:", "http://", "https://")):
        raise CannotTrace(f"traces go to file:FOLDER or http(s)://HOST:PORT, not {to!r}")
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        raise CannotTrace("traces need the extra: pip install 'kangtou[trace]'")


def start(process: str, to: str, rate: float = 0.0) -> Tracing | None:
    """Tracing of this process; None if `to` is empty. Raises CannotTrace.

    to   `file:FOLDER` (a file PROCESS.jsonl of spans, one a line), or the address of an OTLP collector over HTTP
    """
    check(to)
    if not to:
        return None
    if to.startswith("file:"):
        folder = Path(to.removeprefix("file:"))
        folder.mkdir(parents=True, exist_ok=True)
        out = (folder / f"{process}.jsonl").open("a", encoding="utf-8")
        return Tracing(process, _lines(out), rate, out)
    return Tracing(process, _otlp(to), rate)


@lru_cache(maxsize=1)
def of_client() -> Tracing | None:
    """Tracing of a client's process, by KANGTOU_TRACE and KANGTOU_TRACE_RATE (1 if unset). Raises CannotTrace."""
    given = os.environ.get("KANGTOU_TRACE_RATE") or "1"
    try:
        rate = float(given)
    except ValueError:
        raise CannotTrace(f"KANGTOU_TRACE_RATE is a number from 0 to 1, not {given!r}") from None
    tracing = start(f"client-{os.getpid()}", os.environ.get("KANGTOU_TRACE", ""), rate)
    if tracing is not None:
        atexit.register(tracing.close)
    return tracing


def _lines(out: TextIO) -> SpanExporter:
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    return ConsoleSpanExporter(out=out, formatter=lambda span: span.to_json(indent=None) + "\n")


def _otlp(address: str) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"{address.rstrip('/')}/v1/traces", timeout=5)
