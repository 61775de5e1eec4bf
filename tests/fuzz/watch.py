"""What must not happen meanwhile: a log line of an error, an exception that nobody takes, an INTERNAL or UNKNOWN."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

KEPT = 40


@dataclass
class Watch:
    """Counts outcomes by kind; keeps the first findings, each with the input that was under way."""

    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[str, str]] = field(default_factory=list)  # input, what
    found: int = 0
    now: str = ""  # TARGET:NUMBER of the input under way

    def count(self, target: str, outcome: str) -> None:
        """An input has ended so."""
        self.outcomes[f"{target} {outcome}"] += 1

    def bad(self, what: str, where: str = "") -> None:
        """Something that must not be."""
        self.found += 1
        if len(self.findings) < KEPT:
            self.findings.append((where or self.now, what[:300]))


class _Handler(logging.Handler):
    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.WARNING)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        error = record.exc_info[1] if record.exc_info else None
        if record.name.startswith("grpc") and (
            text.startswith("Invalid encoding") or type(error).__name__ in ("UnicodeDecodeError", "ExecuteBatchError")
        ):
            self._watch.count("port", "ended by gRPC: a header or method that is no text")
            return  # it does not reach us; the server's log has one line of it, without what was sent (tests/access)
        self._watch.bad(f"logged by {record.name}: {text} {error!r}" if error else f"logged by {record.name}: {text}")


@contextmanager
def watching(loop: asyncio.AbstractEventLoop) -> Iterator[Watch]:
    """Look at structlog, logging, the loop and what Python cannot raise."""
    watch = Watch()

    def looked(_: Any, level: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if level in ("error", "critical", "exception"):
            watch.bad(f"log {level}: {dict(event)}")
        raise structlog.DropEvent

    held = structlog.get_config()
    structlog.configure(processors=[looked], cache_logger_on_first_use=False)
    handler = _Handler(watch)
    logging.getLogger().addHandler(handler)
    before = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: watch.bad(f"loop: {context.get('message')} {context!r}"))
    unraisable, sys.unraisablehook = sys.unraisablehook, lambda one: watch.bad(f"unraisable: {one.exc_value!r}")
    try:
        yield watch
    finally:
        sys.unraisablehook = unraisable
        loop.set_exception_handler(before)
        logging.getLogger().removeHandler(handler)
        structlog.configure(**held)
