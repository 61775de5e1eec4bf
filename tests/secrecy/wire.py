"""A match on a whole server in this process whose clock stands: every byte that each client is sent, step by step.

With the clock in hand, times and deadlines are the same in two runs; then whatever differs was told to the client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from unittest.mock import patch

import grpc

from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_to_pb
from kangtou_engine.actions import parse_action
from kangtou_engine.cards import Seat
from kangtou_engine.chance import Chance
from kangtou_services.agreement import Agreement
from kangtou_services.gateway import limits
from kangtou_services.table import beginning
from kangtou_services.table.core import Table
from tests.inprocess import Server, until, whole_server
from tests.services.raw import RawStream, bearer, stub_of
from tests.services.tables import CREATED_MS, seed_of

STEP_MS = 700
PATIENCE_S = 60.0
SPECTATOR = "eve"
Step = tuple[Seat, str]


class Tap(RawStream):
    """A stream that keeps the bytes as they came."""

    def __init__(self, channel: grpc.aio.Channel, name: str) -> None:
        self.raw = b""
        super().__init__(channel, name)

    async def _read(self) -> None:
        try:
            while isinstance(raw := await self.call.read(), bytes):
                self.raw += raw
                self.seen += play.PlayResponse.FromString(raw).updates
                self._news.set()
        except grpc.aio.AioRpcError as error:
            self._ended = error
        self._news.set()

    async def told(self, seq: int) -> None:
        """Until that entry has come; its prompt and whatever else it brings come in the same payload."""
        await self.first(lambda one: one.HasField("entry") and one.entry.seq == seq, PATIENCE_S)


@dataclass
class Wire:
    """A match in play. Streams by seat, None: a spectator."""

    server: Server
    agreement: Agreement
    taps: dict[Seat | None, Tap]
    clock: list[int]

    @property
    def table(self) -> Table:
        """Where it is played."""
        return self.server.hosts[0].host.slots[self.agreement.match_id].table

    def name(self, seat: Seat) -> str:
        """The account that has a seat."""
        return self.agreement.members[seat].account_id

    async def act(self, seat: Seat, text: str, command_id: str, prompt: int | None = None) -> play.Answer:
        """A command on the stream of a seat."""
        tap = self.taps[seat]
        asked = self.table.prompts.asked[seat]
        number = prompt if prompt is not None else asked.number if asked else 0
        body = play.Command(match_id=self.agreement.match_id, command_id=command_id, prompt=number)
        body.action.CopyFrom(action_to_pb(parse_action(text)))
        await tap.send(play.PlayRequest(command=body))
        return (
            await tap.first(lambda one: one.HasField("answer") and one.answer.command_id == command_id, PATIENCE_S)
        ).answer


@asynccontextmanager
async def on_the_wire(agreement: Agreement, chance: Chance) -> AsyncIterator[Wire]:
    """The match with all seats attached and a spectator, its packs from `chance`."""
    match, clock = agreement.match_id, [CREATED_MS + 50]
    async with AsyncExitStack() as stack:
        stack.enter_context(patch.object(beginning, "match_chance", lambda *_: chance))
        stack.enter_context(patch.object(limits, "QUESTIONS_BURST", 1e6))  # not what is looked at
        server = await stack.enter_async_context(whole_server(ping_ms=0))
        server.hosts[0].host.now_ms = lambda: clock[0]
        await server.backend.store.create(match, agreement.to_json(), seed_of(match))
        taps: dict[Seat | None, Tap] = {}
        wire = Wire(server, agreement, taps, clock)
        async with stub_of(server.address) as stub:  # has it opened, so that all come to the same
            await stub.GetView(play.GetViewRequest(match_id=match, spectate=True), metadata=bearer(SPECTATOR))
        await until(lambda: wire.table.begun)
        for seat in (*range(agreement.seats), None):
            name = SPECTATOR if seat is None else wire.name(seat)
            options = (("grpc.use_local_subchannel_pool", 1),)
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address, options=options))
            taps[seat] = tap = Tap(channel, name)
            stack.push_async_callback(tap.cancel)
            attach = play.Attach(match_id=match, spectate=seat is None)
            await tap.send(play.PlayRequest(attach=attach))
            await tap.first(lambda one: one.HasField("snapshot"), PATIENCE_S)
        yield wire


Noise = Callable[[Wire, int], Awaitable[None]]


async def _quiet(wire: Wire, step: int) -> None:
    """Nobody tries anything."""


async def played(
    agreement: Agreement, chance: Chance, script: Sequence[Step], noise: Noise = _quiet
) -> list[dict[Seat | None, bytes]]:
    """What each client had been sent after each step of the script (0: the deal)."""
    async with on_the_wire(agreement, chance) as wire:
        sent = [{who: tap.raw for who, tap in wire.taps.items()}]
        for number, (seat, text) in enumerate(script):
            await noise(wire, number)
            wire.clock[0] += STEP_MS
            answer = await wire.act(seat, text, f"c{number}")
            assert answer.HasField("accepted"), f"step {number}: seat {seat} {text!r}: {answer}"
            for tap in wire.taps.values():
                await tap.told(answer.accepted.seq)
            sent.append({who: tap.raw for who, tap in wire.taps.items()})
        return sent


TOO_MUCH = "play " + " ".join(suit + rank for rank in "3456" for suit in "SHCD")  # in no hand that is played here
REFUSED = ((TOO_MUCH, None), ("nonsense", None), ("pass", 1), ("play", None))  # with the prompt's number


async def try_everything(wire: Wire, step: int, quiet: Seat) -> None:
    """What all seats but one do besides playing: refused commands of every sort, what is legal, checks, looks."""
    match = wire.agreement.match_id
    async with stub_of(wire.server.address) as stub:
        for seat in range(wire.agreement.seats):
            if seat == quiet:
                continue
            for number, (text, prompt) in enumerate(REFUSED):
                answer = await wire.act(seat, text, f"try-{step}-{seat}-{number}", prompt)
                assert answer.HasField("refused"), (text, answer)
            metadata = bearer(wire.name(seat))
            await stub.Legal(play.LegalRequest(match_id=match), metadata=metadata)
            await stub.Check(
                play.CheckRequest(match_id=match, action=action_to_pb(parse_action("play RJ"))), metadata=metadata
            )
            await stub.GetView(play.GetViewRequest(match_id=match), metadata=metadata)
