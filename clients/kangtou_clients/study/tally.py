"""One row of a table: what is counted of many matches or rounds, in memory that does not grow with their number."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist

STEP = math.log1p(0.02)  # think times are kept in classes 2 % wide: a quantile is right within 1 %
Z = NormalDist().inv_cdf(0.975)
LEAST = 10  # samples from which on a mean has an interval: below, it would pretend to know


class Times:
    """Quantiles of times in ms."""

    __slots__ = ("classes", "count")

    def __init__(self) -> None:
        self.count = 0
        self.classes: dict[int, int] = {}

    def add(self, ms: int) -> None:
        """One time."""
        place = round(math.log(ms) / STEP) if ms > 0 else -1
        self.classes[place] = self.classes.get(place, 0) + 1
        self.count += 1

    def quantile(self, share: float) -> int | None:
        """The time that this share did not exceed; None of none."""
        wanted = max(1, math.ceil(self.count * share))
        for place in sorted(self.classes):
            wanted -= self.classes[place]
            if wanted <= 0:
                return round(math.exp(place * STEP)) if place >= 0 else 0
        return None


def half_width(count: int, spread: float) -> float | None:
    """Half a 95 % interval of a mean: `spread` is the sum of squares about it. Student's t, by its expansion in 1/n."""
    if count < LEAST:
        return None
    free = count - 1
    t = Z + (Z**3 + Z) / (4 * free) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * free**2)
    t += (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / (384 * free**3)
    return t * math.sqrt(spread / free / count)


def wilson(hits: int, count: int) -> tuple[float, float] | None:
    """The 95 % interval of a share (Wilson's, good for small numbers too); None of none."""
    if not count:
        return None
    share, z2 = hits / count, Z * Z
    middle, scale = share + z2 / (2 * count), 1 + z2 / count
    width = Z * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


@dataclass(slots=True)
class Tally:
    """Samples are seats of matches, or seats of rounds in tables of hands.

    matches   in which there was a sample; `samples` are more where a match gives several
    rounds    scored rounds of these matches; in tables of hands, the samples
    decided   samples that were won or not: of matches that the rules ended, of rounds that were scored
    places    how often each place, ascending
    """

    matches: int = 0
    samples: int = 0
    rounds: int = 0
    scored: int = 0
    mean: float = 0.0
    spread: float = 0.0
    decided: int = 0
    won: int = 0
    places: dict[int, int] = field(default_factory=dict)
    moves: int = 0
    timeouts: int = 0
    think: Times = field(default_factory=Times)
    last: int = -1  # number of the match that was counted last

    def match(self, number: int, rounds: int = 0) -> None:
        """A sample of that match comes; its rounds are counted once."""
        self.samples += 1
        if number != self.last:
            self.last = number
            self.matches += 1
            self.rounds += rounds

    def score(self, value: float) -> None:
        """A score, or the points of a round. Welford's way: no sum of squares that could cancel."""
        self.scored += 1
        before = value - self.mean
        self.mean += before / self.scored
        self.spread += before * (value - self.mean)

    def result(self, won: bool, place: int | None = None) -> None:
        """Whether it was won."""
        self.decided += 1
        self.won += won
        if place is not None:
            self.places[place] = self.places.get(place, 0) + 1

    def row(self) -> dict[str, object]:
        """As a table shows it. Times in ms, shares from 0 to 1, None: not known."""
        sure = wilson(self.won, self.decided)
        width = half_width(self.scored, self.spread)
        places = sum(place * count for place, count in self.places.items())
        ranked = sum(self.places.values())
        return {
            "matches": self.matches,
            "samples": self.samples,
            "rounds": self.rounds,
            "score": round(self.mean, 3) + 0.0 if self.scored else None,
            "score_ci": None if width is None else round(width, 3),
            "place": round(places / ranked, 3) if ranked else None,
            "places": {str(place): self.places[place] for place in sorted(self.places)},
            "decided": self.decided,
            "won": self.won,
            "win_rate": round(self.won / self.decided, 4) if self.decided else None,
            "win_low": None if sure is None else round(sure[0], 4),
            "win_high": None if sure is None else round(sure[1], 4),
            "moves": self.moves,
            "think_median_ms": self.think.quantile(0.5),
            "think_p95_ms": self.think.quantile(0.95),
            "timeouts": self.timeouts,
        }
