"""How a match begins, and its ends."""

from __future__ import annotations

from random import Random

import pytest

from tests.services.table.deals import bodies
from tests.services.tables import (
    CREATED_MS,
    PARROT,
    TURN_MS,
    Played,
    agree,
    code_of,
    run,
    same,
)

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
