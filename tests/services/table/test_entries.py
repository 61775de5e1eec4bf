"""What goes into one entry of the log, and what does not."""

from __future__ import annotations

import pytest

from kangtou_engine.actions import Action
from kangtou_services.table.commands import Command
from kangtou_services.table.core import MAX_QUEUE
from tests.services.table.deals import bodies, split_tens
from tests.services.tables import (
    PARROT,
    Played,
    action,
    agree,
    code_of,
    same,
)


def test_several_actions_in_one_entry() -> None:
    played, *_ = split_tens()
    commands = [played.command(seat, "pass") for seat in range(4)]
    for command in commands:
        played.table.submit(command)
    draft, answers = played.decide()
    assert draft is not None
    assert draft.entry is not None
    assert {code_of(answer) for answer in answers.values()} == {"accepted"}
    assert {answer.accepted.seq for answer in answers.values()} == {draft.entry.seq}
    body = bodies(played)[-1]
    assert [(step.seat, str(step.action)) for step in body.items] == [(seat, "pass") for seat in range(4)]
    assert played.table.state.phase == "play"
    same(played.table, played.loaded())


@pytest.mark.parametrize(
    ("text", "code"),
    [("dance", "unknown_verb"), ("play RJ BJ", "not_in_hand"), ("play", "not_in_hand"), ("timeout", "unknown_verb")],
)
def test_a_refusal_is_not_stored_and_changes_nothing(text: str, code: str) -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    before = (played.entries, played.table.state, played.table.prompts, dict(played.table.done))
    assert code_of(played.send(seat, text, "id")) == code
    assert code_of(played.send((seat + 1) % 4, played.legal(seat)[1])) == "not_your_turn"
    assert (played.entries, played.table.state, played.table.prompts, played.table.done) == before
    assert code_of(played.send(seat, played.legal(seat)[0], "id")) == "accepted"  # it was not used up


@pytest.mark.parametrize("command_id", ["", "-", "*", "x" * 65, "a b", "a\nb", "ä"])
def test_ids_that_the_notation_does_not_take(command_id: str) -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    command = Command(seat, command_id, played.number(seat), action(played.legal(seat)[0]))
    played.table.submit(command)
    draft, early = played.table.draft(played.now)
    assert draft is None
    assert [code_of(answer) for _, answer in early] == ["bad_id"]


@pytest.mark.parametrize(
    "given",
    [
        None,
        Action("play", ("S3 S4",)),
        Action("play\n> 1 x 1 play", ("S3",)),
        Action("PLAY"),
        Action("play", (), (("as", "a b"),)),
        Action("play", ("S3",) * 300),
        Action(""),
    ],
    ids=str,
)
def test_actions_that_are_none(given: Action | None) -> None:
    """Nothing gets into the log that would not be read back as the same."""
    played = Played.begun(PARROT)
    seat = played.turn()
    answer = played.submit(Command(seat, "id", played.number(seat), given))
    assert answer.refused.rule == "CM-10.1"
    assert code_of(answer) in ("malformed", "too_long")
    assert played.table.seq == 2


def test_the_queue_is_bounded() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    command = played.command(seat, "dance")
    for _ in range(MAX_QUEUE):
        assert played.table.submit(command) is None
    answer = played.table.submit(command)
    assert answer is not None
    assert code_of(answer) == "too_many_waiting"
    assert len(played.table.drain()) == MAX_QUEUE


def test_a_draft_that_is_not_stored_is_decided_again() -> None:
    """Its commands wait in order before those that came later, refused ones too."""
    played = Played.begun(PARROT)
    seat = played.turn()
    one, two = played.legal(seat)[1:3]
    wrong, right, twice = (played.command(seat, text) for text in ("dance", one, two))
    for command in (wrong, right, twice):
        played.table.submit(command)
    before = played.table.state
    draft, _ = played.table.draft(played.now)
    assert draft is not None
    late = played.command((seat + 1) % 4, "dance")
    played.table.submit(late)
    played.table.discard(draft)
    assert played.table.state == before
    again, answers = played.decide()
    assert again is not None
    assert again.entry == draft.entry
    codes = [code_of(answers[command.command_id]) for command in (wrong, right, twice, late)]
    assert codes == ["unknown_verb", "accepted", "not_your_turn", "stale_prompt"]


def test_a_beginning_that_is_not_stored_begins_again() -> None:
    played = Played(PARROT, agree(PARROT))
    draft, _ = played.table.draft(played.now)
    assert draft is not None
    played.table.discard(draft)
    assert played.write() is not None
    assert played.table.begun
    same(played.table, played.loaded())


def test_a_game_that_raises_loses_no_command() -> None:
    """Whoever stops the table can answer all of them."""
    played = Played.begun(PARROT, {"raise_at": 1})
    seat = played.turn()
    first, fault, last = (played.command(seat, text) for text in ("dance", played.legal(seat)[0], "dance"))
    for command in (first, fault, last):
        played.table.submit(command)
    before = (played.table.state, played.table.prompts)
    with pytest.raises(ZeroDivisionError):
        played.table.draft(played.now)
    assert not played.table.busy
    assert (played.table.state, played.table.prompts) == before
    assert played.table.drain() == [first, fault, last]
