"""Records of random matches, played through the table itself, without a server."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kangtou_engine.boards import board_seed, match_commitment, read_board
from kangtou_engine.cards import Seat
from kangtou_engine.game import TooMany
from kangtou_engine.match.match import Game
from kangtou_engine.record import Record, make_record
from kangtou_engine.shuffle import entropy_commitment, seed_commitment
from kangtou_services.agreement import Agreement, Member
from kangtou_services.archive.archiver import terms_of
from kangtou_services.log.base import Entry
from kangtou_services.table.audience import Audiences
from kangtou_services.table.commands import Command
from kangtou_services.table.core import Table
from kangtou_services.table.load import load

CREATED_MS = 1_796_000_000_000
ENGINE = "0.1.0"


@dataclass(slots=True)
class Played:
    """A match that was played, and what every seat was sent of it, entry by entry (None: a spectator)."""

    game: Game
    agreement: Agreement
    seed: bytes
    entries: list[Entry] = field(default_factory=list)
    sent: dict[Seat | None, list[bytes]] = field(default_factory=dict)

    @property
    def record(self) -> Record:
        """Its record."""
        rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in self.entries]
        return make_record(terms_of(self.agreement), rows, self.seed, ENGINE)


def agree(
    game: Game, number: int, options: Mapping[str, object], seats: int, entropies: Sequence[bytes], match: str = ""
) -> Agreement:
    """An agreement between bots that follows from its number."""
    match = match or f"match{number:011d}"
    members = tuple(
        Member(
            f"acc{seat}x{number}",
            f"Player {seat}",
            "bot",
            entropy_commitment(entropies[seat]) if entropies[seat] else "",
        )
        for seat in range(seats)
    )
    return Agreement(
        match_id=match,
        game=game.spec.name,
        version=game.spec.version,
        seats=seats,
        options=dict(options),
        members=members,
        seed_commitment=seed_commitment(match, seed_of(number)),
        created_ms=CREATED_MS + number * 60_000,
        pool="test",
        rated=True,
    )


TOURNAMENT_SEED = bytes(range(32))


def seed_of(number: int) -> bytes:
    """A seed that follows from a number."""
    return hashlib.sha256(f"seed {number}".encode()).digest()


def play(
    game: Game,
    number: int = 1,
    options: Mapping[str, object] | None = None,
    seats: int | None = None,
    *,
    takeover_every: int = 0,
    timeout_every: int = 0,
    stop_after: int = 0,
    cause: str = "abandoned",
    closed: Sequence[Seat] = (),
    match: str = "",
    board: str = "",
) -> Played:
    """Play a random match that follows from its number.

    takeover_every   after so many entries another owner loads the table and goes on
    timeout_every    a seat that is asked alone at an entry divisible by this is left to the clock
    stop_after       close the match after so many entries, with `cause`
    closed           seats that do not open the entropy they committed to
    match            its id, if not one that follows from the number
    board            of a tournament whose seed is TOURNAMENT_SEED
    """
    chance = random.Random(number)
    config = game.config(options or {}, seats)
    entropies = [bytes([seat + 1] * 16) if seat % 3 else b"" for seat in range(config.seats)]
    seed = seed_of(number)
    if board:
        tournament, at = read_board(board)
        seed, entropies = board_seed(tournament, TOURNAMENT_SEED, at), [b""] * config.seats
    agreement = agree(game, number, options or {}, config.seats, entropies, match)
    commitment = match_commitment(agreement.match_id, board, seed)
    played = Played(game, replace(agreement, board=board, seed_commitment=commitment), seed)
    table = _open(played, 1, played.agreement.created_ms)
    for seat, entropy in enumerate(entropies):
        if seat not in closed:
            table.open_entropy(seat, entropy)
    now = played.agreement.created_ms + (played.agreement.open_wait_ms if closed or board else 0)
    while not table.over:
        now += chance.randrange(5, 900)
        if takeover_every and len(played.entries) % takeover_every == 0:
            table = _open(played, table.epoch + 1, now)
        draft = table.close(now, cause) if stop_after and len(played.entries) >= stop_after else None
        if draft is None:
            if table.begun:
                now = _act(table, chance, now, timeout_every)
            draft, _ = table.draft(now)
        assert draft is not None
        assert draft.entry is not None
        table.commit(draft)
        played.entries.append(draft.entry)
        _publish(played, table, draft.entry, draft.time_ms, draft.events)
    return played


def _open(played: Played, epoch: int, now: int) -> Table:
    """An owner opens the table or takes it over."""
    table = Table(played.game, played.agreement, played.seed, lambda: 0)
    load(table, played.entries)
    draft = table.claim(now, f"actor-{epoch}")
    assert draft.entry is not None
    table.commit(draft)
    played.entries.append(draft.entry)
    return table


def _act(table: Table, chance: random.Random, now: int, timeout_every: int) -> int:
    """One seat that is asked acts, or lets its time run out. Gives the time of that."""
    seats = table.game.to_act(table.state)
    seat = chance.choice(seats)
    asked = table.prompts.asked[seat]
    assert asked is not None
    if timeout_every and len(seats) == 1 and table.seq % timeout_every == 0:
        return max(now, asked.deadline_ms)
    legal = table.game.legal(table.state, seat, 1000)
    action = table.game.default(table.state, seat) if isinstance(legal, TooMany) else chance.choice(legal)
    table.submit(Command(seat, f"c{table.seq}", asked.number, action))
    return now


def _publish(played: Played, table: Table, entry: Entry, time_ms: int, events: Sequence[object]) -> None:
    audiences = Audiences(table)
    everybody: list[Seat | None] = [*range(table.config.seats), None]
    sent = audiences.entry(entry.seq, time_ms, tuple(events), everybody)  # type: ignore[arg-type]
    for who, payload in sent.items():
        played.sent.setdefault(who, []).append(payload)
