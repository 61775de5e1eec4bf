"""The lobby as a gateway offers it: what accounts may do with tables, and what they may see of them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from kangtou.v1 import game_pb2 as pb

from ..agreement import BOT, Member, new_id
from ..blocks import Blocks
from ..identity import Account, good_command_id, is_house
from ..marks import Marks, digest
from ..opening import Choice, good_commitment
from ..refusals import refusal
from . import rematch, seating
from .base import Answer, LobbyStore
from .board import Board, Wanted
from .filling import Calls
from .keeper import Keeper, Matches
from .limit import counted
from .seating import Step
from .table import Table, TableState, Terms, new_table

_log = structlog.get_logger(__name__)

_PLACE = re.compile(r"[0-9]{13}:[a-z0-9]{1,64}")
_ID = re.compile(r"[a-z0-9]{1,64}")
_CODE_LETTERS = 10  # of the 31 that ids are made of: 49 random bits
_MINUTE_MS = 60_000
# How long a call for another match waits for the end of the last one to arrive: players hear of it first, and all
# actors may die in between. Within a client's deadline of 30 s.
_END_S = 20.0
_LOOK_S = (0.05, 0.5)  # between two looks: at first, and in the end


class BadPage(ValueError):
    """A page token that was not given out."""


@dataclass(frozen=True, slots=True)
class LobbySettings:
    """idle_ms: how long an open table may stand empty; show_over_ms: how long one whose match is over is listed.

    opens: tables that one account may open in a minute; open_most, bot_open_most: that a person, a bot may have open
    guesses: codes of private tables that an account may try in a minute
    reread_s: how often all tables are read anew
    """

    sweep_s: float = 1.0
    reread_s: float = 30.0
    idle_ms: int = 3_600_000
    show_over_ms: int = 600_000
    keep_ms: int = 24 * 3_600_000
    opens: int = 3_000
    open_most: int = 8
    bot_open_most: int = 256
    guesses: int = 20


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class Lobby:
    """Tables before, between and after their matches. Methods raise StoreUnavailable; refusals are values."""

    def __init__(
        self,
        store: LobbyStore,
        marks: Marks,
        matches: Matches,
        settings: LobbySettings | None = None,
        wall_ms: Callable[[], int] = _wall_ms,
        blocks: Blocks | None = None,
        calls: Calls | None = None,
    ) -> None:
        self.settings = settings or LobbySettings()
        self.board = Board(store)
        self.keeper = Keeper(store, self.board, matches, wall_ms, calls)
        self._store = store
        self._marks = marks
        self._blocks = blocks
        self._wall_ms = wall_ms

    async def stop(self) -> None:
        """Leave what is under way to the other gateways."""
        await self.keeper.stop()

    # ---- opening ----

    async def open_table(
        self, account: Account, choice: Choice, command_id: str, terms: Terms | None = None, *, private: bool = False
    ) -> Table | pb.Refusal:
        """A new table; a repeat gets the same one. Refused: bad_id, id_reused, throttled, too_many_tables."""
        if not good_command_id(command_id):
            return refusal("bad_id")
        if no := await self._throttled("open-table", account, self.settings.opens):
            return no
        terms = terms or Terms()
        key = digest(choice.key, repr(terms), str(private))
        mine = f"{new_id()} {key} {new_id()[:_CODE_LETTERS] if private else ''}"
        claimed = await self._marks.claim("table", account.account_id, command_id, mine, self.settings.keep_ms)
        table_id, first_key, code = claimed.split(" ")
        if first_key != key:
            return refusal("id_reused")
        if await self.keeper.read(table_id) is None:
            most = self.settings.bot_open_most if account.kind == BOT else self.settings.open_most
            if not await counted(self._store, account.account_id, table_id, most, self._wall_ms()):
                return refusal("too_many_tables", limit=most)
            table = new_table(table_id, choice, replace(terms, code=code), account.account_id, self._wall_ms())
            if await self._store.create(table):
                _log.info("table_listed", match=table_id, game=choice.game, private=private)
                return table
        return await self.table(table_id, account)

    async def _throttled(self, what: str, account: Account, most: int) -> pb.Refusal | None:
        count, left_ms = await self._marks.count(what, account.account_id, _MINUTE_MS)
        return refusal("throttled", seconds=-(-left_ms // 1000)) if count > most else None

    # ---- seats ----

    async def sit(
        self, account: Account, table_id: str, seat: int | None, commitment: str, command_id: str, code: str = ""
    ) -> tuple[int, Table] | pb.Refusal:
        """Take a seat; the last one may make the match. Refused: see seating.sit, bad_commitment, throttled, and
        not_welcome to those whom the owner has blocked.
        """
        if not good_commitment(commitment):
            return refusal("bad_commitment")
        if seat is not None and seat < 0:
            return refusal("bad_seat", seat=seat)
        found = await self._named(account, table_id, code)
        if isinstance(found, pb.Refusal):
            return found
        if await self._unwelcome(account, found):
            return refusal("not_welcome")
        member = Member(account.account_id, account.name, account.kind, commitment)
        wanted = -1 if seat is None else seat
        house = is_house(account)
        step: Step = lambda t, now: seating.sit(t, member, seat, code, now, house=house)  # noqa: E731
        return await self._act(account, found, command_id, f"sit {wanted} {commitment}", step, wanted)

    async def _unwelcome(self, account: Account, table_id: str) -> bool:
        """Whether the owner has blocked the account. Who becomes the owner in this moment may still remove it."""
        if self._blocks is None or not _ID.fullmatch(table_id):
            return False
        table = await self.keeper.read(table_id)
        if table is None or table.owner in ("", account.account_id):
            return False
        return account.account_id in await self._blocks.of(table.owner)

    async def stand(self, account: Account, table_id: str, command_id: str) -> Table | pb.Refusal:
        """Give a seat back, or as the owner the table. Refused: see seating.stand."""
        mine = account.account_id
        step: Step = lambda t, now: seating.stand(t, mine, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, "stand", step))

    async def leave_all(self, account_id: str) -> None:
        """An account is deleted: it gives back its seats and tables wherever no match has begun. May be repeated."""
        await self.board.sync()
        await self.board.reread()
        step: Step = lambda t, now: seating.stand(t, account_id, now)  # noqa: E731
        for table in list(self.board.tables()):
            answer, left = Answer("delete"), table
            while not answer.code and (left.seat_of(account_id) is not None or left.owner == account_id):
                answer, after = await self.keeper.step(table.table_id, f"{account_id}/{new_id()}", "delete", step)
                if after is None or after.state is TableState.CLOSED:
                    break
                left = after

    async def change_seat(self, account: Account, table_id: str, seat: int, command_id: str) -> Table | pb.Refusal:
        """Take another free seat. Refused: see seating.change_seat."""
        mine = account.account_id
        step: Step = lambda t, now: seating.change_seat(t, mine, seat, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, f"change {seat}", step, seat))

    # ---- the start ----

    async def set_ready(self, account: Account, table_id: str, command_id: str, *, ready: bool) -> Table | pb.Refusal:
        """Say that one is ready, or not. Refused: see seating.set_ready."""
        mine = account.account_id
        step: Step = lambda t, now: seating.set_ready(t, mine, ready, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, f"ready {ready}", step))

    async def start(self, account: Account, table_id: str, command_id: str) -> Table | pb.Refusal:
        """The owner starts the match. Refused: see seating.start."""
        mine = account.account_id
        step: Step = lambda t, now: seating.start(t, mine, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, "start", step))

    async def fill(self, account: Account, table_id: str, command_id: str) -> Table | pb.Refusal:
        """The owner has bots of the house take the free seats. Refused: see seating.fill."""
        mine = account.account_id
        step: Step = lambda t, now: seating.fill(t, mine, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, "fill", step))

    async def remove(self, account: Account, table_id: str, whom: str, command_id: str) -> Table | pb.Refusal:
        """The owner removes somebody before the start. Refused: see seating.remove."""
        mine = account.account_id
        step: Step = lambda t, now: seating.remove(t, mine, whom, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, f"remove {whom}", step))

    async def allow(self, account: Account, table_id: str, whom: str, command_id: str) -> Table | pb.Refusal:
        """The owner lets somebody come back. Refused: see seating.allow."""
        mine = account.account_id
        step: Step = lambda t, now: seating.allow(t, mine, whom, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, f"allow {whom}", step))

    # ---- another match ----

    async def rematch(self, account: Account, table_id: str, commitment: str, command_id: str) -> Table | pb.Refusal:
        """Agree on another match; also after one of the queue, which so gets a table. Refused: see rematch.agree, and
        bad_commitment.
        """
        if not good_commitment(commitment):
            return refusal("bad_commitment")
        mine, until, pause = account.account_id, time.monotonic() + _END_S, _LOOK_S[0]
        while isinstance(found := await self.table(table_id), Table) and found.state is TableState.PLAYING:
            if time.monotonic() > until or found.seat_of(mine) is None:
                break  # players hear of the end of a match before its record is written
            if await self.keeper.answered(found.table_id, f"{mine}/{command_id}"):
                break  # it is the next match that is in play
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, _LOOK_S[1])
        if isinstance(found, Table):
            if not await self._adopted(found):
                return refusal("no_rematch_now")
            table_id = found.table_id  # it may have been called by a later match
        member = Member(mine, account.name, account.kind, commitment)
        step: Step = lambda t, now: rematch.agree(t, member, now)  # noqa: E731
        return _table(await self._act(account, table_id, command_id, f"rematch {commitment}", step))

    async def _adopted(self, table: Table) -> bool:
        """Whether the table is kept; that of a finished match of the queue is so from now on."""
        if await self.keeper.read(table.table_id) is not None:
            return True
        different = len({member.account_id for member in table.taken}) == len(table.taken)
        if table.state is not TableState.OVER or not different:
            return False
        await self._store.create(table)
        return True

    # ---- looking ----

    async def table(self, table_id: str, account: Account | None = None, code: str = "") -> Table | pb.Refusal:
        """A table as it stands, by its id or that of one of its matches; also of a match that was not made here.

        Refused: unknown_table, throttled; code_needed to an `account` that does not belong to a private open table.
        """
        named = table_id if account is None else await self._named(account, table_id, code)
        if isinstance(named, pb.Refusal):
            return named
        if not _ID.fullmatch(named):
            return refusal("unknown_table")
        table = await self.keeper.read(named) or await self.keeper.of_match(named)
        if table is None or table.state is TableState.CLOSED:
            return refusal("unknown_table")
        if account is not None and not may_see(table, account, code):
            return refusal("code_needed")
        return await self.keeper.seen(table)

    async def page(self, wanted: Wanted, size: int, token: str) -> tuple[list[Table], str]:
        """Public tables, the newest first, and a token for the next page ("": there is none). Raises BadPage."""
        if token and not _PLACE.fullmatch(token):
            raise BadPage(token[:80])
        await self.board.sync()
        if await self.keeper.notice_ends(self.board.tables()):
            await self.board.sync()
        found: list[Table] = []
        for table in self.board.tables():
            if (token and table.place >= token) or table.terms.code or not wanted(table):
                continue
            if len(found) == size:
                return found, found[-1].place
            found.append(table)
        return found, ""

    async def _named(self, account: Account, table_id: str, code: str) -> str | pb.Refusal:
        """The table that an account means by id or code."""
        if not code:
            return table_id
        if no := await self._throttled("table-code", account, self.settings.guesses):
            return no
        found = await self._store.by_code(code) if _ID.fullmatch(code) else None
        if found is None or table_id not in ("", found):
            return refusal("bad_code")
        return found

    async def _act(
        self, account: Account, table_id: str, command_id: str, content: str, step: Step, wanted: int = -1
    ) -> tuple[int, Table] | pb.Refusal:
        if not good_command_id(command_id):
            return refusal("bad_id")
        if not _ID.fullmatch(table_id):
            return refusal("unknown_table")
        answer, table = await self.keeper.step(table_id, f"{account.account_id}/{command_id}", content, step)
        if answer.code or table is None:
            return refusal(answer.code or "unknown_table", seat=answer.seat if answer.seat >= 0 else wanted)
        return answer.seat, table


def may_see(table: Table, account: Account, code: str = "") -> bool:
    """A private table before its match is for those who belong to it or have its code."""
    if not table.terms.code or table.state not in (TableState.OPEN, TableState.FULL):
        return True
    return code == table.terms.code or table.knows(account.account_id)


def _table(answer: tuple[int, Table] | pb.Refusal) -> Table | pb.Refusal:
    return answer if isinstance(answer, pb.Refusal) else answer[1]
