"""The processes of one run: hosts, gateways and clients, each with production code inside; what starts again, and when.

A host is `host/serve.py` whole (Host, Opener, Health, Heart), a gateway its Router, PlayService, Callers and Streams,
a client Session and Match. Left out are grpc itself, Redis, and the services beside play.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_engine.boards import match_commitment
from kangtou_engine.notation import Left, Note, Step, read_body
from kangtou_engine.registry import SPECS, Registry
from kangtou_engine.shuffle import entropy_commitment
from kangtou_services.agreement import BOT, HUMAN, Agreement, Member
from kangtou_services.gateway.auth import Callers
from kangtou_services.gateway.limits import Streams
from kangtou_services.gateway.play import PlayService
from kangtou_services.gateway.router import Router
from kangtou_services.gateway.routes import TableProblem
from kangtou_services.host.serve import Serving, serving
from kangtou_services.house import MemoryHouse
from kangtou_services.log.base import Entry
from kangtou_services.runtime import Backend
from kangtou_services.settings import Settings
from kangtou_services.table.commands import TABLE
from tests.games import parrot
from tests.inprocess import NamesAsTokens

from .journal import Journal
from .loop import Process, SimLoop
from .neighbours import Neighbours
from .network import Network
from .plan import ENTRIES, Plan
from .players import Player
from .store import ReachedDirectory, ReachedLog, ReachedMatches, Store
from .streams import Gate
from .substitutes import Substitute
from .wire import WiredLog

REGISTRY = Registry([*SPECS, parrot.GAME])
MATCH = "m1"
ACCOUNTS = ("ann", "bob", "cat", "dan")
HOUSE = "hob"


class Archives:
    """In place of the archive: notes that the match has been handed to it."""

    def __init__(self) -> None:
        self.written: list[str] = []

    async def archive(self, match: str) -> None:
        """See Archiver."""
        self.written.append(match)


class World:
    """One run."""

    registry = REGISTRY
    match = MATCH

    def __init__(self, plan: Plan, loop: SimLoop, folder: Path) -> None:
        self.plan, self.loop = plan, loop
        self.journal = Journal(loop)
        self.network = Network(loop, plan.weather, self.journal.count)
        self.store = Store(loop, MATCH, plan.temper, self.journal.count, self._stored)
        self.neighbours = Neighbours(loop, self.journal)
        self.archives = Archives()
        self.house = MemoryHouse((HOUSE,))
        self.settings = Settings(
            data=folder, link_secret="s", queue_updates=plan.queue_updates, ping_ms=1_000, redis_url="redis://none"
        )
        self.identity = NamesAsTokens()
        self.hosts: list[Process] = []
        self.servings: dict[str, Serving] = {}
        self.gates: list[Gate] = []
        self.routers: dict[str, Router] = {}
        self.players: list[Player] = []
        self.ownerless: list[tuple[int, int]] = []  # true ms between an owner's crash and the next claim
        self._orphaned: int | None = None
        self._late_owner = ""
        self._born = 0
        rng = loop.rng
        self.seed = rng.randbytes(32)
        self.entropies: Mapping[int, bytes] = (
            {seat: rng.randbytes(16) for seat in range(plan.seats)} if plan.committed else {}
        )
        self.agreement = self._agreed()

    def _agreed(self) -> Agreement:
        plan = self.plan
        accounts = list(ACCOUNTS[: plan.seats])
        if plan.twice:
            accounts[2] = accounts[0]
        people = {accounts[seat] for seat in plan.people}
        self.identity.people |= people
        members = tuple(
            Member(
                account,
                account.title(),
                HUMAN if account in people else BOT,
                entropy_commitment(self.entropies[seat]) if plan.committed else "",
            )
            for seat, account in enumerate(accounts)
        )
        return Agreement(
            match_id=MATCH,
            game=plan.game,
            version=REGISTRY.game(plan.game).spec.version,
            seats=plan.seats,
            options=plan.options,
            members=members,
            seed_commitment=match_commitment(MATCH, "", self.seed),
            created_ms=self.loop.true_ms,
            turn_ms=plan.turn_ms,
            window_ms=plan.window_ms,
            open_wait_ms=2_000,
            bank_ms=plan.bank_ms,
            late_most=2 if plan.bank_ms else 0,
            substitute_ms=200,
            watch="no_hands",
        )

    # ---- processes ----

    def process(self, name: str) -> Process:
        """A new one, with a number of its own."""
        self._born += 1
        return Process(self.loop, f"{name}.{self._born}")

    def start(self) -> None:
        """Everybody."""
        for number in range(self.plan.hosts):
            self.start_host(number)
        for number in range(self.plan.gateways):
            self.start_gateway(number)
        members = self.agreement.members
        for account in dict.fromkeys(member.account_id for member in members):
            self.start_client(account, self.agreement.seats_of(account))
        for number in range(self.plan.watchers):
            self.start_client(f"eve{number}", ())
        if self.plan.house and self.plan.bank_ms:
            self.start_client(HOUSE, ())

    def _log(self, process: Process) -> ReachedLog:
        if self.plan.wired:
            return WiredLog(self.store, process.name, self.plan.replicas)
        return ReachedLog(self.store, process.name)

    def _backend(self, process: Process) -> Backend:
        return Backend(
            self.settings,
            REGISTRY,
            self._log(process),
            ReachedMatches(self.store),
            ReachedDirectory(self.store),
            self.archives,  # type: ignore[arg-type]
            None,  # type: ignore[arg-type]
            None,
            _nothing,
            self.house,
        )

    def start_host(self, number: int) -> None:
        """A table host; again a while after it has gone."""
        process = self.process(f"host{number}")
        self.hosts.append(process)

        def gone() -> None:
            serving_now = self.servings.pop(process.name, None)
            self.hosts.remove(process)
            if serving_now is not None and self.owner == serving_now.host.actor_id and self._orphaned is None:
                self._orphaned, self._late_owner = self.loop.true_ms, self.owner
            self.loop.at(0.2 + 3 * self.loop.rng.random(), self.loop.outside, self.start_host, number)

        process.on_crash.append(gone)
        process.spawn(self._host(process, number))

    async def _host(self, process: Process, number: int) -> None:
        def declared_dead() -> None:
            self.network.process_gone(process, silent=False)
            process.crash()

        backend = self._backend(process)
        for neighbour in range(2 if self.plan.wired else 0):
            process.spawn(self.neighbours.write(f"n-{process.name}-{neighbour}", backend.log))
        while True:
            try:
                async with serving(backend, f"a{number}", declared_dead) as served:
                    self.servings[process.name] = served
                    await asyncio.Event().wait()
            except Exception as error:  # noqa: BLE001 - the store may be away when it starts; then it tries again
                self.journal.count(f"start failed {type(error).__name__}")
                await asyncio.sleep(0.3)

    def start_gateway(self, number: int) -> None:
        """A gateway; again a while after it has gone."""
        process = self.process(f"gate{number}")

        def gone() -> None:
            self.gates[:] = [gate for gate in self.gates if gate.process is not process]
            self.routers.pop(process.name, None)
            self.loop.at(0.1 + 2 * self.loop.rng.random(), self.loop.outside, self.start_gateway, number)

        process.on_crash.append(gone)
        process.spawn(self._gateway(process))

    async def _gateway(self, process: Process) -> None:
        backend = self._backend(process)
        callers = Callers(self.identity, self.loop.time)
        router = Router(self.settings, backend.log, backend.directory, process.name)
        streams = Streams(self.settings, callers)
        service = PlayService(self.settings, callers, router, streams, self.house)
        await router.start()
        self.routers[process.name] = router
        self.gates.append(Gate(self.network, process, service))
        await streams.watch()

    def start_client(self, account: str, seats: tuple[int, ...]) -> None:
        """A client; again a while after it has gone."""
        process = self.process(account)
        player = (Substitute if account == HOUSE else Player)(self, process, account, seats)
        self.players.append(player)

        def gone() -> None:
            self.players.remove(player)
            if not player.done:
                self.loop.at(0.1 + self.loop.rng.random(), self.loop.outside, self.start_client, account, seats)

        process.on_crash.append(gone)
        process.spawn(player.run())

    # ---- what happens ----

    @property
    def owner(self) -> str:
        """The actor that the log names."""
        found = self.store.server.find(MATCH)
        return (found.owner if found else None) or ""

    def serving_owner(self) -> Process | None:
        """The process of the owner, if it lives."""
        for process in self.hosts:
            served = self.servings.get(process.name)
            if served is not None and served.host.actor_id == self.owner:
                return process
        return None

    def _stored(self, match: str, entry: Entry) -> None:
        if match != MATCH:
            return
        body = read_body(entry.body)
        if body.claim is not None:
            self._claimed()
        if body.claim is not None and self._orphaned is not None:
            beat_ms = self.store.directory._beats.get(self._late_owner, 0)  # may have been on its way when it died
            self.ownerless.append((max(self._orphaned, beat_ms), self.loop.true_ms))
            self._orphaned = None
        for item in body.items:
            if isinstance(item, Step) and item.command and item.command != "*":
                self.journal.holds((TABLE if item.seat is None else item.seat, item.command), entry.seq)
            elif isinstance(item, Left) and item.command != "*":
                self.journal.holds((item.seat, item.command), entry.seq)
            elif isinstance(item, Note) and (command := item.get("command")):
                self.journal.holds((int(item.key("seat")), command), entry.seq)

    def _claimed(self) -> None:
        """Whoever hosted the match before may live, and believe that it still does."""
        holding = [
            served.host.actor_id
            for served in self.servings.values()
            if (slot := served.host.slots.get(MATCH)) is not None and not (slot.faulted or slot.table.over)
        ]
        if holding:
            self.journal.count("two owners at once")

    def gone(self, player: Player, why: str) -> None:
        """A client was told that another stream has taken its seat: one of its own, whose attaching came late."""
        self.journal.count("superseded")
        self.loop.note("superseded", player.process, why)

    async def stop_match(self) -> None:
        """An operator ends a long match."""
        while len(self.store.stored) < ENTRIES:  # noqa: ASYNC110 - the store announces nothing
            await asyncio.sleep(0.2)
        while not self.archives.written:
            for router in list(self.routers.values()):
                try:
                    await router.call(lpb.Call(match_id=MATCH, stop=lpb.Stop(cause="operator")))
                except TableProblem:
                    self.journal.count("stop failed")
            await asyncio.sleep(0.5)

    @property
    def over(self) -> bool:
        """Whether every client knows the end, and the archive has the match."""
        return bool(self.archives.written and self.players) and all(player.done for player in self.players)

    async def play(self) -> None:
        """Until all is over: clients know the end, and the match has been handed to the archive."""
        await self.store.matches.create(MATCH, self.agreement.to_json(), self.seed)
        self.start()
        if self.plan.game != "parrot":
            operator = self.process("operator")
            operator.spawn(self.stop_match())
        while not self.over:  # noqa: ASYNC110 - players come and go
            await asyncio.sleep(0.1)


async def _nothing() -> None:
    """Nothing to close."""
