"""Who follows a table, and the bytes that each may see. Design §5.

An audience is a seat or the spectators (None). What is public is serialised once for all; a payload is a PlayResponse,
and payloads put one behind the other are one PlayResponse, so nobody on the way needs to parse them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from google.protobuf.message import Message

from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_to_pb, choice_to_pb, event_to_pb, too_many_to_pb, value_to_pb
from kangtou_engine.cards import Seat
from kangtou_engine.company import covered, open_event, open_view
from kangtou_engine.events import Event, PublicEvent
from kangtou_engine.game import TooMany
from kangtou_engine.plain import view_to_plain

from ..company import OPEN, watching_to_pb
from .core import Table

LIST_LIMIT = 200  # legal actions in a prompt

# Field numbers of Update's body as tags of length-delimited fields.
ATTACHED, ANSWER, ENTRY, PROMPT, SNAPSHOT, NOTICE, ENDED = 0x1A, 0x22, 0x2A, 0x32, 0x3A, 0x42, 0x4A
SEATS, CHAT = 0x5A, 0x62


def _varint(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


@dataclass(slots=True)
class Audiences:
    """Makes the payloads of one table. `late`: it is the table as it was a while ago, for its delayed spectators."""

    table: Table
    late: bool = False
    _heads: dict[Seat | None, bytes] = field(default_factory=dict)

    def update(self, seat: Seat | None, tag: int, body: bytes) -> bytes:
        """One Update for an audience as a PlayResponse."""
        head = self._heads.get(seat)
        if head is None:
            whose = play.Update(match_id=self.table.agreement.match_id)
            if seat is not None:
                whose.seat = seat
            head = self._heads[seat] = whose.SerializeToString()
        inner = b"".join((head, bytes((tag,)), _varint(len(body)), body))
        return b"".join((b"\x0a", _varint(len(inner)), inner))

    def message(self, seat: Seat | None, tag: int, body: Message) -> bytes:
        """The same of a message."""
        return self.update(seat, tag, body.SerializeToString(deterministic=True))

    # ---- entries ----

    def entry(
        self, seq: int, time_ms: int, events: tuple[Event, ...], audiences: Iterable[Seat | None]
    ) -> dict[Seat | None, bytes]:
        """An entry for each audience."""
        if all(isinstance(event, PublicEvent) for event in events):
            body = self._entry(seq, time_ms, events)
            return {who: self.update(who, ENTRY, body) for who in audiences}
        return {
            who: self.update(who, ENTRY, self._entry(seq, time_ms, [self._seen(event, who) for event in events]))
            for who in audiences
        }

    @property
    def _open(self) -> bool:
        """Whether spectators see all hands now: not before their time, also where one is let in earlier."""
        agreement = self.table.agreement
        return agreement.watch == OPEN and (self.late or not agreement.watch_delay_ms)

    def _seen(self, event: Event, who: Seat | None) -> Event:
        return open_event(event, self.table.config.seats) if who is None and self._open else event.seen_by(who)

    def open_entry(self, seq: int, time_ms: int, events: tuple[Event, ...]) -> bytes:
        """An entry with nothing hidden: of matches that are over."""
        return self.update(None, ENTRY, self._entry(seq, time_ms, events))

    def _entry(self, seq: int, time_ms: int, events: Iterable[Event]) -> bytes:
        message = play.Entry(seq=seq, time_ms=time_ms, events=map(event_to_pb, events))
        return message.SerializeToString(deterministic=True)

    # ---- what a new subscription gets ----

    def joining(
        self, seat: Seat | None, from_seq: int, now_ms: int, connected: Collection[Seat] = (), delegate: bool = False
    ) -> bytes:
        """Attached, then what is missing (or the whole view), the open prompt, the end."""
        attached = self.attached()
        if self.table.prompts.ledger is not None:
            attached.seats.CopyFrom(self.seats(connected))
        parts = [self.message(seat, ATTACHED, attached)]
        parts += self._missed(seat, from_seq)
        prompt = self.prompt(seat, now_ms, delegate=delegate)
        if prompt is not None:
            parts.append(self.message(seat, PROMPT, prompt))
        if self.table.over:
            parts.append(self.message(seat, ENDED, self.ended()))
        return b"".join(parts)

    def _missed(self, seat: Seat | None, from_seq: int) -> list[bytes]:
        table = self.table
        if not table.begun:
            return []
        history = table.history
        if from_seq and history and history[0][0] - 1 <= from_seq <= table.seq and not self._closed_since(from_seq):
            return [
                self.entry(seq, time_ms, events, (seat,))[seat]
                for seq, time_ms, events in history
                if seq > from_seq and events  # of takeovers and standing answers nobody is told
            ]
        return [self.message(seat, SNAPSHOT, self.snapshot(seat))]

    def _closed_since(self, from_seq: int) -> bool:
        """Whether a look back would show what the book has closed meanwhile. HS-13.3, DZ-12.3, EB-11.3."""
        told = [(seq, event) for seq, _, events in self.table.history for event in events]
        hidden = covered(self.table.game, self.table.config, [event for _, event in told])
        return any(told[place][0] > from_seq for place in hidden)

    def attached(self) -> play.Attached:
        """What was agreed."""
        agreement = self.table.agreement
        message = play.Attached(
            choice=choice_to_pb(self.table.config, agreement.options),
            seed_commitment=agreement.seed_commitment,
            entropy_commitments=[member.commitment for member in agreement.members],
            rated=agreement.rated,
            over=self.table.over,
            board=agreement.board,
            watching=watching_to_pb(agreement.watch, agreement.watch_delay_ms),
            scorer_id=agreement.scorer,
            owner_id=agreement.owner,
        )
        message.clock.CopyFrom(self._clock())
        for member in agreement.members:
            kind = 1 if member.kind == "human" else 2
            message.players.add(account_id=member.account_id, name=member.name, kind=kind)
        return message

    def _clock(self) -> pb.Clock:
        agreement = self.table.agreement
        return pb.Clock(
            turn_ms=agreement.turn_ms,
            window_ms=agreement.window_ms,
            bank_ms=agreement.bank_ms,
            increment_ms=agreement.increment_ms,
            lag_ms=agreement.lag_ms,
            lag_match_ms=agreement.lag_match_ms,
            late_most=agreement.late_most,
        )

    def seats(self, connected: Collection[Seat]) -> play.Seats:
        """Who plays the seats, and their banks: the same for everybody. Empty where nothing is kept of them."""
        message, ledger = play.Seats(), self.table.prompts.ledger
        if ledger is not None:
            for seat, (away, bank_ms) in enumerate(zip(ledger.away, ledger.bank_ms, strict=True)):
                message.seats.add(seat=seat, delegated=away, connected=seat in connected, bank_ms=bank_ms)
        return message

    def snapshot(self, seat: Seat | None) -> play.Snapshot:
        """The view as the table builds it now."""
        game, state = self.table.game, self.table.state
        view = open_view(game, state) if seat is None and self._open else game.view(state, seat)
        return play.Snapshot(seq=self.table.seq, view=value_to_pb(view_to_plain(view)))

    def prompt(self, seat: Seat | None, now_ms: int, *, delegate: bool = False) -> play.Prompt | None:
        """A seat's open question for its owner or its substitute, None for the one that is not asked."""
        table = self.table
        asked = table.prompts.asked[seat] if seat is not None else None
        if seat is None or asked is None or table.over or delegate is not bool(table.prompts.away(seat)):
            return None
        message = play.Prompt(
            number=asked.number,
            left_ms=max(1, asked.deadline_ms - now_ms),  # 0 would be "no limit"
            deadline_ms=asked.deadline_ms,
            default_action=action_to_pb(table.game.default(table.state, seat)),
        )
        if table.prompts.ledger is not None:
            message.turn_left_ms = min(message.left_ms, max(0, asked.own_ms - now_ms))
            message.bank_left_ms = message.left_ms - message.turn_left_ms
        legal = table.game.legal(table.state, seat, LIST_LIMIT)
        if isinstance(legal, TooMany):
            message.too_many.CopyFrom(too_many_to_pb(table.game, legal))
        elif len(legal) > LIST_LIMIT:
            message.too_many.rule = "CM-10.3"
        else:
            message.legal.extend(map(action_to_pb, legal))
        return message

    def ended(self) -> play.Ended:
        """How the match ended, with what opens its shuffle."""
        table = self.table
        sheet = table.state.sheet
        board = table.agreement.board  # others may still have to play it: its seed comes with the tournament's report
        message = play.Ended(
            cause=table.cause,
            seed=b"" if board else table.reveal_seed(),
            receipt=table.receipt,
            scores=sheet.scores,
            places=sheet.places or (),
        )
        if board:
            return message
        opened = table.entropies
        message.entropies.extend(opened.get(seat, b"") for seat in range(table.config.seats))
        return message
