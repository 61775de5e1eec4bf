"""Standing answers. Design §5, "Windows"."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from kangtou_engine.actions import Action
from kangtou_engine.cards import Seat
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import State
from kangtou_engine.notation import Left, Step
from kangtou_services.table import core, orders
from kangtou_services.table.draft import Draft
from tests.games import parrot
from tests.services.table.deals import bodies, split_tens
from tests.services.tables import (
    DELAY_MS,
    Played,
    code_of,
    same,
)


def steps(draft: Draft | None) -> list[tuple[Seat | None, str, str]]:
    """Seat, command id and action of an entry's actions."""
    assert draft is not None
    return [(item.seat, item.command, str(item.action)) for item in draft.items if isinstance(item, Step)]


def test_standing_answers_of_bots_come_at_once_and_together() -> None:
    played, hearts, _ = split_tens()
    others = [seat for seat in range(4) if seat != hearts]
    for seat in others[1:]:
        assert code_of(played.leave(seat, "pass")) == "accepted"
    assert [(seat, text) for draft in played.drafts[1:] for seat, _, text in steps(draft)] == [
        (seat, "pass") for seat in others[1:]
    ]
    number = played.number(hearts)
    answer = played.send(hearts, "reveal HT")
    assert code_of(answer) == "accepted"
    assert steps(played.drafts[-1])[1:] == [(seat, "*", "pass") for seat in others[1:]]
    assert played.number(hearts) == answer.accepted.seq > number
    assert bodies(played)[-1].items[1].prompt == answer.accepted.seq
    same(played.table, played.loaded())


def test_a_standing_answer_is_told_to_nobody() -> None:
    played, hearts, _ = split_tens(people=(0, 1, 2, 3))
    before = len(played.table.history)
    played.leave(hearts, "pass")
    (_, _, events) = played.table.history[-1]
    assert len(played.table.history) == before + 1
    assert events == ()
    assert played.drafts[-1].events == []


