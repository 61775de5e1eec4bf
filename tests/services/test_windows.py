"""Windows that ask everybody: their clocks, and standing answers that tell nothing. Design §5; DZ-3.2, EB-7.1."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import pytest

from kangtou_engine.cards import Cards, Seat
from kangtou_engine.games import duizhu, erbaiwu
from kangtou_engine.games.erbaiwu.pack import PACK
from kangtou_engine.games.erbaiwu.window import helpers
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Left, Step
from kangtou_engine.shuffle import SeededChance
from kangtou_services.host.host import human_delay_ms
from kangtou_services.table import beginning
from kangtou_services.table.core import Table
from tests.conftest import Counts
from tests.services.tables import TURN_MS, Played, agree, code_of, same, seed_of

DUIZHU, ERBAIWU = Game(duizhu.GAME), Game(erbaiwu.GAME)
OWN: dict[str, Any] = {"window_ms": 0}  # no window clock was chosen
QUICK = {"cut": False, "between": False}


def times(played: Played) -> list[int | None]:
    """How long each seat has from now on."""
    return [None if asked is None else asked.deadline_ms - played.now for asked in played.table.prompts.asked]


# ---- clocks ----


@pytest.mark.parametrize(("windows", "ms"), [("card", 300), ("lap", 1_200), ("end", 14_400)])
def test_people_have_a_short_clock_while_cards_are_drawn(windows: str, ms: int) -> None:
    """0.3 s a card; bots have the turn's, whatever people have."""
    played = Played.begun(DUIZHU, {**QUICK, "windows": windows}, people=(0, 2), turn_ms=20_000, **OWN)
    assert times(played) == [ms, 20_000, ms, 20_000]
    same(played.table, played.loaded())
    played.now += ms
    played.write()
    assert [seat for seat in range(4) if played.number(seat)] == [1, 3]  # nobody waits for people, or hurries a bot
    same(played.table, played.loaded())
    played.now += 20_000 - ms - 1
    assert played.write() is None


def test_a_chosen_window_clock_is_for_all() -> None:
    played = Played.begun(DUIZHU, QUICK, people=(0, 2), window_ms=700)
    assert times(played) == [700] * 4


@pytest.mark.parametrize("seats", range(2, 7))
def test_the_window_after_a_discard(seats: int) -> None:
    """3 s for people, also where only one seat is asked; the turn itself has the turn's clock."""
    people = tuple(range(0, seats, 2))
    played = Played.begun(ERBAIWU, {**QUICK, "first_dealer": 1}, seats=seats, people=people, **OWN)
    assert times(played)[1] == TURN_MS
    played.send(1, throw(played, 1))
    assert times(played) == [None if seat == 1 else 3_000 if seat in people else TURN_MS for seat in range(seats)]
    same(played.table, played.loaded())


def test_other_phases_have_the_turn_clock() -> None:
    """Also those that ask several seats."""
    played = Played.begun(DUIZHU, {"cut": True}, people=(0, 1, 2, 3), **OWN)
    assert [time for time in times(played) if time] == [TURN_MS]
    played = Played.begun(ERBAIWU, {"cut": False, "rounds": 2}, people=(0, 1, 2, 3), **OWN)
    rng = Random(2)
    while played.table.state.phase != "between":
        played.play_on(rng, 1)
    assert set(times(played)) == {TURN_MS}


def throw(played: Played, seat: Seat) -> str:
    """The first discard that is legal."""
    return next(text for text in played.legal(seat) if text.startswith(("discard", "keep")))


# ---- answers that are no answer to what is asked now ----


def steps(played: Played) -> list[tuple[Seat | None, str]]:
    """Who did what in the last entry."""
    return [(item.seat, str(item.action)) for item in played.drafts[-1].items if isinstance(item, Step)]


def test_a_pass_left_for_windows_is_kept_through_turns() -> None:
    """In its own turn the seat decides; in windows the table passes for it, until it could pong. EB-7.1."""
    kept = dropped = 0
    for number in range(12):
        played = Played.begun(ERBAIWU, {**QUICK, "rounds": 3}, match=f"w{number}", seats=3)
        assert code_of(played.leave(2, "pass", "can_pong")) == "accepted"
        rng = Random(number)
        while 2 in played.table.standing and not played.table.over:
            state = played.table.state
            assert state.phase != "window" or not played.number(2)  # it was answered in the entry that asked
            kept += state.phase != "window" and bool(played.number(2))
            played.play_on(rng, 1)
            same(played.table, played.loaded())
        if not played.table.over:
            assert played.table.state.phase == "window"
            assert len(helpers(played.table.state.game, 2)) >= 2
            assert played.number(2)
            dropped += 1
    assert kept > 20
    assert dropped > 5


def test_a_wait_left_for_the_deal_ends_with_a_level_card() -> None:
    """DZ-3.2: until the seat has drawn a card that it could show, or the deal is over."""
    asked = 0
    for number in range(12):
        played = Played.begun(DUIZHU, QUICK, match=f"d{number}")
        for seat in range(4):
            played.leave(seat, "wait", "level_card")
        state = played.table.state
        holding = [seat for seat, hand in enumerate(state.game.hands) if any(card[1] == "3" for card in hand)]
        assert holding
        assert [seat for seat in range(4) if played.number(seat)] == holding
        assert sorted(played.table.standing) == [seat for seat in range(4) if seat not in holding]
        assert len(played.drafts) <= 5  # the windows before are in the entries of those who left the answers
        same(played.table, played.loaded())
        asked += state.game.drawn
        while played.table.state.phase == "deal":
            seat = next(seat for seat in range(4) if played.number(seat))
            assert code_of(played.send(seat, "wait")) == "accepted"
        left = [seat for seat in played.table.standing if played.number(seat)]
        assert left == []
    assert asked > 12 * 2


