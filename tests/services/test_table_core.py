"""The table: commands, prompts, idempotency, drafts, clocks, standing answers. Design §4, §5."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from kangtou_engine.actions import Action
from kangtou_engine.cards import Seat
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import State
from kangtou_engine.notation import Left, Step, read_body
from kangtou_services.table import core, orders
from kangtou_services.table.commands import Command
from kangtou_services.table.core import MAX_QUEUE
from kangtou_services.table.draft import Draft
from tests.games import parrot
from tests.services.tables import (
    CREATED_MS,
    DELAY_MS,
    HONGSHI,
    PARROT,
    PLAIN,
    TURN_MS,
    WINDOW_MS,
    Played,
    action,
    agree,
    code_of,
    run,
    same,
)


def hongshi(**more: Any) -> Played:
    """A match in its reveal window."""
    return Played.begun(HONGSHI, {**PLAIN, **more.pop("options", {})}, **more)


def holder(played: Played, card: str) -> Seat:
    """Who holds a card."""
    return next(seat for seat, hand in enumerate(played.table.state.game.hands) if card in hand)


def split_tens(**more: Any) -> tuple[Played, Seat, Seat]:
    """A match in which the red tens are with two seats: HT's and DT's."""
    for number in range(100):
        played = hongshi(match=f"split{number}", **more)
        hearts, diamonds = holder(played, "HT"), holder(played, "DT")
        if hearts != diamonds:
            return played, hearts, diamonds
    raise AssertionError


def bodies(played: Played) -> list[Any]:
    """The log, read."""
    return [read_body(entry.body) for entry in played.entries]


# ---- idempotency ----


def test_an_accepted_command_is_applied_once_and_answered_alike() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    command = played.command(seat, played.legal(seat)[0], "once")
    first = played.submit(command)
    assert first.accepted.seq == played.table.seq
    entries, state = played.entries, played.table.state
    assert [played.submit(command) for _ in range(3)] == [first] * 3
    assert (played.entries, played.table.state) == (entries, state)


def test_sent_three_times_at_once() -> None:
    """All in one draft."""
    played = Played.begun(PARROT)
    seat = played.turn()
    command = played.command(seat, played.legal(seat)[0], "once")
    for _ in range(3):
        assert played.table.submit(command) is None
    draft, early = played.table.draft(played.now)
    assert draft is not None
    assert draft.entry is not None
    assert early == []
    assert len(draft.items) == 1
    assert [str(answer) for _, answer in draft.answers] == [str(draft.answers[0][1])] * 3
    assert draft.answers[0][1].accepted.seq == draft.entry.seq


def test_sent_again_while_its_entry_is_under_way() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    command = played.command(seat, played.legal(seat)[0], "once")
    played.table.submit(command)
    draft, _ = played.table.draft(played.now)
    assert draft is not None
    assert draft.entry is not None
    assert played.table.pending(command)
    played.table.submit(command)
    assert played.table.draft(played.now) == (None, [])  # one at a time
    run(played.log.append(played.match, draft.entry))
    played.table.commit(draft)
    again, answers = played.decide()
    assert again is None
    assert answers["once"] == draft.answers[0][1]
    assert not played.table.pending(command)


def test_sent_again_after_a_restart_and_in_the_next_round() -> None:
    """Ids of the round in play and the one before are kept, also by a loader."""
    played = Played.begun(PARROT, {"rounds": 4})
    rng = Random(1)
    seat = played.turn()
    command = played.command(seat, played.legal(seat)[0], "first")
    first = played.submit(command)
    while played.table.state.sheet.round == 1:
        played.play_on(rng, 1)
    last = played.drafts[-1].commands[0]  # the one that ended round 1
    ended = played.drafts[-1].answers[0][1]
    for _ in range(2):
        assert played.submit(command) == first
        assert played.submit(last) == ended
        played.take_over()
    while played.table.state.sheet.round == 2:
        played.play_on(rng, 1)
    for _ in range(2):
        assert played.submit(last) == ended  # its entry is where round 2 began
        assert code_of(played.submit(command)) in ("stale_prompt", "not_your_turn")  # long gone, and harmless
        played.take_over()


def test_other_content_under_the_same_id_is_refused() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    one, two = played.legal(seat)[1:3]
    assert code_of(played.send(seat, one, "id")) == "accepted"
    before = played.table.state
    for _ in range(2):
        assert code_of(played.send(seat, two, "id")) == "id_reused"
        assert code_of(played.leave(seat, one, command_id="id")) == "id_reused"
        assert played.table.state == before
        played.take_over()
    other = played.turn()
    assert other != seat
    assert code_of(played.send(other, played.legal(other)[0], "id")) == "accepted"  # ids are each seat's own


def test_the_same_content_written_otherwise_is_the_same() -> None:
    """Cards in another order: content is compared in canonical form."""
    both = (hongshi(match=f"both{number}") for number in range(200))
    played = next(one for one in both if holder(one, "HT") == holder(one, "DT"))
    seat = holder(played, "HT")
    first = played.send(seat, "reveal HT DT", "id")
    assert code_of(first) == "accepted"
    again = played.send(seat, "reveal DT HT", "id")
    assert again == first


def test_a_repeat_after_the_end_gets_its_first_answer() -> None:
    played = Played.begun(PARROT, {"rounds": 1}, seats=2)
    played.play_on(Random(3))
    assert played.table.cause == "rules"
    last, answer = played.drafts[-1].answers[0]
    for _ in range(2):
        assert played.submit(last) == answer
        assert code_of(played.send(0, "play S3")) == "match_over"
        played.table = played.loaded()


# ---- prompts ----


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


# ---- entries ----


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


# ---- the beginning ----

ENTROPIES = {seat: bytes([seat]) * 16 for seat in range(4)}


def opened(played: Played) -> list[bytes]:
    """What the log says that the seats opened."""
    begin = next(body.begin for body in bodies(played) if body.begin is not None)
    return [bytes.fromhex(text) for text in begin]


def test_a_match_begins_when_all_have_opened_their_entropies() -> None:
    played = Played(PARROT, agree(PARROT, entropies=ENTROPIES))
    for seat, entropy in ENTROPIES.items():
        assert played.write() is None
        assert code_of(played.send(seat, "play S3")) == "not_begun"
        played.table.open_entropy(seat, entropy)
    assert played.write() is not None
    assert opened(played) == list(ENTROPIES.values())
    assert played.table.entropies == ENTROPIES
    same(played.table, played.loaded())


def test_entropies_that_are_missing_or_wrong_count_as_empty() -> None:
    played = Played(PARROT, agree(PARROT, entropies={0: b"zero", 1: b"one", 2: b"two"}))
    table = played.table
    table.open_entropy(0, b"zero")
    table.open_entropy(0, b"other")
    table.open_entropy(1, b"wrong")
    table.open_entropy(2, b"x" * 65)
    table.open_entropy(3, b"never committed to")
    assert table.wake_at() == CREATED_MS + played.agreement.open_wait_ms
    assert played.write() is None
    played.now += played.agreement.open_wait_ms
    assert played.write() is not None
    assert opened(played) == [b"zero", b"", b"", b""]
    table.open_entropy(1, b"one")  # too late
    assert table.entropies == {0: b"zero"}
    same(table, played.loaded())


def test_an_entropy_that_comes_while_the_beginning_is_under_way_is_too_late() -> None:
    played = Played(PARROT, agree(PARROT, entropies={0: b"zero"}, open_wait_ms=0))
    draft, _ = played.table.draft(played.now)
    assert draft is not None
    assert draft.entry is not None
    played.table.open_entropy(0, b"zero")
    run(played.log.append(played.match, draft.entry))
    played.table.commit(draft)
    assert played.table.entropies == {}
    same(played.table, played.loaded())


def test_takeovers_before_the_beginning() -> None:
    """However many: the entropies are found again in a later round."""
    played = Played(PARROT, agree(PARROT, {"rounds": 5}, entropies=ENTROPIES))
    for _ in range(40):
        played.take_over()
    for seat, entropy in ENTROPIES.items():
        played.table.open_entropy(seat, entropy)
    played.write()
    rng = Random(2)
    while not played.table.over:
        played.play_on(rng, 7)
        same(played.table, played.loaded())


# ---- clocks ----


def test_a_time_out_is_the_default_action() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    default = str(played.game.default(played.table.state, seat))
    deadline = played.deadline(seat)
    assert played.table.wake_at() == deadline
    played.now = deadline - 1
    assert played.write() is None
    played.now = deadline
    assert played.write() is not None
    (step,) = bodies(played)[-1].items
    assert (step.seat, str(step.action)) == (None, f"timeout seat={seat}")
    assert [line.split()[0] for line in step.events[:2]] == ["timed_out", "played"]
    assert default.split()[1] in step.events[1]
    same(played.table, played.loaded())


def test_all_due_seats_of_a_window_at_once() -> None:
    played, hearts, _ = split_tens()
    played.send(hearts, "pass")
    played.now = played.deadline((hearts + 1) % 4)
    assert played.write() is not None
    late = [step.action.key("seat") for step in bodies(played)[-1].items]
    assert late == [str(seat) for seat in range(4) if seat != hearts]
    assert played.table.state.phase == "play"


def test_a_seat_that_is_asked_again_gets_a_fresh_clock() -> None:
    """CM-8.3. One time-out each, however late the table is."""
    played = Played.begun(PARROT, seats=2)
    played.now += 10 * TURN_MS
    assert played.write() is not None
    assert len(bodies(played)[-1].items) == 1
    assert played.deadline(played.turn()) == played.now + TURN_MS
    assert played.write() is None


def test_a_command_that_comes_late_but_first_counts() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    played.now = played.deadline(seat)
    assert code_of(played.send(seat, played.legal(seat)[1])) == "accepted"
    assert [step.seat for step in bodies(played)[-1].items] == [seat]


def test_time_given_back_moves_deadlines_and_is_recorded() -> None:
    played = Played.begun(PARROT)
    seat = played.turn()
    deadline = played.deadline(seat)
    played.table.give_back(5_000)
    played.table.give_back(2_000)
    assert played.deadline(seat) == deadline + 7_000
    played.now = deadline + 6_999
    assert played.write() is None
    assert code_of(played.send(seat, "dance")) == "unknown_verb"  # stores nothing
    assert code_of(played.send(seat, played.legal(seat)[0])) == "accepted"
    assert bodies(played)[-1].given_ms == 7_000
    same(played.table, played.loaded())
    played.play_on(Random(1), 1)
    assert bodies(played)[-1].given_ms == 0


def test_time_given_back_while_an_entry_is_under_way() -> None:
    """It moves the deadlines that the entry sets, and is recorded in the entry after."""
    played, hearts, _ = split_tens()
    other = (hearts + 1) % 4
    deadline = played.deadline(other)
    played.table.give_back(1_000)
    played.table.submit(played.command(hearts, "pass"))
    draft, _ = played.table.draft(played.now)
    assert draft is not None
    assert draft.entry is not None
    played.table.give_back(30_000)
    run(played.log.append(played.match, draft.entry))
    played.table.commit(draft)
    assert bodies(played)[-1].given_ms == 1_000
    assert played.deadline(other) == deadline + 31_000
    played.send(other, "pass")
    assert bodies(played)[-1].given_ms == 30_000
    assert played.deadline((hearts + 2) % 4) == deadline + 31_000
    same(played.table, played.loaded())


def test_time_given_back_with_a_draft_that_is_dropped() -> None:
    played, hearts, _ = split_tens()
    other = (hearts + 1) % 4
    deadline = played.deadline(other)
    played.table.submit(played.command(hearts, "pass"))
    draft, _ = played.table.draft(played.now)
    assert draft is not None
    played.table.give_back(30_000)
    played.table.discard(draft)
    assert played.deadline(other) == deadline + 30_000
    played.write()
    assert bodies(played)[-1].given_ms == 30_000
    assert played.deadline(other) == deadline + 30_000
    same(played.table, played.loaded())


# ---- ends outside the rules ----


@pytest.mark.parametrize("begun", [True, False])
def test_closing(begun: bool) -> None:
    played = Played(PARROT, agree(PARROT, entropies={} if begun else ENTROPIES))
    played.write()
    assert played.table.begun is begun
    with pytest.raises(RuntimeError):
        played.table.reveal_seed()
    draft = played.table.close(played.now, "abandoned")
    assert draft is not None
    assert draft.entry is not None
    assert played.table.close(played.now, "operator") is None  # one is out
    played.table.submit(played.command(0, "play S3"))
    run(played.log.append(played.match, draft.entry))
    played.table.commit(draft)
    assert (played.table.over, played.table.cause, played.table.receipt) == (True, "abandoned", draft.entry.chain)
    assert len(played.table.reveal_seed()) == 32
    assert played.table.wake_at() is None
    same(played.table, played.loaded())
    played.now += 100 * TURN_MS  # nothing happens any more, by no clock and no command
    table = played.table
    for _ in range(2):
        played.table = table
        assert {code_of(answer) for answer in played.decide()[1].values()} <= {"match_over"}
        assert code_of(played.send(0, "play S3")) == "match_over"
        assert code_of(played.leave(0, "play S3")) == "match_over"
        assert played.table.close(played.now, "operator") is None
        assert len(played.entries) == draft.entry.seq
        table = played.loaded()


def test_the_rules_end_a_match_in_the_same_entry() -> None:
    played = Played.begun(PARROT, {"rounds": 1}, seats=2)
    played.play_on(Random(1))
    body = bodies(played)[-1]
    assert body.end == "rules"
    assert "match_over" in body.items[-1].events[-1]
    assert played.table.over
    assert played.table.wake_at() is None
    assert played.write() is None


# ---- standing answers ----


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
