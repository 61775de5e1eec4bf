"""Bots that play match after match on a server while it is being hurt, and what must be true afterwards."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kangtou_clients.api import Accepted, Match, Prompt, Refused, Session, connect
from kangtou_engine.game import TooMany
from kangtou_engine.notation import Step
from kangtou_engine.record import Record
from kangtou_engine.registry import SPECS, Registry
from kangtou_engine.shuffle import SEED_BYTES, entropy_commitment, seed_commitment
from kangtou_engine.verify import verify
from kangtou_services.accounts.accounts import Accounts, AccountSettings
from kangtou_services.accounts.redis import RedisAccountStore
from kangtou_services.agreement import BOT, Agreement, Member, new_id
from kangtou_services.archive.store import RecordStore
from kangtou_services.identity import Issued
from kangtou_services.log.disks import Disks
from kangtou_services.log.redis import RedisMatchStore
from kangtou_services.marks import RedisMarks
from tests.games.parrot import GAME as PARROT
from tests.servers import patient

REGISTRY = Registry((*SPECS, PARROT))
# Refusals of answers that crossed another seat's, or an outage, on the way.
CROSSED = ("stale_prompt", "not_your_turn", "log_unavailable", "match_over", "not_snatchable")


@dataclass(slots=True)
class Played:
    """One match as its seats saw it. `acked`: (seat, action, seq) of every accepted answer."""

    match_id: str
    acked: list[tuple[int, str, int]] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)
    warnings: int = 0


class Playground(Protocol):
    """A server: where its gateways and its Redis are, and the folder with its archive."""

    @property
    def data(self) -> Path: ...
    @property
    def address(self) -> str: ...
    @property
    def redis_url(self) -> str: ...


class Load:
    """`tables` tables; when a match ends another begins, until `finish`. `think` in seconds before each answer."""

    def __init__(
        self,
        server: Playground,
        tables: int,
        *,
        game: str = "hongshi",
        seats: int = 4,
        options: Mapping[str, object] | None = None,
        think: float = 0.03,
        turn_ms: int = 120_000,
    ) -> None:
        self.server = server
        self.tables = tables
        self.game = game
        self.seats = seats
        self.options = dict(options or {"rounds": 1})
        self.think = think
        self.turn_ms = turn_ms
        self.disks = Disks()  # that must have a match before it begins
        self.crossed: tuple[str, ...] = CROSSED
        self.stopped: dict[str, str] = {}  # matches that did not come to their end, and the code that says why
        self.played: dict[str, Played] = {}
        self.current: set[str] = set()
        self.reconnections = 0
        self._going = True
        self._tasks: list[asyncio.Task[None]] = []
        self._sessions: list[Session] = []
        self.bots: list[tuple[str, str]] = []
        self._redis = patient(server.redis_url)

    async def start(self) -> None:
        """Accounts, a session a seat, the first matches."""
        identity = Accounts(
            RedisAccountStore(self._redis), RedisMarks(self._redis), AccountSettings(registrations=10**6)
        )
        for number in range(self.tables * self.seats):
            issued = await identity.register(f"bot {number}", BOT, new_id(), "test")
            assert isinstance(issued, Issued)
            self.bots.append((issued.account.account_id, issued.token))
        self._tasks = [asyncio.create_task(self._table(number)) for number in range(self.tables)]
        while len(self.current) < self.tables:
            await asyncio.sleep(0.05)
            self._raise()

    async def finish(self, timeout_s: float = 180.0, *, hurry: bool = False) -> None:
        """No further matches; wait until those in play have ended. `hurry`: nobody thinks any more."""
        self._going = False
        self.think = 0.0 if hurry else self.think
        async with asyncio.timeout(timeout_s):
            await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """End what is left."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._redis.aclose()

    def _raise(self) -> None:
        for task in self._tasks:
            if task.done() and not task.cancelled() and task.exception() is not None:
                raise AssertionError("a bot failed") from task.exception()

    async def _table(self, number: int) -> None:
        mine = self.bots[number * self.seats : (number + 1) * self.seats]
        clients = [connect(self._address(seat), token, registry=REGISTRY) for seat, (_, token) in enumerate(mine)]
        sessions = [client.play(give_up_s=120.0) for client in clients]
        try:
            for session in sessions:
                await session.__aenter__()
            while self._going:
                await self._match([account for account, _ in mine], sessions)
        finally:
            self.reconnections += sum(session.reconnections for session in sessions)
            for session in sessions:
                await session.close()
            for client in clients:
                await client.close()

    def _address(self, seat: int) -> str:
        """The gateways of a seat."""
        return self.server.address

    async def _match(self, accounts: list[str], sessions: list[Session]) -> None:
        match_id, seed = new_id(), os.urandom(SEED_BYTES)
        entropies = [os.urandom(32) for _ in accounts]
        members = tuple(
            Member(account, f"bot {seat}", BOT, entropy_commitment(entropies[seat]))
            for seat, account in enumerate(accounts)
        )
        agreement = Agreement(
            match_id,
            self.game,
            1,
            self.seats,
            self.options,
            members,
            seed_commitment(match_id, seed),
            time.time_ns() // 1_000_000,
            turn_ms=self.turn_ms,
            window_ms=self.turn_ms,
        )
        await self._stored(match_id, agreement, seed)
        played = self.played[match_id] = Played(match_id)
        self.current.add(match_id)
        seats = [self._seat(session, match_id, entropies[seat], played) for seat, session in enumerate(sessions)]
        try:
            await asyncio.gather(*seats)
        finally:
            self.current.discard(match_id)

    async def _stored(self, match_id: str, agreement: Agreement, seed: bytes) -> None:
        from kangtou_services.log.base import LogUnavailable

        while True:
            try:
                await RedisMatchStore(self._redis, self.disks).create(match_id, agreement.to_json(), seed)
                return
            except LogUnavailable:
                await asyncio.sleep(0.2)

    async def _seat(self, session: Session, match_id: str, entropy: bytes, played: Played) -> None:
        match = await session.attach(match_id, entropy=entropy)
        assert isinstance(match, Match), match
        await self._attached(session, match)
        async for prompt in match.prompts():
            await self._think(match)
            action = self._choose(match, prompt)
            answer = await prompt.answer(action)
            if isinstance(answer, Accepted):
                played.acked.append((match.seat or 0, action, answer.seq))
            else:
                assert answer.code in self.crossed, answer
                if answer.code == "log_unavailable":
                    await self._again(match, prompt, played)
                elif answer.code == "not_snatchable" and prompt.open:
                    passed = await prompt.answer(prompt.default)  # what it wanted is gone, the question is not
                    if isinstance(passed, Accepted):
                        played.acked.append((match.seat or 0, str(prompt.default), passed.seq))
        ending = await match.finished()
        if isinstance(ending, Refused):
            self.stopped[match_id] = ending.code
        played.receipts.append(getattr(ending, "receipt", ""))
        played.warnings += len(match.warnings)
        await session.leave(match)

    async def _attached(self, session: Session, match: Match) -> None:
        """What a seat does before it plays: nothing here."""

    async def _think(self, match: Match) -> None:
        """How long an answer takes."""
        await asyncio.sleep(random.uniform(0, 2 * self.think))

    async def _again(self, match: Match, prompt: Prompt, played: Played) -> None:
        """The same question once more, as a new command, until the log takes it or the question is over."""
        while not match.over and prompt.open:
            await asyncio.sleep(0.2)
            action = self._choose(match, prompt)
            answer = await prompt.answer(action)
            if isinstance(answer, Accepted):
                played.acked.append((match.seat or 0, action, answer.seq))
                return
            if answer.code != "log_unavailable":
                return

    def _choose(self, match: Match, prompt: Prompt) -> str:
        legal = prompt.legal
        if isinstance(legal, TooMany) or not legal:
            chosen = match.game.spec.random(match.view, match.seat or 0, legal, random.randrange)
            return str(chosen)
        return str(random.choice(legal))


