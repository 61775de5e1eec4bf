"""What is hidden, and when it is shown. DZ-12."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from kangtou_engine.actions import parse_action
from kangtou_engine.cards import DECK54, HIDDEN, Seat
from kangtou_engine.cases import start_of
from kangtou_engine.events import to_text
from kangtou_engine.games.duizhu import GAME
from kangtou_engine.games.duizhu.state import Bottom, Table
from kangtou_engine.match.match import Game

DUIZHU = Game(GAME)
AUDIENCES: tuple[Seat | None, ...] = (0, 1, 2, 3, None)
PLAY = {"dealer": 0, "levels": ["8", "8"], "trump": "H", "round": 3}
SIX = "BJ H3 C4 C5 C6 C7"
HANDS = ["HA HK", "S3 S4", "RJ C9", "D9 DT"]


def position(**start: Any) -> Table:
    """A position of a case."""
    return start_of(DUIZHU, {"id": "hidden", "start": {**PLAY, **start}})[0]


def told(state: Table, seat: Seat, text: str, audience: Seat | None) -> tuple[list[str], str, object]:
    """What one action brings to an audience: events, view, and the prompt if it is a seat."""
    chance = start_of(DUIZHU, {"id": "hidden", "start": PLAY | {"hands": HANDS}})[1]
    events, after = DUIZHU.step(state, seat, parse_action(text), chance)
    view = DUIZHU.view(after, audience)
    prompt = None if audience is None else DUIZHU.legal(after, audience, 200)
    return [to_text(event.seen_by(audience)) for event in events], repr(view), (prompt, DUIZHU.to_act(view))


def cards_in(state: Table) -> set[str]:
    """Every card that a view names, anywhere in the game's own part."""
    text = repr(state.game)
    return {card for card in DECK54 if f"'{card}'" in text}


# phase, start, cards of the kitty or the six that every view shows
PHASES: list[tuple[str, dict[str, Any], str]] = [
    ("way", {"kitty": "C3 SK D5 HQ H2 D3", "trump": None}, ""),
    ("fix", {"kitty": "C3 SK D5 HQ H2 D3", "trump": None, "way": "single"}, ""),
    ("fix", {"kitty": "S9 SK H9 HQ H2 D3", "trump": None, "way": "ends", "tied": "S9 H9"}, "S9 H9"),
    ("bury", {"kitty": "C3 SK D5 HQ H2 D3"}, "C3 SK D5 HQ H2 D3"),
    ("sink", {"kitty": "C3 SK D5 HQ H2 D3", "buried": SIX, "announced": "H3"}, f"C3 SK D5 HQ H2 D3 {SIX}"),
    ("snatch", {"kitty": "C3 SK D5 HQ H2 D3", "buried": SIX}, f"C3 SK D5 HQ H2 D3 {SIX}"),
    ("play", {"kitty": "C3 SK D5 HQ H2 D3", "buried": SIX}, ""),
]


@pytest.mark.parametrize(("phase", "start", "shown"), PHASES, ids=[f"{row[0]}-{row[2]}" for row in PHASES])
def test_views_by_phase(phase: str, start: dict[str, Any], shown: str) -> None:
    """DZ-12.2, DZ-12.3: the own hand, what the table shows, and no card more."""
    state = position(phase=phase, hands=HANDS, **start)
    for audience in AUDIENCES:
        own = set() if audience is None else set(HANDS[audience].split())
        assert cards_in(DUIZHU.view(state, audience)) == own | set(shown.split())


def test_closed_tricks_only_after_the_end() -> None:
    """DZ-12.2, DZ-12.3: closed tricks and the buried six come back with the score."""
    state = position(hands=["HA D3", "C4 C3", "C5 D4", "C6 D5"], buried=SIX, tricks=10)
    chance = start_of(DUIZHU, {"id": "hidden", "start": PLAY | {"hands": HANDS}})[1]
    for number, said in enumerate(["HA", "C4", "C5", "C6", "D3", "C3", "D4", "D5"]):
        if number == 4:
            view = DUIZHU.view(state, 0)
            assert state.game.tally.closed
            assert view.game.tally.closed == ()
            assert view.game.tally.leaders == ()
            assert view.game.bottom == Bottom()
        (seat,) = DUIZHU.to_act(state)
        _, state = DUIZHU.step(state, seat, parse_action(f"play {said}"), chance)
    assert state.phase == "between"
    for audience in AUDIENCES:
        assert DUIZHU.view(state, audience).game == state.game
    assert len(state.game.tally.closed) == 8
    assert state.game.bottom.buried


