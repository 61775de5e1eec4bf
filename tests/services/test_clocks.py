"""Turn time, bank, increment, lag and substitutes of a table, each as the log tells them. Lobby, Clocks."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kangtou_engine.actions import parse_action
from kangtou_engine.cards import Seat
from kangtou_engine.match.clocks import Ledger
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Note, read_body
from kangtou_engine.record import make_record, read_record, write_record
from kangtou_engine.registry import REGISTRY, SPECS, Registry
from kangtou_engine.replay import Replay
from kangtou_engine.timing import clocks_of
from kangtou_engine.verify import verify
from kangtou_services.archive.archiver import terms_of
from kangtou_services.table.commands import Command
from tests.conftest import Counts
from tests.games import parrot
from tests.services.tables import PARROT, TURN_MS, WINDOW_MS, Played, code_of, same, seed_of

PEOPLE = (0, 1, 2, 3)
BANK_MS, MORE_MS = 30_000, 2_000
GAMES = Registry([*SPECS, parrot.GAME])


def begun(game: Game = PARROT, **given: Any) -> Played:
    """A match of people with a bank."""
    options = given.pop("options", {})
    clocks = {"people": PEOPLE, "bank_ms": BANK_MS, "increment_ms": MORE_MS, **given}
    return Played.begun(game, options, **clocks)


def ledger(played: Played) -> Ledger:
    """What is kept of time now."""
    found = played.table.prompts.ledger
    assert found is not None
    return found


def order(played: Played, seat: Seat, word: str, command_id: str = "") -> str:
    """Hand a seat over (`asked`, `left`) or take it back (`retake`)."""
    played.ids += 1
    command = Command(seat, command_id or f"o{played.ids}", 0, None, order=word)
    return code_of(played.submit(command))


def plays(played: Played, seat: Seat, after_ms: int, *, lag_ms: int = 0, delegate: bool = False) -> str:
    """The default action of a seat, so much later."""
    played.now += after_ms
    asked = played.table.prompts.asked[seat]
    played.ids += 1
    action = parse_action(played.legal(seat)[0]) if asked else parse_action("play S3")
    command = Command(seat, f"p{played.ids}", asked.number if asked else 0, action, delegate=delegate, lag_ms=lag_ms)
    return code_of(played.submit(command))


def wake(played: Played) -> None:
    """Let the time pass until the table acts by itself."""
    at_ms = played.table.wake_at()
    assert at_ms is not None
    played.now = max(played.now, at_ms)
    assert played.write() is not None


def noted(played: Played) -> list[str]:
    """The words of all notes in the log."""
    items = [item for entry in played.entries for item in read_body(entry.body).items]
    return [item.word for item in items if isinstance(item, Note)]


# ---- bank and increment ----


def test_the_turn_time_runs_first_then_the_bank() -> None:
    """A deadline is turn time and bank; what was used of the bank is gone, each own turn adds the increment."""
    played = begun()
    first = played.turn()
    assert played.deadline(first) == played.now + TURN_MS + BANK_MS
    assert plays(played, first, TURN_MS - 1) == "accepted"
    assert ledger(played).bank_ms[first] == BANK_MS + MORE_MS
    second = played.turn()
    assert plays(played, second, TURN_MS + 7_000) == "accepted"
    assert ledger(played).bank_ms[second] == BANK_MS - 7_000 + MORE_MS
    third = played.turn()
    played.now += TURN_MS + 5_000
    assert played.table.prompts.bank_left(third, played.now) == BANK_MS - 5_000
    assert played.table.prompts.bank_left(first, played.now) == BANK_MS + MORE_MS


def test_the_default_follows_when_all_is_used() -> None:
    """Not before: and a bank that is used up is 0, without the increment."""
    played = begun()
    first = played.turn()
    played.now += TURN_MS + BANK_MS - 1
    assert played.write() is None
    wake(played)
    assert ledger(played).bank_ms[first] == 0
    assert ledger(played).late[first] == 1
    assert played.turn() != first


def test_windows_leave_the_bank_alone() -> None:
    """Between the rounds all are asked: the window's time is all that they have."""
    played = begun(options={"rounds": 2, "between": True})
    while len(played.game.to_act(played.table.state)) == 1:
        plays(played, played.turn(), 100)
    before = ledger(played)
    assert played.deadline(0) == played.now + WINDOW_MS
    assert plays(played, 0, WINDOW_MS - 1) == "accepted"
    wake(played)
    after = ledger(played)
    assert after.bank_ms == before.bank_ms
    assert after.late == before.late


def test_an_outage_moves_both_ends_of_the_time() -> None:
    """Time that is given back moves the turn time's end and the bank's."""
    played = begun()
    first = played.turn()
    played.table.give_back(4_000)
    assert plays(played, first, TURN_MS + 3_999) == "accepted"
    assert ledger(played).bank_ms[first] == BANK_MS + MORE_MS
    same(played.table, played.loaded())


