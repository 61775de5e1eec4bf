"""One match as this client sees it: the view, folded by the engine from what the server sends, and the questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_from_pb, event_from_pb, options_from_pb, too_many_from_pb, value_from_pb
from kangtou_engine.actions import Action
from kangtou_engine.cards import Seat
from kangtou_engine.errors import BadOptions
from kangtou_engine.events import Event
from kangtou_engine.game import Legal
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import Config
from kangtou_engine.plain import view_from_plain
from kangtou_engine.registry import Registry

from .feed import Feed
from .seen import Change, Player, Prompt, SeatStatus
from .spectating import Watching, watching_from
from .talk import ChatMessage, chat_from
from .trust import Witness
from .unknown import unknown_rules
from .values import Answer, Ending, Gone, Refused, TrustWarning, Untrustworthy, ending_from

Send = Callable[["Match", int, Action], Awaitable[Answer]]


class Match:
    """A match that a session follows, from a seat or as a spectator. Made by `Session.attach` and `Session.watch`."""

    def __init__(self, match_id: str, seat: Seat | None, spectate: bool, entropy: bytes, registry: Registry) -> None:
        self.match_id = match_id
        self.seat = seat
        self.spectate = spectate
        self.entropy = entropy
        self.seq = 0
        self.players: tuple[Player, ...] = ()
        self.rated = False
        self.turn_ms = self.window_ms = 0
        self.bank_ms = self.increment_ms = self.lag_ms = 0
        self.watching = Watching()
        self.scorer_id = self.owner_id = ""
        self.seats: tuple[SeatStatus, ...] = ()  # empty at a table of bots with plain clocks
        self.delegate = False  # as the substitute of the seat's owner
        self.prompt: Prompt | None = None
        self.ending: Ending | None = None
        self.warnings: tuple[TrustWarning, ...] = ()
        self.moving = False
        self.witnessed = True  # whether deals are compared with what the match was committed to
        self.on_warning: Callable[[TrustWarning], None] = lambda warning: None
        self.on_event: Callable[[AnyState, Event], None] = lambda before, event: (
            None
        )  # each event, on the view before it
        self.on_gap: Callable[[], None] = lambda: None  # events were left out: look at the view instead
        self.send: Send | None = None
        self._registry = registry
        self._game: Game | None = None
        self._config: Config | None = None
        self._view: AnyState | None = None
        self._witness: Witness | None = None
        self._failed: Exception | None = None
        self._refused: Refused | None = None
        self._news: asyncio.Event | None = None  # there while somebody waits
        self._asked: asyncio.Event | None = None
        self._changes: Feed[Change] = Feed(lambda change: replace(change, gap=True))
        self._chat: Feed[ChatMessage] = Feed()
        self._told = 0  # number of the last prompt that `prompts()` gave

    def __repr__(self) -> str:
        who = "spectator" if self.spectate else f"seat {self.seat}"
        return f"<Match {self.match_id} {who} seq={self.seq}>"

    # ---- what is known ----

    @property
    def game(self) -> Game:
        """The engine's game. Known once attached."""
        assert self._game is not None, "not attached yet"
        return self._game

    @property
    def config(self) -> Config:
        """Seats and options. Known once attached."""
        assert self._config is not None, "not attached yet"
        return self._config

    @property
    def view(self) -> AnyState:
        """The state as this seat or spectator may see it. Known once attached."""
        assert self._view is not None, "not attached yet"
        return self._view

    @property
    def refused(self) -> Refused | None:
        """Why the match cannot be followed (any more): no such match, no seat in it …"""
        return self._refused

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.ending is not None or self._failed is not None or self._refused is not None

    def check_trust(self) -> None:
        """Raise Untrustworthy if there are warnings."""
        if self.warnings:
            raise Untrustworthy(self.warnings)

    # ---- what can be awaited ----

    async def attached(self) -> Refused | None:
        """Until the match is known here; why not, if it is refused. Raises Gone, CallFailed."""
        while self._game is None and not self.over:
            await self.news()
        self._raise()
        return self._refused

    async def prompts(self) -> AsyncIterator[Prompt]:
        """The seat's questions, each once, the newest if several came meanwhile; ends with the match."""
        while not self.over:
            prompt = self.prompt
            if prompt is not None and prompt.number > self._told:
                self._told = prompt.number
                yield prompt
            else:
                await self._question()
        self._raise()

    async def changes(self) -> AsyncIterator[Change]:
        """What happens from now on; ends with the match. A reader that falls far behind gets a `gap`."""
        async with aclosing(self._changes.read(self.news, lambda: self.over)) as found:
            async for change in found:
                yield change
        self._raise()

    async def chat(self) -> AsyncIterator[ChatMessage]:
        """What is said from now on; ends with the match. For what was said before see `Talk.list`."""
        async with aclosing(self._chat.read(self.news, lambda: self.over)) as found:
            async for message in found:
                yield message
        self._raise()

    async def finished(self) -> Ending | Refused:
        """Until the match has ended. Raises Gone, CallFailed."""
        while not self.over:
            await self.news()
        self._raise()
        ending = self.ending or self._refused
        assert ending is not None
        return ending

    async def act(self, action: Action, prompt: int | None = None) -> Answer:
        """Act, by default on the prompt that is open. Raises Gone, CallFailed."""
        assert self.send is not None
        number = prompt if prompt is not None else (self.prompt.number if self.prompt else 0)
        return await self.send(self, number, action)

    async def news(self) -> None:
        """Until something has come of this match."""
        if self._news is None:
            self._news = asyncio.Event()
        await self._news.wait()

    async def _question(self) -> None:
        """Until the seat is asked, or nothing more will come: most of what a seat is sent asks it nothing."""
        if self._asked is None:
            self._asked = asyncio.Event()
        await self._asked.wait()

    def _tell(self, asked: bool = False) -> None:
        if self._news is not None:
            self._news.set()
            self._news = None
        if self._asked is not None and (asked or self.over):
            self._asked.set()
            self._asked = None

    def _raise(self) -> None:
        if self._failed is not None:
            raise self._failed

    # ---- what the session brings ----

    def take(self, update: play.Update) -> None:
        """One update of this match. What comes before it is attached is for one that was followed before, and left."""
        what = update.WhichOneof("body")
        if self._game is None and what != "attached":
            return
        if what == "entry":
            self._entry(update.entry)
        elif what == "prompt":
            self._prompted(update.prompt)
        elif what == "attached":
            self._attached(update.attached)
        elif what == "snapshot":
            self._snapshot(update.snapshot)
        elif what == "ended":
            self._ended(update.ended)
        elif what == "notice":
            self._noticed(update.notice)
        elif what == "seats":
            self._seats(update.seats)
        elif what == "chat":
            self._chat.put(chat_from(update.chat))
        self._tell(what == "prompt")

    def fail(self, error: Exception) -> None:
        """It cannot be followed any more."""
        if not self.over:
            self._failed = error
            self._tell()

    def refuse(self, why: Refused) -> None:
        """The server does not let this client follow it."""
        if not self.over:
            self._refused = why
            self._tell()

    def answered(self, number: int) -> None:
        """The prompt has been answered."""
        if self.prompt is not None and self.prompt.number == number:
            self.prompt = None

    def _attached(self, message: play.Attached) -> None:
        self.moving = False
        if self._game is None:
            try:
                self._game = self._registry.game(message.choice.game, message.choice.version)
            except BadOptions:
                self.refuse(unknown_rules(message.choice.game, message.choice.version))
                return
            self._config = self._game.config(options_from_pb(message.choice), message.choice.seats)
            self._view = self._game.before(self._config)
            if self.witnessed:
                self._witness = Witness(self.match_id, self._game, self._config, self.entropy)
            self.players = tuple(Player(one.account_id, one.name, _KINDS[one.kind]) for one in message.players)
            self.rated = message.rated
            self.watching = watching_from(message.watching)
            self.scorer_id, self.owner_id = message.scorer_id, message.owner_id
            if self._witness is not None:
                self._witness.open_hands = self.spectate and self.watching.policy == "open"
            clock = message.clock
            self.turn_ms, self.window_ms = clock.turn_ms, clock.window_ms
            self.bank_ms, self.increment_ms, self.lag_ms = clock.bank_ms, clock.increment_ms, clock.lag_ms
        self._seats(message.seats)
        if self._witness is None:
            return
        self._witness.seat = None if self.spectate else self.seat
        self._warn(self._witness.attached(message.seed_commitment, tuple(message.entropy_commitments), message.board))

    def _seats(self, message: play.Seats) -> None:
        self.seats = tuple(SeatStatus(one.seat, one.delegated, one.connected, one.bank_ms) for one in message.seats)
        if self.prompt is not None and self.delegated and not self.delegate:
            self._told = self.prompt.number - 1  # taken back while it stands, the seat is asked again
            self.prompt = None  # it is the substitute's now

    @property
    def delegated(self) -> str:
        """Why a substitute plays this seat; "" if its owner does."""
        return next((one.delegated for one in self.seats if one.seat == self.seat), "")

    def _snapshot(self, message: play.Snapshot) -> None:
        self._view = view_from_plain(self.game, self.config, value_from_pb(message.view))
        self.seq = message.seq
        if self._witness is not None:
            self._witness.missed()
        if self.prompt is not None and self.seat not in self.game.to_act(self.view):
            self.prompt = None  # answered or taken back in what was left out
        self.on_gap()
        self._changes.put(Change(message.seq, 0, (), gap=True))

    def _entry(self, message: play.Entry) -> None:
        if message.seq <= self.seq:
            return  # sent again after a reconnection
        game, witness, view = self.game, self._witness, self.view
        events = tuple(event_from_pb(game, event) for event in message.events)
        for event in events:
            self.on_event(view, event)
            view = game.evolve(view, event)
            if witness is not None:
                witness.saw(event)
        self._view = view
        self.seq = message.seq
        if self.prompt is not None and self.seat not in game.to_act(view):
            self.prompt = None
        self._changes.put(Change(message.seq, message.time_ms, events))

    def _prompted(self, message: play.Prompt) -> None:
        legal: Legal = (
            too_many_from_pb(message.too_many)
            if message.HasField("too_many")
            else tuple(map(action_from_pb, message.legal))
        )
        default = action_from_pb(message.default_action)
        self.prompt = Prompt(
            self,
            message.number,
            message.deadline_ms,
            message.left_ms,
            default,
            legal,
            message.left_ms - message.bank_left_ms,
            message.bank_left_ms,
        )

    def _ended(self, message: play.Ended) -> None:
        if self.ending is not None:
            return
        self.prompt = None
        self.ending = ending_from(message)
        if self._witness is not None:
            self._warn(self._witness.ended(self.ending))

    def _noticed(self, message: play.Notice) -> None:
        if message.kind in (play.NOTICE_KIND_SUPERSEDED, play.NOTICE_KIND_TAKEN_BACK):
            self.fail(Gone(message.text_en))
        elif message.kind == play.NOTICE_KIND_TABLE_FAULTED:
            self.refuse(Refused("", "table_faulted", message.text_en, message.text_zh))
        elif message.kind == play.NOTICE_KIND_MOVING:
            self.moving = True

    def _warn(self, found: list[TrustWarning]) -> None:
        self.warnings += tuple(found)
        for warning in found:
            self.on_warning(warning)


_KINDS = {pb.ACCOUNT_KIND_UNSPECIFIED: "", pb.ACCOUNT_KIND_HUMAN: "human", pb.ACCOUNT_KIND_BOT: "bot"}
