"""Players: the client library's own Session and Match on simulated streams; what they do with it is drawn."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import grpc

from kangtou.v1 import play_pb2 as play
from kangtou.v1.play_pb2_grpc import PlayServiceStub
from kangtou.wire import action_to_pb
from kangtou_clients.api.match import Match
from kangtou_clients.api.seen import Prompt
from kangtou_clients.api.session import Session
from kangtou_clients.api.values import ApiError, Gone, Refused, TrustWarning
from kangtou_engine.actions import Action

from .journal import Seen, Tap
from .loop import Process
from .streams import Call, Gate

if TYPE_CHECKING:
    from .world import World

ANSWERED = frozenset(("command", "standing", "hand_over", "take_back"))
ANSWERED_S = 30.0  # of virtual time, after which a command on a stream that lives has been forgotten


class TappedCall(Call):
    """A stream whose commands may be sent twice, or after what was sent behind them; it counts what is answered."""

    def __init__(self, world: World, player: Player) -> None:
        super().__init__(world.loop)
        self._world, self._player = world, player
        self.tap = Tap(world.journal, player.process.name)
        self._held: Any = None

    async def write(self, request: Any) -> None:
        """See grpc."""
        what = request.WhichOneof("body")
        command = getattr(request, what) if what in ANSWERED else None
        rng, clumsy = self._world.loop.rng, self._world.plan.clumsy
        held, self._held = self._held, None
        if command is not None:
            if held is None and rng.random() < clumsy / 4:
                self._held = command, request
                self._world.journal.count("reordered command")
                self._world.loop.create_task(self._let_go(command, request))
                return
            self._sent(command)
            if rng.random() < clumsy / 2:
                self._world.journal.count("doubled command")
                self._sent(command)
                await super().write(request)
        await super().write(request)
        if held is not None:
            self._sent(held[0])
            await super().write(held[1])

    async def _let_go(self, command: Any, request: Any) -> None:
        """A request that was held back, if nothing has gone before it by then."""
        await asyncio.sleep(0.02)
        if self._held is None or self._held[1] is not request:
            return
        self._held = None
        self._sent(command)
        try:
            await super().write(request)
        except grpc.aio.AioRpcError:
            return

    def _sent(self, command: Any) -> None:
        if not self.done():
            self.tap.sent(command.seat, command.command_id)

    async def read(self) -> Any:
        """See grpc."""
        response = await super().read()
        if response is not grpc.aio.EOF:
            for update in response.updates:
                self.tap.came(update)
        return response


class Player:
    """One client process of an account: it has one or two seats, or watches."""

    def __init__(self, world: World, process: Process, account: str, seats: tuple[int, ...]) -> None:
        self.world, self.process, self.account, self.seats = world, process, account, seats
        self.call: TappedCall | None = None  # the newest stream
        self.done = False
        self._calls = 0
        self._calling = 0

    def open(self, metadata: Any) -> Call:
        """A stream to a gateway that happens to be there."""
        call = TappedCall(self.world, self)
        gate = self._gate()
        if gate is None:
            call.came(("status", (grpc.StatusCode.UNAVAILABLE, "connection refused")))
        else:
            gate.open(self.process, call, metadata, lambda context: None)
            self.call = call
        return call

    def _gate(self) -> Gate | None:
        gates = self.world.gates
        gate = gates[int(self.world.loop.rng.random() * len(gates))] if gates else None
        if gate is None or gate.process.dead or self.world.network.separated(self.process, gate.process):
            return None
        return gate

    # ---- playing ----

    async def run(self) -> None:
        """Until the match is over."""
        metadata = (("authorization", f"Bearer t-{self.account}"),)
        world, stub = self.world, cast("PlayServiceStub", SimpleNamespace(Play=self.open))
        while True:
            session = Session(stub, lambda: metadata, world.registry, give_up_s=1e9, on_warning=self._warned)
            try:
                async with session:
                    await asyncio.gather(*(self._play(session, seat) for seat in self.seats or (None,)))
                    await self.settled()
                break
            except Gone as gone:
                world.gone(self, str(gone))
                await asyncio.sleep(0.2)
        self.done = True

    async def settled(self) -> None:
        """Until nothing that was sent is without its answer: on a stream that lives that is not for long."""
        loop = self.world.loop
        until = loop.time() + ANSWERED_S
        while due := self._due():
            if loop.time() > until:
                self.world.journal.violation(f"{self.process.name} got no answer to {due}")
                return
            await asyncio.sleep(0.05)

    def _due(self) -> list[str]:
        call = self.call
        due = call.tap.due if call is not None and not call.done() else []
        return due + ["a call"] * self._calling

    def _warned(self, warning: TrustWarning) -> None:
        if warning.code == "own_entropy":
            self.world.journal.count("entropy not waited for")  # whether the table waited is seen in the log
            return
        self.world.journal.violation(f"the client of {self.account} distrusts the server: {warning}")

    async def _play(self, session: Session, seat: int | None) -> None:
        world = self.world
        entropy = world.entropies.get(seat, b"") if seat is not None else b""
        match: Match | Refused
        if seat is None:
            match = await session.watch(world.match)
        else:
            match = await session.attach(world.match, seat=seat if world.plan.twice else None, entropy=entropy)
        if isinstance(match, Refused):
            world.journal.violation(f"{self.account} was not let in: {match.code}")
            return
        seen = Seen(seat)
        world.journal.seen.append(seen)
        looking = asyncio.ensure_future(look(match, seen))
        answering: set[asyncio.Task[None]] = set()
        async for prompt in match.prompts():
            task = asyncio.ensure_future(self._answer(match, prompt))
            answering.add(task)
            task.add_done_callback(answering.discard)
        ending = await match.finished()
        await looking
        await asyncio.gather(*answering)
        if isinstance(ending, Refused):
            world.journal.violation(f"{self.account} could not follow to the end: {ending.code}")
        else:
            world.journal.endings.append((self.account, ending))

    async def _answer(self, match: Match, prompt: Prompt) -> None:
        world = self.world
        rng, plan = world.loop.rng, world.plan
        await asyncio.sleep(plan.think_s * rng.random())
        if rng.random() < plan.standing:
            self.process.spawn(self._stand_by(match, prompt))
        legal = prompt.legal if isinstance(prompt.legal, tuple) and prompt.legal else (prompt.default,)
        action = legal[int(rng.random() * len(legal))]
        clumsy = rng.random() < plan.clumsy
        how = int(rng.random() * 6) if clumsy else -1
        if how == 0:  # too late, perhaps
            world.journal.count("slow player")
            await asyncio.sleep(plan.turn_ms / 1000 * rng.random() * 1.5)
        elif how == 1:
            world.journal.count("illegal action")
            await match.act(Action("fly"), prompt.number)
        elif how == 2:
            world.journal.count("stale prompt")
            await match.act(action, max(0, prompt.number - 1))
        elif how == 3:
            self.process.spawn(self._by_call(match, prompt, action, reused=rng.random() < 0.3))
        elif how >= 4 and match.bank_ms and match.seat in plan.people:
            world.journal.count("handed over")
            await session_of(match).hand_over(match)
            await asyncio.sleep(plan.turn_ms / 1000 * rng.random())
            await session_of(match).take_back(match)
            return
        try:
            while True:
                answer = await match.act(action, prompt.number)
                if not isinstance(answer, Refused):
                    return
                if answer.code not in ("stale_prompt", "match_over", "seat_delegated", "not_your_turn"):
                    world.journal.count(f"odd refusal {answer.code}")
                return
        except ApiError:
            return

    async def _stand_by(self, match: Match, prompt: Prompt) -> None:
        """Leave an answer for a later question; take it back now and then."""
        rng, session = self.world.loop.rng, session_of(match)
        legal = prompt.legal if isinstance(prompt.legal, tuple) and prompt.legal else (prompt.default,)
        self.world.journal.count("standing answer left")
        try:
            await session.stand_by(match, legal[int(rng.random() * len(legal))])
            if rng.random() < 0.3:
                await asyncio.sleep(self.world.plan.turn_ms / 2000 * rng.random())
                self.world.journal.count("standing answer revoked")
                await session.stand_by(match, None)
        except ApiError:
            return  # the match is over

    async def _by_call(self, match: Match, prompt: Prompt, action: Action, *, reused: bool) -> None:
        """The same command twice at once, by unary calls through two gateways; or its id for something else."""
        self.world.journal.count("id reused" if reused else "called twice")
        self._calls += 1
        command = play.Command(
            match_id=match.match_id,
            command_id=f"{self.process.name}-c{self._calls}",
            prompt=prompt.number,
            action=action_to_pb(action),
            seat=match.seat or 0,
        )
        other = play.Command()
        other.CopyFrom(command)
        if reused:
            other.action.CopyFrom(action_to_pb(prompt.default if action != prompt.default else Action("fly")))
        await asyncio.gather(self._call(command, reused), self._call(other, reused))

    async def _call(self, command: play.Command, reused: bool) -> None:
        metadata = (("authorization", f"Bearer t-{self.account}"),)
        for _ in range(3):
            gate = self._gate()
            await asyncio.sleep(0.05 * self.world.loop.rng.random())
            if gate is None:
                continue
            self._calling += 1
            try:
                response = await gate.unary("Act", play.ActRequest(command=command), metadata)
            except grpc.aio.AioRpcError:
                continue
            finally:
                self._calling -= 1
            if response.answer.HasField("accepted") or not reused:
                self.world.journal.answer((command.seat, command.command_id), response.answer, "a call")


async def look(match: Match, seen: Seen) -> None:
    """Remember the views that the client comes to."""
    while True:
        if match._view is not None and match.seq and (not seen.views or seen.views[-1][0] != match.seq):
            seen.views.append((match.seq, match._view))
        if match.over:
            return
        await match.news()


def session_of(match: Match) -> Session:
    """The session that a match belongs to."""
    assert match.send is not None
    return match.send.__self__  # type: ignore[attr-defined,no-any-return]
