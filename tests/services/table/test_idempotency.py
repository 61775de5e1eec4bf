"""A command is applied once, and answered alike whenever it comes again. Design §4."""

from __future__ import annotations

from random import Random

from tests.services.table.deals import holder, hongshi
from tests.services.tables import (
    PARROT,
    Played,
    code_of,
    run,
)


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
