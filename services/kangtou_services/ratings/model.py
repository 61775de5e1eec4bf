"""One result onto the ratings of those who played: openskill's Bradley-Terry model with full pairing.

It takes what the games have: sides of one or two, two to six of them, ties. It compares every pair of sides, so a tie
is a tie wherever it stands. The library's Plackett-Luce does not do that: of four newcomers placed 1, 1, 2, 3 it gives
the third the same mean as the two winners (a test shows it).

A pure function: the same log gives the same bits on one machine. Nothing decays with time; the model's own `tau` keeps
a little doubt before every result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openskill.models import BradleyTerryFull

from .values import NEW, Ladder, Result, Standing

_MODEL = BradleyTerryFull()


def rate(before: Mapping[str, Standing], result: Result) -> dict[str, Standing]:
    """How everybody in a result stands after it; who is not in `before` is new."""
    sides = [
        [_MODEL.rating(mu=standing.mu, sigma=standing.sigma) for standing in (before.get(name, NEW) for name in side)]
        for side in result.sides
    ]
    rated = _MODEL.rate(sides, ranks=[float(place) for place in result.places])
    after: dict[str, Standing] = {}
    for side, ratings in zip(result.sides, rated, strict=True):
        for account, rating in zip(side, ratings, strict=True):
            old = before.get(account, NEW)
            after[account] = Standing(rating.mu, rating.sigma, old.games + 1, max(old.last_ms, result.ended_ms))
    return after


def replay(results: Iterable[Result], onto: dict[Ladder, dict[str, Standing]] | None = None) -> Ratings:
    """All ratings from a log in order; `onto` is gone on from, and changed."""
    ratings: Ratings = {} if onto is None else onto
    for result in results:
        ladder = ratings.setdefault(result.ladder, {})
        ladder.update(rate(ladder, result))
    return ratings


Ratings = dict[Ladder, dict[str, Standing]]
