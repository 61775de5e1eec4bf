"""How a log lies in Redis: names of keys, fields of a stream entry. Readable with `redis-cli XRANGE`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from .base import Entry
from .line import Command

LIVE = "kt:live"
LIVE_SYNC = "{kt:live}:sync"  # in the same slot


def key(match: str, part: str) -> str:
    """`{m:<match>}:<part>`: everything of a match in one hash slot. ValueError for an id that would break that."""
    if not match or "}" in match:
        raise ValueError(f"not a match id: {match!r}")
    return f"{{m:{match}}}:{part}"


def rounds_text(entry: Entry) -> str:
    """`7,3`."""
    return ",".join(map(str, entry.rounds))


def xadd(match: str, entry: Entry) -> Command:
    """The append of a writer: an id of its own, never a new stream."""
    return (
        *("XADD", key(match, "log"), "NOMKSTREAM", entry.id),
        *("b", entry.body, "h", entry.chain, "r", rounds_text(entry)),
    )


def entry_of(row: Sequence[Any]) -> Entry:
    """From what XRANGE returns: id, then fields as a mapping (redis-py) or a flat list (as sent)."""
    epoch, seq = str(row[0]).split("-")
    held = row[1]
    fields = cast(
        "Mapping[str, str]", held if isinstance(held, Mapping) else dict(zip(held[::2], held[1::2], strict=True))
    )
    rounds = tuple(int(text) for text in fields.get("r", "").split(",") if text)
    return Entry(int(epoch), int(seq), fields["b"], fields["h"], rounds)
