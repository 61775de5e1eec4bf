"""A session: one stream for all matches of a client. It reconnects, resumes and repeats by itself.

After a lost connection every match is attached again from the last sequence number that was folded, and every command
that has no answer yet is sent again under its id, which makes it safe.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from itertools import count
from types import TracebackType
from typing import Any, Self

import grpc

from kangtou.tracing import Tracing
from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc
from kangtou.wire import action_to_pb
from kangtou_engine.actions import Action
from kangtou_engine.cards import Seat
from kangtou_engine.registry import Registry

from .match import Match
from .stream import Metadata, Opener, updates
from .unknown import UNKNOWN_RULES
from .values import (
    Answer,
    ApiError,
    Gone,
    Refused,
    TrustWarning,
    answer_from,
    failed,
    refused_from,
)

AGAIN = frozenset({"table_unavailable", "log_unavailable", "rate_limited", "too_many_waiting"})  # ask again later
AGAIN_S = 0.25

Key = tuple[str, int | None]  # match, seat (None: a spectator)


class _Command:
    """A command without an answer."""

    __slots__ = ("answer", "request", "tries")

    def __init__(self, request: play.PlayRequest) -> None:
        self.request = request
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.tries = 0


class Session:
    """Made by `Client.play`; use it as `async with client.play() as session`.

    give_up_s    how long it tries to reconnect before all matches fail with CallFailed
    on_warning   called with each TrustWarning (they are collected in `Match.warnings` too)
    """

    def __init__(
        self,
        stub: rpc.PlayServiceStub,
        metadata: Callable[[], Metadata],
        registry: Registry,
        *,
        give_up_s: float = 120.0,
        on_warning: Callable[[TrustWarning], None] | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._opener = Opener(stub, metadata, give_up_s)
        self._registry = registry
        self._on_warning = on_warning
        self._matches: dict[Key, Match] = {}
        self._unseated: dict[str, Match] = {}  # attached without naming a seat, which is not known yet
        self._commands: dict[tuple[str, str], _Command] = {}
        self._ids = count(1)
        self._name = secrets.token_hex(6)
        self._out: list[play.PlayRequest] = []
        self._wake = asyncio.Event()
        self._connected = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self.reconnections = 0

    async def __aenter__(self) -> Self:
        self._runner = asyncio.create_task(self._run(), name="session")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the stream; matches that are still followed fail with Gone."""
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.gather(self._runner, return_exceptions=True)
        self._give_up(Gone("the session is closed"))

    # ---- matches ----

    async def attach(
        self,
        match_id: str,
        *,
        seat: Seat | None = None,
        entropy: bytes = b"",
        from_seq: int = 0,
        delegate: bool = False,
    ) -> Match | Refused:
        """Take one's seat in a match (`seat` only for an account that has several). Returns when it is known here.

        `delegate`: play `seat` as a house bot for its owner until he takes it back; then the match ends here with Gone.
        `entropy` is what the commitment given with sit or ticket opens to. Raises Gone, CallFailed.
        """
        match = Match(match_id, seat, False, entropy, self._registry)
        match.seq = from_seq
        match.delegate = delegate
        return await self._join(match)

    async def watch(self, match_id: str) -> Match | Refused:
        """Follow a match as a spectator. Raises Gone, CallFailed."""
        return await self._join(Match(match_id, None, True, b"", self._registry))

    async def _join(self, match: Match) -> Match | Refused:
        if self._failure is not None:
            raise self._failure
        match.send = self._act
        if self._on_warning is not None:
            match.on_warning = self._on_warning
        if match.seat is None and not match.spectate:
            self._unseated[match.match_id] = match
        else:
            self._matches[match.match_id, match.seat] = match
        self._put(_attach(match))
        refused = await match.attached()
        return match if refused is None else refused

    async def leave(self, match: Match) -> None:
        """Follow it no longer."""
        self._forget(match)
        self._put(_detach(match))

    def _forget(self, match: Match) -> None:
        if self._matches.get((match.match_id, match.seat)) is match:
            del self._matches[match.match_id, match.seat]
        if self._unseated.get(match.match_id) is match:
            del self._unseated[match.match_id]

    # ---- commands ----

    async def _act(self, match: Match, prompt: int, action: Action) -> Answer:
        command = play.Command(
            match_id=match.match_id, command_id=self._new_id(), prompt=prompt, action=action_to_pb(action)
        )
        if match.seat is not None:
            command.seat = match.seat
        span = self._tracing.begin("client.move") if self._tracing is not None else None
        if span is not None:
            command.traceparent = span.traceparent
        try:
            answer = await self._ask(match.match_id, command.command_id, play.PlayRequest(command=command))
        finally:
            if span is not None:
                span.end(match=match.match_id, command=command.command_id)
        if not isinstance(answer, Refused):
            match.answered(prompt)
        return answer

    async def stand_by(self, match: Match, action: Action | None, until: str = "") -> Answer:
        """Leave a standing answer for one's seat: given whenever it is asked and it is legal. None revokes it."""
        standing = play.StandingAnswer(match_id=match.match_id, command_id=self._new_id(), until=until)
        if action is not None:
            standing.action.CopyFrom(action_to_pb(action))
        if match.seat is not None:
            standing.seat = match.seat
        return await self._ask(match.match_id, standing.command_id, play.PlayRequest(standing=standing))

    async def hand_over(self, match: Match, *, leave: bool = False) -> Answer:
        """Let a substitute play one's seat; `leave`: one leaves, which is recorded. Raises Gone, CallFailed."""
        wish = play.HandOver(match_id=match.match_id, command_id=self._new_id(), leave=leave)
        if match.seat is not None:
            wish.seat = match.seat
        return await self._ask(match.match_id, wish.command_id, play.PlayRequest(hand_over=wish))

    async def take_back(self, match: Match) -> Answer:
        """Play one's seat again. Raises Gone, CallFailed."""
        wish = play.TakeBack(match_id=match.match_id, command_id=self._new_id())
        if match.seat is not None:
            wish.seat = match.seat
        return await self._ask(match.match_id, wish.command_id, play.PlayRequest(take_back=wish))

    def _new_id(self) -> str:
        return f"{self._name}-{next(self._ids)}"

    async def _ask(self, match_id: str, command_id: str, request: play.PlayRequest) -> Answer:
        if self._failure is not None:
            raise self._failure
        command = self._commands[match_id, command_id] = _Command(request)
        self._put(request)
        try:
            return await command.answer
        finally:
            self._commands.pop((match_id, command_id), None)

    def _put(self, request: play.PlayRequest) -> None:
        if self._connected.is_set():  # else it is sent when the stream is there
            self._out.append(request)
            self._wake.set()

    # ---- the stream ----

    async def _run(self) -> None:
        try:
            while True:
                call = await self._opener.open()
                try:
                    await self._serve(call)
                finally:
                    self._connected.clear()
                    call.cancel()
                self.reconnections += 1
        except ApiError as error:
            self._give_up(error)
        except asyncio.CancelledError:
            self._give_up(Gone("the session is closed"))
            raise
        except Exception as error:  # a message that cannot be folded: nothing after it would be right
            self._give_up(error)
            raise

    async def _serve(self, call: Any) -> None:
        """Until the stream ends. Raises CallFailed if it must not be opened again."""
        live = [match for match in (*self._unseated.values(), *self._matches.values()) if not match.over]
        self._out = [_attach(match) for match in live]
        self._out += [command.request for command in self._commands.values()]
        self._wake.set()
        self._connected.set()
        writer = asyncio.create_task(self._write(call), name="session-write")
        try:
            async for update in updates(call):
                self._take(update)
        except grpc.aio.AioRpcError as error:
            reason = failed(error)
            if self._opener.hopeless(reason):
                raise reason from None
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def _write(self, call: Any) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            out, self._out = self._out, []
            for request in out:
                try:
                    await call.write(request)
                except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                    return  # the reader sees why

    # ---- what comes ----

    def _take(self, update: play.Update) -> None:
        if update.HasField("answer"):
            self._answered(update)
            return
        if update.HasField("ping"):
            self._put(play.PlayRequest(pong=play.Pong(nonce=update.ping.nonce)))
            return
        match = self._match(update)
        if match is None:
            return  # left a moment ago
        match.take(update)
        if match.over:
            self._forget(match)
        if match.refused is not None and match.refused.code == UNKNOWN_RULES:
            self._put(_detach(match))  # the server would go on telling of it

    def _match(self, update: play.Update) -> Match | None:
        seat = update.seat if update.HasField("seat") else None
        match = self._matches.get((update.match_id, seat))
        if match is None and seat is not None:
            match = self._unseated.pop(update.match_id, None)
            if match is not None:
                match.seat = seat
                self._matches[update.match_id, seat] = match
        return match

    def _answered(self, update: play.Update) -> None:
        answer = update.answer
        if not answer.command_id:
            self._not_attached(update, refused_from(answer.refused))
            return
        command = self._commands.get((update.match_id, answer.command_id))
        if command is None or command.answer.done():
            return
        result = answer_from(answer)
        if isinstance(result, Refused) and result.code in AGAIN:
            command.tries += 1
            delay = min(AGAIN_S * 2 ** min(command.tries, 4), 2.0)
            asyncio.get_running_loop().call_later(delay, self._again, update.match_id, answer.command_id)
            return
        command.answer.set_result(result)

    def _again(self, match_id: str, command_id: str) -> None:
        command = self._commands.get((match_id, command_id))
        if command is not None and not command.answer.done():
            self._put(command.request)

    def _not_attached(self, update: play.Update, why: Refused) -> None:
        match = self._match(update) or self._unseated.get(update.match_id)
        if match is None:
            return
        if why.code in AGAIN:
            asyncio.get_running_loop().call_later(AGAIN_S * 2, self._attach_again, match)
            return
        match.refuse(why)
        self._forget(match)

    def _attach_again(self, match: Match) -> None:
        if not match.over and match in (*self._matches.values(), *self._unseated.values()):
            self._put(_attach(match))

    def _give_up(self, error: Exception) -> None:
        if self._failure is None:
            self._failure = error
        for match in (*self._matches.values(), *self._unseated.values()):
            match.fail(self._failure)
        for command in self._commands.values():
            if not command.answer.done():
                command.answer.set_exception(self._failure)


def _detach(match: Match) -> play.PlayRequest:
    detach = play.Detach(match_id=match.match_id, spectate=match.spectate)
    if match.seat is not None:
        detach.seat = match.seat
    return play.PlayRequest(detach=detach)


def _attach(match: Match) -> play.PlayRequest:
    attach = play.Attach(
        match_id=match.match_id,
        spectate=match.spectate,
        from_seq=match.seq,
        entropy=match.entropy,
        delegate=match.delegate,
    )
    if match.seat is not None:
        attach.seat = match.seat
    return play.PlayRequest(attach=attach)
