"""A state that a bot samples looks to its seat exactly like the real one, in every registered game and phase.

A match is played by random bots. One seat remembers what it was sent, as a bot would. At every few actions a state
is sampled from its view and memory: its view must be the same (to the text of it), the questions and legal actions too,
no card may be there more often than in the pack, and it must be playable. What the seat remembers must be true.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from kangtou_engine.actions import parse_action
from kangtou_engine.cards import HIDDEN, Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.planning import NOTHING, Known, Planning
from tests.conftest import Counts
from tests.engine.attempts import LIMIT, Players
from tests.engine.tables import Table, chance_of, options_for, pick_of, tables

CI, FULL = 1, 200  # matches of each option set, and of each game (Wushik: variant)


class Watcher:
    """One seat of one match: its view, its memory, and the samples made of them."""

    def __init__(self, game: Game, planning: Planning[Any], seat: Seat, before: AnyState) -> None:
        self.game, self.planning, self.seat = game, planning, seat
        self.view = before
        self.known = NOTHING
        self.samples = 0
        self.phases: Counter[str] = Counter()

    def sees(self, events: tuple[Event, ...]) -> None:
        """Events as the seat is sent them."""
        for event in events:
            shown = event.seen_by(self.seat)
            self.known = self.planning.recall(self.known, self.view, shown)
            if isinstance(event, RoundBegan):
                assert self.known == NOTHING
            self.view = self.game.evolve(self.view, shown)

    def remembers_well(self, state: AnyState) -> None:
        """What is remembered holds in the real state."""
        hands = state.game.hands
        for card, holder in self.known.held.items():
            assert card in hands[holder], f"{card} is not in hand {holder}"
        for card in self.known.gone:
            assert not any(card in hand for hand in hands), f"{card} is not gone"

    def sample(self, state: AnyState, known: Known, rng: Random) -> None:
        """One sample, compared and played on."""
        game, seat, pick = self.game, self.seat, pick_of(rng)
        view = game.view(state, seat)
        made = self.planning.sample(view, seat, pick, known)
        assert repr(game.view(made, seat)) == repr(view)
        assert game.to_act(made) == game.to_act(state)
        assert game.asked(made) == game.asked(state)
        assert game.legal(made, seat, LIMIT) == game.legal(state, seat, LIMIT)
        held = Counter(card for hand in made.game.hands for card in hand if card != HIDDEN)
        assert not held - Counter(game.spec.pack(state.config))
        assert [len(hand) for hand in made.game.hands] == [len(hand) for hand in state.game.hands]
        self.candidates(made, rng)
        self.play_on(made, rng)
        self.samples += 1
        self.phases[state.phase] += 1

    def candidates(self, made: AnyState, rng: Random) -> None:
        """They are legal."""
        if self.seat in self.game.to_act(made):
            view = self.game.view(made, self.seat)
            found = self.planning.candidates(view, self.seat, pick_of(rng))
            assert len(set(found)) == len(found)
            for action in found:
                self.game.check(made, self.seat, action)

    def play_on(self, made: AnyState, rng: Random) -> None:
        """To the end of the round, by the bot that plays out."""
        chance, deals, steps = chance_of(rng.randrange(1_000)), made.sheet.deals, 0
        while (seats := self.game.to_act(made)) and made.phase not in ("cut", "between"):
            if made.sheet.deals != deals:
                break
            _, made = self.game.step(made, seats[0], self.planning.quick(made, seats[0], pick_of(rng)), chance)
            steps += 1
            assert steps < 3_000


def watch(table: Table, seed: int, every: int) -> Watcher:
    """One match."""
    rng = Random(f"samples/{table}/{seed}")
    game, chance = table.game, chance_of(seed)
    planning = game.spec.planning
    assert planning is not None
    config = game.config(options_for(table, rng), table.seats)
    watcher = Watcher(game, planning, rng.randrange(config.seats), game.before(config))
    events, state = game.begin(config, chance)
    watcher.sees(events)
    players, number = Players(table, rng, config.seats), 0
    while state.phase != "over":
        number += 1
        if number % every == 0:
            watcher.remembers_well(state)
            watcher.sample(state, watcher.known if rng.random() < 0.7 else NOTHING, rng)
        seat, text = players.choose(state)
        try:
            events, state = game.step(state, seat, parse_action(text), chance)
        except IllegalAction:
            assert seat is None
            continue
        watcher.sees(events)
    watcher.sample(state, watcher.known, rng)
    return watcher


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("table", tuple(tables()), ids=str)
def test_a_sampled_state_looks_like_the_real_one(table: Table, counts: Counts) -> None:
    """In all phases; and enough of them to mean something."""
    matches = counts(CI, -(-FULL // table.share))
    samples = sum(watch(table, seed, counts(17, 3)).samples for seed in range(matches))
    assert samples >= matches * 2, f"only {samples} samples"


def test_every_game_can_be_searched() -> None:
    """A game without this part would be played greedily."""
    assert all(table.game.spec.planning is not None for table in tables())
