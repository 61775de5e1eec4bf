"""Short forms for metrics; every name begins with `kangtou_`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

# What a part of a process has counted, as metrics; called in the event loop.
Gather = Callable[[], Iterable[Metric]]


def counter(name: str, text: str, value: float) -> Metric:
    """A number that only grows; `_total` is added to the name."""
    return CounterMetricFamily(name, text, value=value)


def counters(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    """The same, by one label."""
    family = CounterMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def gauge(name: str, text: str, value: float) -> Metric:
    """A number as it is now."""
    return GaugeMetricFamily(name, text, value=value)


def gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    """The same, by one label."""
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
