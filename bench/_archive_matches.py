"""Matches of one round, played by the engine with the games' own bots, and their records.

Everything in a record is what a table would have written (entries, chain, seed, entropies), but no table was needed:
times are made up, and nobody waited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from kangtou_engine.events import to_text
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import OVER
from kangtou_engine.notation import CHAIN_START, Body, Step, chain, write_body
from kangtou_engine.record import Place, Record, Terms, make_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.shuffle import SeededChance, entropy_commitment, seed_commitment

FROM_MS, EVERY_MS = 1_796_000_000_000, 60_000
PLAYERS = 5_000
VARIANTS = ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")
# Game and options; the variants of wushik come as often as another game each.
KINDS: Sequence[tuple[str, Mapping[str, object]]] = (
    ("hongshi", {"rounds": 1}),
    ("duizhu", {"rounds": 1}),
    ("erbaiwu", {"rounds": 1}),
    *(
        ("wushik", {"rounds": 1, "variant": name})
        for name in ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")
    ),
)


@cache
def _game(name: str) -> Game:
    return REGISTRY.game(name)


def record_of(number: int) -> Record:
    """The record of a match that follows from its number."""
    name, options = KINDS[number % len(KINDS)]
    game, rng = _game(name), Random(number)
    match = f"m{hashlib.sha256(str(number).encode()).hexdigest()[:15]}"
    config = game.config(options)
    seed = hashlib.sha256(f"seed {number}".encode()).digest()
    entropies = [rng.randbytes(16) if seat % 3 else b"" for seat in range(config.seats)]
    terms = Terms(
        match=match,
        game=name,
        version=config.version,
        options=options,
        seats=tuple(_place(number, seat, entropy) for seat, entropy in enumerate(entropies)),
        seed_commitment=seed_commitment(match, seed),
        turn_ms=30_000,
        window_ms=0,
        rated=number % 3 == 0,
        pool="quick" if number % 2 else "",
        tags={"tournament": f"t{number % 50}"} if number % 40 == 0 else {},
        created_ms=FROM_MS + number * EVERY_MS,
    )
    chance = SeededChance(match, seed, entropies)
    return make_record(terms, _rows(game, config, chance, entropies, terms.created_ms, rng), seed, "0.1.0")


def _place(number: int, seat: int, entropy: bytes) -> Place:
    player = (number * 7 + seat * 1_301) % PLAYERS
    return Place(
        f"acc{player:05}", "bot" if player % 4 == 0 else "human", entropy_commitment(entropy) if entropy else ""
    )


class _Log:
    """Entries, each chained over the one before."""

    def __init__(self, time_ms: int) -> None:
        self.time_ms = time_ms
        self.rows: list[tuple[int, int, str, str]] = []

    def put(self, **body: object) -> None:
        """One more entry."""
        text = write_body(Body(self.time_ms, **body))  # type: ignore[arg-type]
        seq = len(self.rows) + 1
        before = self.rows[-1][2] if self.rows else CHAIN_START
        self.rows.append((1, seq, chain(before, f"1-{seq}", text), text))


def _rows(
    game: Game, config: object, chance: SeededChance, entropies: Sequence[bytes], time_ms: int, rng: Random
) -> list[tuple[int, int, str, str]]:
    log = _Log(time_ms)
    log.put(claim="actor-1")
    events, state = game.begin(config, chance)  # type: ignore[arg-type]
    log.put(begin=tuple(entropy.hex() for entropy in entropies), events=tuple(map(to_text, events)))
    bots = [game.spec.greedy if rng.random() < 0.5 else game.spec.random for _ in entropies]
    asked, number = game.asked(state), len(log.rows)
    while state.phase != OVER:
        seats = game.to_act(state)
        seat = seats[rng.randrange(len(seats))]
        action = bots[seat](state, seat, game.legal(state, seat), rng.randrange)
        events, after = game.step(state, seat, action, chance)
        log.time_ms += rng.randrange(300, 4_000)
        step = Step(seat, f"c{len(log.rows)}", number, action, tuple(map(to_text, events)))
        log.put(items=(step,), end="rules" if after.phase == OVER else None)
        state = after
        if game.asked(state) != asked:
            asked, number = game.asked(state), len(log.rows)
    return log.rows


__all__ = ["EVERY_MS", "FROM_MS", "KINDS", "PLAYERS", "AnyState", "record_of"]
