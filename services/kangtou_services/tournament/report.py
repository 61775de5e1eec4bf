"""The report of a tournament as one plain value (JSON), from its spec and results. docs/duplicate.md, "The report".

Renderers (clients/kangtou_clients/tournament) add nothing to it. Numbers that are not known are null: so are the bounds
of intervals from fewer sets than `shown_from`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kangtou_engine.registry import REGISTRY

from .model import Format, Result, Spec
from .schedule import Schedule
from .scores import Meeting, SetScore
from .sets import config_of, sides_of
from .stats.intervals import SHOWN_FROM, Mean, mean_of, sets_for_power
from .stats.places import Places, places_of
from .stats.sequential import decide, sets_to_decide
from .stats.strength import Strength, strengths
from .stats.variance import duplicate_factor

VERSION = 1
POWER = 0.8

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]


def report(spec: Spec, results: Iterable[Result], run: Mapping[str, Any] | None = None) -> Json:
    """Everything. `run`: what the runner knows (id, commitment, seed, began_ms, ended_ms, closed, isolation …), kept as
    it is under `run`. Raises BadOptions."""
    log = list(results)
    schedule = Schedule(spec)
    for result in log:
        schedule.add(result)
    made = Figures(spec, log, schedule.scores)
    return {
        "version": VERSION,
        "run": dict(run or {}),
        "spec": _spec(spec),
        "shown_from": SHOWN_FROM,
        "interval": "confidence sequence" if made.stopped else "t",
        "over": schedule.over,
        "games": _games(log, schedule, made),
        "table": _table(spec, schedule, made),
        "pairs": _pairs(spec, made),
        "duplicate": _factor(made),
        "faults": _faults(log),
        "matches": _matches(log, made.complete),
    }


class Figures:
    """Set values by entrant and by pair, once for all tables."""

    def __init__(self, spec: Spec, log: Sequence[Result], scores: Sequence[SetScore]) -> None:
        self.spec = spec
        self.log = log
        self.scores = scores
        self.stopped = spec.stopping.method != "none"
        self.edges: dict[int, dict[Meeting, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.points: dict[int, list[float]] = defaultdict(list)
        self.pairs: dict[tuple[int, int], list[float]] = defaultdict(list)
        for score in scores:
            for place, (one, edge) in enumerate(zip(score.encounter, score.edges(), strict=True)):
                self.edges[one][score.meeting].append(edge)
                self.points[one].append(score.values[place])
                for other in score.encounter[:place]:
                    pair = (min(one, other), max(one, other))
                    self.pairs[pair].append(score.edge(*pair))
        counts = Counter(result.game.set_id for result in log)
        whole = {result.game.set_id for result in log if counts[result.game.set_id] == result.game.of}
        self.complete = {set_id: number for number, set_id in enumerate(sorted(whole))}
        self.places: tuple[Places, ...] = places_of(log, self.complete, len(spec.entrants), spec.confidence)
        self.strengths: tuple[Strength, ...] = strengths(scores, len(spec.entrants), spec.confidence) if scores else ()

    def edge(self, entrant: int, bootstrap: bool = True) -> Mean:
        """What an entrant made more than the others at its tables, a seat and deal; its encounters count alike."""
        parts = [np.array(values) for values in self.edges[entrant].values()]
        return mean_of(parts, self.spec.confidence, self.stopped, bootstrap)


# ---- parts ----


def _spec(spec: Spec) -> Json:
    config = config_of(spec)
    game = REGISTRY.game(spec.game).spec
    names = {row.name for row in game.option_rows}
    return {
        "name": spec.name,
        "game": game.id,
        "title": list(game.title),
        "options": {name: getattr(config.options, name) for name in sorted(names)},
        "seats": config.seats,
        "sides": sides_of(config).value,
        "format": spec.format.value,
        "unit": spec.unit.value,
        "table": spec.table,
        "sets": spec.sets,
        "rounds": spec.rounds,
        "rotation": spec.rotation,
        "trusted": spec.trusted,
        "confidence": spec.confidence,
        "stopping": {name: getattr(spec.stopping, name) for name in ("method", "low", "high", "alpha", "beta")},
        "entrants": [
            {"name": one.name, "kind": "bot" if one.bot else "command" if one.command else "account", "bot": one.bot}
            for one in spec.entrants
        ],
    }


def _games(log: Sequence[Result], schedule: Schedule, made: Figures) -> Json:
    return {
        "played": len(log),
        "planned": schedule.planned(),
        "counted": sum(result.game.set_id in made.complete for result in log),
        "sets": len(made.complete),
        "partial_sets": len({result.game.set_id for result in log}) - len(made.complete),
        "moves": sum(result.moves for result in log),
        "places": max((len(result.places) for result in log), default=0),
    }


def _table(spec: Spec, schedule: Schedule, made: Figures) -> list[Json]:
    """In the final order; equal ones share a rank."""
    decided = schedule.ranking()
    faults = Counter(
        (entrant, fault)
        for result in made.log
        for entrant, fault in zip(result.game.entrants, result.faults, strict=True)
        if fault
    )
    rows: list[tuple[tuple[float, ...], Json]] = []
    for entrant, one in enumerate(spec.entrants):
        edge, strength = made.edge(entrant), made.strengths[entrant] if made.strengths else None
        value = edge.value if edge.sets else -math.inf
        last = (strength.elo if strength else 0.0) if spec.format is Format.LADDER else value
        row = {
            "entrant": entrant,
            "name": one.name,
            "decided": list(decided[entrant]),
            "points": _number(float(np.mean(made.points[entrant])) if made.points[entrant] else math.nan),
            "edge": _mean(edge),
            "strength": _strength(strength),
            "places": list(made.places[entrant].counts),
            "place": _mean(made.places[entrant].mean),
            "faults": {fault: number for (who, fault), number in sorted(faults.items()) if who == entrant},
        }
        rows.append(((*decided[entrant], round(last, 9)), row))
    rows.sort(key=lambda row: tuple(-part for part in row[0]))
    keys = [key for key, _ in rows]
    return [{"rank": keys.index(key) + 1, **row} for key, row in rows]


def _pairs(spec: Spec, made: Figures) -> list[Json]:
    """Every two that have met, lower number first: the mean difference a set, wins by sets, the test's verdict."""
    found = []
    for (one, other), values in sorted(made.pairs.items()):
        sample = np.array(values)
        mean = mean_of([sample], spec.confidence, made.stopped)
        found.append(
            {
                "one": one,
                "other": other,
                "difference": _mean(mean),
                "wins": [int((sample > 1e-9).sum()), int((abs(sample) <= 1e-9).sum()), int((sample < -1e-9).sum())],
                "verdict": decide(sample, spec.stopping) if made.stopped else None,
                "sets_needed": _needed(mean, sample, spec),
            }
        )
    return found


