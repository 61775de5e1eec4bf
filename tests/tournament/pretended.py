"""One game of a tournament with everything around it made up: what happens comes in the order that a test gives.

A course is a text of words. `|` is a look at which processes have ended, `/` a reading of the log; they alternate, and
a course begins after the first `|`. Between them stands what happens meanwhile:

    late1     the clock plays for seat 1                exit2   the process at seat 2 ends
    world     a gateway is lost                         epoch   another actor takes the table over
    down      the log cannot be reached the next time   rules, operator …: the match ends, with this cause
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_engine.actions import Action
from kangtou_engine.notation import Body, Item, Step, write_body
from kangtou_engine.record import Record
from kangtou_services.gateway.routes import TableProblem
from kangtou_services.log.base import Entry, LogUnavailable
from kangtou_services.tournament.events import Flight
from kangtou_services.tournament.game_run import GameRun, Terms
from kangtou_services.tournament.ids import match_id
from kangtou_services.tournament.model import Entrant, Game, Spec
from kangtou_services.tournament.sets import config_of

TOURNAMENT = "t_pretended123"
SEED = bytes(range(32))
SETTLE_LOOKS = 4


class Process:
    """An entrant's process. `killed`: how often it was ended from outside."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.killed = 0
        self.output = "the last words"

    async def wait(self) -> int:
        """Until it ends."""
        await self.over.wait()
        return 0

    async def end(self, patience_s: float = 0.0) -> None:
        """End it."""
        self.killed += 1
        self.over.set()


class Pretended:
    """A game of hongshi of four entrants: `bots` are seats of built-in ones, the others are processes.

    course    as above
    kept      what the table says of why a clock played, by seat; None: the table is gone
    record    what the archive has of the match, if it is asked
    stoppable whether the table can be had ended
    """

    def __init__(
        self,
        course: str,
        *,
        bots: tuple[int, ...] = (),
        kept: Mapping[int, lpb.Lateness.ValueType] | None = None,
        record: Record | None = None,
        stoppable: bool = True,
    ) -> None:
        self._words = course.split()
        self._kept = kept
        self._record = record
        self._stoppable = stoppable
        self.processes: dict[int, Process] = {}
        self.entries: list[Entry] = []
        self.epoch, self.seconds, self.gone, self.down, self.cause = 1, 0, "", False, ""
        self.archiver = self.index = self.records = self.log = self.matches = self
        self.router = self.world = self.players = self.commands = self.opening = self
        self.settle_s = float(SETTLE_LOOKS)
        entrants = tuple(
            Entrant(f"e{seat}", bot="greedy") if seat in bots else Entrant(f"e{seat}", command=("x",))
            for seat in range(4)
        )
        spec = Spec("pretended", "hongshi", entrants, table=4)
        game = Game("s0", 0, (0, 1, 2, 3), 1, (0, 1, 2, 3), 4)
        self.flight = Flight(game, 0, match_id(TOURNAMENT, game.id, 0), "all there")
        terms = Terms(TOURNAMENT, spec, cast("Any", None), config_of(spec), SEED)
        self.run = GameRun(cast("Any", self), terms, self.flight, {})
        self._append(Body(1, 0, claim="actor"))

    def _append(self, body: Body) -> None:
        self.entries.append(Entry(self.epoch, len(self.entries) + 1, write_body(body), "0" * 64))

    def _happen(self, mark: str) -> None:
        """All that comes before the next mark, which is taken too."""
        while self._words:
            word = self._words.pop(0)
            if word in "|/":
                assert word == mark, "looks and readings alternate"
                return
            what, number = word[:-1], word[-1]
            if what == "late":
                timeout = Action("timeout", keys=(("seat", number),))
                items: tuple[Item, ...] = (Step(None, "", 0, timeout),)
                self._append(Body(1, 0, items=items))
            elif what == "exit":
                self.processes[int(number)].over.set()
            elif word == "epoch":
                self.epoch += 1
                self._append(Body(1, 0, claim="another"))
            elif word == "world":
                self.gone = "a gateway"
            elif word == "down":
                self.down = True
            else:
                self.end(word)

    def end(self, cause: str) -> None:
        """The match ends, unless it has."""
        if not self.cause:
            self.cause = cause
            self._append(Body(1, 0, end=cause))

    # ---- what a GameRun stands on, under the names that it uses ----

    def now_ms(self) -> int:
        """A time."""
        return 1

    def elapsed_s(self) -> float:
        """A second for each reading of the log, and of its end."""
        return float(self.seconds)

    async def read(self, match: str, first_seq: int = 0, last_seq: int | None = None) -> list[Entry]:
        """Of the log."""
        self._happen("/")
        found = self.entries[max(0, first_seq - 1) :]
        down, self.down = self.down, False
        self._happen("|")
        self.seconds += 1
        for _ in range(5):
            await asyncio.sleep(0)  # whoever waits for a process that has ended comes to know it
        if down:
            raise LogUnavailable("switched off")
        return found

    async def tail(self, match: str) -> Entry | None:
        """Of the log."""
        self.seconds += 1
        return self.entries[-1]

    async def agreement(self, match: str) -> str | None:
        """None: the match is in the archive."""
        return None

    def find(self, match: str) -> Any:
        """Of the index."""
        return self if self._record is not None else None

    path = "record"

    def get(self, path: str) -> Record:
        """Of the archive."""
        assert self._record is not None
        return self._record

    async def look(self) -> str:
        """Of the world."""
        return self.gone or "all there"

    async def call(self, call: lpb.Call) -> lpb.Reply:
        """Of the table."""
        if call.HasField("stop"):
            if self._stoppable:
                self.end(call.stop.cause)
        elif self._kept is None:
            raise TableProblem("not_here")
        late = [self._kept.get(seat, lpb.LATENESS_UNSPECIFIED) for seat in range(4)] if self._kept is not None else []
        return lpb.Reply(conduct=lpb.SeatsConduct(late=late, connected=range(4)))

    async def start(self, what: Any, *more: Any, **given: Any) -> Process | None:
        """Of processes, and of matches."""
        if not isinstance(what, Entrant):
            return None
        seat = more[0].seat
        assert seat not in self.processes, "started twice"
        self.processes[seat] = Process()
        return self.processes[seat]

    async def token(self, *account: object, **given: object) -> str:
        """Of an account."""
        return "token"

    def play(self, match: str, seat: int, order: object, **how: object) -> None:
        """Of built-in bots."""

    def drop(self, match: str) -> None:
        """Of built-in bots."""
