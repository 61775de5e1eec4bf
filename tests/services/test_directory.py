"""What needs no store: the judgement on deaths, and where matches go."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kangtou_services.directory import Actor, choose, place
from kangtou_services.directory.watch import Judge, View

ACTORS = [Actor(f"actor-{number}", "", "n", number) for number in range(5)]


def view(listed: str, living: str, graves: str = "") -> View:
    """Of ids of one letter."""
    return View(frozenset(listed), frozenset(living), frozenset(graves))


def looks(judge: Judge, first_ms: int, last_ms: int, seen: View) -> list[tuple[int, str]]:
    """Look every half second; when each death was told."""
    return [(now, name) for now in range(first_ms, last_ms + 1, 500) for name in judge.look(now, seen)]


def test_silence_counts_after_three_seconds_of_looking() -> None:
    judge = Judge()
    assert looks(judge, 0, 10_000, view("ab", "a")) == [(3_000, "b")]
    assert looks(judge, 10_500, 11_000, view("abc", "b")) == [(10_500, "a"), (10_500, "c")]


def test_silence_during_an_outage_of_the_store_is_none() -> None:
    judge = Judge()
    assert looks(judge, 0, 5_000, view("ab", "ab")) == []
    judge.missed()
    assert looks(judge, 15_000, 16_000, view("ab", "")) == []  # both records expired meanwhile
    assert looks(judge, 16_500, 20_000, view("ab", "a")) == [(18_000, "b")]


def test_silence_while_the_watcher_was_held_up_is_none() -> None:
    judge = Judge()
    assert looks(judge, 0, 5_000, view("ab", "ab")) == []
    assert looks(judge, 9_000, 11_500, view("ab", "")) == []


def test_who_lives_again_can_die_again() -> None:
    judge = Judge()
    assert looks(judge, 0, 3_000, view("a", "")) == [(3_000, "a")]
    assert looks(judge, 3_500, 4_000, view("a", "a")) == []
    assert looks(judge, 4_500, 6_000, view("a", "")) == [(4_500, "a")]


def test_graves_are_told_at_once_and_once() -> None:
    judge = Judge()
    assert looks(judge, 0, 0, view("ab", "ab", "x")) == []
    assert looks(judge, 500, 5_000, view("a", "a", "xb")) == [(500, "b")]


def test_a_match_moves_only_if_its_actor_dies() -> None:
    matches = [f"match-{number}" for number in range(1_000)]
    before = {match: place(match, ACTORS) for match in matches}
    dead = ACTORS[2]
    after = {match: place(match, [actor for actor in ACTORS if actor != dead][::-1]) for match in matches}
    assert all(after[match] == before[match] for match in matches if before[match] != dead)
    moved = Counter(after[match] for match in matches if before[match] == dead)
    assert len(moved) == 4
    assert min(Counter(before.values()).values()) > 140
    assert place("match", []) is None


def test_new_tables_go_to_idle_actors_first() -> None:
    actors = [replace(actor, tables=tables, cap=10) for actor, tables in zip(ACTORS, (0, 4, 0, 1, 9), strict=True)]
    assert {choose(f"m{number}", actors) for number in range(50)} == {actors[0], actors[2]}
    sent = Counter({actors[0].id: 1})
    assert choose("m", actors, sent) == actors[2]
    sent[actors[2].id] += 2
    assert {choose(f"m{number}", actors, sent) for number in range(50)} == {actors[0], actors[3]}


def test_no_actor_goes_over_its_cap() -> None:
    actors = [replace(actor, cap=3) for actor in ACTORS]
    sent: Counter[str] = Counter()
    for number in range(15):
        chosen = choose(f"m{number}", actors, sent)
        assert chosen is not None
        sent[chosen.id] += 1
    assert set(sent.values()) == {3}
    assert choose("one more", actors, sent) is None
    assert choose("any", []) is None
