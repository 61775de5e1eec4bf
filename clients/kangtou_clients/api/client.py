"""The connection to a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Self, TypeVar

import grpc
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_delay, wait_random_exponential
from tenacity.wait import wait_base

from kangtou import tracing
from kangtou.v1 import admin_pb2, admin_pb2_grpc, vitals_pb2, vitals_pb2_grpc
from kangtou.v1 import play_pb2 as pb
from kangtou.v1 import play_pb2_grpc as rpc
from kangtou.wire import action_from_pb, action_to_pb, too_many_from_pb
from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import Seat
from kangtou_engine.game import Legal
from kangtou_engine.registry import REGISTRY, Registry

from .accounts import Accounts
from .channel import open_channel
from .house import House
from .lobby import Lobby
from .operate import Operate
from .session import Session
from .tables import Tables
from .values import Answer, Refused, TrustWarning, Unavailable, answer_from, failed, refused_from

Q = TypeVar("Q")
R = TypeVar("R")

CALL_S = 30.0  # deadline of a unary call
RETRY_S = 15.0  # how long a unary call is repeated while the server cannot be reached


def _version() -> str:
    try:
        return version("kangtou")
    except PackageNotFoundError:
        return ""


AGENT = ("kangtou-client", f"kangtou-python/{_version()}")  # a server may ask for a newer one


class Client:
    """One connection, for any number of calls and sessions. Made by `connect`; use it as `async with`.

    token     bearer token, "" before `accounts.register`
    retry_s   how long unary calls are repeated while the server cannot be reached; all are safe to repeat
    channel   a connection that is shared with other clients and is theirs to close; None: one of its own
    """

    def __init__(
        self,
        address: str,
        token: str = "",
        registry: Registry = REGISTRY,
        retry_s: float = RETRY_S,
        channel: grpc.aio.Channel | None = None,
    ) -> None:
        self.address = address
        self.token = token
        self.registry = registry
        self.channel = channel or open_channel(address)
        self._shared = channel is not None
        self.accounts = Accounts(self)
        self.house = House(self)
        self.lobby = Lobby(self)
        self.tables = Tables(self)
        self.operate = Operate(self)
        self._retry_s = retry_s
        self._tracing = tracing.of_client()
        self._play = rpc.PlayServiceStub(self.channel)
        self._admin = admin_pb2_grpc.AdminServiceStub(self.channel)
        self._vitals = vitals_pb2_grpc.VitalsServiceStub(self.channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection and whatever still runs on it."""
        if not self._shared:
            await self.channel.close()

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries."""
        return (AGENT, ("authorization", f"Bearer {self.token}")) if self.token else (AGENT,)

    # ---- playing ----

    def play(self, *, give_up_s: float = 120.0, on_warning: Callable[[TrustWarning], None] | None = None) -> Session:
        """A session for any number of matches: `async with client.play() as session`."""
        return Session(
            self._play,
            self.metadata,
            self.registry,
            give_up_s=give_up_s,
            on_warning=on_warning,
            tracing=self._tracing,
        )

    async def act(
        self, match_id: str, action: Action | str, *, prompt: int, command_id: str, seat: Seat | None = None
    ) -> Answer:
        """One action without a session. Repeats of the same id get the same answer."""
        wanted = parse_action(action) if isinstance(action, str) else action
        command = pb.Command(match_id=match_id, command_id=command_id, prompt=prompt, action=action_to_pb(wanted))
        if seat is not None:
            command.seat = seat
        span = self._tracing.begin("client.move") if self._tracing is not None else None
        if span is not None:
            command.traceparent = span.traceparent
        try:
            return answer_from((await self.unary(self._play.Act, pb.ActRequest(command=command))).answer)
        finally:
            if span is not None:
                span.end(match=match_id, command=command_id)

    async def hand_over(
        self, match_id: str, *, command_id: str, leave: bool = False, seat: Seat | None = None
    ) -> Answer:
        """Let a substitute play one's seat, without a session. Repeats of the same id get the same answer."""
        wish = pb.HandOver(match_id=match_id, command_id=command_id, leave=leave)
        if seat is not None:
            wish.seat = seat
        return answer_from((await self.unary(self._play.HandOver, pb.HandOverRequest(hand_over=wish))).answer)

    async def take_back(self, match_id: str, *, command_id: str, seat: Seat | None = None) -> Answer:
        """Play one's seat again, without a session. Repeats of the same id get the same answer."""
        wish = pb.TakeBack(match_id=match_id, command_id=command_id)
        if seat is not None:
            wish.seat = seat
        return answer_from((await self.unary(self._play.TakeBack, pb.TakeBackRequest(take_back=wish))).answer)

    async def view(self, match_id: str, *, seat: Seat | None = None, spectate: bool = False) -> pb.GetViewResponse:
        """What a seat or a spectator sees now, as the protocol's message."""
        request = pb.GetViewRequest(match_id=match_id, spectate=spectate)
        if seat is not None:
            request.seat = seat
        return await self.unary(self._play.GetView, request)

    async def legal(self, match_id: str, seat: Seat | None = None) -> Legal:
        """The legal actions of one's seat, up to the longest list of the game's book."""
        request = pb.LegalRequest(match_id=match_id)
        if seat is not None:
            request.seat = seat
        response = await self.unary(self._play.Legal, request)
        if response.HasField("too_many"):
            return too_many_from_pb(response.too_many)
        return tuple(map(action_from_pb, response.legal))

    async def check(self, match_id: str, action: Action | str, seat: Seat | None = None) -> Refused | None:
        """Whether an action would be accepted (None), without doing it."""
        wanted = parse_action(action) if isinstance(action, str) else action
        request = pb.CheckRequest(match_id=match_id, action=action_to_pb(wanted))
        if seat is not None:
            request.seat = seat
        response = await self.unary(self._play.Check, request)
        return refused_from(response.refused) if response.HasField("refused") else None

    async def status(self) -> admin_pb2.GetStatusResponse:
        """What runs at the server; for operators."""
        return await self.unary(self._admin.GetStatus, admin_pb2.GetStatusRequest())

    async def vitals(self) -> vitals_pb2.GetVitalsResponse:
        """How the processes of the server are doing; for operators."""
        return await self.unary(self._vitals.GetVitals, vitals_pb2.GetVitalsRequest())

    # ---- calls ----

    async def unary(self, method: grpc.aio.UnaryUnaryMultiCallable[Q, R], request: Q) -> R:
        """A unary call, repeated while the server cannot be reached. Raises CallFailed."""

        async def once() -> R:
            try:
                return await method(request, metadata=self.metadata(), timeout=CALL_S)
            except grpc.aio.AioRpcError as error:
                raise failed(error) from None

        return await self.retried(once)

    async def retried(self, once: Callable[[], Awaitable[R]]) -> R:
        """Something that is safe to repeat, repeated while it raises Unavailable, for as long as this client may."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(Unavailable),
            wait=wait_random_exponential(multiplier=0.05, max=2.0),
            stop=stop_after_delay(self._retry_s),
            reraise=True,
        )
        return await retrying(once)

    async def pause(self, wait: wait_base, attempt: int) -> None:
        """Sleep as a back-off says."""
        state = RetryCallState(AsyncRetrying(), None, (), {})
        state.attempt_number = attempt
        await asyncio.sleep(wait(state))


def connect(address: str, token: str = "", *, registry: Registry = REGISTRY, retry_s: float = RETRY_S) -> Client:
    """A client of a server: `async with connect(address, token) as client`. Raises BadAddress."""
    return Client(address, token, registry, retry_s)
