"""Nothing that a seat may not know reaches it, in any registered game.

Two matches are played alike from two deals that differ only in cards that one viewer (a seat, or a spectator) has
not seen at some moment. Until a difference is public, or in the viewer's own hand, all that it is sent must be equal
to the byte: events in their order, its view, its legal actions and default, the refusals of what it tries.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import Cards, Seat
from kangtou_engine.chance import Chance
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, to_text
from kangtou_engine.match.events import RoundBegan, Scored, Voided
from kangtou_engine.match.match import AnyState, Game
from tests.conftest import Counts
from tests.engine.attempts import LIMIT, Players, attempt, garbage, listed_texts, refusal_texts
from tests.engine.tables import Table, chance_of, options_for, tables

CI = 1  # matches of each option set
FULL = 1_000  # of each game (Wushik: variant)
TWINS = 3  # deals that are compared with each match

_CARD = re.compile(r"(?<![A-Za-z0-9])(?:[SHCD][3-9TJQKA2]|BJ|RJ)(?![A-Za-z0-9])")


@dataclass
class OtherDeal:
    """The chance of a match, but for the pack of one deal."""

    others: Chance
    number: int
    pile: Cards

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """See Chance."""
        if (purpose, number) == ("pack", self.number):
            return self.pile
        return self.others.shuffle(pack, purpose, number)


@dataclass
class Told:
    """A match as it was played: who did what, what happened, and where it led."""

    state: AnyState  # after `begin`
    events: list[tuple[Event, ...]]
    script: list[tuple[Seat | None, str]] = field(default_factory=list)

    def rounds(self) -> dict[int, list[int]]:
        """By number of the deal: the steps (0 is `begin`) in which its cards lie hidden."""
        number = 0
        found: dict[int, list[int]] = {}
        for step, events in enumerate(self.events):
            for event in events:
                if isinstance(event, RoundBegan):
                    number = event.deals
                elif isinstance(event, (Scored, Voided)):
                    number = 0
            if number:
                found.setdefault(number, []).append(step)
        return found


def tell(table: Table, rng: Random, chance: Chance) -> Told:
    """A random match, to its end."""
    game = table.game
    config = game.config(options_for(table, rng), table.seats)
    events, state = game.begin(config, chance)
    told = Told(state, [events])
    players = Players(table, rng, config.seats)
    while state.phase != "over":
        seat, text = players.choose(state)
        try:
            events, state = game.step(state, seat, parse_action(text), chance)
        except IllegalAction:
            assert seat is None
            continue
        told.script.append((seat, text))
        told.events.append(events)
    return told


def unseen(told: Told, pile: Cards, steps: Sequence[int], viewer: Seat | None) -> set[str]:
    """The cards of a deal that no event of these steps has shown to a viewer (no copy of them)."""
    seen: set[str] = set()
    for step in steps:
        for event in told.events[step]:
            if not isinstance(event, RoundBegan):
                seen.update(_CARD.findall(to_text(event.seen_by(viewer))))
    return set(pile) - seen


def another(rng: Random, pile: Cards, hidden: set[str]) -> Cards:
    """The pile with some, often all, of the hidden cards in other places."""
    places = [place for place, card in enumerate(pile) if card in hidden]
    if rng.random() < 0.5:
        places = rng.sample(places, rng.randint(2, len(places)))
    moved = list(pile)
    for place, source in zip(places, rng.sample(places, len(places)), strict=True):
        moved[place] = pile[source]
    return tuple(moved)


class Pair:
    """Two matches side by side, as one viewer sees them."""

    def __init__(self, table: Table, rng: Random, viewer: Seat | None) -> None:
        self.game: Game = table.game
        self.facts = table.facts
        self.rng = rng
        self.viewer = viewer
        self.compared = 0

    def alike(self, one: AnyState, two: AnyState) -> bool:
        """Whether no difference is public or in the viewer's own hand."""
        if self.viewer is not None and one.game.hands[self.viewer] != two.game.hands[self.viewer]:
            return False
        return self.facts.public_facts(one) == self.facts.public_facts(two)

    def told(self, events: Sequence[Event], state: AnyState) -> list[str]:
        """All that reaches the viewer with one step."""
        game, viewer = self.game, self.viewer
        said = [to_text(event.seen_by(viewer)) for event in events]
        said += [repr(game.view(state, viewer)), repr((game.to_act(state), game.asked(state)))]
        if viewer is not None:
            said += listed_texts(game.legal(state, viewer, LIMIT))
            if viewer in game.to_act(state):
                said.append(f"default {game.default(state, viewer)}")
        return said

    def refusals(self, one: AnyState, two: AnyState) -> None:
        """What the viewer tries is answered alike."""
        if self.viewer is None or self.rng.random() > 0.3:
            return
        for _ in range(4):
            text = garbage(self.rng, self.game, self.rng.choice((one, two)), self.viewer)
            answers = [self.answer(state, text) for state in (one, two)]
            assert answers[0] == answers[1], f"seat {self.viewer} tries {text!r}"

    def answer(self, state: AnyState, text: str) -> tuple[str, ...]:
        """The action as taken, or the texts of the refusal."""
        assert self.viewer is not None
        taken = attempt(self.game, state, self.viewer, text)
        if isinstance(taken, Action):
            return (str(taken),)
        return (taken.rule, taken.code, repr(taken.params), *refusal_texts(self.game, taken))

    def run(self, told: Told, chances: tuple[Chance, Chance], number: int) -> int:
        """Play both as long as they look alike; the number of steps compared in the deal `number`."""
        game = self.game
        one, two = (game.begin(told.state.config, chance) for chance in chances)
        for seat, text in [*told.script, (None, "")]:
            if any(isinstance(event, (Scored, Voided)) for event in one[0]) and one[1].sheet.deals >= number:
                return self.compared
            if one[1].sheet.deals == number:
                if not self.alike(one[1], two[1]):
                    return self.compared
                assert self.told(*one) == self.told(*two), f"{self.viewer} is told of hidden cards"
                self.refusals(one[1], two[1])
                self.compared += 1
            if not text:
                break
            action = parse_action(text)
            one = game.step(one[1], seat, action, chances[0])
            try:
                two = game.step(two[1], seat, action, chances[1])
            except IllegalAction:
                assert seat != self.viewer, f"{self.viewer}'s own {text!r} depends on hidden cards"
                return self.compared
        return self.compared


