"""Who is put together: order, ratings and their windows, parties, blocks, bots that are wanted."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import pytest

from kangtou_services.matchmaking import Ticket
from kangtou_services.matchmaking.grouping import Shape, Windows, groups, lacking, seated

WINDOWS = Windows(points=100, per_s=10, open_s=60)
TWO = Shape(2, True)
PARTNERS = Shape(4, True, ((0, 2), (1, 3)))


def ticket(name: str, rating: int | None = None, *, at_s: float = 0, party: str = "", blocks: str = "") -> Ticket:
    """Of the account of that name, which has come at this second."""
    return Ticket(
        f"t{name}",
        name,
        "human",
        name,
        since_ms=int(at_s * 1000),
        rating=rating,
        party=party,
        blocks=tuple(blocks),
    )


def names(formed: Sequence[Sequence[Ticket]]) -> list[str]:
    return ["".join(sorted(one.account_id for one in group)) for group in formed]


NOW: list[tuple[float, list[str]]] = [(0, []), (9, []), (10, ["ab"]), (60, ["ab"])]


@pytest.mark.parametrize(("now_s", "formed"), NOW)
def test_a_window_grows(now_s: float, formed: list[str]) -> None:
    """200 apart: 100 at first and 10 more each second."""
    waiting = [ticket("a", 1500), ticket("b", 1700)]
    assert names(groups(waiting, TWO, int(now_s * 1000), WINDOWS)) == formed


def test_after_a_while_anybody_will_do() -> None:
    waiting = [ticket("a", 500), ticket("b", 3000, at_s=59)]
    assert groups(waiting, TWO, 59_999, WINDOWS) == []
    assert names(groups(waiting, TWO, 60_000, WINDOWS)) == ["ab"]
    assert WINDOWS.of(60_000) == math.inf
    assert WINDOWS.of(-5) == 100  # clocks of two gateways


def test_the_nearest_is_taken_by_whoever_waited_longest() -> None:
    waiting = [ticket("a", 1500), ticket("b", 1590), ticket("c", 1520), ticket("d", 1600)]
    assert names(groups(waiting, TWO, 0, WINDOWS)) == ["ac", "bd"]


def test_who_finds_nobody_does_not_hold_up_the_others() -> None:
    waiting = [ticket("a", 3000), ticket("b", 1500), ticket("c", 1500)]
    assert names(groups(waiting, TWO, 0, WINDOWS)) == ["bc"]


@pytest.mark.parametrize("who", ["a", "b"])
def test_a_block_of_either_keeps_them_apart(who: str) -> None:
    blocks = {"a": "b", "b": "a"}
    waiting = [ticket(name, blocks=blocks[name] if name == who else "") for name in "ab"]
    assert groups(waiting, TWO, 10**9, WINDOWS) == []
    waiting.append(ticket("c"))
    assert names(groups(waiting, TWO, 0, WINDOWS)) == ["ac"]


def test_blocks_hold_within_a_whole_group() -> None:
    waiting = [ticket("a"), ticket("b", blocks="c"), ticket("c"), ticket("d"), ticket("e")]
    assert names(groups(waiting, Shape(4, True), 0, WINDOWS)) == ["abde"]


def test_one_account_is_in_a_rated_group_once() -> None:
    waiting = [ticket("a", 1500), ticket("a", 1500), ticket("b", 1500)]
    assert names(groups(waiting, TWO, 0, WINDOWS)) == ["ab"]


def test_parties_are_partners() -> None:
    waiting = [ticket("a"), ticket("b", party="x"), ticket("c"), ticket("d", party="x")]
    for _ in range(50):
        (group,) = groups(waiting, PARTNERS, 0, WINDOWS)
        seats = seated(group, PARTNERS.sides)
        at = {one.account_id: seat for seat, one in enumerate(seats)}
        assert sorted(at) == list("abcd")
        assert (at["b"] - at["d"]) % 2 == 0


def test_two_parties_and_half_a_party() -> None:
    pairs = [ticket(name, party=party) for name, party in zip("abcd", "xyyx", strict=True)]
    (group,) = groups(pairs, PARTNERS, 0, WINDOWS)
    seats = seated(group, PARTNERS.sides)
    assert {frozenset(seats[seat].account_id for seat in side) for side in PARTNERS.sides} == {
        frozenset("ad"),
        frozenset("bc"),
    }
    half = [ticket("a", party="x"), *(ticket(name) for name in "bcd")]
    assert groups(half, PARTNERS, 10**9, WINDOWS) == []
    assert names(groups([*half, ticket("e")], PARTNERS, 0, WINDOWS)) == ["bcde"]
    twice = [ticket("a", party="x"), ticket("a", party="x"), *(ticket(name) for name in "bc")]
    assert groups(twice, PARTNERS, 0, WINDOWS) == []  # nobody is a party alone
    assert groups(pairs, Shape(4, True), 0, WINDOWS) == []  # a game without sides


def test_seats_are_drawn() -> None:
    """Every order comes; each seat has a ticket of its own."""
    group = [ticket(name) for name in "abc"]
    drawn = {tuple(one.account_id for one in seated(group)) for _ in range(500)}
    assert drawn == set(itertools.permutations("abc"))


def test_nobody_is_in_two_groups_and_every_rule_holds() -> None:
    """Random crowds, checked without the code that formed the groups."""
    for seed in range(60):
        chance = random.Random(seed)
        crowd: list[Ticket] = []
        for number in range(chance.randrange(0, 40)):
            name = f"p{number}"
            party = f"party{chance.randrange(6)}" if chance.random() < 0.3 else ""
            rating = chance.choice([None, chance.randrange(1000, 2000)])
            blocks = tuple(f"p{chance.randrange(40)}" for _ in range(chance.randrange(3)))
            crowd.append(Ticket(f"t{number}", name, "human", name, "", chance.randrange(50_000), rating, party, blocks))
        sides = chance.choice([(), PARTNERS.sides])
        formed = groups(crowd, Shape(4, True, sides), 50_000, WINDOWS)
        taken = [one.ref for group in formed for one in group]
        assert len(taken) == len(set(taken)) == 4 * len(formed)
        for group in formed:
            for one, other in itertools.permutations(group, 2):
                assert one.account_id != other.account_id
                if not one.party or one.party != other.party:
                    assert other.account_id not in one.blocks
            for one in group:
                if one.party:
                    assert sides
                    assert sum(other.party == one.party for other in group) == 2


def test_bots_that_are_wanted() -> None:
    """So many as the one who has waited longest for them lacks; nobody who does not want bots counts."""
    four = Shape(4, False)
    patient = [ticket("a"), ticket("b", at_s=1)]
    assert lacking(patient, four, 10**9, WINDOWS) == 0
    filled = [
        Ticket("t", name, "human", name, since_ms=at, fill_after_ms=5_000) for name, at in (("a", 0), ("b", 3_000))
    ]
    assert lacking(filled, four, 4_999, WINDOWS) == 0
    assert lacking(filled, four, 5_000, WINDOWS) == 2
    assert lacking(filled[1:], four, 8_000, WINDOWS) == 3
    assert lacking([], four, 8_000, WINDOWS) == 0
