"""Deadlines, time-outs, and time that is given back. Design §4."""

from __future__ import annotations

from random import Random

from tests.services.table.deals import bodies, split_tens
from tests.services.tables import (
    PARROT,
    TURN_MS,
    Played,
    code_of,
    run,
    same,
)


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
