"""What spectators with open hands see: what the seats see between them, no more, and foldable like any view."""

from __future__ import annotations

from random import Random

import pytest

from kangtou_engine.actions import parse_action
from kangtou_engine.cards import HIDDEN
from kangtou_engine.company import covered, open_event, open_view, together
from kangtou_engine.events import Event, to_text
from kangtou_engine.match.events import RoundBegan, Scored, Voided
from tests.conftest import Counts
from tests.engine.tables import Table, chance_of, tables
from tests.engine.test_registry_leaks import OtherDeal, another, tell

TABLES = tuple(tables())


def test_wherever_somebody_knows_more_it_is_taken() -> None:
    """Cards of a hand go together in the order of whoever sees most of it."""
    assert together([("S3", HIDDEN, HIDDEN), (HIDDEN,) * 3, ("C4", "S3", "H9")]) == ("C4", "S3", "H9")
    assert together([((HIDDEN,), ("H3",)), (("S3",), (HIDDEN,))]) == (("S3",), ("H3",))
    assert together([("S3", HIDDEN, HIDDEN), (HIDDEN, "C4", HIDDEN)]) == ("S3", "C4", HIDDEN)
    assert together([None, None]) is None
    assert together([None, 3]) == 3


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_open_events_fold_to_the_open_view(table: Table, counts: Counts) -> None:
    """Hands are whole; the pile never is in it."""
    for seed in range(counts(1, 20)):
        told = tell(table, Random(f"company/{table}/{seed}"), chance_of(seed))
        game, state = table.game, told.state
        seats, whole = state.config.seats, game.before(state.config)
        folded = whole
        for events in told.events:
            whole = game.fold(events, whole)
            folded = game.fold([open_event(event, seats) for event in events], folded)
            shown = open_view(game, whole)
            assert together([folded, shown]) == folded  # it may know more, such as the sides that follow from all hands
            assert folded.sheet == shown.sheet
            assert folded.phase == shown.phase
            assert whole.game.hands == folded.game.hands
            assert not any(card != HIDDEN for card in folded.sheet.pile)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_an_open_spectator_does_not_see_what_no_seat_sees(table: Table, counts: Counts) -> None:
    """Two packs that differ only in cards that nobody has seen by some moment look alike to the byte until then."""
    compared = 0
    for seed in range(counts(1, 20)):
        rng = Random(f"company/unseen/{table}/{seed}")
        chance = chance_of(seed)
        told = tell(table, rng, chance)
        game, seats = table.game, told.state.config.seats
        number, steps = next(iter(told.rounds().items()))
        upto = rng.randint(1, len(steps))
        seen = {
            card
            for step in steps[:upto]
            for event in told.events[step]
            if not isinstance(event, RoundBegan)
            for card in _cards(open_event(event, seats))
        }
        pack = game.spec.pack(told.state.config)
        pile = chance.shuffle(pack, "pack", number)
        hidden = set(pile) - seen
        if len(hidden) < 2:
            continue
        twin = OtherDeal(chance, number, another(rng, pile, hidden))
        one, two = game.begin(told.state.config, chance), game.begin(told.state.config, twin)
        for seat, text in told.script[: upto - 1]:
            assert _shown(one[0], seats) == _shown(two[0], seats)
            assert open_view(game, one[1]) == open_view(game, two[1])
            compared += 1
            action = parse_action(text)
            one, two = game.step(one[1], seat, action, chance), game.step(two[1], seat, action, twin)
    assert compared >= 0


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_covered_is_what_the_views_no_longer_show(table: Table) -> None:
    """Nothing is covered before a round or behind its score; while it lasts, only kinds that the game names."""
    told = tell(table, Random(f"company/covered/{table}"), chance_of(1))
    game, config = table.game, told.state.config
    events: list[Event] = []
    rules = game.spec.covered(config)
    kinds = {kind for rule in rules for kind in rule.kinds}
    most = 0
    for step in told.events:
        events += step
        hidden = covered(game, config, events)
        most = max(most, len(hidden))
        assert {to_text(events[place]).split(" ")[0] for place in hidden} <= kinds
        if isinstance(events[-1], (Scored, Voided)):
            assert not hidden
    assert bool(most) is bool(rules)


def _cards(event: Event) -> set[str]:
    from tests.engine.test_registry_leaks import _CARD

    return set(_CARD.findall(to_text(event)))


def _shown(events: tuple[Event, ...], seats: int) -> list[str]:
    return [to_text(open_event(event, seats)) for event in events]
