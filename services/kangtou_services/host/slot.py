"""One hosted table: the table, who follows it, and its timer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou_engine.cards import Seat

from ..link import ActorLink, LinkClosed
from ..observe import spans
from ..observe.table import TableMeter
from ..table.audience import ANSWER, ENDED, NOTICE, PROMPT, SEATS, Audiences
from ..table.commands import Command
from ..table.core import Table
from ..table.draft import Draft
from .pace import Pace

if TYPE_CHECKING:
    from .feed import Feed

Follower = tuple[ActorLink, int]  # link and subscription


@dataclass(frozen=True, slots=True)
class Ref:
    """Where the answer to a command goes. `at`: when it came (perf_counter seconds); `trace`: the gateway's span.

    follower   the subscription on which it was sent: with another one there is another stream, on which it may have
               been repeated, and which is to get one answer, not two
    """

    peer: ActorLink
    ref: int
    unary: bool
    delegate: bool = False
    at: float = 0.0
    trace: str = ""
    follower: Follower | None = None

    def took_us(self) -> int:
        """Since it came; at least 1, as 0 says that nobody knows."""
        return min(max(1, int((perf_counter() - self.at) * 1e6)), 2**32 - 1) if self.at else 0


@dataclass(slots=True)
class Slot:
    """A table with its followers. A seat has at most one follower, the newest, and at most one substitute.

    houses   the accounts that have played for a seat here: none plays for another, whose cards it must not know
    """

    table: Table
    audiences: Audiences
    seats: dict[Seat, Follower] = field(default_factory=dict)
    since_ms: dict[Seat, int] = field(default_factory=dict)  # when the client of a seat's follower attached
    watchers: set[Follower] = field(default_factory=set)
    delegates: dict[Seat, Follower] = field(default_factory=dict)
    houses: dict[str, Seat] = field(default_factory=dict)
    timer: asyncio.TimerHandle | None = None
    faulted: bool = False
    leaving: bool = False  # it is being handed on: nothing is decided here any more
    suspect: bool = False  # blamed for a death, and nothing stored since
    probation: int = 0  # entries until it is forgiven
    illegal: dict[Seat, int] = field(default_factory=dict)  # refused by a rule since the last accepted action
    late: dict[Seat, lpb.Lateness.ValueType] = field(default_factory=dict)  # why the clock first played for it
    seen_ms: int = 0  # when an owner of a seat was last present
    feed: Feed | None = None  # what delayed spectators see
    expected: set[Follower] = field(default_factory=set)  # spectators of whom it is not known yet whether they may
    accounts: dict[Follower, str] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    meter: TableMeter = field(default_factory=TableMeter)  # of the host
    held: int = 0  # messages that wait for delayed spectators
    _told: Hashable = None  # what everybody knows of who plays, and of the banks

    @property
    def match(self) -> str:
        """The match's id."""
        return self.table.agreement.match_id

    def away(self) -> list[Seat]:
        """The seats that a substitute plays, or the clock in its place."""
        return [seat for seat in range(self.table.config.seats) if self.table.prompts.away(seat)]

    def disarm(self) -> None:
        """No timer any more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    # ---- following ----

    def follow(self, seat: Seat | None, follower: Follower, joining: bytes, *, delegate: bool = False) -> None:
        """Add a follower; a seat's older one is told and let go. Of a match that is over it gets the end, and all."""
        self.unfollow(follower)
        over = self.table.over
        if not over and seat is None:
            self.watchers.add(follower)
        elif not over and seat is not None:
            held = self.delegates if delegate else self.seats
            older = held.get(seat)
            held[seat] = follower
            if delegate:
                self.table.substitutes.housed.add(seat)
            if older is not None:
                self.supersede(seat, older)
        self.send([follower], self.table.seq, joining, last=over)
        self.tell_seats(follower)

    def supersede(self, seat: Seat, follower: Follower) -> None:
        """Tell a follower that a newer stream has its seat."""
        text = ("another stream took this seat", "该座位已被另一连接接管")
        self.send([follower], 0, self.notice(seat, 2, *text), last=True)

    def unfollow(self, follower: Follower) -> None:
        """Let a follower go."""
        self._keep(lambda one: one != follower)

    def drop_peer(self, peer: ActorLink) -> None:
        """A gateway's link has ended."""
        self._keep(lambda one: one[0] is not peer)
        self.tell_seats()

    def _keep(self, stays: Callable[[Follower], bool]) -> None:
        self.watchers = {one for one in self.watchers if stays(one)}
        self.seats = {seat: one for seat, one in self.seats.items() if stays(one)}
        self.delegates = {seat: one for seat, one in self.delegates.items() if stays(one)}
        self.table.substitutes.housed &= self.delegates.keys()
        self.expected = {one for one in self.expected if stays(one)}
        self.accounts = {one: account for one, account in self.accounts.items() if stays(one)}
        if self.feed is not None:
            self.feed.drop(stays)

    @property
    def everybody(self) -> list[tuple[Seat | None, Follower, bool]]:
        """All followers, with the seat that they see and whether as its substitute."""
        return [
            *((seat, one, False) for seat, one in self.seats.items()),
            *((seat, one, True) for seat, one in self.delegates.items()),
            *((None, one, False) for one in self.watchers),
        ]

    def news_of_seats(self) -> play.Seats | None:
        """Who plays, who is there, and the banks, if that has changed since it was last told."""
        ledger = self.table.prompts.ledger
        if ledger is None:
            return None
        news = (ledger.away, ledger.bank_ms, frozenset(self.seats))
        if news == self._told:
            return None
        self._told = news
        return self.audiences.seats(self.seats)

    def tell_seats(self, but: Follower | None = None) -> None:
        """Tell everybody (`but`: who has just been told), if there is something to tell."""
        news = None if self.table.over else self.news_of_seats()
        if news is not None:
            for seat, follower, _ in self.everybody:
                if follower != but:
                    self.send([follower], 0, self.audiences.message(seat, SEATS, news))

    def notice(self, seat: Seat | None, kind: int, english: str, chinese: str) -> bytes:
        """A notice for one audience."""
        message = play.Notice(kind=kind, text_en=english, text_zh=chinese)  # type: ignore[arg-type]
        return self.audiences.message(seat, NOTICE, message)

    def lost(self) -> None:
        """The table is somebody else's: empty last deliveries tell the gateways to look for it."""
        self.send([one for _, one, _ in self.everybody], 0, b"", last=True)
        self._end_feed(b"")
        self._let_go()

    def tell_all(self, kind: int, english: str, chinese: str, last: bool = False) -> None:
        """A notice for everybody; `last` lets them go."""
        for seat, follower, _ in self.everybody:
            self.send([follower], 0, self.notice(seat, kind, english, chinese), last)
        if last:
            self._let_go()
            self._end_feed(self.notice(None, kind, english, chinese))

    def _end_feed(self, payload: bytes) -> None:
        if self.feed is not None:
            self.feed.end(payload)
            self.feed = None

    def remind(self, now_ms: int) -> None:
        """The prompts of the seats that are asked, as they are now."""
        for seat, follower, delegate in self.everybody:
            prompt = self.audiences.prompt(seat, now_ms, delegate=delegate)
            if prompt is not None:
                self.send([follower], 0, self.audiences.message(seat, PROMPT, prompt))

    def _let_go(self) -> None:
        self.seats.clear()
        self.delegates.clear()
        self.watchers.clear()
        self.table.substitutes.housed.clear()

    # ---- answers and entries ----

    def answer(self, command: Command, answer: play.Answer) -> None:
        """Deliver one answer by itself."""
        self._judge(command.seat, answer)
        ref = command.ref
        assert isinstance(ref, Ref)
        if ref.trace and self.meter.tracing is not None and answer.HasField("refused"):
            spans.refused(self.meter.tracing, self, ref.trace, ref.at, command.command_id, answer.refused.code)
        follower = self._on_stream(command.seat, ref)
        if follower is None:
            reply(ref.peer, lpb.Reply(ref=ref.ref, answer=answer, took_us=ref.took_us()))
        else:
            self.send([follower], 0, self.audiences.message(command.seat, ANSWER, answer))
            reply(ref.peer, lpb.Reply(ref=ref.ref, took_us=ref.took_us()))

    def _judge(self, seat: Seat, answer: play.Answer) -> None:
        """Count what the book refuses: evidence for tournaments."""
        if answer.HasField("refused"):
            self.meter.refusals[answer.refused.code] += 1
            if answer.refused.rule:
                self.illegal[seat] = self.illegal.get(seat, 0) + 1
        elif self.illegal:
            self.illegal.pop(seat, None)

    def note_late(self, seats: Iterable[Seat]) -> None:
        """The clock plays for these seats: how they stand now is evidence for tournaments."""
        for seat in seats:
            if self.illegal.get(seat):
                why = lpb.LATENESS_ILLEGAL
            else:
                why = lpb.LATENESS_SILENT if seat in self.seats else lpb.LATENESS_DISCONNECTED
            self.late.setdefault(seat, why)

    def gone(self, ref: Ref) -> None:
        """The gateway is to ask the owner of the table."""
        reply(ref.peer, lpb.Reply(ref=ref.ref, problem=lpb.Problem(code="not_here")))

    def _on_stream(self, seat: Seat, ref: Ref) -> Follower | None:
        """The subscription on which the answer travels, if it does."""
        follower = (self.delegates if ref.delegate else self.seats).get(seat)
        mine = follower is not None and follower == ref.follower and follower[0] is ref.peer
        return follower if mine and not ref.unary else None

    def publish(self, draft: Draft, now_ms: int) -> None:
        """An entry is in the log: its answers, events, prompts, and the end, to whom they are due.

        Views and lists are code of the game: if they fail, the answers are given all the same.
        """
        assert draft.entry is not None
        try:
            payloads = self._payloads(draft, draft.entry.seq, now_ms)
        except Exception:
            for command, answer in draft.answers:
                self.answer(command, answer)
            raise
        for command, answer in draft.answers:
            self._judge(command.seat, answer)
            ref = command.ref
            assert isinstance(ref, Ref)
            with_entry = self._on_stream(command.seat, ref) is not None
            took = ref.took_us()
            given = (
                lpb.Reply(ref=ref.ref, took_us=took)
                if with_entry
                else lpb.Reply(ref=ref.ref, answer=answer, took_us=took)
            )
            reply(ref.peer, given)
        over = self.table.over
        for followers, payload in payloads:
            self.send(followers, draft.entry.seq, payload, last=over)
        if over:
            self._let_go()
        else:
            self._taken_back(draft)

    def _taken_back(self, draft: Draft) -> None:
        """The substitutes of seats whose owners play again are let go."""
        for seat, cause in draft.handed:
            follower = None if cause or self.table.prompts.away(seat) else self.delegates.pop(seat, None)
            if follower is not None:
                self.table.substitutes.housed.discard(seat)
                text = ("the owner plays this seat again", "座位主人已取回该座位")
                self.send([follower], 0, self.notice(seat, 6, *text), last=True)

    def _payloads(self, draft: Draft, seq: int, now_ms: int) -> list[tuple[list[Follower], bytes]]:
        """What each follower is sent of an entry, answers to commands on streams first."""
        table, audiences = self.table, self.audiences
        groups = self._groups()
        events = (
            audiences.entry(seq, draft.time_ms, tuple(draft.events), {seat for seat, _, _ in groups})
            if draft.events
            else {}
        )
        ended = audiences.ended() if table.over else None
        news = self.news_of_seats()
        asked_at, answers = table.prompts.asked, draft.answers
        found: list[tuple[list[Follower], bytes]] = []
        for seat, followers, delegate in groups:
            parts = self._answers(seat, draft, delegate) if answers and seat is not None else []
            if seat in events:
                parts.append(events[seat])
            asked = asked_at[seat] if seat is not None else None
            if asked is not None and (asked.number == seq or draft.handed):
                prompt = audiences.prompt(seat, now_ms, delegate=delegate)
                if prompt is not None:
                    parts.append(audiences.message(seat, PROMPT, prompt))
            if news is not None:
                parts.append(audiences.message(seat, SEATS, news))
            if ended is not None:
                parts.append(audiences.message(seat, ENDED, ended))
            if parts:
                found.append((followers, b"".join(parts)))
        return found

    def _groups(self) -> list[tuple[Seat | None, list[Follower], bool]]:
        """Followers who are sent the same."""
        groups: list[tuple[Seat | None, list[Follower], bool]] = [
            (seat, [one], False) for seat, one in self.seats.items()
        ]
        if self.delegates:
            groups += [(seat, [one], True) for seat, one in self.delegates.items()]
        if self.watchers:
            groups.append((None, list(self.watchers), False))
        return groups

    def _answers(self, seat: Seat, draft: Draft, delegate: bool) -> list[bytes]:
        return [
            self.audiences.message(seat, ANSWER, answer)
            for command, answer in draft.answers
            if command.seat == seat
            and isinstance(command.ref, Ref)
            and command.ref.delegate is delegate
            and self._on_stream(command.seat, command.ref)
        ]

    def send(self, followers: Iterable[Follower], seq: int, payload: bytes, last: bool = False) -> None:
        """Bytes for some followers; `seq`: of the entry in them, 0 if there is none."""
        by_peer: dict[ActorLink, list[int]] = {}
        for peer, sub in followers:
            by_peer.setdefault(peer, []).append(sub)
        for peer, subs in by_peer.items():
            try:
                peer.deliver(subs, seq, payload, last)
            except LinkClosed:
                continue  # `ended` of that link drops its followers


def reply(peer: ActorLink, what: lpb.Reply) -> None:
    """Reply to a call that wants one."""
    try:
        if what.ref:
            peer.reply(what)
    except LinkClosed:
        return  # the gateway asks again through a new link