# ---- what the time of an answer tells ----


class Stacked:
    """The chance of a match whose first pack lies in a given order."""

    pile: Cards = ()

    def __init__(self, match: str, board: str, seed: bytes, entropies: Sequence[bytes]) -> None:
        assert not board
        self._others = SeededChance(match, seed, entropies)

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """See Chance."""
        if (purpose, number) == ("pack", 1) and self.pile:
            return self.pile
        return self._others.shuffle(pack, purpose, number)


WHO = 2  # the seat that is looked at; not the next in turn


def twin_piles(rng: Random) -> tuple[str, Cards, Cards]:
    """A discard of seat 0, and two packs: in one WHO holds two cards of its rank, in the other none.

    All that differs is in the hand of WHO and in the stock.
    """
    pack = list(PACK)
    rank = rng.choice("2345689TJQK")
    discard, *pair = (suit + rank for suit in rng.sample("SHCD", 3))
    others = [card for card in pack if card[1] != rank]
    rng.shuffle(others)
    rest = [card for card in pack if card[1] == rank and card not in (discard, *pair)]
    able = others[:20] + rest + others[20:]
    able.insert(0, discard)  # seat 0 draws first
    able[WHO:WHO], able[WHO + 4 : WHO + 4] = pair[:1], pair[1:]  # dealt in turn to four seats
    unable = list(able)
    for place, other in ((WHO, 40), (WHO + 4, 41)):
        unable[place], unable[other] = unable[other], unable[place]
    return discard, tuple(able), tuple(unable)


def answer_time(
    monkeypatch: pytest.MonkeyPatch, pile: Cards, discard: str, delay: Callable[[], int], gap: int
) -> tuple[bool, int]:
    """Whether WHO could pong, and how long after the discard its standing `pass` is given."""
    monkeypatch.setattr(beginning, "match_chance", Stacked)
    monkeypatch.setattr(Stacked, "pile", pile)
    options: Mapping[str, object] = {**QUICK, "first_dealer": 0}
    played = Played(ERBAIWU, agree(ERBAIWU, options, seats=4, people=(0, 1, 2, 3), **OWN))
    played.table = Table(ERBAIWU, played.agreement, seed_of(played.match), delay)
    played.log = type(played.log)()
    played.claim()
    played.write()
    for seat in (1, 2, 3):
        played.leave(seat, "pass")
    assert [type(item) for item in played.drafts[-1].items] == [Left]
    played.now += gap
    assert code_of(played.send(0, f"discard {discard}")) == "accepted"
    thrown = played.now
    could = len(helpers(played.table.state.game, WHO)) >= 2
    while played.number(WHO):
        wake = played.table.wake_at()
        assert wake is not None
        played.now = wake
        played.write()
    assert (WHO, "pass") in steps(played)
    assert all(seat is not None for seat, _ in steps(played))  # given, not run out
    return could, played.now - thrown


def test_twin_deals_are_answered_at_the_same_moment(monkeypatch: pytest.MonkeyPatch, counts: Counts) -> None:
    """One hand could pong, the other not; with the same numbers drawn, the same milliseconds."""
    for number in range(counts(60, 500)):
        rng = Random(number)
        discard, able, unable = twin_piles(rng)
        gap, drawn = rng.randrange(3_000), rng.random()
        found = []
        for pile in (able, unable):
            chance = Random(drawn)
            found.append(answer_time(monkeypatch, pile, discard, lambda c=chance: c.randint(300, 1500), gap))  # type: ignore[misc]
        (could, one), (could_not, other) = found
        assert could
        assert not could_not
        assert one == other
        assert 300 <= one <= 1500


def test_the_times_of_answers_do_not_depend_on_the_hand(
    monkeypatch: pytest.MonkeyPatch, counts: Counts, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two samples with the delays that a server draws: Kolmogorov-Smirnov, at a level of one in a million."""
    samples: dict[bool, list[int]] = {True: [], False: []}
    for number in range(counts(300, 4_000)):
        discard, *piles = twin_piles(Random(number))
        for pile in piles:
            could, time = answer_time(monkeypatch, pile, discard, human_delay_ms, 0)
            samples[could].append(time)
    able, unable = sorted(samples[True]), sorted(samples[False])
    assert len(able) == len(unable)
    distance = max(abs(bisect_right(able, x) - bisect_right(unable, x)) for x in (*able, *unable)) / len(able)
    limit = 2.69 * (2 / len(able)) ** 0.5  # sqrt(-ln(alpha / 2) / 2) with alpha = 1e-6
    means = [sum(sample) / len(sample) for sample in (able, unable)]
    with capsys.disabled():
        print(
            f"\nstanding answers of people, n = 2 x {len(able)}: mean {means[0]:.0f} ms with a pong in hand, "
            f"{means[1]:.0f} ms without; KS distance {distance:.3f} (limit {limit:.3f})"
        )
    assert distance < limit
    assert all(300 <= time <= 1500 for time in (*able, *unable))
