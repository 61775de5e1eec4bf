"""Making a match: what was chosen, checked; agreement and secret seed, stored; a table opened at an actor.

A match is made in two steps, both repeatable: `create` stores it durably under its id, `Tables.open` has it hosted.
After a crash between them whoever sees the match opens it: the gateway at the first attach, a matcher, the lobby.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import structlog

from kangtou.v1 import game_pb2 as pb
from kangtou.wire import option_to_pb, options_from_pb, refusal_to_pb
from kangtou_engine.boards import match_commitment
from kangtou_engine.errors import BadOptions
from kangtou_engine.match.match import Game
from kangtou_engine.shuffle import SEED_BYTES

from .agreement import HUMAN, Agreement, Member
from .company import Company
from .functions import stop_if_cancelled
from .identity import StoreUnavailable
from .log.base import LogUnavailable, MatchStore
from .refusals import refusal
from .settings import Settings

_log = structlog.get_logger(__name__)

_LAG_TIMES = 20  # what is given back in a match, at most, where only the cap for one action was chosen
CLOCK_LEAST_MS, CLOCK_MOST_MS = 50, 24 * 3_600_000


ALONE = Company()  # of a match that was not made at a table


class Games(Protocol):
    """The engine's registry."""

    def names(self) -> tuple[str, ...]:
        """The game families."""
        ...

    def game(self, name: str, version: int | None = None) -> Game:
        """The newest version unless one is given. Raises BadOptions."""
        ...


class Tables(Protocol):
    """What places tables: the gateway's router."""

    async def open(self, match_id: str) -> bool:
        """Have a created match hosted, at the least loaded actor (an idle one first), unless it is already.

        False if that cannot be now; then it is opened by the first attach. Does not raise.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Clocks:
    """What a table has where nothing else was chosen, in ms. `window_ms` 0: the game's own (match/clocks.py).

    `lag_ms` and `lag_match_ms` are for tables at which a person sits; the others have what they chose.
    """

    turn_ms: int = 30_000
    window_ms: int = 0
    open_wait_ms: int = 3_000
    bank_ms: int = 0
    increment_ms: int = 0
    lag_ms: int = 500
    lag_match_ms: int = 10_000
    late_most: int = 2
    substitute_ms: int = 1_000


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """A checked choice: version and seats are numbers, clocks are set. `options` are those that were given.

    `resolved` is what they amount to with all defaults, as text: equal for choices that mean the same.
    """

    game: str
    version: int
    seats: int
    options: Mapping[str, Any]
    resolved: str
    turn_ms: int
    window_ms: int
    rated: bool = False
    bank_ms: int = 0
    increment_ms: int = 0
    lag_ms: int = 0  # 0: the server's for people, none for bots
    lag_match_ms: int = 0

    def to_json(self) -> str:
        """Canonical JSON."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Choice:
        """The same again; fields of newer versions are left out. Raises ValueError."""
        given = json.loads(text)
        return cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})

    @property
    def key(self) -> str:
        """A hash that is equal for choices that mean the same."""
        clocks = (self.turn_ms, self.window_ms, self.bank_ms, self.increment_ms, self.lag_ms, self.lag_match_ms)
        parts = (self.game, self.version, self.seats, self.resolved, *clocks, self.rated)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]

    def choice_pb(self) -> pb.GameChoice:
        """As clients see it."""
        options = {name: option_to_pb(value) for name, value in self.options.items()}
        return pb.GameChoice(game=self.game, version=self.version, seats=self.seats, options=options)

    def clock_pb(self) -> pb.Clock:
        """As clients see it."""
        return pb.Clock(
            turn_ms=self.turn_ms,
            window_ms=self.window_ms,
            bank_ms=self.bank_ms,
            increment_ms=self.increment_ms,
            lag_ms=self.lag_ms,
            lag_match_ms=self.lag_match_ms,
        )


def check_choice(
    games: Games, clocks: Clocks, choice: pb.GameChoice, clock: pb.Clock, *, rated: bool = False
) -> Choice | pb.Refusal:
    """A choice as a client sent it: checked, or why it is refused."""
    game: Game | None = None
    try:
        game = games.game(choice.game, choice.version or None)
        options = options_from_pb(choice)
        config = game.config(options, choice.seats or None)
    except BadOptions as error:
        return refusal_to_pb(game, error)
    times: dict[str, int] = {}
    defaults = (
        ("turn_ms", clocks.turn_ms),
        ("window_ms", clocks.window_ms),
        ("bank_ms", clocks.bank_ms),
        ("increment_ms", clocks.increment_ms),
        ("lag_ms", 0),
        ("lag_match_ms", 0),
    )
    for name, default in defaults:
        given = getattr(clock, name)
        if given and not CLOCK_LEAST_MS <= given <= CLOCK_MOST_MS:
            return refusal("bad_clock", option=name, given=given, low=CLOCK_LEAST_MS, high=CLOCK_MOST_MS)
        times[name] = given or default
    return Choice(config.game, config.version, config.seats, options, resolved(config.options), rated=rated, **times)


