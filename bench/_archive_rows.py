"""Rows of an index as a busy server would have them after two years: all games and variants, house options, people who
play a lot and many who play little, house bots in every second match, tournaments, matches that were given up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from random import Random

from kangtou_engine.record.text import show_json
from kangtou_engine.registry import REGISTRY
from kangtou_services.archive.rows import BOTS, RATED, UNRATED, Listed, defaults, show_value

PEOPLE, HOUSE_BOTS, TOURNAMENTS = 30_000, 8, 400
FROM_MS, SPAN_MS = 1_730_000_000_000, 2 * 365 * 24 * 3_600_000
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
# How often a game is played, and what houses change of it.
GAMES: Sequence[tuple[str, int, Mapping[str, Sequence[object]]]] = (
    ("hongshi", 35, {"rounds": (10, 20, 50, 1), "top": ("tens",), "keep345": (True,)}),
    ("duizhu", 25, {"rounds": (4, 8, 1), "windows": ("pass",), "end_level": ("2",)}),
    ("erbaiwu", 15, {"rounds": (3, 5, 1), "limit": (500,), "settle_at": (10,)}),
    ("wushik", 25, {"variant": ("chengde2", "liaoning", "jiangnan", "jinzhou"), "rounds": (2, 8, 1)}),
)


def account(number: int) -> str:
    """An id that looks like those of a server."""
    rng = Random(number)
    return "".join(rng.choice(_LETTERS) for _ in range(16))


class Rows:
    """Rows by number; the same seed gives the same."""

    def __init__(self, seed: int = 1) -> None:
        self._rng = Random(seed)
        self.people = [account(number) for number in range(PEOPLE)]
        self.bots = [account(-1 - number) for number in range(HOUSE_BOTS)]
        self.tournaments = [f"t-{account(1_000_000 + number)[:8]}" for number in range(TOURNAMENTS)]
        self._habit = list(accumulate(1 / (rank + 10) for rank in range(PEOPLE)))  # a few play very often
        self._plain: dict[str, tuple[str, str]] = {}

    def some(self, count: int) -> Iterator[Listed]:
        """So many, by the time of their ends."""
        for number in range(count):
            yield self._row(FROM_MS + SPAN_MS * number // count)

    def _row(self, ended_ms: int) -> Listed:
        rng = self._rng
        game, _, house = rng.choices(GAMES, [weight for _, weight, _ in GAMES])[0]
        options = {name: rng.choice(values) for name, values in house.items() if rng.random() < 0.3}
        given, full = self._shown(game, options)
        with_bots = rng.random() < 0.5
        seats = [*rng.choices(self.people, cum_weights=self._habit, k=4)]
        if with_bots:
            seats[rng.randrange(1, 4) :] = rng.sample(self.bots, 4)
            seats = seats[:4]
        only_bots = rng.random() < 0.1
        if only_bots:
            seats = rng.sample(self.bots, 4)
        rng.shuffle(seats)
        whole = rng.random() < 0.95
        rounds = rng.randrange(1, 9)
        scores = [rng.randrange(-12, 13) for _ in range(3)]
        scores.append(-sum(scores))
        rated = not with_bots and rng.random() < 0.6
        return Listed(
            match="".join(rng.choices(_LETTERS, k=16)),
            path="2026/11/30/aaaaaaaaaaaaaaaa.ktr.zst",
            game=game,
            version=1,
            variant=str(options.get("variant", "chengde1")) if game == "wushik" else "",
            options=given,
            full=full,
            kind=BOTS if only_bots else RATED if rated else UNRATED,
            started_ms=ended_ms - rng.randrange(60_000, 3_600_000),
            ended_ms=ended_ms,
            cause="rules" if whole else rng.choice(("abandoned", "abandoned", "operator")),
            rounds=rounds,
            moves=rounds * rng.randrange(40, 160),
            rated=rated,
            pool=rng.choice(("", "", "quick")),
            tournament=rng.choice(self.tournaments) if rng.random() < 0.03 else "",
            accounts=tuple(seats),
            scores=tuple(scores),
            places=tuple(1 + sum(other > score for other in scores) for score in scores) if whole else (),
        )

    def _shown(self, game: str, options: Mapping[str, object]) -> tuple[str, str]:
        key = f"{game} {sorted(options.items(), key=str)}"
        if key not in self._plain:
            config = REGISTRY.game(game).config({})
            known = dict(pair.split("=") for pair in defaults(REGISTRY, game))
            full = {**known, **{name: show_value(value) for name, value in options.items()}, "seats": config.seats}
            self._plain[key] = (show_json(options), f" {' '.join(f'{name}={full[name]}' for name in sorted(full))} ")
        return self._plain[key]
