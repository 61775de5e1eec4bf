"""The course of a match that all games share. CM-1 to CM-9, on the toy game and the registered ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import DECK52, Cards, in_order, parse_cards
from kangtou_engine.chance import GivenDecks
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, kind_of, to_text
from kangtou_engine.match.events import LotDrawn, MatchOver, PileCut, RoundBegan, Scored, TimedOut
from kangtou_engine.match.lot import counts
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.registry import SPECS
from kangtou_engine.shuffle import SeededChance
from tests.engine.tables import chance_of, facts_of
from tests.engine.toy import TOY_1

TOY = Game(TOY_1)
DECK: Cards = tuple(reversed(DECK52))
GAMES = [pytest.param(Game(spec), id=spec.id) for spec in SPECS]


def begin(options: dict[str, object] | None = None, seats: int = 4, lots: str = "SA ST H9 D3") -> tuple[Any, ...]:
    """Events, state and chance of a match of the toy with this lot (drawings separated by /)."""
    chance = GivenDecks(chance_of(7), lots=[parse_cards(draws) for draws in lots.split("/")])
    return (*TOY.begin(TOY.config(options, seats), chance), chance)


def act(state: AnyState, chance: Any, *lines: str, game: Game = TOY) -> tuple[list[Event], AnyState]:
    """Lines `SEAT ACTION` or `- ACTION` in order."""
    events: list[Event] = []
    for line in lines:
        who, _, said = line.partition(" ")
        more, state = game.step(state, None if who == "-" else int(who), parse_action(said), chance)
        events += more
    return events, state


def play_out(state: AnyState, chance: Any, game: Game = TOY) -> AnyState:
    """Default actions to the end of the round."""
    while state.phase not in ("between", "over"):
        state = act(state, chance, "- timeout", game=game)[1]
    return state


def refusal(state: AnyState, line: str, game: Game = TOY) -> tuple[str, str]:
    """Rule and code of a refused line; the state is as it was."""
    before = repr(state)
    with pytest.raises(IllegalAction) as refused:
        act(state, chance_of(1), line, game=game)
    assert repr(state) == before
    return refused.value.rule, refused.value.code


# ---- CM-2 ----


@pytest.mark.parametrize(
    ("card", "count"),
    [("S2", 2), ("H9", 9), ("DT", 10), ("CJ", 1), ("SQ", 1), ("HK", 1), ("DA", 1), ("BJ", 1), ("RJ", 1), ("C3", 3)],
)
def test_cm_2_1_what_a_card_counts(card: str, count: int) -> None:
    """2–9 their number, a ten 10, others 1."""
    assert counts(card) == count


@pytest.mark.parametrize(
    ("lots", "dealer", "highest"),
    [
        ("SA ST H9 D3", 1, [(1,)]),
        ("S9 SK D9 DA/S8 HT", 2, [(0, 2), (2,)]),
        ("SA HA CA DA/SK HK CK DK/S3 H4 C5 D6", 3, [(0, 1, 2, 3), (0, 1, 2, 3), (3,)]),
        ("ST HT CT D9/S2 HJ C2/SQ H3", 2, [(0, 1, 2), (0, 2), (2,)]),
    ],
)
def test_cm_2_2_ties_draw_again(lots: str, dealer: int, highest: list[tuple[int, ...]]) -> None:
    """Only the tied seats, in seat order; the highest deals; the draws stay public."""
    events, state, _ = begin(lots=lots)
    drawn = [event for event in events if isinstance(event, LotDrawn)]
    assert [event.highest for event in drawn] == highest
    assert (state.sheet.dealer, state.sheet.first) == (dealer, dealer)
    assert [" ".join(draws) for draws in TOY.view(state, None).sheet.lot] == lots.split("/")
    assert state.phase == "cut"
    assert TOY.to_act(state) == ((dealer - 1) % 4,)


def test_cm_2_random_lots_are_fair() -> None:
    """2,000 lots of four seats; three degrees of freedom: beyond 21 would happen once in 10,000."""
    dealers = [TOY.begin(TOY.config(), SeededChance(f"lot-{n}", bytes(32), ()))[1].sheet.dealer for n in range(2_000)]
    assert sum((dealers.count(seat) - 500) ** 2 for seat in range(4)) / 500 < 21


@pytest.mark.parametrize("game", GAMES)
def test_cm_2_lot_of_games(game: Game) -> None:
    """Cards of the pack, one for each seat still tied; the first drawer follows from it (or is named, EB-2.2)."""
    facts = facts_of(game.spec.name)
    for number, (seats, options) in enumerate(facts.OPTION_SETS):
        config = game.config({"rounds": 2, **options}, seats)
        events, state = game.begin(config, chance_of(number))
        draws = [event for event in events if isinstance(event, LotDrawn)]
        named = game.spec.first_seat(config)
        if named is not None:
            assert not draws
            assert state.sheet.first == named
            continue
        assert len(draws[0].draws) == config.seats
        assert len(draws[-1].highest) == 1
        assert state.sheet.first == draws[-1].highest[0]
        for event in draws:
            assert set(event.draws) <= set(game.spec.pack(config))


# ---- CM-3, CM-4 ----


def test_cm_4_1_cut() -> None:
    """N cards from the top go beneath, in their order; then the deal, in turn from the dealer."""
    chance = GivenDecks(chance_of(1), decks=[DECK], lots=[parse_cards("SA ST H9 D3")])
    _, state = TOY.begin(TOY.config(), chance)
    events, state = act(state, chance, "0 cut 10")
    pile = DECK[10:] + DECK[:10]
    assert kind_of(type(events[0])) == "pile_cut"
    assert state.game.hands[1] == in_order(pile[0:12:4])
    assert state.game.hands[0] == in_order(pile[3:12:4])
    assert state.game.stock == pile[12:]
    assert state.sheet.cut == TOY.view(state, None).sheet.cut == 10


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 cut 0", ("CM-4.1", "cut_range")),
        ("0 cut 52", ("CM-4.1", "cut_range")),
        ("0 cut", ("CM-10.1", "wants_number")),
        ("0 cut H6", ("CM-10.1", "wants_number")),
        ("0 cut 1 2", ("CM-10.1", "wants_number")),
        ("0 cut 1 x=1", ("CM-10.1", "wants_number")),
        ("0 play H6", ("CM-4.1", "unknown_verb")),
        ("1 cut 10", ("CM-10.2", "not_your_turn")),
        ("9 cut 10", ("CM-10.2", "not_your_turn")),
        ("- cut 10", ("CM-10.1", "unknown_verb")),
    ],
)
def test_cm_4_1_refusals(line: str, said: tuple[str, str]) -> None:
    """Dealer 1: seat 0 cuts, 1 to 51."""
    assert refusal(begin()[1], line) == said


@pytest.mark.parametrize("n", [1, 51])
def test_cm_4_1_range(n: int) -> None:
    """All cards but one is the most; the list ends there, and is TooMany above a limit."""
    _, state, chance = begin()
    assert act(state, chance, f"0 cut {n}")[1].phase == "play"
    legal = TOY.legal(state, 0)
    assert isinstance(legal, tuple)
    assert (len(legal), str(legal[0]), str(legal[-1])) == (51, "cut 1", "cut 51")
    assert not isinstance(TOY.legal(state, 0, 50), tuple)


def test_cm_4_2_no_cut() -> None:
    """The shuffled pile is dealt as it is."""
    events, state, chance = begin({"cut": False})
    assert state.phase == "play"
    assert not any(isinstance(event, PileCut) for event in events)
    (began,) = (event for event in events if isinstance(event, RoundBegan))
    assert began.pile == chance.shuffle(DECK52, "pack", 1)
    assert began.pile is not None
    assert state.game.stock == began.pile[12:]


def test_cm_3_every_round_has_its_own_shuffle() -> None:
    """The pack is shuffled under the number of the deal."""
    _, state, chance = begin({"rounds": 3, "between": False, "cut": False})
    piles = []
    while state.phase != "over":
        events, state = act(state, chance, "- timeout")
        piles += [event.pile for event in events if isinstance(event, RoundBegan)]
    assert piles == [chance.shuffle(DECK52, "pack", 2), chance.shuffle(DECK52, "pack", 3)]


def test_cm_12_2_pile_is_never_shown() -> None:
    """Not in events, not in views."""
    events, state, chance = begin()
    more, state = act(state, chance, "0 cut 9")
    for event in (*events, *more):
        for viewer in (0, 1, None):
            assert "pile=" not in to_text(event.seen_by(viewer))
    assert TOY.view(state, 0).sheet.pile == ()


# ---- CM-5, CM-6, CM-7 ----


def ended(options: dict[str, object] | None = None) -> tuple[AnyState, Any]:
    """A match of the toy, after the first round."""
    _, state, chance = begin(options)
    return play_out(state, chance), chance


def test_cm_6_1_between() -> None:
    """All are asked; round, dealer, results stay; the next dealer is public."""
    state, _ = ended()
    assert state.phase == "between"
    assert TOY.to_act(state) == (0, 1, 2, 3)
    assert (state.sheet.round, state.sheet.dealer, state.sheet.next_dealer) == (1, 1, 2)
    assert state.sheet.last_round is not None
    assert state.sheet.last_round["points"] == state.sheet.scores
    assert TOY.view(state, None).game == state.game


def test_cm_6_1_answers_are_final_and_public() -> None:
    """In any order, once."""
    state, chance = ended({"vote_end": True})
    asked = TOY.asked(state)
    _, state = act(state, chance, "2 vote_end")
    assert TOY.to_act(state) == (0, 1, 3)
    assert TOY.asked(state) == asked
    assert TOY.view(state, 0).sheet.answers == ("", "", "vote_end", "")
    assert refusal(state, "2 ready") == ("CM-10.2", "not_your_turn")
    assert refusal(state, "0 ready 7") == ("CM-10.1", "takes_nothing")
    assert refusal(state, "0 play H6") == ("CM-6.1", "unknown_verb")


def test_cm_6_2_all_vote() -> None:
    """The match is over, judged as it stands (CM-7.3)."""
    state, chance = ended({"vote_end": True, "rounds": 9})
    _, state = act(state, chance, "2 vote_end", "0 vote_end", "3 vote_end", "1 vote_end")
    assert state.phase == "over"
    assert (state.sheet.round, state.sheet.next_dealer) == (1, None)


def test_cm_6_2_one_goes_on() -> None:
    """The next round begins with the last answer only, and nothing of the vote carries over."""
    state, chance = ended({"vote_end": True, "rounds": 9})
    _, state = act(state, chance, "2 ready", "0 vote_end", "3 vote_end")
    assert state.phase == "between"
    _, state = act(state, chance, "1 vote_end")
    assert (state.phase, state.sheet.round, state.sheet.dealer, state.sheet.answers) == ("cut", 2, 2, ())
    assert state.sheet.next_dealer is None
    assert state.sheet.last_round is not None
    assert state.sheet.last_round["round"] == 1


def test_cm_6_3_last_round() -> None:
    """Over at once, without between."""
    state, _ = ended({"rounds": 1})
    assert state.phase == "over"
    assert TOY.to_act(state) == ()
    assert all(TOY.legal(state, seat) == () for seat in range(4))


def test_cm_6_4_no_between() -> None:
    """The next round begins in the same step as the score."""
    _, state, chance = begin({"rounds": 2, "between": False})
    events: list[Event] = []
    while not any(isinstance(event, Scored) for event in events):
        events, state = act(state, chance, "- timeout")
    assert (state.phase, state.sheet.round) == ("cut", 2)
    assert [kind_of(type(event)) for event in events[-3:]] == ["shown", "scored", "round_began"]


def test_cm_6_5_no_vote() -> None:
    """Refused and not listed."""
    state, _ = ended()
    assert refusal(state, "0 vote_end") == ("CM-6.5", "no_vote")
    assert TOY.legal(state, 0) == (Action("ready"),)


@pytest.mark.parametrize(
    ("scores", "better", "places"),
    [
        ((4, -10, 4, 2), 1, (1, 4, 1, 3)),
        ((0, 0, 0, 0), 1, (1, 1, 1, 1)),
        ((-2, 2, -2, 2), 1, (3, 1, 3, 1)),
        ((10, 250, 30, 30), -1, (1, 4, 2, 2)),
        ((5, 7), -1, (1, 2)),
    ],
)
def test_cm_7_2_places(scores: tuple[int, ...], better: int, places: tuple[int, ...]) -> None:
    """1 + the number of seats that did better; equal scores share the better place."""
    game = Game(replace(TOY_1, better=better, is_over=lambda state: True))
    state = game.before(game.config({}, len(scores)))
    state = state.with_sheet(replace(state.sheet, scores=scores), "scored")
    state = game.settle(state, chance_of(1))
    assert state.phase == "over"
    assert state.sheet.places == places
    assert game.view(state, None).sheet.places == places


def test_cm_7_1_over() -> None:
    """Nothing changes any more."""
    state, _ = ended({"rounds": 1})
    for line in ("0 ready", "0 cut 1", "0 play H6"):
        assert refusal(state, line) == ("CM-7.1", "match_over")
    assert refusal(state, "- timeout") == ("CM-8.2", "nobody_to_act")
    assert refusal(state, "- timeout seat=0") == ("CM-8.2", "nobody_to_act")
    assert refusal(state, "- fly") == ("CM-7.1", "match_over")


# ---- CM-8 ----


def test_cm_8_1_defaults() -> None:
    """Half the pack is cut; ready."""
    _, state, chance = begin()
    events, after = act(state, chance, "- timeout")
    assert events[:2] == [TimedOut(0), PileCut(0, 26)]
    state = play_out(after, chance)
    assert TOY.default(state, 3) == Action("ready")


def test_cm_8_2_for_all_or_for_one() -> None:
    """In seat order, each seat once."""
    state, chance = ended({"rounds": 9})
    events, after = act(state, chance, "- timeout seat=2")
    assert events[0] == TimedOut(2)
    assert TOY.to_act(after) == (0, 1, 3)
    events, after = act(after, chance, "- timeout")
    assert [event.seat for event in events if isinstance(event, TimedOut)] == [0, 1, 3]
    assert after.phase == "cut"
    assert sum(isinstance(event, (PileCut, MatchOver)) for event in events) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("- timeout seat=1", ("CM-8.2", "not_your_turn")),
        ("- timeout seat=4", ("CM-8.2", "bad_seat")),
        ("- timeout seat=00", ("CM-8.2", "bad_seat")),
        ("- timeout seat=x", ("CM-8.2", "bad_seat")),
        ("- timeout seat=-1", ("CM-8.2", "bad_seat")),
        ("- timeout 0", ("CM-8.2", "takes_nothing")),
        ("- timeout who=0", ("CM-8.2", "takes_nothing")),
        ("- penalise seat=0", ("CM-10.1", "unknown_verb")),
        ("0 timeout", ("CM-4.1", "unknown_verb")),
    ],
)
def test_cm_8_2_refusals(line: str, said: tuple[str, str]) -> None:
    """Seat 0 is to cut."""
    assert refusal(begin()[1], line) == said


@pytest.mark.parametrize("game", GAMES)
def test_cm_8_matches_of_absent_players_end(game: Game) -> None:
    """Default actions alone bring a match of every game to its end, or at least through three rounds."""
    chance = chance_of(3)
    _, state = game.begin(game.config({"rounds": 3}), chance)
    for _ in range(5_000):
        if state.phase == "over" or state.sheet.round > 3:
            break
        _, state = act(state, chance, "- timeout", game=game)
    assert state.phase == "over"
    assert state.sheet.places is not None