def resolved(options: Any) -> str:
    """All options of a game's options object as text: equal if they mean the same."""
    values = dataclasses.asdict(options) if dataclasses.is_dataclass(options) else options  # type: ignore[arg-type]
    return json.dumps(values, sort_keys=True, default=str, separators=(",", ":"))


def good_commitment(text: str) -> bool:
    """Empty, or a SHA-256 in hex as `entropy_commitment` makes it."""
    return not text or (len(text) == 64 and all(letter in "0123456789abcdef" for letter in text))


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def clocks_of(settings: Settings) -> Clocks:
    """A server's own."""
    names = (field.name for field in dataclasses.fields(Clocks))
    return Clocks(**{name: getattr(settings, name) for name in names})


@dataclasses.dataclass(frozen=True, slots=True)
class Board:
    """The packs that a tournament gives (engine/boards.py): the board's name and its seed. No seat has an entropy."""

    name: str
    seed: bytes = dataclasses.field(repr=False)


class Opening:
    """Makes matches. `open_s`: how long a start waits for its table."""

    def __init__(
        self,
        store: MatchStore,
        tables: Tables,
        clocks: Clocks,
        now_ms: Callable[[], int] = _wall_ms,
        open_s: float = 5.0,
    ) -> None:
        self._store = store
        self._tables = tables
        self._clocks = clocks
        self._now_ms = now_ms
        self._open_s = open_s

    async def start(
        self,
        match_id: str,
        choice: Choice,
        members: Sequence[Member],
        pool: str = "",
        *,
        board: Board | None = None,
        tags: Mapping[str, str] | None = None,
        company: Company = ALONE,
        beside: Callable[[], Awaitable[object]] | None = None,
    ) -> bool:
        """Create the match unless it exists, then have it opened; whether it is hosted now.

        `beside` is done while it is opened, once it exists.
        Repeats do no harm: agreement and seed are those of the first. Raises StoreUnavailable: then it may exist.
        """
        board = board or Board("", secrets.token_bytes(SEED_BYTES))
        agreement = self._agreement(match_id, choice, members, board, company)
        agreement = dataclasses.replace(agreement, pool=pool, tags=dict(tags or {}))
        try:
            created = await self._store.create(match_id, agreement.to_json(), board.seed)
        except LogUnavailable as no:
            raise StoreUnavailable(str(no)) from no
        stop_if_cancelled()
        if created:
            _log.info("match_created", match=match_id, game=choice.game, seats=choice.seats, rated=choice.rated)
        if beside is None:
            return await self._open(match_id)
        opened, _ = await asyncio.gather(self._open(match_id), beside())
        return opened

    def _agreement(
        self, match_id: str, choice: Choice, members: Sequence[Member], board: Board, company: Company
    ) -> Agreement:
        """What is chosen, with the server's own clocks for people."""
        clocks, people = self._clocks, any(member.kind == HUMAN for member in members)
        return Agreement(
            match_id=match_id,
            game=choice.game,
            version=choice.version,
            seats=choice.seats,
            options=choice.options,
            members=tuple(members),
            seed_commitment=match_commitment(match_id, board.name, board.seed),
            created_ms=self._now_ms(),
            turn_ms=choice.turn_ms,
            window_ms=choice.window_ms,
            rated=choice.rated,
            board=board.name,
            open_wait_ms=clocks.open_wait_ms,
            bank_ms=choice.bank_ms,
            increment_ms=choice.increment_ms,
            lag_ms=choice.lag_ms or (clocks.lag_ms if people else 0),
            lag_match_ms=choice.lag_match_ms or _LAG_TIMES * choice.lag_ms or (clocks.lag_match_ms if people else 0),
            late_most=clocks.late_most if people else 0,
            substitute_ms=clocks.substitute_ms,
            watch=company.watch,
            watch_delay_ms=company.delay_ms,
            owner=company.owner,
            scorer=company.scorer,
        )

    async def _open(self, match_id: str) -> bool:
        try:
            async with asyncio.timeout(self._open_s):
                opened = await self._tables.open(match_id)
        except TimeoutError:
            opened = False
        if not opened:
            _log.warning("table_not_opened", match=match_id)
        return opened


class LiveMatches:
    """Which matches have been retired. A list in which all that were asked about are live is good for `every_s`."""

    def __init__(self, store: MatchStore, every_s: float = 0.25, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._every_s = every_s
        self._clock = clock
        self._read_at = float("-inf")
        self._live: frozenset[str] = frozenset()

    async def ended(self, matches: Iterable[str]) -> set[str]:
        """Those that are no longer live. Ask only about matches that have been created. Raises StoreUnavailable."""
        asked = set(matches)
        if not asked - self._live and self._clock() - self._read_at < self._every_s:
            return set()
        try:
            self._live = frozenset(await self._store.live())
        except LogUnavailable as no:
            raise StoreUnavailable(str(no)) from no
        stop_if_cancelled()
        self._read_at = self._clock()
        return asked - self._live
