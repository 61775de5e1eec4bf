"""Changing tables: a pure step is taken on what the store holds and kept by compare-and-set.

When another gateway was first, the step is taken again on what came of it. Whoever makes a table full makes its match.
After a crash between the two, whoever next looks at the table does, or a sweep (sweep.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from ..agreement import Agreement, new_id
from ..functions import stop_if_cancelled
from ..house import MemoryNeeds
from ..identity import StoreUnavailable
from ..log.base import LogUnavailable, MatchStore
from ..opening import Choice, LiveMatches, Opening
from . import rematch
from .base import COMMANDS_MOST, Answer, LobbyStore
from .board import Board
from .filling import Calls
from .locks import Locks
from .seating import No, Step
from .table import Table, TableState, Terms, new_table

_log = structlog.get_logger(__name__)

_TRIES = 200  # of a step, each after somebody else's
TAG = "table"  # of a match that is not the first at its table: the table's id


class Results(Protocol):
    """How matches ended."""

    async def result(self, match_id: str) -> rematch.Result | None:
        """None if it is not known here, or not yet."""
        ...


@dataclass(frozen=True, slots=True)
class Matches:
    """What a lobby needs to know of matches, and to make them."""

    store: MatchStore
    opening: Opening
    live: LiveMatches
    results: Results


class Keeper:
    """Tables as they change. Methods raise StoreUnavailable. `wall_ms`: Unix ms."""

    def __init__(
        self, store: LobbyStore, board: Board, matches: Matches, wall_ms: Callable[[], int], calls: Calls | None = None
    ) -> None:
        self.store = store
        self.calls = calls or Calls(MemoryNeeds())
        self.board = board
        self.wall_ms = wall_ms
        self._matches = matches
        self._locks = Locks()
        self._starting: dict[str, asyncio.Task[Table | None]] = {}

    async def stop(self) -> None:
        """Leave what is under way to the other gateways."""
        await self.board.stop()
        for task in self._starting.values():
            task.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)

    # ---- changing ----

    async def step(self, table_id: str, command: str, content: str, step: Step) -> tuple[Answer, Table | None]:
        """Take a step for a command (`account/id`), once; its answer and the table as it then is.

        A repeat gets the first answer, also a refusal. Refused besides: unknown_table, id_reused, too_many_commands.
        """
        async with self._locks.of(table_id):
            answer, table = await self._step(table_id, command, content, step)
        return answer, None if table is None else await self.seen(table)

    async def answered(self, table_id: str, command: str) -> bool:
        """Whether a step was taken or refused for this command."""
        held = await self.store.read(table_id, command)
        return held is not None and held.answer is not None

    async def _step(self, table_id: str, command: str, content: str, step: Step) -> tuple[Answer, Table | None]:
        for _ in range(_TRIES):
            held = await self.store.read(table_id, command)
            if held is None or held.table.state is TableState.CLOSED:
                if held is not None and held.answer is not None and held.answer.content == content:
                    return held.answer, held.table
                return Answer(content, "unknown_table"), None
            if held.answer is not None:
                return held.answer if held.answer.content == content else Answer(content, "id_reused"), held.table
            if held.commands >= COMMANDS_MOST:
                return Answer(content, "too_many_commands"), held.table
            now = self.wall_ms()
            table = rematch.due(held.table, now)
            came = step(table, now)
            if isinstance(came, No):
                answer = Answer(content, came.code, came.seat)
            else:
                table, answer = rematch.agreed(came.table, now), Answer(content, seat=came.seat)
            changed = table != held.table
            if await self.store.put(table, changed, command, answer):
                table = replace(table, version=table.version + changed)
                await self.calls.changed(table, now)
                return answer, table
        raise StoreUnavailable("too many at once at this table")

    async def update(self, table_id: str, change: Callable[[Table], Table]) -> Table | None:
        """Change a table by what happens by itself. None: it is unknown."""
        for _ in range(_TRIES):
            table = await self.read(table_id)
            if table is None or (after := change(table)) == table:
                return table
            if await self.store.put(after, changed=True):
                after = replace(after, version=after.version + 1)
                await self.calls.changed(after, self.wall_ms())
                return after
        raise StoreUnavailable("too many at once at this table")

    # ---- looking ----

    async def read(self, table_id: str) -> Table | None:
        """As it is stored."""
        (table,) = await self.store.tables([table_id])
        return table

    async def seen(self, table: Table) -> Table:
        """With what has happened meanwhile: its match made, the match's end, times that are over."""
        if table.state is TableState.FULL:
            table = await self.begin(table) or table
        ended = await self.notice_ends([table])
        now = self.wall_ms()
        if ended or rematch.due(table, now) != table:
            table = await self.update(table.table_id, lambda one: rematch.due(one, now)) or table
        return table

    async def notice_ends(self, tables: Iterable[Table]) -> bool:
        """Note the ends of matches, with their results if they are known; whether there were any."""
        playing = {table.match_id: table.table_id for table in tables if table.state is TableState.PLAYING}
        ended = await self._matches.live.ended(playing) if playing else set()
        for match_id in sorted(ended):
            await self._end(playing[match_id], match_id)
        return bool(ended)

    async def _end(self, table_id: str, match_id: str) -> None:
        result = await self._matches.results.result(match_id)
        next_id, now = new_id(), self.wall_ms()
        await self.update(table_id, lambda one: rematch.over(one, match_id, result, next_id, now))

    async def learn(self, table_id: str, match_id: str) -> None:
        """Ask again for a result that was not known when the match ended."""
        result = await self._matches.results.result(match_id)
        if result is not None:
            await self.update(table_id, lambda one: rematch.told(one, match_id, result))

    async def of_match(self, match_id: str) -> Table | None:
        """The table of a match; for one that has none, a table as it would be. None: there is no such match."""
        try:
            text = await self._matches.store.agreement(match_id)
        except LogUnavailable as no:
            raise StoreUnavailable(str(no)) from no
        stop_if_cancelled()
        if text is None:
            return None
        match = Agreement.from_json(text)
        if TAG in match.tags:
            return await self.read(match.tags[TAG])
        accounts = tuple(member.account_id for member in match.members)
        terms = Terms(watch=match.watch, watch_delay_ms=match.watch_delay_ms, scorer=match.scorer)
        table = new_table(match_id, choice_of(match), terms, accounts[0], match.created_ms)
        played = replace(table, state=TableState.PLAYING, members=match.members, arrived=accounts)
        if not await self._matches.live.ended([match_id]):
            return played
        result = await self._matches.results.result(match_id)
        return rematch.over(played, match_id, result, new_id(), self.wall_ms())

    # ---- making the match ----

    async def begin(self, table: Table) -> Table | None:
        """Have the match of a full table made, by a task that outlives the caller; the table as it then is."""
        task = self._starting.get(table.match_id)
        if task is None:
            task = self._starting[table.match_id] = asyncio.create_task(self._make(table), name="lobby-make")
            task.add_done_callback(lambda _: self._starting.pop(table.match_id, None))
        return await asyncio.shield(task)

    async def _make(self, table: Table) -> Table | None:
        tags = {} if table.match_id == table.table_id else {TAG: table.table_id}

        marked: list[Table | None] = []

        async def mark() -> None:
            now = self.wall_ms()
            after = _playing(table, table.match_id, now)
            if await self.store.put(after, changed=True):
                marked.append(replace(after, version=after.version + 1))
            else:  # somebody was first
                marked.append(await self.update(table.table_id, lambda one: _playing(one, table.match_id, now)))

        try:
            start = self._matches.opening.start
            await start(table.match_id, table.choice, table.taken, tags=tags, company=table.company, beside=mark)
            return marked[0]
        except StoreUnavailable as no:
            _log.warning("table_delayed", match=table.match_id, reason=str(no))  # a look or a sweep makes it
            return None


def _playing(table: Table, match_id: str, now_ms: int) -> Table:
    if table.state is not TableState.FULL or table.match_id != match_id:
        return table
    return replace(table, state=TableState.PLAYING, since_ms=now_ms)


def choice_of(match: Agreement) -> Choice:
    """What was chosen, as the match knows it."""
    return Choice(
        game=match.game,
        version=match.version,
        seats=match.seats,
        options=match.options,
        resolved="",
        turn_ms=match.turn_ms,
        window_ms=match.window_ms,
        rated=match.rated,
        bank_ms=match.bank_ms,
        increment_ms=match.increment_ms,
        lag_ms=match.lag_ms,
        lag_match_ms=match.lag_match_ms,
    )