def test_a_failed_throw_shows_its_cards_and_no_other() -> None:
    """DZ-7.3, DZ-12.1: who could have beaten it, and with what, stays hidden."""
    deals = (["SA SQ C3", "S3 C4 D5", "SK SJ C5", "D7 D9 H4"], ["SA SQ C3", "S3 C4 D5", "D7 D9 H4", "SK SJ C5"])
    for audience in (0, 1, None):
        one, two = (told(position(hands=hands), 0, "play SQ SA", audience) for hands in deals)
        assert one == two
        own = set() if audience is None else set(deals[0][audience].split())
        state = position(hands=deals[0])
        _, after = DUIZHU.step(
            state, 0, parse_action("play SQ SA"), start_of(DUIZHU, {"start": PLAY | {"hands": HANDS}})[1]
        )
        assert cards_in(DUIZHU.view(after, audience)) == own - {"SQ"} | {"SA", "SQ"}


def test_the_sink_window_does_not_tell_who_holds_jokers() -> None:
    """DZ-2.2, DZ-5.7: the partner is asked with and without a joker, in the same way for all others."""
    deals = (["HA", "S3", "RJ", "D9"], ["HA", "S3", "S4", "RJ"], ["HA", "S3", "S4", "D9"])
    states = [position(phase="bury", hands=[hands[0] + " C4 C7 D3 D6 ST SK", *hands[1:]]) for hands in deals]
    for audience in (0, 1, None):
        answers = [told(state, 0, "bury C4 C7 D3 D6 ST SK", audience) for state in states]
        assert answers[0] == answers[1] == answers[2]
    passed = [position(phase="sink", hands=list(hands), buried="C4 C7 D3 D6 ST H4") for hands in deals]
    for audience in (0, 1, None):
        answers = [told(state, 2, "pass", audience) for state in passed]
        assert answers[0] == answers[1] == answers[2]


def test_the_snatch_window_does_not_tell_what_the_others_hold() -> None:
    """DZ-6.2: all four are asked, whatever they hold."""
    deals = (["HA", "S3", "RJ", "D9"], ["HA", "S3", "S4", "BJ"], ["HA", "S3", "H9", "HT"])
    for audience in (0, 1, None):
        states = [position(phase="snatch", hands=list(hands), buried="C4 C7 D3 D6 ST H4") for hands in deals]
        answers = [told(state, 2, "pass", audience) for state in states]
        assert answers[0] == answers[1] == answers[2]


def test_only_the_defenders_know_whether_they_may_claim() -> None:
    """DZ-3.6, DZ-12.4: the up side is told the same whether or not the defenders hold a level card."""
    hands = (["HA", "SJ", "CT", "D9"], ["HA", "S3", "CT", "DJ"], ["HA", "S3", "CT", "D9"])
    start: dict[str, Any] = {"phase": "redeal", "levels": ["J", "8"], "trump": None, "kitty": "S9 C9"}
    states = [position(**start, hands=list(one)) for one in hands]
    for audience in (0, 2, None):
        assert len({repr(DUIZHU.view(state, audience)) for state in states}) == 1
    assert [len(DUIZHU.legal(DUIZHU.view(state, 1), 1)) for state in states] == [1, 1, 2]  # type: ignore[arg-type]


def test_drawn_cards_are_seen_by_their_seat_only() -> None:
    """DZ-12.1, in one event for many cards too."""
    deal = {"deal": True, "first": 1, "drawn": 4, "trump": None} | {
        "hands": [" ".join(DECK54[12 * seat : 12 * seat + 12]) for seat in range(4)],
        "kitty": " ".join(DECK54[48:]),
    }
    state = position(**deal)
    chance = start_of(DUIZHU, {"id": "hidden", "start": PLAY | {"hands": HANDS}})[1]
    level_card = next(card for card in state.game.hands[0] if card[1] == "3")
    state = position(**deal, levels=["3", "3"])
    events, _ = DUIZHU.step(state, 0, parse_action(f"declare {level_card}"), chance)
    drawn = next(event for event in events if type(event).__name__ == "Drawn")
    for audience in AUDIENCES:
        seen: Any = drawn.seen_by(audience)
        known = [card for card in seen.cards if card != HIDDEN]
        assert len(seen.cards) == 44
        assert known == ([] if audience is None else list(DECK54[12 * audience + 1 : 12 * audience + 12]))
        assert seen.kitty == (HIDDEN,) * 6


def test_every_field_of_a_view_is_built_on_purpose() -> None:
    """A new field of the state is hidden until view.py names it: this test names those that there are."""
    found = {field.name for field in fields(position(hands=HANDS).game)}
    assert found == {"hands", "window", "drawn", "trick", "tally", "ladder", "trumps", "bottom", "claimable"}