def compare(table: Table, seed: int) -> int:
    """One match and some other deals of its rounds; how many steps were compared."""
    rng = Random(f"leaks/{table}/{seed}")
    chance = chance_of(seed)
    told = tell(table, rng, chance)
    pack = table.game.spec.pack(told.state.config)
    rounds = told.rounds()
    compared = 0
    for _ in range(TWINS):
        number = rng.choice(list(rounds))
        steps = rounds[number][: rng.randint(1, len(rounds[number]))]
        viewer: Seat | None = rng.choice((*range(told.state.config.seats), None))
        pile = chance.shuffle(pack, "pack", number)
        hidden = unseen(told, pile, steps, viewer)
        if len(hidden) < 2:
            continue
        twin = OtherDeal(chance, number, another(rng, pile, hidden))
        compared += Pair(table, rng, viewer).run(told, (chance, twin), number)
    return compared


TABLES = tuple(tables())


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_two_deals_look_alike_until_a_difference_is_public(table: Table, counts: Counts) -> None:
    """Equal bytes for a seat or a spectator; and enough steps compared to mean something."""
    matches = counts(CI, -(-FULL // table.share))
    compared = sum(compare(table, seed) for seed in range(matches))
    assert matches < 20 or compared >= 3 * matches, f"only {compared} steps compared in {matches} matches"
