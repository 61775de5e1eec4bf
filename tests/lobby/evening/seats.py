"""Playing a seat to the end, with whatever its player does besides."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from kangtou_clients.api import Accepted, Client, Ending, Match, Place, Prompt, Refused, Session
from kangtou_clients.bots.player import Policy, dice, policy_of
from kangtou_engine.game import Pick

from ...inprocess import until
from .habits import Does, Habit
from .ledger import Ledger
from .people import HANDS_UP_MOST, Person

TOO_LATE = frozenset({"stale_prompt", "seat_delegated", "not_your_turn", "match_over"})
"""What an answer may be refused for that came while a clock or another seat was faster."""


@dataclass
class Player:
    """One seat of one match."""

    person: Person
    place: Place
    does: Does
    ledger: Ledger
    pick: Pick
    away: bool = False
    asked: int = 0
    done: bool = False

    async def play(self) -> None:
        """To the end of the match, or until its player has left for good."""
        self.ledger.sat(self.place.match_id, self.place.seat, self.person.account_id)
        client: Client | None = self.person.client
        streams = 0
        while client is not None:
            streams += 1
            async with self._attached(client) as (session, match):
                client = await self._go_on(session, match)
        assert self.done or self.does.habit is Habit.PLAYS, "the match was too short for this habit"
        assert streams == (2 if self.does.habit is Habit.MOVES else 1)

    @asynccontextmanager
    async def _attached(self, client: Client) -> AsyncIterator[tuple[Session, Match]]:
        async with client.play() as session:
            match = await session.attach(self.place.match_id, entropy=self.place.entropy)
            assert isinstance(match, Match), (self, match)
            assert match.seat == self.place.seat
            steady = asyncio.create_task(self._stay(session, match), name="steady")
            try:
                yield session, match
            finally:
                steady.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await steady

    async def _go_on(self, session: Session, match: Match) -> Client | None:
        """Play; where to go on, None: it is over, or somebody has left."""
        policy = policy_of(match.game, "greedy")
        async for prompt in match.prompts():
            self.asked += 1
            if not self.done and self.does.habit is not Habit.PLAYS and self.asked >= self.does.at:
                self.done = True
                if self.does.habit is Habit.MOVES:
                    return self.person.elsewhere
                await self._away(session, match)
                if self.does.habit is Habit.LEAVES:
                    return None
                continue  # the question may be another by now; if it stands it has come again
            await self._answer(match, prompt, policy)
        ending = await match.finished()
        assert isinstance(ending, Ending), ending
        assert match.warnings == ()
        self.ledger.told(match.match_id, self.person.account_id, ending)
        return None

    async def _answer(self, match: Match, prompt: Prompt, policy: Policy) -> None:
        assert match.seat is not None
        if not prompt.open or match.seat not in match.game.to_act(match.view):
            return  # answered by the clock meanwhile
        answer = await prompt.answer(policy(match.view, match.seat, prompt.legal, self.pick))
        if isinstance(answer, Accepted):
            self.ledger.moves += 1
        else:
            assert answer.code in TOO_LATE, answer
            self.ledger.late += 1

    async def _away(self, session: Session, match: Match) -> None:
        """Let a substitute play, see it play for a while, and take the seat back unless one has left."""
        habit = self.does.habit
        self.away = True
        if habit is not Habit.FALLS_ASLEEP:
            answer = await session.hand_over(match, leave=habit is Habit.LEAVES)
            assert isinstance(answer, Accepted), answer
        await until(lambda: match.over or match.delegated == habit, HANDS_UP_MOST)
        assert not match.over, "the match was too short for this habit"
        self.ledger.scripted[match.match_id, self.person.account_id, habit.value] += 1
        if habit is Habit.LEAVES:
            return
        assert match.prompt is None
        refused = await self.person.elsewhere.act(
            match.match_id, match.game.default(match.view, self.place.seat), prompt=match.seq, command_id=uuid4().hex
        )
        assert isinstance(refused, Refused)
        assert refused.code in {"seat_delegated", "match_over"}, refused
        since = match.seq
        await until(lambda: match.over or match.seq > since + 2 * match.config.seats, HANDS_UP_MOST)
        back = await self.person.elsewhere.take_back(match.match_id, command_id=uuid4().hex)
        assert isinstance(back, Accepted) or match.over, back
        self.away = False

    async def _stay(self, session: Session, match: Match) -> None:
        """Who is not away but was too slow for the clock takes the seat back at once."""
        while not match.over:
            if match.delegated and not self.away:
                await session.take_back(match)
            await asyncio.sleep(0.05)


def player(person: Person, place: Place, does: Does, ledger: Ledger, seed: int) -> Player:
    """Somebody at a seat, whose choices follow from the seed and what is dealt."""
    return Player(person, place, does, ledger, dice(seed))
