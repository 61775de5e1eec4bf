"""What is public, what is hidden. HS-13."""

from __future__ import annotations

import pytest

from kangtou_engine.events import to_text
from kangtou_engine.games.hongshi.state import Laid
from kangtou_engine.words import LANGUAGES
from tests.engine.hongshi.table import CHANCE, HONGSHI, play, setup, told

HANDS = ["H6 S8 HT", "S7 C8", "D7 DT", "D8 SK"]
VIEWERS = (0, 1, 2, 3, None)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_hs_13_2_hands_and_sides(viewer: int | None) -> None:
    """One's own hand; of the others how many; no sides."""
    own = HONGSHI.view(setup(hands=HANDS), viewer).game
    for seat, hand in enumerate(HANDS):
        assert sorted(own.hands[seat]) == sorted(hand.split() if seat == viewer else ["??"] * len(hand.split()))
    assert own.sides.up is None
    assert own.past.dealt is None


@pytest.mark.parametrize("viewer", VIEWERS)
def test_hs_13_3_finished_tricks_are_closed(viewer: int | None) -> None:
    """The current trick is public, what is won is not in any view."""
    state = play(setup(hands=HANDS), "- timeout", "0 play H6", "1 play S7")
    assert HONGSHI.view(state, viewer).game.trick == (Laid(0, ("H6",)), Laid(1, ("S7",)))
    state = play(state, "2 pass", "3 pass", "0 pass")
    view = HONGSHI.view(state, viewer).game
    assert view.trick == ()
    assert view.past.laid is None
    assert len(state.game.past.laid or ()) == 5
    assert "S7" not in repr(view)


@pytest.mark.parametrize("as_ten", ["", " as=ten"])
def test_hs_13_4_known_up(as_ten: str) -> None:
    """By revealing or by playing a red ten in either meaning; never that a seat is not up."""
    state = play(setup(hands=HANDS), "- timeout", "0 play H6", "1 pass")
    assert HONGSHI.view(state, 3).game.sides.known == ()
    state = play(state, f"2 play DT{as_ten}")
    assert HONGSHI.view(state, 3).game.sides.known == (2,)
    assert HONGSHI.view(state, 3).game.sides.up is None
    state = play(setup(hands=HANDS), "0 reveal HT")
    assert HONGSHI.view(state, None).game.sides.known == (0,)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_hs_13_5_the_round_is_published(viewer: int | None) -> None:
    """Hands as dealt, all plays, sides, points; everything is open then. CM-5.4."""
    lines = ["- timeout", "0 play H6", "1 play S7", "2 pass", "3 pass", "0 play S8", "1 pass", "2 play DT as=ten"]
    lines += ["3 play SK", "0 play HT", "1 pass", "2 pass", "3 pass", "1 play C8", "2 pass", "3 pass", "2 play D7"]
    state = play(setup(hands=HANDS), *lines)
    assert state.phase == "between"
    view = HONGSHI.view(state, viewer)
    assert view.game == state.game
    assert view.game.sides.up == view.game.sides.known == (0, 2)
    assert [sorted(hand) for hand in view.game.past.dealt or ()] == [sorted(hand.split()) for hand in HANDS]
    laid = [f"{one.seat} {' '.join(one.cards) or 'pass'}{' as=ten' * one.as_ten}" for one in view.game.past.laid or ()]
    assert laid == [line.replace(" play", "") for line in lines[1:]]


def test_hs_13_2_deal_is_seen_by_its_owner() -> None:
    """The event, as sent."""
    _, state = HONGSHI.begin(HONGSHI.config(), CHANCE)
    events, _ = told(state, "- timeout")
    texts = {viewer: [to_text(event.seen_by(viewer)) for event in events] for viewer in VIEWERS}
    dealt = "dealt hands=" + "/".join([",".join(["??"] * 10)] * 4)
    assert texts[None][-1] == dealt
    assert len({len(texts[viewer][-1]) for viewer in VIEWERS}) == 1
    assert all(texts[viewer][-1].count("??") == 30 for viewer in range(4))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_show(lang: str) -> None:
    """Head, seats in order, trick, hand low to high; nothing hidden. HS-13."""
    state = play(setup(hands=["H6 RJ S2 HT", *HANDS[1:]]), "0 reveal HT", "- timeout")
    lines = HONGSHI.spec.show(HONGSHI.view(state, 0), 0, lang)
    assert lines[-1].endswith("H6 S2 HT RJ")
    assert len(lines) == 7
    assert not any(card in " ".join(lines) for card in ("S7", "C8", "D7", "DT", "D8", "SK"))
    spectator = HONGSHI.spec.show(HONGSHI.view(state, None), None, lang)
    assert len(spectator) == 6
