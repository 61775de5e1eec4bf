"""回龙 in whole matches: rare there, so matches are searched for it. DZ-9.13."""

from __future__ import annotations

from random import Random

from kangtou_engine.cards import Seat
from kangtou_engine.events import Event, from_text, to_text
from kangtou_engine.games.duizhu import GAME
from kangtou_engine.games.duizhu.events import Recovered
from kangtou_engine.games.duizhu.levels import level_text
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.shuffle import SeededChance
from tests.conftest import Counts

DUIZHU = Game(GAME)
AUDIENCES: tuple[Seat | None, ...] = (0, 1, 2, 3, None)


def checked(events: list[Event], state: AnyState) -> None:
    """What was sent folds to the views, and the round's beginning holds all that carries over."""
    before = DUIZHU.before(state.config)
    read = [from_text(DUIZHU.events, to_text(event)) for event in events]
    assert DUIZHU.fold(read, before) == state
    for audience in AUDIENCES:
        seen = [event.seen_by(audience) for event in read]
        assert DUIZHU.fold(seen, before) == DUIZHU.view(state, audience)
    begins = max(place for place, event in enumerate(read) if isinstance(event, RoundBegan))
    assert DUIZHU.fold(read[begins:], before) == state


def search(number: int) -> int:
    """One match that starts at J, greedy against random; how often 回龙 was offered in it."""
    chance, rng = SeededChance(f"recover-{number}", bytes(32), ()), Random(number)
    config = DUIZHU.config({"start_level": "J", "rounds": 8, "windows": "end", "cut": False})
    events: list[Event] = []
    more, state = DUIZHU.begin(config, chance)
    events += more
    offered = 0
    while state.phase != "over":
        seat = DUIZHU.to_act(state)[0]
        bot = GAME.greedy if seat % 2 == 0 else GAME.random
        if state.phase == "recover":
            bot = GAME.random  # recover or pass
            checked(events, state)
        before = state
        action = bot(DUIZHU.view(state, seat), seat, DUIZHU.legal(state, seat, 200), rng.randrange)
        more, state = DUIZHU.step(state, seat, action, chance)
        events += more
        if before.phase == "recover":
            offered += 1
            checked(events, state)
            level = before.game.ladder.pending.level if isinstance(more[0], Recovered) else None
            assert level is None or (before.sheet.dealer, level) == (seat, state.game.ladder.levels[seat % 2])
            assert level is None or level_text(level) in ("J", "A")
            assert state.game.ladder.pending is None
    return offered


def test_recover_in_matches(counts: Counts) -> None:
    """DZ-9.13, DZ-10.2: offered after the shut-out, before `between`; laws hold there too."""
    wanted, offered, number = counts(2, 12), 0, 0
    while offered < wanted:
        offered += search(number)
        number += 1
        assert number < 300 * wanted
