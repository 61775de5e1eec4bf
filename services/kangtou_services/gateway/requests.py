"""What a client asks on its play stream: checked, and made calls to the router.

Every command gets exactly one answer: with a delivery of the table, or from the reply to its call, or from here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.tracing import Open
from kangtou.v1 import play_pb2 as play

from ..house import House
from ..identity import StoreUnavailable
from ..table.commands import refused
from ..tournament.ids import tournament_of
from .calls import garbage
from .commands import QuietCall, StreamCall
from .followers import Key
from .refused import refusal

if TYPE_CHECKING:
    from .streams import PlayStream

MATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
COMMAND_BYTES = 4_096  # an action's text has at most 512 letters
CALLS_MOST = 8_192  # commands of one stream without an answer
FOLLOWERS_MOST = 8_192  # matches on one stream, with those about which the house is being asked
ENTROPY_BYTES = 64


class Requests:
    """Of one stream."""

    def __init__(self, stream: PlayStream, house: House) -> None:
        self._stream = stream
        self._house = house
        self._asking: set[asyncio.Task[None]] = set()  # whether this account may play for a seat

    def take(self, raw: bytes) -> None:
        """One message of the client. Raises CallError for what is none."""
        try:
            request = play.PlayRequest.FromString(raw)
        except DecodeError as error:
            raise garbage() from error
        what = request.WhichOneof("body")
        if what is None:
            self._stream.answer("", None, refused("", refusal("malformed")))
        else:
            _KINDS[what](self, request, len(raw))

    def stop(self) -> None:
        """The stream ends: ask nothing more."""
        for task in self._asking:
            task.cancel()

    def _command(self, request: play.PlayRequest, size: int) -> None:
        body = request.command
        call = lpb.Call(
            match_id=body.match_id, account_id=self._stream.account_id, command=body, lag_ms=self._stream.lag.ms
        )
        tracing, span = self._stream.meter.tracing, None
        if tracing is not None:
            span = tracing.begin("gateway.command", body.traceparent)
            call.traceparent = span.traceparent if span is not None else ""
        self._forward(call, body.seat if body.HasField("seat") else None, body.command_id, size, span)

    def _act(self, request: play.PlayRequest, size: int) -> None:
        """What goes to the table as it is: standing, hand_over, take_back."""
        what = str(request.WhichOneof("body"))
        body = getattr(request, what)
        call = lpb.Call(match_id=body.match_id, account_id=self._stream.account_id, **{what: body})
        self._forward(call, body.seat if body.HasField("seat") else None, body.command_id, size)

    def _forward(self, call: lpb.Call, seat: int | None, command_id: str, size: int, span: Open | None = None) -> None:
        problem = ""
        if size > COMMAND_BYTES:
            problem = "malformed"
        elif not MATCH_ID.fullmatch(call.match_id):
            problem = "unknown_match"
        elif len(self._stream.calls) >= CALLS_MOST:
            problem = "rate_limited"
        if problem:
            self._stream.meter.refusals[problem] += 1
            self._stream.answer(call.match_id[:64], seat, refused(command_id[:64], refusal(problem)))
            return
        wanted = StreamCall(self._stream, call, seat, command_id)
        wanted.span = span
        follower = self._stream.at(call.match_id, seat)
        if follower is not None and follower.listening:
            wanted.follower = follower
        if follower is not None:
            call.delegate = follower.sub.delegate
        self._stream.calls.add(wanted)
        wanted.send()

    def _attach(self, request: play.PlayRequest, size: int) -> None:
        body = request.attach
        seat = body.seat if body.HasField("seat") and not body.spectate else None
        key = (body.match_id, body.spectate, seat)
        problem = ""
        if not MATCH_ID.fullmatch(body.match_id):
            problem = "unknown_match"
        elif len(body.entropy) > ENTROPY_BYTES or (body.delegate and seat is None):
            problem = "malformed"
        elif body.spectate and tournament_of(body.match_id):
            problem = "withheld"
        elif len(self._stream.followers) + len(self._asking) >= FOLLOWERS_MOST:
            problem = "rate_limited"
        if problem:
            self._stream.meter.refusals[problem] += 1
            self._stream.answer(body.match_id[:64], seat, refused("", refusal(problem)))
            return
        if not body.delegate:
            self._stream.follow(key, body)
            return
        task = asyncio.create_task(self._follow_as_substitute(key, body), name="play-substitute")
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        task.add_done_callback(self._stream.task_ended)

    async def _follow_as_substitute(self, key: Key, body: play.Attach) -> None:
        code = "not_allowed"
        try:
            allowed = await self._house.may_play(self._stream.account_id, body.match_id, body.seat)
        except StoreUnavailable:
            allowed, code = False, "table_unavailable"
        if allowed:
            self._stream.follow(key, body)
        else:
            self._stream.answer(body.match_id, body.seat, refused("", refusal(code)))

    def _detach(self, request: play.PlayRequest, size: int) -> None:
        body = request.detach
        if body.spectate:
            self._stream.drop((body.match_id, True, None))
        elif body.HasField("seat"):
            follower = self._stream.at(body.match_id, body.seat)
            self._stream.drop(follower.key if follower is not None else None)
        else:
            for key in [key for key in self._stream.followers if key[0] == body.match_id and not key[1]]:
                self._stream.drop(key)

    def _entropy(self, request: play.PlayRequest, size: int) -> None:
        body = request.entropy
        if not MATCH_ID.fullmatch(body.match_id) or len(body.entropy) > ENTROPY_BYTES:
            self._stream.answer(body.match_id[:64], None, refused("", refusal("malformed")))
            return
        call = lpb.Call(match_id=body.match_id, account_id=self._stream.account_id, entropy=body)
        self._forward_quietly(call)

    def _pong(self, request: play.PlayRequest, size: int) -> None:
        self._stream.lag.pong(request.pong.nonce)

    def _forward_quietly(self, call: lpb.Call) -> None:
        quiet = QuietCall(self._stream, call, None, "")
        if len(self._stream.calls) < CALLS_MOST:
            self._stream.calls.add(quiet)
            quiet.send()


_KINDS: dict[str, Callable[[Requests, play.PlayRequest, int], None]] = {
    "command": Requests._command,
    "standing": Requests._act,
    "attach": Requests._attach,
    "detach": Requests._detach,
    "entropy": Requests._entropy,
    "hand_over": Requests._act,
    "take_back": Requests._act,
    "pong": Requests._pong,
}
