"""Prompts and their numbers; what is refused. Design §5."""

from __future__ import annotations

from random import Random

from tests.services.table.deals import split_tens
from tests.services.tables import (
    PARROT,
    TURN_MS,
    WINDOW_MS,
    Played,
    code_of,
)


def test_a_reveal_asks_anew() -> None:
    """HS-4.4: an answer sent before a reveal is not taken as the answer to the new question."""
    played, hearts, _ = split_tens()
    other, third, fourth = (seat for seat in range(4) if seat != hearts)
    old = played.number(other)
    assert {played.number(seat) for seat in range(4)} == {old}
    assert code_of(played.send(hearts, "reveal HT")) == "accepted"
    assert {played.number(seat) for seat in range(4)} == {played.table.seq}
    assert code_of(played.send(other, "pass", prompt=old)) == "stale_prompt"
    assert code_of(played.send(hearts, "pass", prompt=old)) == "stale_prompt"
    assert code_of(played.send(other, "pass")) == "accepted"
    # Another seat's answer in the same window changes nothing for the others.
    number, deadline = played.number(third), played.deadline(third)
    played.now += 500
    assert code_of(played.send(fourth, "pass")) == "accepted"
    assert (played.number(third), played.deadline(third)) == (number, deadline)
    assert code_of(played.send(third, "pass", prompt=number)) == "accepted"


def test_a_reveal_and_an_older_answer_in_one_draft() -> None:
    """What was sent before the reveal was decided is stale, also in the same entry."""
    played, hearts, _ = split_tens()
    other = (hearts + 1) % 4
    reveal, answer = played.command(hearts, "reveal HT"), played.command(other, "pass")
    for command in (reveal, answer):
        played.table.submit(command)
    _, answers = played.decide()
    assert code_of(answers[reveal.command_id]) == "accepted"
    assert code_of(answers[answer.command_id]) == "stale_prompt"


def test_a_prompt_of_the_future_is_refused_as_well() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    assert code_of(played.send(seat, played.legal(seat)[0], prompt=played.number(seat) + 1)) == "stale_prompt"
    assert code_of(played.send(seat, played.legal(seat)[0], prompt=0)) == "stale_prompt"


def test_numbers_are_those_of_the_entries_that_asked() -> None:
    played = Played.begun(PARROT, {"between": True, "rounds": 2})
    rng = Random(5)
    while not played.table.over:
        asked = played.table.prompts.asked
        acting = played.game.to_act(played.table.state)
        assert [seat for seat, one in enumerate(asked) if one] == list(acting)
        window = len(acting) == 4
        for one in filter(None, asked):
            assert one.number <= played.table.seq
            if one.number == played.table.seq:
                assert one.deadline_ms == played.now + (WINDOW_MS if window else TURN_MS)
        played.play_on(rng, 1)
    assert played.table.prompts.asked == (None,) * 4
