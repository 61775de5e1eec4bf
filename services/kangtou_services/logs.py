"""Logging: structlog JSON lines from the first server line, through one redacting processor. Design §7.

The same thing has the same key in every process: `match`, `seq` (of the entry), `command` (the client's id), `account`,
`actor`, `gateway`, `tournament`, `process`; `why` is a word, `error` the type of an exception.

Nothing that may hold a card, a seed, a token or an entropy gets out: fields are let through by name, values by form.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO, cast

import structlog

from .lasting import Lasting

# Names that are never written, whatever their value.
SECRET = re.compile(r"token|secret|seed|entropy|entropies|card|hand|pile|stock|deck|state|payload|body|action|code$")
MAX_TEXT = 300
_CLIENTS = frozenset({"UnicodeDecodeError", "ExecuteBatchError"})
_WORDS = re.compile(r"[A-Za-z][A-Za-z ,.-]{0,60}")


def redact(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace what must not be written; shorten the rest; escape control characters (log injection)."""
    for name, value in list(event.items()):
        if name in ("event", "level", "timestamp"):
            continue
        if SECRET.search(name):
            event[name] = "[redacted]"
        elif isinstance(value, bytes | bytearray | memoryview):
            event[name] = f"[{len(value)} bytes]"
        elif isinstance(value, str):
            event[name] = (
                value[:MAX_TEXT].encode("unicode_escape").decode() if not value.isprintable() else value[:MAX_TEXT]
            )
        elif not isinstance(value, int | float | bool | None):
            event[name] = f"[{type(value).__name__}]"
    return event


class Foreign(logging.Handler):
    """What libraries log (grpc, asyncio, redis), through the same processors, without what it is about.

    Their messages hold whatever was on their way: grpc writes the whole `authorization` of a call whose bytes are no
    text. Kept are the logger, the words that the message begins with, and the type of the exception.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """logging.Handler."""
        kind = record.exc_info[0] if record.exc_info else None
        words = _WORDS.match(str(record.msg))
        said = words[0].strip() if words else ""
        level = logging.ERROR if record.levelno >= logging.ERROR else logging.WARNING
        if record.name.startswith("grpc") and (
            said.startswith("Invalid encoding") or (kind and kind.__name__) in _CLIENTS
        ):
            level = logging.INFO  # a client's fault, as often as it likes: headers that are no text, calls cut off
        log = structlog.get_logger(record.name)
        log.log(level, "library", logger=record.name, said=said, error=kind.__name__ if kind is not None else "")


def configure(level: str, process: str, form: str = "json") -> None:
    """Set up logging of this process; to standard error, one JSON object a line, or `text` for people."""
    as_json = structlog.processors.JSONRenderer(ensure_ascii=False, sort_keys=True)
    wanted = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            redact,
            structlog.dev.ConsoleRenderer(colors=False) if form == "text" else as_json,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(wanted),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", Lasting(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(process=process)
    root = logging.getLogger()
    for one in [one for one in root.handlers if isinstance(one, Foreign)]:
        root.removeHandler(one)
    root.addHandler(Foreign(max(wanted, logging.WARNING)))
