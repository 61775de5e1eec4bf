"""What an actor counts: its tables and the moves at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import Metric

from kangtou.tracing import Tracing

from .families import counter, counters, gauge, gauges
from .tally import SLOW, Tally, histogram

if TYPE_CHECKING:
    from ..host.host import Host


class TableMeter:
    """Written by host/host.py and host/slot.py. Stages of a move in an actor, in seconds:

    wait     from its arrival until the table looks at it (an entry of the table may be under way)
    decide   rules, and the entry made
    append   until the entry is on disk
    publish  views built, serialised and handed to the links
    """

    __slots__ = (
        "append",
        "archive_failures",
        "archives",
        "archiving",
        "decide",
        "entries",
        "faults",
        "moves",
        "outages",
        "publish",
        "refusals",
        "tracing",
        "wait",
    )

    def __init__(self) -> None:
        self.moves: Counter[str] = Counter()  # by game
        self.refusals: Counter[str] = Counter()  # by code
        self.faults: Counter[str] = Counter()  # by reason
        self.wait, self.decide, self.append, self.publish = Tally(), Tally(), Tally(), Tally()
        self.outages = {"takeover": Tally(SLOW), "log": Tally(SLOW)}  # as given back to the players
        self.entries = 0
        self.archives = Tally(SLOW)
        self.archiving = self.archive_failures = 0
        self.tracing: Tracing | None = None

    def gather(self, host: Host) -> Iterable[Metric]:
        """As metrics, with what is hosted now."""
        yield counters("kangtou_moves", "Actions that are in the log.", "game", self.moves)
        yield counter("kangtou_entries", "Entries that are in the log.", self.entries)
        yield counters("kangtou_table_refusals", "Commands that tables have refused.", "code", self.refusals)
        yield counters("kangtou_faults", "Tables that a fault has stopped.", "why", self.faults)
        yield counter("kangtou_takeovers", "Tables taken over from other actors.", host.takeovers)
        yield counter("kangtou_tables_hosted", "Tables that were opened here.", host.hosted)
        stages = ("wait", self.wait), ("decide", self.decide), ("append", self.append), ("publish", self.publish)
        yield histogram(
            "kangtou_table_stage_seconds",
            "Stages of a move in its actor: wait, decide, append, publish.",
            [((name,), tally) for name, tally in stages],
            ["stage"],
        )
        yield histogram(
            "kangtou_outage_seconds",
            "Outages given back to players: by table after a takeover, by actor when the log was away.",
            [((cause,), tally) for cause, tally in self.outages.items()],
            ["cause"],
        )
        yield histogram(
            "kangtou_archive_seconds", "From a match's end until its record is safe.", [((), self.archives)]
        )
        yield gauge("kangtou_archive_waiting", "Matches that have ended and have no record yet.", self.archiving)
        yield counter(
            "kangtou_archive_failures", "Records that could not be written and are tried again.", self.archive_failures
        )
        yield from _now(host)


def _now(host: Host) -> Iterable[Metric]:
    slots = list(host.slots.values())
    yield gauge("kangtou_tables", "Tables hosted here.", len(slots))
    yield gauge("kangtou_tables_most", "Tables that may be hosted here.", host.settings.tables_per_actor)
    yield gauge("kangtou_tables_faulted", "Tables that are stopped.", sum(slot.faulted for slot in slots))
    yield gauge("kangtou_log_down", "1 while the log takes no writes.", float(host.down_since is not None))
    yield gauge(
        "kangtou_seats_followed", "Seats whose owners follow their tables.", sum(len(one.seats) for one in slots)
    )
    yield gauge("kangtou_watchers", "Spectators, late ones included.", watchers(host))
    depths = {"table": waiting(host), "link": sum(peer.waiting for peer in host.peers)}
    yield gauges("kangtou_actor_queue", "What waits: commands at tables, bytes on links.", "queue", depths)


def waiting(host: Host) -> int:
    """Commands that wait at tables."""
    return sum(slot.table.waiting for slot in host.slots.values())


def watchers(host: Host) -> int:
    """Spectators of all tables."""
    return sum(
        len(slot.watchers) + (len(slot.feed.followers) if slot.feed is not None else 0) for slot in host.slots.values()
    )
