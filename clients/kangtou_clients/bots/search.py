"""A bot that searches: determinised Monte Carlo.

It draws whole states that fit what its seat sees and remembers (the game's `Planning.sample`), does each action that is
worth comparing in each of them, and lets the game's quick bot play the round out. All actions see the same states, so
that luck cancels out; after each stage the worse half is dropped (sequential halving). The action that `greedy` would
take is always among them, and another one must be better by more than chance explains.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from kangtou_engine.actions import Action
from kangtou_engine.cards import Cards, Seat
from kangtou_engine.events import Event
from kangtou_engine.game import Legal, Pick
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import BETWEEN, OVER
from kangtou_engine.planning import NOTHING, Known, Planning

from .bot import Bot, Observation

MS = 10.0
SURE = 1.0  # standard errors by which another action must be better than greedy's
LEAST = 4  # states seen before anything but greedy's action is taken
_BUDGET = re.compile(r"([1-9][0-9]{0,5})(ms)?")


@dataclass(frozen=True, slots=True)
class Budget:
    """For one move: so many ms of this thread's processor time or, if that is set, so many rounds played out.

    A number of playouts makes the bot repeatable.
    """

    ms: float = MS
    playouts: int = 0

    @classmethod
    def parse(cls, text: str) -> Budget:
        """`200ms`, or `64` playouts; "" is the default. Raises ValueError."""
        found = _BUDGET.fullmatch(text) if text else None
        if text and found is None:
            raise ValueError(f"a budget is milliseconds as 200ms or a number of playouts as 64, not {text!r}")
        if found is None:
            return cls()
        return cls(ms=float(found[1])) if found[2] else cls(playouts=int(found[1]))


class _Spending:
    """A budget as it is spent."""

    def __init__(self, budget: Budget, clock: Callable[[], float]) -> None:
        self._budget, self._clock = budget, clock
        self._began = self._last = clock()
        self._longest = 0.0
        self.playouts = 0

    def played(self) -> None:
        """One more playout is done."""
        self.playouts += 1
        if not self._budget.playouts:
            now = self._clock()
            self._longest = max(self._longest, now - self._last)
            self._last = now

    def affords(self) -> int:
        """About how many playouts the whole budget lasts for, by the longest so far; after one at least."""
        return self._budget.playouts or int(self._budget.ms / 1000 / max(self._longest, 1e-6))

    def within(self, share: float) -> bool:
        """Whether this share of the budget lasts for one more playout, the longest so far."""
        if self._budget.playouts:
            return self.playouts < self._budget.playouts * share
        return (self._clock() - self._began + self._longest) * 1000 < self._budget.ms * share


class _Unshuffled:
    """The chance of rounds that are never played: a playout ends with its round."""

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """See Chance."""
        return pack


def play_out(game: Game, planning: Planning[object], state: AnyState, pick: Pick) -> AnyState:
    """The quick bot at all seats, to the end of the round."""
    deals, quick, chance = state.sheet.deals, planning.quick, _Unshuffled()
    while state.phase not in (BETWEEN, OVER) and state.sheet.deals == deals:
        seat = game.to_act(state)[0]
        _, state = game.step(state, seat, quick(state, seat, pick), chance)
    return state


def think(
    game: Game,
    view: AnyState,
    seat: Seat,
    legal: Legal,
    pick: Pick,
    known: Known = NOTHING,
    budget: Budget = Budget(),
    clock: Callable[[], float] = time.thread_time,
) -> Action:
    """The action that did best."""
    usual: Action = game.spec.greedy(view, seat, legal, pick)
    planning = game.spec.planning
    if planning is None or (isinstance(legal, tuple) and len(legal) < 2):
        return usual
    found = tuple(dict.fromkeys((game.spec.canonical(usual), *planning.candidates(view, seat, pick))))
    if len(found) < 2:
        return usual
    options = replace(view.config.options, between=True)  # so that a playout ends where its round does
    root = replace(view, config=replace(view.config, options=options))
    return _Comparison(game, planning, root, seat, known, pick, found).decide(_Spending(budget, clock))


@dataclass(slots=True)
class _Comparison:
    """Some actions of one seat, compared in the same states. The first is greedy's."""

    game: Game
    planning: Planning[object]
    root: AnyState
    seat: Seat
    known: Known
    pick: Pick
    actions: tuple[Action, ...]

    def decide(self, spending: _Spending) -> Action:
        """Sequential halving, then the best that is surely better than the first.

        Where the budget does not last for LEAST states with all actions, the last ones are left out.
        """
        self._worth(self.planning.sample(self.root, self.seat, self.pick, self.known), 0, spending)
        count = min(len(self.actions), max(2, spending.affords() // LEAST))
        gains: dict[int, list[float]] = {number: [] for number in range(1, count)}
        stages = max(1, math.ceil(math.log2(count)))
        for stage in range(1, stages + 1):
            while spending.within(stage / stages):
                if not self._one_state(gains, spending):
                    break
            if stage < stages:
                kept = sorted(gains, key=lambda number: -_mean(gains[number]))[: max(1, len(gains) // 2)]
                gains = {number: gains[number] for number in kept}
        best = max(gains, key=lambda number: _mean(gains[number]))
        return self.actions[best if _sure(gains[best]) else 0]

    def _one_state(self, gains: dict[int, list[float]], spending: _Spending) -> bool:
        """All actions that are still in, in one more state. False if the budget did not last."""
        world = self.planning.sample(self.root, self.seat, self.pick, self.known)
        usual = self._worth(world, 0, spending)
        found = {}
        for number in gains:
            if not spending.within(1.0):
                return False
            found[number] = self._worth(world, number, spending) - usual
        for number, gain in found.items():
            gains[number].append(gain)
        return True

    def _worth(self, world: AnyState, number: int, spending: _Spending) -> float:
        _, state = self.game.step(world, self.seat, self.actions[number], _Unshuffled())
        worth = self.planning.worth(world, play_out(self.game, self.planning, state, self.pick), self.seat)
        spending.played()
        return worth


def _mean(gains: list[float]) -> float:
    return sum(gains) / len(gains) if gains else 0.0


def _sure(gains: list[float]) -> bool:
    """Better on average by more than the error of the mean."""
    count = len(gains)
    if count < LEAST:
        return False
    mean = _mean(gains)
    variance = sum((gain - mean) ** 2 for gain in gains) / (count - 1)
    return mean > SURE * math.sqrt(variance / count)


class Search(Bot):
    """The bot `search`. It remembers what it has seen of the round."""

    slow = True

    def __init__(self, budget: Budget = Budget()) -> None:
        self.budget = budget

    def act(self, seen: Observation) -> Action:
        """See Bot."""
        return think(seen.game, seen.view, seen.seat, seen.legal, seen.pick, seen.known, self.budget)


class Memory:
    """What a seat remembers of a round, event by event."""

    def __init__(self, game: Game) -> None:
        self._planning = game.spec.planning
        self.known = NOTHING

    def saw(self, view: AnyState, event: Event) -> None:
        """One event on the view before it."""
        if isinstance(event, RoundBegan):
            self.known = NOTHING
        elif self._planning is not None:
            self.known = self._planning.recall(self.known, view, event)

    def missed(self) -> None:
        """Some events did not come: what was sure is not any more."""
        self.known = NOTHING