@dataclass(slots=True)
class Verdict:
    """What the records of a load say."""

    matches: int = 0
    acked: int = 0
    lost: int = 0
    doubled: int = 0
    unverified: int = 0
    missing: int = 0
    bad_receipts: int = 0
    timeouts: int = 0
    warnings: int = 0
    wrongly_ended: int = 0

    @property
    def good(self) -> bool:
        """Nothing lost, nothing twice, everything verified, no match ended but by its rules."""
        wrong = (self.unverified, self.missing, self.bad_receipts, self.warnings, self.wrongly_ended)
        return not (self.lost or self.doubled or any(wrong))


async def judge(load: Load, timeout_s: float = 30.0) -> tuple[Verdict, dict[str, Record]]:
    """Every acknowledged move is in its record exactly once, every record verifies, every receipt fits."""
    store = RecordStore(str(load.server.data / "archive"))
    until = time.monotonic() + timeout_s
    records: dict[str, Record] = {}
    while True:
        for path in store.paths():
            match_id = path.rsplit("/", 1)[-1].split(".")[0]
            if match_id not in records:
                records[match_id] = store.get(path)
        if set(load.played) <= set(records) or time.monotonic() > until:
            break
        await asyncio.sleep(0.3)
    verdict = Verdict(matches=len(load.played))
    for match_id, played in load.played.items():
        record = records.get(match_id)
        if record is None:
            verdict.missing += 1
            continue
        _judge_one(verdict, record, played, store)
    return verdict, records


def _judge_one(verdict: Verdict, record: Record, played: Played, store: RecordStore) -> None:
    from kangtou_engine.record import write_record

    steps: dict[tuple[int, str, int], int] = {}
    ids: dict[tuple[int, str], int] = {}
    for entry in record.entries:
        for item in entry.body.items:
            if not isinstance(item, Step):
                continue
            if item.seat is None:
                verdict.timeouts += 1
                continue
            key = (item.seat, str(item.action), entry.seq)
            steps[key] = steps.get(key, 0) + 1
            ids[item.seat, item.command] = ids.get((item.seat, item.command), 0) + 1
    verdict.acked += len(played.acked)
    verdict.lost += sum(key not in steps for key in played.acked)
    verdict.doubled += sum(count > 1 for (_, command), count in ids.items() if command != "*")
    verdict.unverified += not verify(write_record(record).encode(), REGISTRY).ok
    verdict.bad_receipts += sum(receipt != record.receipt for receipt in played.receipts)
    verdict.warnings += played.warnings
    verdict.wrongly_ended += record.head.outcome.cause != "rules"


def entry_times(record: Record) -> list[int]:
    """When each entry was written, Unix ms (markers left out)."""
    return [entry.body.time_ms for entry in record.entries if entry.body.claim is None]
