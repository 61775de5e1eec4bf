"""All four games at once, match after match, on a server that is being hurt; what came of it, in one line."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from kangtou_clients.api import Match, Prompt
from kangtou_engine.record import Record
from kangtou_services.log.disks import Disks

from .load import Load, Played, Playground, Verdict, entry_times, judge

GAMES = ("duizhu", "erbaiwu", "hongshi", "wushik")


def now_ms() -> int:
    """Unix ms."""
    return time.time_ns() // 1_000_000


class Stall(Load):
    """One game's tables. `refused`: answers `log_unavailable`, by match; `acked_at`: when answers were accepted."""

    def __init__(
        self, server: Playground, game: str, *, think: float, turn_ms: int, replicas: int, rounds: int
    ) -> None:
        options = {"rounds": rounds}
        super().__init__(server, 1, game=game, options=options, think=think, turn_ms=turn_ms)
        self.disks = Disks(replicas)
        self.refused: Counter[str] = Counter()

    async def _again(self, match: Match, prompt: Prompt, played: Played) -> None:
        self.refused[match.match_id] += 1
        await super()._again(match, prompt, played)


@dataclass(slots=True)
class Outcome:
    """What the records say, and the time from each fault to the next move of each match in play, ms."""

    verdict: Verdict = field(default_factory=Verdict)
    wrongly: int = 0
    waits: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        verdict = self.verdict
        middle = statistics.median(self.waits or [0])
        return (
            f"{verdict.matches} matches, {verdict.acked:,} acknowledged moves, lost {verdict.lost}, "
            f"doubled {verdict.doubled}, wrongly ended {self.wrongly}, played by the clock {verdict.timeouts}, "
            f"until the next move p50 {middle:.0f} ms, max {max(self.waits or [0])} ms over {len(self.waits)}"
        )

    @property
    def good(self) -> bool:
        """Nothing lost, doubled, ended or timed out by a fault, and there were some to be hurt."""
        return self.verdict.good and not self.wrongly and not self.verdict.timeouts and bool(self.waits)


class Fair:
    """The tables of all games. Faults are noted by `hurt`, in Unix ms."""

    def __init__(
        self,
        server: Playground,
        *,
        think: float = 0.02,
        turn_ms: int = 120_000,
        replicas: int = 0,
        rounds: int = 1,
        crossed: tuple[str, ...] = (),
    ) -> None:
        self.loads = {
            game: Stall(server, game, think=think, turn_ms=turn_ms, replicas=replicas, rounds=rounds) for game in GAMES
        }
        for load in self.loads.values():
            load.crossed += crossed
        self.faults: list[int] = []

    async def start(self) -> None:
        """Until moves are accepted in every game."""
        await asyncio.gather(*(load.start() for load in self.loads.values()))
        await self.moves(3)

    async def moves(self, count: int, timeout_s: float = 120.0) -> None:
        """Until each game had so many more accepted answers."""
        before = {game: _acked(load) for game, load in self.loads.items()}
        await self.until(
            lambda: all(_acked(load) >= before[game] + count for game, load in self.loads.items()), timeout_s
        )

    async def refusals(self, count: int) -> None:
        """Until so many more answers were refused because there is no log."""
        before = self.refused
        await self.until(lambda: self.refused >= before + count)

    async def until(self, holds: Callable[[], object], timeout_s: float = 120.0) -> None:
        """Wait for something, while the bots play."""
        async with asyncio.timeout(timeout_s):
            while not holds():
                for load in self.loads.values():
                    load._raise()
                await asyncio.sleep(0.02)

    def hurt(self, at_ms: int = 0) -> None:
        """Something happened just now, or then."""
        self.faults.append(at_ms or now_ms())

    def no_more(self) -> None:
        """No further matches."""
        for load in self.loads.values():
            load._going = False

    @property
    def refused(self) -> int:
        """Answers `log_unavailable` so far."""
        return sum(load.refused.total() for load in self.loads.values())

    @property
    def acked(self) -> int:
        """Accepted answers so far."""
        return sum(map(_acked, self.loads.values()))

    @property
    def played(self) -> dict[str, Played]:
        """All matches."""
        return {match: one for load in self.loads.values() for match, one in load.played.items()}

    @property
    def stopped(self) -> dict[str, str]:
        """Matches that a fault has stopped, and what was said."""
        return {match: code for load in self.loads.values() for match, code in load.stopped.items()}

    async def finish(self, timeout_s: float = 240.0) -> None:
        """Until all matches in play have ended."""
        await asyncio.gather(*(load.finish(timeout_s) for load in self.loads.values()))

    async def close(self) -> None:
        """End what is left."""
        await asyncio.gather(*(load.close() for load in self.loads.values()))

    async def judge(self) -> Outcome:
        """Look into the archive. Matches that were stopped are the caller's to judge."""
        outcome = Outcome()
        for load in self.loads.values():
            for match in load.stopped:
                load.played.pop(match, None)
            verdict, records = await judge(load, 60.0)
            for one in fields(Verdict):
                setattr(outcome.verdict, one.name, getattr(outcome.verdict, one.name) + getattr(verdict, one.name))
            mine = [records[match] for match in load.played if match in records]
            outcome.wrongly += sum(record.head.outcome.cause != "rules" for record in mine)
            outcome.waits += [wait for record in mine for at in self.faults for wait in _wait(record, at)]
        return outcome


def _acked(load: Load) -> int:
    return sum(len(played.acked) for played in load.played.values())


def _wait(record: Record, at: int) -> list[int]:
    """Until the next entry after a fault, of a match that was in play then."""
    times = entry_times(record)
    return [min(one for one in times if one > at) - at] if times and times[0] < at < times[-1] else []
