"""Write the golden records and unfinished logs: `python -m tests.golden.make [--search]`. Nothing else writes them.

--search   look for other matches (minutes): needed only if a plan has changed; put the numbers into plans.py

A new rules version gets records of its own; those of older ones stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from kangtou_engine.game import TooMany
from kangtou_engine.match.match import Game
from kangtou_engine.plain import view_to_plain
from kangtou_engine.record import Record, canonical_text, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.shuffle import SeededChance
from kangtou_services.agreement import Agreement
from kangtou_services.log.base import Entry
from kangtou_services.table.commands import Command
from kangtou_services.table.core import Table
from kangtou_services.table.load import load
from tests.records.make import Played, agree, seed_of

from .plans import NUMBERS, PLANS
from .steer import Move, Plan, shortened, steer

FOLDER = Path(__file__).parent
RECORDS, UNFINISHED, DIGESTS = FOLDER / "records", FOLDER / "unfinished", FOLDER / "digests.json"
LOGS: Mapping[str, tuple[int, Mapping[str, object], int | None, int]] = {
    # number, options, seats, entries
    "duizhu": (1, {"windows": "lap", "rounds": 2}, None, 95),
    "erbaiwu": (2, {"rounds": 3}, 3, 90),
    "hongshi": (3, {"rounds": 3}, None, 60),
    "wushik": (4, {"variant": "jiangnan", "rounds": 2, "target": 0}, None, 70),
}


def match_of(number: int) -> str:
    """The id of a golden match."""
    return f"golden{number:09d}"


def entropies_of(seats: int) -> list[bytes]:
    """What the seats commit to: some to nothing."""
    return [bytes([seat + 1] * 16) if seat % 3 else b"" for seat in range(seats)]


def chance_of(game: Game, plan: Plan, number: int) -> SeededChance:
    """All chance of a match."""
    seats = game.config(plan.options, plan.seats).seats
    return SeededChance(match_of(number), seed_of(number), entropies_of(seats))


# ---- records ----


def search(name: str, first: int = 1, most: int = 100_000) -> int:
    """The first number with which a plan comes true. Raises LookupError."""
    plan = PLANS[name]
    game = REGISTRY.game(plan.game)
    for number in range(first, first + most):
        if steer(plan, game, chance_of(game, plan, number), number) is not None:
            return number
    raise LookupError(name)


def golden(name: str, number: int) -> Played:
    """The match of a plan, played through the table."""
    plan = PLANS[name]
    game = REGISTRY.game(plan.game)
    found = steer(plan, game, chance_of(game, plan, number), number)
    assert found is not None, f"{name}: number {number} does not come true; search again"
    moves, rounds = found
    return perform(shortened(plan, rounds), game, number, moves)


def perform(plan: Plan, game: Game, number: int, moves: Sequence[Move]) -> Played:
    """Play given moves through the table; those that answer one window come in one entry."""
    clock = Random(number)
    config = game.config(plan.options, plan.seats)
    entropies = entropies_of(config.seats)
    agreement = agree(game, number, plan.options, config.seats, entropies, match_of(number))
    played = Played(game, agreement, seed_of(number))
    table = Table(game, agreement, played.seed, lambda: 0)
    now = agreement.created_ms
    _commit(played, table, table.claim(now, "actor-1"))
    for seat, entropy in enumerate(entropies):
        table.open_entropy(seat, entropy)
    now += clock.randrange(50, 400)
    _commit(played, table, table.draft(now)[0])
    for group in _groups(moves):
        now += clock.randrange(80, 2_500)
        for move in group:
            asked = table.prompts.asked[move.seat]
            assert asked is not None
            table.submit(Command(move.seat, f"c{table.seq}-{move.seat}", asked.number, move.action))
        _commit(played, table, table.draft(now)[0])
    assert table.cause == "rules", table.state.phase
    return played


def _groups(moves: Sequence[Move]) -> list[list[Move]]:
    """Answers to one question of several seats, together."""
    groups: list[list[Move]] = []
    for move in moves:
        last = groups[-1] if groups else []
        if last and last[0].token == move.token and not last[0].alone and move.seat not in [one.seat for one in last]:
            last.append(move)
        else:
            groups.append([move])
    return groups


def _commit(played: Played, table: Table, draft: Any) -> None:
    assert draft is not None
    assert draft.entry is not None
    refused = [answer for _, answer in draft.answers if not answer.HasField("accepted")]
    assert not refused, refused
    table.commit(draft)
    played.entries.append(draft.entry)


# ---- unfinished logs ----


def unfinished(name: str) -> dict[str, Any]:
    """A log that stops in mid-round: two owners, answers left with the table, a time-out."""
    number, options, seats, entries = LOGS[name]
    game = REGISTRY.game(name)
    chance = Random(number)
    config = game.config(options, seats)
    entropies = entropies_of(config.seats)
    agreement = agree(game, number, options, config.seats, entropies, f"unfinished{number:06d}")
    played = Played(game, agreement, seed_of(number))
    table = Table(game, agreement, played.seed, lambda: 0)
    now = agreement.created_ms
    _commit(played, table, table.claim(now, "actor-1"))
    for seat, entropy in enumerate(entropies):
        table.open_entropy(seat, entropy)
    while len(played.entries) < entries:
        now += chance.randrange(80, 2_500)
        if len(played.entries) == entries // 2:
            table = resumed(game, agreement, played.seed, played.entries)
            _commit(played, table, table.claim(now, "actor-2"))
        if table.begun:
            _one(table, chance, name)
        draft = table.draft(now)[0]
        if draft is None:  # nobody acts: the clock runs out
            wake = table.wake_at()
            assert wake is not None
            now = wake
            draft = table.draft(now)[0]
        _commit(played, table, draft)
    given = json.loads(agreement.to_json())
    return {
        "agreement": {name: value for name, value in asdict(agreement).items() if name in given},
        "seed": played.seed.hex(),
        "entries": [[entry.epoch, entry.seq, list(entry.rounds), entry.chain, entry.body] for entry in played.entries],
        "state": state_digest(table),
    }


STANDING = {"duizhu": ("wait", "level_card"), "erbaiwu": ("pass", "can_pong"), "hongshi": ("pass", "reveal")}


def _one(table: Table, chance: Random, name: str) -> None:
    """One seat acts by chance, leaves an answer, or does nothing."""
    from kangtou_engine.actions import parse_action

    seat = chance.choice(table.game.to_act(table.state))
    asked = table.prompts.asked[seat]
    assert asked is not None
    if name in STANDING and not chance.randrange(8):
        text, until = STANDING[name]
        who = chance.randrange(table.config.seats)
        table.submit(Command(who, f"s{table.seq}", 0, parse_action(text), None, True, until))
    elif chance.randrange(30):
        legal = table.game.legal(table.state, seat, 200)
        action = table.game.spec.random(table.state, seat, legal, chance.randrange)
        assert isinstance(legal, TooMany) or action in legal
        table.submit(Command(seat, f"c{table.seq}", asked.number, action))


def resumed(game: Game, agreement: Agreement, seed: bytes, entries: Sequence[Entry]) -> Table:
    """A table that another owner has loaded."""
    table = Table(game, agreement, seed, lambda: 0)
    load(table, entries)
    return table


def state_digest(table: Table) -> str:
    """A hash over all that a table knows: state, questions, answers left, ids of commands."""
    asked = [one and (one.number, one.deadline_ms) for one in table.prompts.asked]
    left = [(seat, str(one.action), one.until) for seat, one in sorted(table.standing.items())]
    known = (view_to_plain(table.state), asked, left, sorted(table.done.items()), table.epoch)
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


# ---- files ----


def digests_of(record: Record) -> dict[str, str]:
    """Of the text and of what was played."""
    return {
        "record": hashlib.sha256(write_record(record).encode()).hexdigest(),
        "canonical": hashlib.sha256(canonical_text(record).encode()).hexdigest(),
    }


def main(arguments: Sequence[str]) -> None:
    """Write everything."""
    RECORDS.mkdir(exist_ok=True)
    UNFINISHED.mkdir(exist_ok=True)
    digests = {}
    for name in PLANS:
        number = search(name) if "--search" in arguments else NUMBERS[name]
        record = golden(name, number).record
        (RECORDS / f"{name}.ktr").write_text(write_record(record))
        digests[name] = digests_of(record)
        print(f"{name}: number {number}, {record.head.outcome.rounds} rounds, {record.head.outcome.moves} moves")
    for name in LOGS:
        (UNFINISHED / f"{name}.json").write_text(json.dumps(unfinished(name), ensure_ascii=False, indent=1) + "\n")
    DIGESTS.write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