def _needed(mean: Mean, sample: Floats, spec: Spec) -> int | None:
    """About how many sets would show this difference, if it is the true one; null: no difference, or no spread yet."""
    if mean.sets < 2 or abs(mean.value) < 1e-9:
        return None
    deviation = float(sample.std(ddof=1))
    if spec.stopping.method != "none":
        return sets_to_decide(mean.value, deviation, spec.stopping)
    return sets_for_power(deviation, abs(mean.value), 1 - spec.confidence, POWER)


def _factor(made: Figures) -> Json | None:
    factor = duplicate_factor(made.scores, made.spec.confidence)
    if factor is None:
        return None
    return {
        "value": _number(factor.value),
        "low": _number(factor.low),
        "high": _number(factor.high),
        "sets": factor.sets,
    }


def _faults(log: Sequence[Result]) -> list[Json]:
    return [
        {"game": result.game.id, "match": result.match, "seat": seat, "entrant": entrant, "kind": fault}
        for result in log
        for seat, (entrant, fault) in enumerate(zip(result.game.entrants, result.faults, strict=True))
        if fault
    ]


def _matches(log: Sequence[Result], complete: Mapping[str, int]) -> list[Json]:
    """Every game with the match that is archived."""
    return [
        {
            "game": result.game.id,
            "set": result.game.set_id,
            "counted": result.game.set_id in complete,
            "match": result.match,
            "board": result.game.board,
            "entrants": list(result.game.entrants),
            "scores": list(result.scores),
            "places": list(result.places),
        }
        for result in log
    ]


# ---- numbers ----


def _number(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _mean(mean: Mean) -> Json:
    return {
        "value": _number(mean.value),
        "error": _number(mean.error),
        "low": _number(mean.low),
        "high": _number(mean.high),
        "boot_low": _number(mean.boot_low),
        "boot_high": _number(mean.boot_high),
        "sets": mean.sets,
    }


def _strength(strength: Strength | None) -> Json | None:
    if strength is None or not strength.sets:
        return None
    shown = strength.sets >= SHOWN_FROM
    return {
        "elo": _number(strength.elo),
        "low": _number(strength.low) if shown else None,
        "high": _number(strength.high) if shown else None,
        "sets": strength.sets,
    }