# ---- lag ----


@pytest.mark.parametrize(
    ("measured", "given"),
    [(0, 0), (120, 120), (400, 400), (90_000, 400)],
)
def test_lag_is_given_back_up_to_the_cap(measured: int, given: int) -> None:
    """What is measured counts, up to the cap of one action, and no more than the action was late."""
    played = begun(lag_ms=400, lag_match_ms=1_000)
    first = played.turn()
    assert plays(played, first, TURN_MS + 3_000, lag_ms=measured) == "accepted"
    assert ledger(played).bank_ms[first] == BANK_MS - 3_000 + given + MORE_MS
    assert ledger(played).credit_ms[first] == 1_000 - given
    assert noted(played).count("lag") == (1 if given else 0)
    second = played.turn()
    assert plays(played, second, TURN_MS - 5, lag_ms=measured) == "accepted"
    assert ledger(played).credit_ms[second] == 1_000
    same(played.table, played.loaded())


def test_lag_of_a_match_is_used_up() -> None:
    """However slow the pongs are, a seat gains no more in a match than its cap."""
    played = begun(lag_ms=400, lag_match_ms=1_000, bank_ms=600_000, increment_ms=0, options={"rounds": 3})
    seat = played.turn()
    late = 0
    while not played.table.over:
        if played.turn() == seat:
            late += 1
            assert plays(played, seat, TURN_MS + 500, lag_ms=60_000) == "accepted"
        else:
            plays(played, played.turn(), 10)
    assert ledger(played).credit_ms[seat] == 0
    assert ledger(played).bank_ms[seat] == 600_000 - 500 * late + 1_000


def test_the_clock_waits_for_the_lag_and_no_longer() -> None:
    """An action that left in time arrives in time."""
    played = begun(lag_ms=400, lag_match_ms=1_000, bank_ms=0, increment_ms=0)
    first = played.turn()
    played.table.substitutes.lag_ms[first] = 300
    assert plays(played, first, TURN_MS + 300, lag_ms=300) == "accepted"
    second = played.turn()
    played.table.substitutes.lag_ms[second] = 90_000
    played.now += TURN_MS + 399
    assert played.write() is None
    played.now += 1
    assert played.write() is not None
    assert ledger(played).late[second] == 1
    assert ledger(played).credit_ms[second] == 1_000


def test_a_table_of_bots_keeps_nothing() -> None:
    """No bank, no lag, no notes: what a bot's gateway measured changes nothing."""
    played = Played.begun(PARROT, {"rounds": 1})
    assert played.table.prompts.ledger is None
    assert plays(played, played.turn(), 10, lag_ms=300) == "accepted"
    wake(played)
    wake(played)
    assert played.table.prompts.ledger is None
    assert noted(played) == []


# ---- substitutes ----


def test_late_turns_in_a_row_hand_a_person_over() -> None:
    """Two in a row; one that the person plays itself begins the count anew. Bots are never handed over so."""
    played = begun(people=(0, 1), late_most=2, bank_ms=0, increment_ms=0, options={"rounds": 4})
    seen: list[str] = []
    while played.table.prompts.away(0) == "":
        if played.turn() == 0 and len(seen) == 1:
            seen.append("own")
            plays(played, 0, 5)
        else:
            seen += ["late"] if played.turn() == 0 else []
            wake(played)
    assert seen == ["late", "own", "late", "late"]
    assert played.table.prompts.away(0) == "timeouts"
    assert ledger(played).away[2] == ledger(played).away[3] == ""


def test_a_substitute_plays_and_the_owner_takes_back() -> None:
    """One order: whoever comes too late is refused, the id of each is its own, and a repeat changes nothing."""
    played = begun(late_most=2)
    seat = played.turn()
    assert plays(played, seat, 5, delegate=True) == "seat_taken_back"
    assert order(played, seat, "asked", "h1") == "accepted"
    assert plays(played, seat, 5) == "seat_delegated"
    assert plays(played, seat, TURN_MS + 5_000, delegate=True) == "accepted"
    assert ledger(played).bank_ms[seat] == BANK_MS  # the owner's time is left alone
    assert order(played, seat, "retake", "t1") == "accepted"
    assert order(played, seat, "retake", "t1") == "accepted"
    assert order(played, seat, "asked", "h1") == "accepted"  # said before, and over
    assert played.table.prompts.away(seat) == ""
    assert order(played, seat, "asked", "t1") == "id_reused"
    assert noted(played) == ["delegate", "retake"]
    same(played.table, played.loaded())


