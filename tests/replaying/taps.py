"""What streams deliver, as the very bytes: an entry's payload by audience and sequence number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import replay_pb2 as replay
from kangtou_clients.api import Client
from kangtou_engine.cards import Seat
from kangtou_engine.replay import OPEN, Who

Key = tuple[str, Seat | None]


@dataclass
class Tap:
    """entries   bytes of each Update that holds an entry
    again     how many came more than once, equal each time
    gaps      by audience: (last seq before a snapshot, the snapshot's)
    """

    entries: dict[Key, dict[int, bytes]] = field(default_factory=dict)
    again: int = 0
    gaps: dict[Key, list[tuple[int, int]]] = field(default_factory=dict)
    _last: dict[Key, int] = field(default_factory=dict)

    def read(self, raw: bytes) -> play.PlayResponse:
        """A deserializer that looks at the bytes first."""
        for piece in pieces(raw):
            self._take(play.Update.FromString(piece), piece)
        return play.PlayResponse.FromString(raw)

    def _take(self, update: play.Update, piece: bytes) -> None:
        key = (update.match_id, update.seat if update.HasField("seat") else None)
        if update.HasField("snapshot"):
            self.gaps.setdefault(key, []).append((self._last.get(key, 0), update.snapshot.seq))
            self._last[key] = update.snapshot.seq
        if not update.HasField("entry"):
            return
        seq = update.entry.seq
        known = self.entries.setdefault(key, {})
        if seq in known:
            assert known[seq] == piece, f"entry {seq} was sent twice and differs"
            self.again += 1
        known[seq] = piece
        self._last[key] = max(seq, self._last.get(key, 0))

    def on(self, client: Client) -> None:
        """Watch the play streams of a client from now on."""
        client._play.Play = client.channel.stream_stream(
            "/kangtou.v1.PlayService/Play",
            request_serializer=play.PlayRequest.SerializeToString,
            response_deserializer=self.read,
        )

    def skipped(self, key: Key, seq: int) -> bool:
        """Whether a snapshot stood for this entry."""
        return any(before < seq <= at for before, at in self.gaps.get(key, []))


def pieces(raw: bytes) -> Iterator[bytes]:
    """The updates of a PlayResponse or ReplayResponse, cut but not parsed."""
    at = 0
    while at < len(raw):
        assert raw[at] == 0x0A, "field 1, with a length"
        at, size, shift = at + 1, 0, 0
        while True:
            byte = raw[at]
            size |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        yield raw[at : at + size]
        at += size


async def replayed(client: Client, match: str, who: Who) -> dict[int, bytes]:
    """The entries of a replay stream, as bytes by sequence number."""
    request = replay.ReplayRequest(match_id=match, open=who == OPEN)
    if isinstance(who, int):
        request = replay.ReplayRequest(match_id=match, seat=who)
    stream: Any = client.channel.unary_stream(
        "/kangtou.v1.ReplayService/Replay",
        request_serializer=replay.ReplayRequest.SerializeToString,
        response_deserializer=None,
    )
    found: dict[int, bytes] = {}
    async for raw in stream(request, metadata=client.metadata()):
        for piece in pieces(raw):
            update = play.Update.FromString(piece)
            if update.HasField("entry"):
                found[update.entry.seq] = piece
    return found
