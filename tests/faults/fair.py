"""All four games at once, match after match, on a server that is being hurt; what came of it, in one line."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from kangtou.v1 import play_pb2 as play
from kangtou_clients.api import Answer, Match, Refused, Session
from kangtou_engine.actions import Action
from kangtou_engine.record import Record
from kangtou_services.log.disks import Disks

from .load import Load, Played, Playground, Verdict, entry_times, judge

GAMES = ("duizhu", "erbaiwu", "hongshi", "wushik")


def now_ms() -> int:
    """Unix ms."""
    return time.time_ns() // 1_000_000


class Stall(Load):
    """One game's tables. `refused`: answers `log_unavailable`."""

    def __init__(
        self, server: Playground, game: str, *, think: float, turn_ms: int, replicas: int, rounds: int
    ) -> None:
        options = {"rounds": rounds}
        super().__init__(server, 1, game=game, options=options, think=think, turn_ms=turn_ms)
        self.disks = Disks(replicas)
        self.refused = 0
        self.matches: dict[str, Match] = {}  # as the seat sees them that came last
        self._heard: set[int] = set()

    async def _attached(self, session: Session, match: Match) -> None:
        """Count the refusals that come: a session repeats such a command by itself, and its caller is not told."""
        self.matches[match.match_id] = match
        if id(session) in self._heard:
            return
        self._heard.add(id(session))
        take = session._answered

        def answered(update: play.Update) -> None:
            self.refused += update.answer.refused.code == "log_unavailable"
            take(update)

        session._answered = answered  # type: ignore[method-assign]


@dataclass(slots=True)
class Outcome:
    """What the records say, and the time from each fault to the next move of each match in play, ms."""

    verdict: Verdict = field(default_factory=Verdict)
    waits: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        verdict = self.verdict
        middle = statistics.median(self.waits or [0])
        return (
            f"{verdict.matches} matches, {verdict.acked:,} acknowledged moves, lost {verdict.lost}, "
            f"doubled {verdict.doubled}, wrongly ended {verdict.wrongly_ended}, "
            f"played by the clock {verdict.timeouts}, "
            f"until the next move p50 {middle:.0f} ms, max {max(self.waits or [0])} ms over {len(self.waits)}"
        )

    @property
    def good(self) -> bool:
        """Nothing lost, doubled, ended or timed out by a fault, and there were some to be hurt."""
        return self.verdict.good and not self.verdict.timeouts and bool(self.waits)


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
        self.probes: list[asyncio.Task[Answer]] = []

    async def start(self) -> None:
        """Until moves are accepted in every game."""
        await asyncio.gather(*(load.start() for load in self.loads.values()))
        await self.moves(3)

    async def moves(self, count: int, timeout_s: float = 240.0) -> None:
        """Until each game had so many more accepted answers."""
        before = {game: _acked(load) for game, load in self.loads.items()}
        await self.until(
            lambda: all(_acked(load) >= before[game] + count for game, load in self.loads.items()), timeout_s
        )

    async def refusals(self) -> None:
        """Until a command was refused at every table because there is no log: one that answers an old question.

        Of the bots' own one a table may be under way, which is not refused, and nobody else may be asked.
        """
        for load in self.loads.values():
            for match in sorted(load.current & load.matches.keys()):  # without those that nobody could attach to yet
                await self._refused(load, load.matches[match])

    async def _refused(self, load: Stall, match: Match) -> None:
        """One table. Before its host has noticed, the command is refused for its age."""
        before = load.refused
        while load.refused == before:
            probe = asyncio.create_task(match.act(Action("pass"), 1))
            self.probes.append(probe)
            await self.until(lambda: load.refused > before or probe.done())  # noqa: B023 - it is over by then

    async def probed(self) -> bool:
        """Whether none of those was accepted later."""
        answers = await asyncio.gather(*self.probes)
        return all(isinstance(answer, Refused) for answer in answers)

    async def until(self, holds: Callable[[], object], timeout_s: float = 240.0) -> None:
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
        return sum(load.refused for load in self.loads.values())

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
            outcome.waits += [wait for record in mine for at in self.faults for wait in _wait(record, at)]
        return outcome


def _acked(load: Load) -> int:
    return sum(len(played.acked) for played in load.played.values())


def _wait(record: Record, at: int) -> list[int]:
    """Until the next entry after a fault, of a match that was in play then."""
    times = entry_times(record)
    return [min(one for one in times if one > at) - at] if times and times[0] < at < times[-1] else []
