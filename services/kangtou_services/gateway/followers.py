"""One match on one stream: takes what the table sends, and copes with a client that does not keep up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from kangtou.v1 import play_pb2 as play

from ..table.commands import refused
from .outbox import Queue
from .refused import refusal
from .routes import NOBODY, Subscription

if TYPE_CHECKING:
    from .streams import PlayStream

Key = tuple[str, bool, int | None]  # match, as a spectator, the seat if one was named

_LAGGING = ("updates were left out because the stream was not read; a snapshot follows", "读取过慢，已略去部分更新")
_MOVING = ("the table is being taken over by another process", "牌桌正在转移到另一进程")


class Follower:
    """A subscription's sink."""

    __slots__ = ("key", "queue", "seat", "stream", "sub")

    def __init__(self, stream: PlayStream, key: Key) -> None:
        self.stream = stream
        self.key = key
        self.seat = key[2]  # where none was named: known after the first delivery
        self.queue = Queue(seated=not key[1])
        self.sub: Subscription

    @property
    def listening(self) -> bool:
        """Whether the table's answers to this seat come through this subscription."""
        return not self.sub.over and not self.queue.lagging

    def let_go(self) -> None:
        """The stream follows this no longer. Nothing holds it in a circle, so nothing waits for the collector."""
        self.sub.sink = NOBODY

    def deliver(self, payload: bytes, *, last: bool) -> None:
        """See Sink."""
        if self.seat is None and self.queue.seated:
            self.seat = _seat(payload)
            if self.seat is not None:
                self.stream.found(self, self.seat)
        room = self.stream.outbox.push(self.queue, payload)
        if last:
            self.stream.left(self)
        elif not room:
            self.stream.lagging(self)

    def moving(self) -> None:
        """See Sink."""
        self.stream.outbox.push(self.queue, self.notice(play.NOTICE_KIND_MOVING, _MOVING))

    def refused(self, code: str) -> None:
        """See Sink."""
        self.stream.left(self)
        self.stream.answer(self.key[0], self.seat, refused("", refusal(code)))

    def lagging_notice(self) -> bytes:
        """What stands for a backlog that was left out."""
        return self.notice(play.NOTICE_KIND_LAGGING, _LAGGING)

    def notice(self, kind: play.NoticeKind.ValueType, text: tuple[str, str]) -> bytes:
        """A notice to this follower."""
        update = play.Update(match_id=self.key[0])
        if self.seat is not None:
            update.seat = self.seat
        update.notice.CopyFrom(play.Notice(kind=kind, text_en=text[0], text_zh=text[1]))
        return play.PlayResponse(updates=[update]).SerializeToString()


def _updates(payload: bytes) -> list[play.Update]:
    try:
        return list(play.PlayResponse.FromString(payload).updates)
    except DecodeError:
        return []


def _seat(payload: bytes) -> int | None:
    return next((update.seat for update in _updates(payload) if update.HasField("seat")), None)
