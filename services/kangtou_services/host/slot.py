"""One hosted table: the table, who follows it, and its timer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou_engine.cards import Seat

from ..link import ActorLink, LinkClosed
from ..table.audience import ANSWER, ENDED, NOTICE, PROMPT, Audiences
from ..table.commands import Command
from ..table.core import Draft, Table

Follower = tuple[ActorLink, int]  # link and subscription


@dataclass(frozen=True, slots=True)
class Ref:
    """Where the answer to a command goes."""

    peer: ActorLink
    ref: int
    unary: bool


@dataclass(slots=True)
class Slot:
    """A table with its followers. A seat has at most one follower: the newest."""

    table: Table
    audiences: Audiences
    seats: dict[Seat, Follower] = field(default_factory=dict)
    watchers: set[Follower] = field(default_factory=set)
    timer: asyncio.TimerHandle | None = None
    faulted: bool = False
    suspect: bool = False
    seen_ms: int = 0  # when a seat was last present

    # ---- following ----

    def follow(self, seat: Seat | None, follower: Follower, joining: bytes) -> None:
        """Add a follower; a seat's older one is told and let go."""
        if seat is None:
            self.watchers.add(follower)
        else:
            older = self.seats.get(seat)
            self.seats[seat] = follower
            if older is not None and older != follower:
                text = ("another stream took this seat", "该座位已被另一连接接管")
                self._send([older], 0, self.notice(seat, 2, *text), last=True)
        self._send([follower], self.table.seq, joining, last=self.table.over)

    def unfollow(self, follower: Follower) -> None:
        """Let a follower go."""
        self.watchers.discard(follower)
        for seat in [seat for seat, one in self.seats.items() if one == follower]:
            del self.seats[seat]

    def drop_peer(self, peer: ActorLink) -> None:
        """A gateway's link has ended."""
        self.watchers = {one for one in self.watchers if one[0] is not peer}
        self.seats = {seat: one for seat, one in self.seats.items() if one[0] is not peer}

    def notice(self, seat: Seat | None, kind: int, english: str, chinese: str) -> bytes:
        """A notice for one audience."""
        message = play.Notice(kind=kind, text_en=english, text_zh=chinese)  # type: ignore[arg-type]
        return self.audiences.message(seat, NOTICE, message)

    def lost(self) -> None:
        """The table is somebody else's: empty last deliveries tell the gateways to look for it."""
        for follower in [*self.seats.values(), *self.watchers]:
            self._send([follower], 0, b"", last=True)
        self.seats.clear()
        self.watchers.clear()

    def tell_all(self, kind: int, english: str, chinese: str, last: bool = False) -> None:
        """A notice for everybody."""
        for seat, follower in self.seats.items():
            self._send([follower], 0, self.notice(seat, kind, english, chinese), last)
        self._send(self.watchers, 0, self.notice(None, kind, english, chinese), last)

    # ---- answers and entries ----

    def answer(self, command: Command, answer: play.Answer) -> None:
        """Deliver one answer by itself."""
        ref = command.ref
        assert isinstance(ref, Ref)
        follower = self.seats.get(command.seat)
        if not ref.unary and follower is not None and follower[0] is ref.peer:
            payload = self.audiences.message(command.seat, ANSWER, answer)
            self._send([follower], 0, payload)
            reply(ref.peer, lpb.Reply(ref=ref.ref))
        else:
            reply(ref.peer, lpb.Reply(ref=ref.ref, answer=answer))

    def publish(self, draft: Draft, now_ms: int) -> None:
        """An entry is in the log: its answers, events, prompts, and the end, to whom they are due."""
        table, entry = self.table, draft.entry
        assert entry is not None
        answers = self._grouped(draft)
        audiences: list[Seat | None] = [*self.seats, *([None] if self.watchers else [])]
        payloads = {}
        if draft.events:
            payloads = self.audiences.entry(entry.seq, draft.time_ms, tuple(draft.events), audiences)
        ended = self.audiences.ended() if table.over else None
        for seat, follower in list(self.seats.items()):
            parts = [*answers.get(seat, ()), payloads.get(seat, b"")]
            asked = table.prompts.asked[seat]
            if asked is not None and asked.number == entry.seq:
                prompt = self.audiences.prompt(seat, now_ms)
                if prompt is not None:
                    parts.append(self.audiences.message(seat, PROMPT, prompt))
            if ended is not None:
                parts.append(self.audiences.message(seat, ENDED, ended))
            payload = b"".join(parts)
            if payload:
                self._send([follower], entry.seq, payload, last=table.over)
        if self.watchers:
            payload = payloads.get(None, b"")
            if ended is not None:
                payload += self.audiences.message(None, ENDED, ended)
            if payload:
                self._send(self.watchers, entry.seq, payload, last=table.over)

    def _grouped(self, draft: Draft) -> dict[Seat, list[bytes]]:
        """Answers that travel with the entry, by seat; the others are replied here."""
        grouped: dict[Seat, list[bytes]] = {}
        for command, answer in draft.answers:
            ref = command.ref
            assert isinstance(ref, Ref)
            follower = self.seats.get(command.seat)
            if not ref.unary and follower is not None and follower[0] is ref.peer:
                payload = self.audiences.message(command.seat, ANSWER, answer)
                grouped.setdefault(command.seat, []).append(payload)
                reply(ref.peer, lpb.Reply(ref=ref.ref))
            else:
                reply(ref.peer, lpb.Reply(ref=ref.ref, answer=answer))
        return grouped

    def _send(self, followers: Iterable[Follower], seq: int, payload: bytes, last: bool = False) -> None:
        by_peer: dict[ActorLink, list[int]] = {}
        for peer, sub in followers:
            by_peer.setdefault(peer, []).append(sub)
        for peer, subs in by_peer.items():
            try:
                peer.deliver(subs, seq, payload, last)
            except LinkClosed:
                continue  # `ended` of that link drops its followers


def reply(peer: ActorLink, reply: lpb.Reply) -> None:
    try:
        peer.reply(reply)
    except LinkClosed:
        return  # the gateway asks again through a new link