def test_both_in_one_entry() -> None:
    """Taking back and a substitute's answer that arrive together: the first decides."""
    for first in ("retake", "play"):
        played = begun()
        seat = played.turn()
        order(played, seat, "asked")
        asked = played.table.prompts.asked[seat]
        assert asked is not None
        action = parse_action(played.legal(seat)[0])
        both = [
            Command(seat, "own", 0, None, order="retake"),
            Command(seat, "sub", asked.number, action, delegate=True),
        ]
        for command in both if first == "retake" else both[::-1]:
            assert played.table.submit(command) is None
        answers = {name: code_of(answer) for name, answer in played.decide()[1].items()}
        assert answers["own"] == "accepted"
        assert answers["sub"] == ("seat_taken_back" if first == "retake" else "accepted")
        assert played.table.prompts.away(seat) == ""
        same(played.table, played.loaded())


def test_nobody_there_is_played_for_soon() -> None:
    """Without a house bot the default follows after a second; with one it has the question's own time."""
    played = begun(substitute_ms=1_000, options={"rounds": 3})
    seat = played.turn()
    order(played, seat, "left")
    began = played.now
    wake(played)
    assert played.now == began + 1_000
    played.table.substitutes.housed.add(seat)
    while played.turn() != seat:
        plays(played, played.turn(), 10)
    began = played.now
    played.write()
    wake(played)
    assert played.now == began + TURN_MS
    assert played.table.prompts.away(seat) == "left"
    assert ledger(played).late[seat] == 0


def test_a_standing_answer_ends_with_the_owners_playing() -> None:
    """And with the substitute's."""
    played = begun(options={"rounds": 3, "between": True})
    seat = played.turn()
    other = (seat + 1) % 4
    assert code_of(played.leave(other, "go_on")) == "accepted"
    assert other in played.table.standing
    order(played, other, "asked")
    assert played.table.standing == {}
    same(played.table, played.loaded())


def test_a_seat_cannot_fill_the_log_with_handing_over() -> None:
    """A bound, and taking back always works."""
    played = begun()
    codes = [order(played, 0, word) for _ in range(101) for word in ("asked", "retake")]
    assert codes.count("too_many_handed") == 1
    assert played.table.prompts.away(0) == ""


# ---- the log alone ----


def _evening(game: Game, number: int, options: dict[str, object]) -> Played:
    """A match in which clocks, lag, substitutes and takeovers come together; loaded anew again and again."""
    rng = Random(number)
    people = tuple(seat for seat in range(4) if rng.random() < 0.7)
    played = Played.begun(
        game,
        options,
        people=people,
        bank_ms=20_000,
        increment_ms=500,
        lag_ms=500,
        lag_match_ms=2_000,
        late_most=2,
        window_ms=0,
        match=f"evening{number}",
    )
    entries = 0
    while not played.table.over and entries < 300:
        entries += 1
        what = rng.random()
        seat = rng.choice(played.game.to_act(played.table.state))
        if what < 0.03:
            order(played, rng.randrange(4), rng.choice(("asked", "left", "retake")))
        elif what < 0.05:
            played.take_over(rng.randrange(3_000))
        elif what < 0.12:
            at_ms = played.table.wake_at()
            played.now = max(played.now, at_ms or 0)
            played.write()
        else:
            away = bool(played.table.prompts.away(seat))
            late = TURN_MS if rng.random() < 0.1 else 0
            plays(played, seat, rng.randrange(900) + late, lag_ms=rng.choice((0, 50, 700)), delegate=away)
        if rng.random() < 0.1:
            same(played.table, played.loaded())
    if not played.table.over:
        draft = played.table.close(played.now, "operator")
        assert draft is not None
        played.write_draft(draft)
    return played


@pytest.mark.parametrize("game", ["parrot", *REGISTRY.names()])
def test_clocks_follow_from_the_log(game: str, counts: Counts) -> None:
    """Whoever loads the table, and whoever replays the record, has the clocks that the table had."""
    looked = 0
    for number in range(counts(2, 60)):
        played = _evening(GAMES.game(game), number, {} if game != "parrot" else {"rounds": 6})
        entries = [(one.epoch, one.seq, one.chain, one.body) for one in played.entries]
        record = make_record(terms_of(played.agreement), entries, seed_of(played.match), "test")
        text = write_record(record)
        assert text.startswith("kangtou-record 1.1\n")
        assert read_record(text) == record
        report = verify(text, GAMES, record.receipt)
        assert report.ok, report.findings
        assert report.rerun
        replayed = clocks_of(Replay(GAMES.game(game), record))
        assert replayed[-1].prompts == played.table.prompts
        by_seq = {moment.seq: replayed[moment.number + 1] for moment in Replay(GAMES.game(game), record).moments}
        for draft in played.drafts:
            assert draft.entry is not None
            assert by_seq[draft.entry.seq].prompts.ledger == draft.prompts.ledger
            assert by_seq[draft.entry.seq].prompts.asked == draft.prompts.asked
            looked += 1
    print(f"{looked} entries of {game}: clocks of table, loader and replay agree")
