"""A finished match as the bytes that were sent while it was played. The gateway's replay stream is made of these.

Entries are made from the recorded events by the code that made them live (table/audience.py), so what a seat is sent
again equals what it was sent then. Prompts and answers are not repeated: nobody is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kangtou.v1 import play_pb2 as play
from kangtou.wire import value_to_pb
from kangtou_engine.events import Event
from kangtou_engine.plain import view_to_plain
from kangtou_engine.record import Record, Terms
from kangtou_engine.replay import OPEN, Replay, Who

from .agreement import Agreement, Member
from .table.audience import ATTACHED, ENDED, SNAPSHOT, Audiences
from .table.core import Table


@dataclass(frozen=True, slots=True)
class Sent:
    """One entry as its audience got it: a PlayResponse, which is a ReplayResponse too."""

    seq: int
    time_ms: int
    payload: bytes


def agreement_of(terms: Terms, names: Sequence[str]) -> Agreement:
    """What was agreed, as far as clients are told of it."""
    seats = zip(terms.seats, names, strict=True)
    return Agreement(
        match_id=terms.match,
        game=terms.game,
        version=terms.version,
        seats=len(terms.seats),
        options=terms.options,
        members=tuple(Member(place.account, name, place.kind, place.commitment) for place, name in seats),
        seed_commitment=terms.seed_commitment,
        created_ms=terms.created_ms,
        turn_ms=terms.turn_ms,
        window_ms=terms.window_ms,
        rated=terms.rated,
        board=terms.board,
        watch=terms.watch,
        watch_delay_ms=terms.watch_delay_ms,
        scorer=terms.scorer,
    )


class Playback:
    """One record for one audience: a seat, a spectator (None), or OPEN. Raises BadText for events of no game here."""

    def __init__(self, replay: Replay, names: Sequence[str], who: Who) -> None:
        self.replay = replay
        self.who = who
        self._record: Record = replay.record
        self._seat = who if isinstance(who, int) else None
        self._table = Table(replay.game, agreement_of(self._record.head.terms, names), self._record.seed, lambda: 0)
        self._audiences = Audiences(self._table)

    def attached(self) -> bytes:
        """What was agreed, as it was told at the beginning."""
        return self._audiences.message(self._seat, ATTACHED, self._audiences.attached())

    def boundary(self, position: int) -> int:
        """The position, or the one before the entry in the midst of which it is."""
        moments = self.replay.moments
        while 0 < position < len(moments) and moments[position].seq == moments[position - 1].seq:
            position -= 1
        return position

    def snapshot(self, position: int) -> bytes:
        """The view at a position."""
        seq = self.replay.moments[position - 1].seq if position else 0
        view = value_to_pb(view_to_plain(self.replay.view(position, self.who)))
        return self._audiences.message(self._seat, SNAPSHOT, play.Snapshot(seq=seq, view=view))

    def entries(self, position: int) -> Iterator[Sent]:
        """The entries from a position on that somebody was told of."""
        moments = self.replay.moments
        while position < len(moments):
            first = moments[position]
            events: list[Event] = []
            while position < len(moments) and moments[position].seq == first.seq:
                events += self.replay.events(position)
                position += 1
            if events:  # of standing answers and notes nobody is told
                yield Sent(first.seq, first.time_ms, self._entry(first.seq, first.time_ms, tuple(events)))

    def _entry(self, seq: int, time_ms: int, events: tuple[Event, ...]) -> bytes:
        if self.who == OPEN:
            return self._audiences.open_entry(seq, time_ms, events)
        return self._audiences.entry(seq, time_ms, events, (self._seat,))[self._seat]

    def ended(self) -> bytes:
        """How it ended."""
        table, record = self._table, self._record
        table.cause, table.receipt = record.head.outcome.cause, record.receipt
        table.state = self.replay.state(len(self.replay.moments))
        table.entropies = {seat: entropy for seat, entropy in enumerate(record.entropies or ()) if entropy}
        return self._audiences.message(self._seat, ENDED, self._audiences.ended())
