"""What is rated: results, ladders, and how an account stands on one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from kangtou_engine.match.state import Config
from kangtou_engine.record import Head

from ..opening import Games

BY_RULES = "rules"
LEAST_GAMES = 10  # on a ladder, to be listed on its leaderboard
MU, SIGMA = 25.0, 25.0 / 3  # of somebody who has not played: the model's own
SURE_SIGMA = 4.0  # a rating is provisional while its deviation is greater


@dataclass(frozen=True, slots=True, order=True)
class Ladder:
    """Those who are compared: one game, one of its variants ("" where it has none), people or bots."""

    game: str
    variant: str
    kind: str

    @property
    def id(self) -> str:
        """`wushik/chengde1:human`, `hongshi:bot`."""
        return f"{self.game}{'/' if self.variant else ''}{self.variant}:{self.kind}"

    @classmethod
    def of(cls, text: str) -> Ladder:
        """From its id. Raises ValueError."""
        what, colon, kind = text.rpartition(":")
        if not colon:
            raise ValueError(f"no ladder: {text[:60]!r}")
        game, _, variant = what.partition("/")
        return cls(game, variant, kind)


@dataclass(frozen=True, slots=True)
class Result:
    """One match that counts: sides of account ids, and for each its place (1 is best; equal places are ties)."""

    match_id: str
    ladder: Ladder
    sides: tuple[tuple[str, ...], ...]
    places: tuple[int, ...]
    ended_ms: int

    @property
    def accounts(self) -> tuple[str, ...]:
        """Everybody who played."""
        return tuple(account for side in self.sides for account in side)

    def to_json(self) -> str:
        """As it is stored: readable with redis-cli."""
        given = {**asdict(self), "ladder": self.ladder.id}
        return json.dumps(given, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The same again. Raises ValueError."""
        given = json.loads(text)
        sides = tuple(tuple(side) for side in given["sides"])
        return cls(given["match_id"], Ladder.of(given["ladder"]), sides, tuple(given["places"]), given["ended_ms"])


@dataclass(frozen=True, slots=True)
class Standing:
    """A rating: mean and deviation of the model, how many results, when the last one ended (Unix ms)."""

    mu: float = MU
    sigma: float = SIGMA
    games: int = 0
    last_ms: int = 0

    @property
    def provisional(self) -> bool:
        """Whether too little is known yet."""
        return self.sigma > SURE_SIGMA

    @property
    def floor(self) -> float:
        """What leaderboards go by: the mean less three deviations."""
        return self.mu - 3 * self.sigma

    @property
    def listed(self) -> bool:
        """Whether a leaderboard shows it."""
        return self.games >= LEAST_GAMES

    def to_text(self) -> str:
        """As it is stored: floats in the shortest form that reads back to the same bits."""
        return f"{self.mu!r} {self.sigma!r} {self.games} {self.last_ms}"

    @classmethod
    def from_text(cls, text: str) -> Standing:
        """The same again, bit for bit. Raises ValueError."""
        mu, sigma, games, last_ms = text.split(" ")
        return cls(float(mu), float(sigma), int(games), int(last_ms))


NEW = Standing()


def shown(mu: float) -> int:
    """A mean or a floor as people see it: newcomers have 1500, their deviation is 333."""
    return round(1500 + 40 * (mu - MU))


def spread(sigma: float) -> int:
    """A deviation on the same scale."""
    return round(40 * sigma)


def ladder_of(config: Config, kind: str) -> Ladder:
    """The ladder of matches that are agreed so: numbers of seats and all other options are in one."""
    return Ladder(config.game, str(getattr(config.options, "variant", "")), kind)


def result_of(head: Head, games: Games) -> Result | None:
    """What a record counts for; None if it does not count.

    It counts if it is rated, the rules ended it, everybody has one seat, and all are people or all are bots. Fixed
    partners are one side. Where partners change from round to round (Hongshi) or there are none, each seat stands for
    itself, placed by the points of the match. Raises BadOptions for a game that is not played here.
    """
    terms, outcome = head.terms, head.outcome
    accounts = [seat.account for seat in terms.seats]
    kinds = {seat.kind for seat in terms.seats}
    if not terms.rated or outcome.cause != BY_RULES or outcome.places is None:
        return None
    if len(kinds) != 1 or len(set(accounts)) != len(accounts) or len(accounts) < 2:
        return None
    game = games.game(terms.game, terms.version)
    config = game.config(terms.options, len(accounts))
    ladder = ladder_of(config, kinds.pop())
    seats = game.spec.sides(config) or tuple((seat,) for seat in range(len(accounts)))
    return Result(
        match_id=terms.match,
        ladder=ladder,
        sides=tuple(tuple(accounts[seat] for seat in side) for side in seats),
        places=tuple(min(outcome.places[seat] for seat in side) for side in seats),
        ended_ms=outcome.ended_ms,
    )
