"""The figures that `kangtou status` shows of each process; few, since gateways put theirs into their heartbeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .table import waiting, watchers

if TYPE_CHECKING:
    from ..gateway.limits import Streams
    from ..gateway.server import Parts
    from ..host.host import Host


def of_actor(host: Host) -> dict[str, float]:
    """See ProcessVitals."""
    meter = host.meter
    return {
        "tables": len(host.slots),
        "moves": host.moves,
        "takeovers": host.takeovers,
        "faulted": sum(slot.faulted for slot in host.slots.values()),
        "hosted": host.hosted,
        "refusals": meter.refusals.total(),
        "watchers": watchers(host),
        "waiting": waiting(host) + host.log_meter.waiting,
        "archiving": meter.archiving,
        "outage_s": round(sum(tally.total for tally in meter.outages.values()), 3),
        "append_p50_ms": meter.append.quantile(0.5) * 1000,
        "append_p99_ms": meter.append.quantile(0.99) * 1000,
    }


def of_gateway(parts: Parts, open_streams: Streams) -> dict[str, float]:
    """See ProcessVitals."""
    meter, queues, streams = parts.meter, parts.queues, open_streams.all()
    return {
        "streams": len(streams),
        "followed": sum(len(stream.followers) for stream in streams),
        "moves": len(meter.answer),
        "refusals": meter.refusals.total(),
        "outbox": sum(stream.outbox.waiting for stream in streams),
        "answer_p50_ms": meter.answer.quantile(0.5) * 1000,
        "answer_p99_ms": meter.answer.quantile(0.99) * 1000,
        "queue_waiting": sum(queues.waiting().values()),
        "queue_groups": queues.formed.total(),
    }