def test_standing_answers_do_not_fill_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is an entry: a seat has so many a round. What it left last goes on; the other seats have their own."""
    monkeypatch.setattr(orders, "MAX_LEFT", 5)
    played, hearts, _ = split_tens(people=(0, 1, 2, 3))
    answers = [code_of(played.leave(hearts, "pass")) for _ in range(7)]
    assert answers == ["accepted"] * 5 + ["too_many_standing"] * 2
    assert hearts in played.table.standing
    assert code_of(played.leave((hearts + 1) % 4, "pass")) == "accepted"
    played.take_over()
    assert code_of(played.leave(hearts, "pass")) == "too_many_standing"


def test_standing_answers_of_people_take_the_drawn_time() -> None:
    """Whatever the hand is; also after a takeover the moment is drawn anew."""
    played, hearts, _ = split_tens(people=(0, 1, 2, 3))
    other = (hearts + 1) % 4
    played.leave(other, "pass")
    assert [type(item) for item in played.drafts[-1].items] == [Left]
    assert played.table.wake_at() == played.now + DELAY_MS
    played.now += DELAY_MS - 1
    assert played.write() is None
    played.now += 1
    assert steps(played.write()) == [(other, "*", "pass")]
    assert played.table.wake_at() == played.deadline(hearts)  # nothing is waited for any more
    played.send(hearts, "reveal HT")
    played.take_over()
    assert played.write() is None
    assert played.table.wake_at() == played.now + DELAY_MS
    played.now += DELAY_MS
    assert steps(played.write()) == [(other, "*", "pass")]


def test_one_who_answers_himself_leaves_no_moment_behind() -> None:
    """The table is not woken for it, and the next answer takes its own time."""
    played, hearts, _ = split_tens(people=(0, 1, 2, 3))
    other = (hearts + 1) % 4
    played.leave(other, "pass")
    played.send(other, "pass")
    played.now += DELAY_MS + 1
    assert played.table.wake_at() == played.deadline(hearts)
    played.send(hearts, "reveal HT")
    assert len(steps(played.drafts[-1])) == 1
    assert played.table.wake_at() == played.now + DELAY_MS


def test_a_standing_answer_comes_before_the_time_runs_out() -> None:
    """Also where the drawn moment would be later than the deadline."""
    played, hearts, _ = split_tens(people=(0, 1, 2, 3), window_ms=300)
    played.leave(hearts, "pass")
    played.now = played.deadline(hearts)
    assert steps(played.write())[0] == (hearts, "*", "pass")


def test_a_revoked_answer_is_given_no_more() -> None:
    played, hearts, _ = split_tens(people=(0, 1, 2, 3))
    assert code_of(played.leave(hearts, "pass", command_id="left")) == "accepted"
    assert code_of(played.leave(hearts, None, until="ever", command_id="gone")) == "accepted"
    played.now += DELAY_MS
    assert played.write() is None
    for _ in range(2):  # a repeat does not leave it again
        assert code_of(played.leave(hearts, "pass", command_id="left")) == "accepted"
        assert code_of(played.leave(hearts, None, until="ever", command_id="gone")) == "accepted"
        assert code_of(played.leave(hearts, None, command_id="left")) == "id_reused"
        assert played.table.standing == {}
        played.take_over()


def test_an_answer_that_does_not_fit_is_dropped() -> None:
    """And stays so, also for a loader; its seat then decides itself."""
    played, hearts, _ = split_tens(people=(0, 1, 2, 3))
    others = [seat for seat in range(4) if seat != hearts]
    for seat in range(4):
        played.leave(seat, "pass")
    played.now += DELAY_MS
    assert len(steps(played.write())) == 4
    leader = played.turn()
    assert sorted(played.table.standing) == [seat for seat in range(4) if seat != leader]  # a leader cannot pass
    same(played.table, played.loaded())
    played.now += DELAY_MS
    assert played.write() is None
    assert others


def until_game(verdict: Any) -> Game:
    """Parrot with standing answers that a word ends."""

    def standing(state: State[Any], seat: Seat, answer: Action, until: str) -> bool | None:
        return bool(verdict(state, seat)) if until == "word" else None

    return Game(replace(parrot.GAME, standing=standing, standing_until=("word", "other")))


def test_words_of_the_game_end_an_answer() -> None:
    """Here: as soon as a card has been played, though it would still be legal."""
    game = until_game(lambda state, seat: len(state.game.hands[seat]) == parrot.HAND)
    played = Played.begun(game, seats=2, people=(0, 1))
    seat = played.turn()
    mine, other = played.legal(seat)[1:3]
    assert code_of(played.leave(seat, mine, until="never")) == "bad_until"
    assert played.table.standing == {}
    played.leave(seat, mine, until="word")
    played.send(seat, other)
    rng = Random(1)
    while played.turn() != seat:
        assert seat in played.table.standing
        same(played.table, played.loaded())
        played.play_on(rng, 1)
    assert mine in played.legal(seat)
    assert played.table.standing == {}
    same(played.table, played.loaded())


def test_an_answer_to_other_questions_waits() -> None:
    """`None` of the game: neither given nor dropped."""
    played = Played.begun(until_game(lambda state, seat: True), seats=2)
    seat = played.turn()
    played.leave(seat, played.legal(seat)[0], until="other")
    assert steps(played.drafts[-1]) == []
    assert played.write() is None
    assert seat in played.table.standing
    played.now = played.deadline(seat)
    assert steps(played.write())[0][0] is None  # it is no answer to this


def test_standing_answers_go_on_into_the_next_rounds() -> None:
    """A loader that reads two rounds knows of them, and of no others."""
    options = {"between": True, "rounds": 6}
    played = Played.begun(until_game(lambda state, seat: state.phase == "play"), options, seats=2, people=(0, 1))
    played.leave(0, "ready", until="other")
    played.leave(1, "ready", until="other")
    played.leave(1, None)
    rng = Random(4)
    while not played.table.over:
        assert set(played.table.standing) == {0}
        played.play_on(rng, 3)
        same(played.table, played.loaded())
        if rng.random() < 0.1:
            played.take_over()


def test_one_that_is_left_again_counts() -> None:
    played, hearts, _ = split_tens(people=(0, 1, 2, 3))
    played.leave(hearts, "reveal HT")
    played.leave(hearts, "pass")
    played.now += DELAY_MS
    assert steps(played.write()) == [(hearts, "*", "pass")]


def test_an_entry_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is more goes into the next one, commands and standing answers alike."""
    monkeypatch.setattr(core, "MAX_STEPS", 2)
    played, hearts, _ = split_tens()
    others = [seat for seat in range(4) if seat != hearts]
    for seat in others:
        played.leave(seat, "pass")
    reveal = played.send(hearts, "reveal HT")
    assert steps(played.drafts[-1]) == [(hearts, "c4", "reveal HT"), (others[0], "*", "pass")]
    assert code_of(reveal) == "accepted"
    assert steps(played.write()) == [(seat, "*", "pass") for seat in others[1:]]
    same(played.table, played.loaded())
    commands = [played.command(hearts, text) for text in ("dance", "pass", "pass", "dance")]
    for command in commands:
        played.table.submit(command)
    played.decide()
    assert not any(map(played.table.pending, commands))
