"""The lobby as a gateway offers it.

Whoever takes the last seat makes the match. After a crash between the two, whoever next looks at the table does, or the
sweep that one gateway at a time makes. Sweeps also notice the ends of matches and take old tables off the list.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import structlog

from kangtou.v1 import game_pb2 as pb

from ..agreement import Agreement, Member, new_id
from ..functions import stop_if_cancelled
from ..identity import Account, StoreUnavailable, good_command_id
from ..log.base import LogUnavailable, MatchStore
from ..marks import Marks
from ..opening import Choice, Games, LiveMatches, Opening, good_commitment
from ..refusals import refusal
from .base import LobbyStore, Sitting, Table, TableState, place_of

_log = structlog.get_logger(__name__)

_PLACE = re.compile(r"[0-9]{13}:[a-z0-9]{1,64}")
_ID = re.compile(r"[a-z0-9]{1,64}")
_SWEEP_PAGE = 500
_LOST_MS = 60_000  # after which a place without a table is taken off the list
_MINUTE_MS = 60_000
_ROUNDS_MOST = 20  # pages that one request looks through for tables in the states that it asks for


class BadPage(ValueError):
    """A page token that was not given out."""


@dataclass(frozen=True, slots=True)
class LobbySettings:
    """idle_ms: how long an open table may stand empty; show_over_ms: how long one whose match is over is listed.

    opens: tables that one account may open in a minute.
    """

    sweep_s: float = 5.0
    idle_ms: int = 3_600_000
    show_over_ms: int = 600_000
    keep_ms: int = 24 * 3_600_000
    opens: int = 3_000


class Lobby:
    """Tables with free seats. `start` it and `stop` it. Methods raise StoreUnavailable; refusals are values."""

    def __init__(
        self,
        store: LobbyStore,
        marks: Marks,
        games: Games,
        matches: MatchStore,
        opening: Opening,
        live: LiveMatches,
        settings: LobbySettings | None = None,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._store = store
        self._marks = marks
        self._games = games
        self._matches = matches
        self._opening = opening
        self._live = live
        self._settings = settings or LobbySettings()
        self._wall_ms = wall_ms
        self._holder = new_id()
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Sweep now and then."""
        self._task = asyncio.create_task(self._sweep_forever(), name="lobby-sweep")

    async def stop(self) -> None:
        """Leave what is under way to the other gateways."""
        tasks = [task for task in (self._task, *self._starting.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- what players do ----

    async def open_table(self, account: Account, choice: Choice, command_id: str) -> Table | pb.Refusal:
        """A new table with free seats; a repeat gets the same one. Refused: bad_id, id_reused, throttled."""
        if not good_command_id(command_id):
            return refusal("bad_id")
        count, left_ms = await self._marks.count("open-table", account.account_id, _MINUTE_MS)
        if count > self._settings.opens:
            return refusal("throttled", seconds=-(-left_ms // 1000))
        mine = f"{new_id()} {choice.key}"
        claimed = await self._marks.claim("table", account.account_id, command_id, mine, self._settings.keep_ms)
        table_id, key = claimed.split(" ")
        if key != choice.key:
            return refusal("id_reused")
        await self._store.create(table_id, choice, self._wall_ms())
        _log.info("table_listed", match=table_id, game=choice.game)
        return await self.table(table_id)

    async def sit(
        self, account: Account, table_id: str, seat: int | None, commitment: str, command_id: str
    ) -> tuple[int, Table] | pb.Refusal:
        """Take a seat; the last one makes the match. Refused: see LobbyStore.sit, and bad_id, bad_commitment."""
        if not good_command_id(command_id):
            return refusal("bad_id")
        if not good_commitment(commitment):
            return refusal("bad_commitment")
        if seat is not None and seat < 0:
            return refusal("bad_seat", seat=seat)
        if not _ID.fullmatch(table_id):
            return refusal("unknown_table")
        member = Member(account.account_id, account.name, account.kind, commitment)
        sitting = await self._store.sit(table_id, command_id, member, seat, self._wall_ms())
        return await self._after(table_id, sitting, -1 if seat is None else seat)

    async def stand(self, account: Account, table_id: str, command_id: str) -> Table | pb.Refusal:
        """Give a seat back. Refused: see LobbyStore.stand, and bad_id."""
        if not good_command_id(command_id):
            return refusal("bad_id")
        if not _ID.fullmatch(table_id):
            return refusal("unknown_table")
        sitting = await self._store.stand(table_id, command_id, account.account_id, self._wall_ms())
        after = await self._after(table_id, sitting, sitting.seat)
        return after if isinstance(after, pb.Refusal) else after[1]

    async def _after(self, table_id: str, sitting: Sitting, wanted: int) -> tuple[int, Table] | pb.Refusal:
        if sitting.code:
            return refusal(sitting.code, seat=wanted)
        table = await self.table(table_id)
        return table if isinstance(table, pb.Refusal) else (sitting.seat, table)

    # ---- looking ----

    async def table(self, table_id: str) -> Table | pb.Refusal:
        """A table as it stands; also one of a match that was not made here. Refused: unknown_table."""
        if not _ID.fullmatch(table_id):
            return refusal("unknown_table")
        (found,) = await self._store.tables([table_id])
        if found is not None and found.state is TableState.FULL:
            await self._begin(found)
            (found,) = await self._store.tables([table_id])
        if found is None:
            found = await self._from_match(table_id)
        if found is None:
            return refusal("unknown_table")
        return (await self._seen([found]))[0]

    async def page(self, game: str, states: Collection[TableState], size: int, token: str) -> tuple[list[Table], str]:
        """Tables, the newest first, and a token for the next page ("" at the end). `game` "", no states: all.

        Raises BadPage.
        """
        if token and not _PLACE.fullmatch(token):
            raise BadPage(token[:80])
        found: list[Table] = []
        for _ in range(_ROUNDS_MOST):
            places = await self._store.page(game, token, size - len(found))
            token = places[-1] if len(places) == size - len(found) else ""
            seen = await self._seen([table for _, table in await self._at(places) if table is not None])
            found += [table for table in seen if not states or table.state in states]
            if not token or len(found) == size:
                break
        return found, token

    async def _seen(self, tables: Sequence[Table]) -> list[Table]:
        """With the ends of their matches noticed."""
        playing = [table.table_id for table in tables if table.state is TableState.PLAYING]
        ended = await self._live.ended(playing) if playing else set()
        for table_id in sorted(ended):
            await self._store.move(table_id, TableState.OVER, self._wall_ms())
        return [replace(table, state=TableState.OVER) if table.table_id in ended else table for table in tables]

    async def _from_match(self, match_id: str) -> Table | None:
        try:
            text = await self._matches.agreement(match_id)
        except LogUnavailable as no:
            raise StoreUnavailable(str(no)) from no
        stop_if_cancelled()
        if text is None:
            return None
        match = Agreement.from_json(text)
        choice = Choice(
            match.game, match.version, match.seats, match.options, "", match.turn_ms, match.window_ms, match.rated
        )
        made = match.created_ms
        return Table(match_id, choice, TableState.PLAYING, match.members, made, made)

    # ---- making the match ----

    async def _begin(self, table: Table) -> None:
        """Have the match made, by a task that outlives the caller."""
        task = self._starting.get(table.table_id)
        if task is None:
            task = self._starting[table.table_id] = asyncio.create_task(self._make(table), name="lobby-make")
            task.add_done_callback(lambda _: self._starting.pop(table.table_id, None))
        await asyncio.shield(task)

    async def _make(self, table: Table) -> None:
        try:
            await self._opening.start(table.table_id, table.choice, table.taken)
            await self._store.move(table.table_id, TableState.PLAYING, self._wall_ms())
        except StoreUnavailable as no:
            _log.warning("table_delayed", match=table.table_id, reason=str(no))  # a look or a sweep makes it

    # ---- sweeping ----

    async def _sweep_forever(self) -> None:
        while True:
            await asyncio.sleep(self._settings.sweep_s)
            try:
                if await self._store.lead(self._holder, int(self._settings.sweep_s * 3_000)):
                    await self.sweep()
            except StoreUnavailable as no:
                _log.warning("lobby_sweep_delayed", reason=str(no))
            except Exception as error:  # noqa: BLE001 - the next sweep may do better; the gateway goes on
                _log.error("lobby_sweep_failed", error=type(error).__name__, text=str(error))

    async def sweep(self) -> None:
        """Look at all tables once. Raises StoreUnavailable."""
        token = ""
        while places := await self._store.page("", token, _SWEEP_PAGE):
            token = places[-1]
            found = await self._at(places)
            for place, table in found:
                await self._tidy(place, table)
            await self._seen([table for _, table in found if table is not None])

    async def _tidy(self, place: str, table: Table | None) -> None:
        now = self._wall_ms()
        if table is None:
            if now - int(place.partition(":")[0]) > _LOST_MS:  # else it may be about to be made
                await self._store.unlist(place, self._games.names())
            return
        if table.state is TableState.FULL:
            await self._begin(table)
        over = table.state is TableState.OVER and now - table.since_ms > self._settings.show_over_ms
        idle = table.state is TableState.OPEN and not table.taken and now - table.opened_ms > self._settings.idle_ms
        if (over or idle) and await self._store.remove(table.table_id, only_idle=idle):
            await self._store.unlist(place, [table.choice.game])

    async def _at(self, places: Sequence[str]) -> list[tuple[str, Table | None]]:
        """The tables at some places of the list."""
        tables = await self._store.tables([place.partition(":")[2] for place in places])
        return [
            (place, table if table is not None and place == place_of(table.table_id, table.opened_ms) else None)
            for place, table in zip(places, tables, strict=True)
        ]
