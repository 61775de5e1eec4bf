"""The engine against a second, slow implementation: trick winners, throws, what is legal, outcomes, levels."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kangtou_engine.actions import Action
from kangtou_engine.cards import DECK54, in_order
from kangtou_engine.cases import start_of
from kangtou_engine.chance import Chance
from kangtou_engine.events import Event
from kangtou_engine.game import TooMany
from kangtou_engine.games.duizhu import GAME
from kangtou_engine.games.duizhu.events import LevelsSet, Played, ThrowFailed, TrickWon
from kangtou_engine.games.duizhu.levels import Knobs, level_of, level_text, new_levels
from kangtou_engine.games.duizhu.state import Table, rank_now
from kangtou_engine.match.events import Scored
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.shuffle import SeededChance
from tests.conftest import Counts
from tests.engine.duizhu.naive import LEVELS, SIDE_ORDER, Naive, levels_after, outcome

DUIZHU = Game(GAME)
TRICKS = (2_000, 24_000)  # of each kind, in CI and in a full run


def random_start(rng: Random) -> dict[str, Any]:
    """A position before a lead: hands of equal size, now and then with fours of a kind and many trumps."""
    trump, level, size = rng.choice("SHCD"), rng.choice([*SIDE_ORDER, "0"]), rng.choice((1, 1, 2, 3, 4, 4, 5, 6))
    pack = list(DECK54)
    rng.shuffle(pack)
    if rng.random() < 0.6:
        ranks = rng.sample([*SIDE_ORDER, "2"], rng.randint(2, 4))
        pack.sort(key=lambda card: card[1] not in ranks or card in ("BJ", "RJ"))
        if size >= 4 and rng.random() < 0.7:
            pack[: 4 * len(ranks)] = sorted(pack[: 4 * len(ranks)], key=lambda card: ranks.index(card[1]))
    elif rng.random() < 0.5:
        pack.sort(key=lambda card: card[0] != trump and card[1] not in ("2", level) and rng.random() < 0.7)
    hands = [pack[seat * size : (seat + 1) * size] for seat in range(4)]
    rng.shuffle(hands)
    return {
        "phase": "play",
        "round": 5,
        "dealer": rng.randrange(4),
        "to_act": rng.randrange(4),
        "levels": [level, level],
        "trump": trump,
        "hands": [" ".join(hand) for hand in hands],
        "tricks": rng.choice((0, 1, 7)),
    }


class Referee:
    """Follows the tricks of a match by the slow implementation and complains where the engine differs."""

    def __init__(self) -> None:
        self.plays: list[tuple[int, list[str]]] = []
        self.tricks = 0

    def see(self, before: Table, events: tuple[Event, ...]) -> None:
        """`before`: the position in which the first of the events happened."""
        for event in events:
            if isinstance(event, (Played, ThrowFailed)):
                self.play(before, event)
            elif isinstance(event, TrickWon):
                first = before.game.tally.tricks == 0
                assert self.naive(before).winner(self.plays, first) == event.seat, self.plays
                self.plays = []
                self.tricks += 1

    def play(self, before: Table, event: Played | ThrowFailed) -> None:
        """A play is legal; a lead of several cards is tested as a throw."""
        cards = list(event.cards if isinstance(event, Played) else event.thrown)
        if not self.plays:
            naive = self.naive(before)
            others = [list(hand) for seat, hand in enumerate(before.game.hands) if seat != event.seat]
            is_four = naive.four(cards) is not None and before.game.tally.tricks > 0
            led = cards if len(cards) == 1 or is_four else naive.throw(cards, others)
            assert led == (list(event.cards) if isinstance(event, Played) else [event.card])
            cards = led
        self.plays.append((event.seat, cards))

    def naive(self, state: Table) -> Naive:
        """The slow rules of this round."""
        return Naive(state.game.trumps.suit or "", rank_now(state), state.config.options.suited_high)


def choose(rng: Random, state: AnyState, seat: int) -> Action:
    """A legal action; large leads and fours more often than by chance."""
    legal = DUIZHU.legal(state, seat, 3_000)
    if isinstance(legal, TooMany):
        return GAME.random(state, seat, legal, rng.randrange)
    return max(rng.sample(legal, min(len(legal), rng.randint(1, 3))), key=lambda action: len(action.args))


def check_legal(rng: Random, state: Table, seat: int) -> None:
    """The list is what trying every set of cards finds. DZ-7.1, DZ-7.2, DZ-7.7."""
    naive, hand = Referee().naive(state), list(state.game.hands[seat])
    plays, first = state.game.trick.plays, state.game.tally.tricks == 0
    wanted = naive.followings(hand, list(plays[0]), first) if plays else naive.leads(hand, first)
    legal = DUIZHU.legal(state, seat)
    assert not isinstance(legal, TooMany)
    assert {frozenset(action.args) for action in legal} == wanted
    assert len(legal) == len(wanted)


def one_trick(rng: Random, number: int) -> int:
    """One trick from a random position; returns 1 if a four of a kind was led."""
    options = {"suited_high": rng.random() < 0.3, "between": False, "rounds": 5}
    state, chance = start_of(DUIZHU, {"id": number, "options": options, "start": random_start(rng)})
    referee, fours = Referee(), 0
    while not referee.tricks:
        (seat,) = DUIZHU.to_act(state)
        if number % 8 == 0:
            check_legal(rng, state, seat)
        action = choose(rng, state, seat)
        before = state
        events, state = DUIZHU.step(state, seat, action, chance)
        referee.see(before, events)
        fours += len(before.game.trick.plays) == 0 and before.game.tally.tricks > 0 and len(action.args) == 4
    return int(fours > 0)


def test_winners_of_random_tricks(counts: Counts) -> None:
    """DZ-7.3–7.9 from random positions."""
    rng = Random(7)
    fours = sum(one_trick(rng, number) for number in range(counts(*TRICKS)))
    assert fours >= counts(*TRICKS) // 50


OPTION_SETS: list[dict[str, object]] = [
    {},
    {"suited_high": True, "stack": True, "bury_points": "last"},
    {"weak_last": "fail", "start_level": "J"},
    {"weak_last": "kou", "start_level": "A", "redeal": False},
    {"start_level": "T", "end_level": "Q", "stack": True},
]


def follow_match(rng: Random, chance: Chance, options: dict[str, object]) -> int:
    """One match of a few rounds; every trick and every round is judged twice."""
    config = DUIZHU.config({"windows": "end", "between": False, "rounds": 6, **options})
    _, state = DUIZHU.begin(config, chance)
    referee = Referee()
    while state.phase != "over":
        seat = rng.choice(DUIZHU.to_act(state))
        before = state
        events, state = DUIZHU.step(state, seat, choose(rng, state, seat), chance)
        referee.see(before, events)
        scored = [event for event in events if isinstance(event, Scored)]
        if scored:
            check_round(before, state, scored[0], events)
    return referee.tricks


def check_round(before: Table, after: Table, scored: Scored, events: tuple[Event, ...]) -> None:
    """Points, outcome and levels of a round, from the last position before its end. DZ-8, DZ-9."""
    options, own, dealer = before.config.options, before.game, before.sheet.dealer
    assert dealer is not None
    winner = next(event.seat for event in events if isinstance(event, TrickWon))
    last = [*own.trick.plays, *(event.cards for event in events if isinstance(event, Played))]
    naive = Referee().naive(before)
    winning = list(last[(winner - own.trick.leader) % 4])
    column = 0 if winner % 2 == dealer % 2 else 1 + all(map(naive.is_trump, winning))
    counted = [card for play in last for card in play] if column else []
    if column and options.bury_points == "last":
        counted += own.bottom.buried
    points = own.tally.points + sum({"5": 5, "T": 10, "K": 10}.get(card[1], 0) for card in counted)
    level = scored.result["level"]
    what = outcome(points, column, level, winning, options.weak_last)
    assert (what, points) == (scored.result["outcome"], scored.result["points"])
    up, down = (level_text(own.ladder.levels[side]) for side in (dealer % 2, 1 - dealer % 2))
    wanted = levels_after(up, down, what, points, list(own.bottom.sunk), options.end_level, options.stack)
    found = next(event for event in events if isinstance(event, LevelsSet))
    assert wanted == (found.levels[dealer % 2], found.levels[1 - dealer % 2])


@pytest.mark.timeout(600)
def test_random_matches_are_judged_alike(counts: Counts) -> None:
    """Every trick and every round of random matches, over the options that touch them."""
    rng, tricks, number = Random(11), 0, 0
    while tricks < counts(*TRICKS):
        chance = SeededChance(f"judge-{number}", bytes(32), ())
        tricks += follow_match(rng, chance, OPTION_SETS[number % len(OPTION_SETS)])
        number += 1


def test_every_level_change(counts: Counts) -> None:
    """DZ-9.2–9.9 for every outcome, buried jokers, end level and pair of levels."""
    outcomes = ("made", "guang", "held", "po", "dapo", "kou", "zhi", "xue", "heihu")
    levels, checked = LEVELS[LEVELS.index("-4") :], 0
    ends = counts(0, 12)
    for end in SIDE_ORDER[-1:] + SIDE_ORDER[:ends]:
        low = [level for level in levels if LEVELS.index(level) <= LEVELS.index(end)]
        for up in low:
            for down in low:
                for what in outcomes:
                    for sunk in ((), ("BJ",), ("RJ",), ("BJ", "RJ")):
                        for points, stack in ((30, True), (80, True), (80, False)):
                            pair = (level_of(up), level_of(down))
                            knobs = Knobs(level_of(end), stack)
                            found = new_levels(pair, 0, what, points, sunk, knobs)
                            other = new_levels(pair[::-1], 1, what, points, sunk, knobs)
                            assert other == found[::-1]
                            wanted = levels_after(up, down, what, points, list(sunk), end, stack)
                            assert tuple(map(level_text, found)) == wanted, (up, down, what, sunk, end)
                            checked += 1
    assert checked > 30_000


def test_hands_are_in_order() -> None:
    """The engine's hands are canonical, so that lists are."""
    state, _ = start_of(DUIZHU, {"id": "order", "start": random_start(Random(1))})
    assert all(hand == in_order(hand) for hand in state.game.hands)
