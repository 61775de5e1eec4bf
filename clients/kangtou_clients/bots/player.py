"""One bot at one seat, asked at each prompt."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from kangtou_engine.actions import Action
from kangtou_engine.cards import Seat
from kangtou_engine.events import Event
from kangtou_engine.game import Legal, Pick, TooMany
from kangtou_engine.match.match import AnyState, Game

from ..api import Ending, Match, Prompt, Refused
from .bot import Bot, Observation
from .policies import POLICIES, bot_named
from .search import Memory

__all__ = ["POLICIES", "Policy", "Tally", "asked", "dice", "observation", "play", "policy_of"]

WAITS_MOST = 10_000

Policy: TypeAlias = Callable[[AnyState, Seat, Legal, Pick], Action]


@dataclass(slots=True)
class Tally:
    """What bots have done. `waits_ms` holds the last answers' times, `refused` counts answers that were refused."""

    matches: int = 0
    moves: int = 0
    refused: int = 0
    score: int = 0
    warnings: int = 0
    waits_ms: deque[float] = field(default_factory=lambda: deque(maxlen=WAITS_MOST))

    def wait_ms(self, share: float) -> float:
        """The time within which this share of the answers came; 0 without answers."""
        waits = sorted(self.waits_ms)
        return waits[min(len(waits) - 1, int(len(waits) * share))] if waits else 0.0


def policy_of(game: Game, name: str) -> Policy:
    """A bot by name as a function of a view, without memory. Raises ValueError for another name."""
    bot = bot_named(name)

    def choose(view: AnyState, seat: Seat, legal: Legal, pick: Pick) -> Action:
        return bot.act(Observation(game, view.config, seat, view, legal, game.default(view, seat), pick))

    return choose


def dice(seed: int | None = None) -> Pick:
    """A bot's chance; repeatable with a seed."""
    return random.Random(seed).randrange


async def play(match: Match, policy: str | Bot, pick: Pick, tally: Tally, pace_s: float = 0.0) -> Ending | Refused:
    """Play a seat to the end of its match, each move after a pause that people can follow. Raises Gone, CallFailed."""
    bot = bot_named(policy) if isinstance(policy, str) else policy
    memory = Memory(match.game)

    def saw(view: AnyState, event: Event) -> None:
        memory.saw(view, event)
        bot.saw(view, event)

    match.on_event, match.on_gap = saw, memory.missed
    async for prompt in match.prompts():
        if pace_s:
            await asyncio.sleep(pace_s)
        await _answer(match, prompt, bot, memory, pick, tally)
    ending = await match.finished()
    tally.matches += 1
    tally.warnings += len(match.warnings)
    if isinstance(ending, Ending):
        bot.ended(ending.scores, ending.places)
        if match.seat is not None and ending.scores:
            tally.score += ending.scores[match.seat]
    return ending


async def _answer(match: Match, prompt: Prompt, bot: Bot, memory: Memory, pick: Pick, tally: Tally) -> None:
    """Answer a prompt; if the answer is refused and the question still stands, by its default."""
    assert match.seat is not None
    if match.seat not in match.game.to_act(match.view):
        return  # answered already, by a clock or a standing answer
    legal = prompt.legal
    action = legal[0] if not isinstance(legal, TooMany) and len(legal) == 1 else None
    for wanted in (action or await asked(bot, observation(match, prompt, memory, pick)), prompt.default):
        began = time.perf_counter()
        answer = await prompt.answer(wanted)
        tally.waits_ms.append((time.perf_counter() - began) * 1000)
        if not isinstance(answer, Refused):
            tally.moves += 1
            return
        tally.refused += 1
        if not prompt.open:
            return  # another question now; the same one may have been put again


def observation(match: Match, prompt: Prompt, memory: Memory, pick: Pick) -> Observation:
    """What a bot is shown for a prompt."""
    assert match.seat is not None
    return Observation(
        game=match.game,
        config=match.config,
        seat=match.seat,
        view=match.view,
        legal=prompt.legal,
        default=prompt.default,
        pick=pick,
        deadline_ms=prompt.deadline_ms,
        left_ms=prompt.left_ms,
        known=memory.known,
    )


async def asked(bot: Bot, seen: Observation) -> Action:
    """A bot's answer; a slow one thinks in a thread of its own."""
    return await asyncio.to_thread(bot.act, seen) if bot.slow else bot.act(seen)
