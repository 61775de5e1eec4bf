"""Table hosts on unix sockets over one log in memory, reached over the link itself, without a gateway."""

from __future__ import annotations

import asyncio
import contextlib
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping, MutableSequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from structlog.testing import capture_logs

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_to_pb
from kangtou_engine.actions import parse_action
from kangtou_engine.game import GameSpec
from kangtou_engine.registry import SPECS, Registry
from kangtou_services.agreement import Agreement
from kangtou_services.archive.archiver import Archiver
from kangtou_services.directory import Actor, DirectoryUnavailable, MemoryDirectory
from kangtou_services.host import serve
from kangtou_services.host.host import Host
from kangtou_services.host.serve import Serving
from kangtou_services.link import GatewayLink, LinkClosed, connect
from kangtou_services.log.base import Entry
from kangtou_services.log.memory import MemoryLog, MemoryMatchStore, MemoryServer
from kangtou_services.runtime import in_memory
from kangtou_services.settings import Settings
from tests.games import parrot
from tests.services.tables import agree, seed_of

SECRET = "the link's secret"
WAIT_S = 60.0


class Archives:
    """Writes nothing; may fail."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.failures: list[Exception] = []

    async def archive(self, match: str) -> None:
        """See Archiver."""
        if self.failures:
            raise self.failures.pop(0)
        self.written.append(match)


class Node:
    """A host that serves, and how it may go."""

    def __init__(self, serving: Serving, stack: AsyncExitStack, directory: Directory) -> None:
        self.serving = serving
        self.host: Host = serving.host
        self.address = serving.address
        self._stack = stack
        self._directory = directory

    @property
    def id(self) -> str:
        """The actor's."""
        return self.host.actor_id

    async def stop(self) -> None:
        """In order."""
        await self._stack.aclose()

    async def crash(self, handling: str = "") -> None:
        """As if the process were gone: it says nothing to anybody. `handling`: the match whose code it ran then."""
        self._directory.silent = True
        self.host.marker.close = lambda: None  # type: ignore[method-assign]
        await self._stack.aclose()
        if handling:
            self.host.marker.set(handling)


class Directory:
    """One host's way to the directory: a crashed one says nothing more."""

    def __init__(self, directory: MemoryDirectory) -> None:
        self._directory = directory
        self.silent = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._directory, name)

    async def register(self, actor: Actor) -> bool:
        """See Directory."""
        if self.silent:
            raise DirectoryUnavailable("gone")
        return await self._directory.register(actor)

    async def leave(self, actor_id: str) -> None:
        """See Directory."""
        if not self.silent:
            await self._directory.leave(actor_id)


class World:
    """What all hosts stand on."""

    def __init__(self, folder: Path, games: tuple[GameSpec[Any], ...], settings: Mapping[str, Any]) -> None:
        self.logged: MutableSequence[MutableMapping[str, Any]] = []
        given = {"data": folder, "link_secret": SECRET, "heartbeat_ms": 100, **settings}
        self.settings = Settings(**given)
        self.server = MemoryServer()
        self.log = MemoryLog(self.server)
        self.store = MemoryMatchStore(self.server)
        self.directory = MemoryDirectory()
        self.registry = Registry([*SPECS, *games])
        self.archives = Archives()
        self.nodes: list[Node] = []
        self.gates: list[Gate] = []
        self.later_ms = 0  # by how much the hosts' clocks are ahead

    def now(self) -> int:
        """The hosts' clock."""
        return time.time_ns() // 1_000_000 + self.later_ms

    async def node(self, name: str = "") -> Node:
        """One more host."""
        directory = Directory(self.directory)
        backend = replace(
            in_memory(self.settings),
            registry=self.registry,
            log=self.log,
            store=self.store,
            directory=cast("Any", directory),
            archiver=cast("Archiver", self.archives),
        )
        stack = AsyncExitStack()
        serving = await stack.enter_async_context(serve.serving(backend, name or f"node{len(self.nodes)}"))
        serving.host.now_ms = self.now
        node = Node(serving, stack, directory)
        self.nodes.append(node)
        return node

    async def make(
        self, match: str, game: str = "parrot", options: Mapping[str, object] | None = None, **more: Any
    ) -> Agreement:
        """A match that nobody hosts yet."""
        given = {"created_ms": self.now(), "open_wait_ms": 0, **more}
        agreement = agree(self.registry.game(game), options, match=match, **given)
        assert await self.store.create(match, agreement.to_json(), seed_of(match))
        return agreement

    async def gate(self, node: Node, secret: str = SECRET) -> Gate:
        """A link that has said hello."""
        gate = Gate()
        self.gates.append(gate)
        await gate.connect(node.address)
        reply = await gate.ask(lpb.Call(hello=lpb.Hello(gateway_id="test", secret=secret)))
        assert not reply.HasField("problem")
        return gate

    async def hosted(self, node: Node, match: str, **more: Any) -> Gate:
        """A new match opened at a host, and a link to it."""
        await self.make(match, **more)
        gate = await self.gate(node)
        assert (await gate.open(match)).HasField("opened")
        return gate

    async def entries(self, match: str) -> list[Entry]:
        """Its log."""
        return await self.log.read(match)

    async def close(self) -> None:
        """End everything."""
        for gate in self.gates:
            gate.close()
        for node in self.nodes:
            await node.stop()


@asynccontextmanager
async def world(*games: GameSpec[Any], **settings: Any) -> AsyncIterator[World]:
    """Hosts with Parrot and all registered games. No task of theirs may fail unseen, and no log line hold a secret."""
    with (
        capture_logs() as lines,
        tempfile.TemporaryDirectory(prefix="kt", dir="/tmp") as folder,
    ):  # sockets: short paths
        made = World(Path(folder), (parrot.GAME, *games), settings)
        made.logged = lines
        try:
            yield made
        finally:
            await made.close()
    assert [line for line in lines if line["event"] == "task_failed"] == []
    assert not re.search(r"secret|(?<![A-Za-z0-9])[SHCD][3-9TJQKA2](?![A-Za-z0-9])", str(lines))


async def until(holds: Callable[[], object], seconds: float = WAIT_S) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - of anything, which announces nothing
            await asyncio.sleep(0.005)


class Sub:
    """What one subscription was brought."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.payload = b""
        self.seq = 0
        self.last = False
        self.lost = False  # ended with nothing: the table is somebody else's
        self.news = asyncio.Event()

    def take(self, deliver: lpb.Deliver) -> None:
        """One more."""
        assert not self.last, "a delivery after the last"
        self.payload += deliver.payload
        self.seq = max(self.seq, deliver.seq)
        self.last = deliver.last
        self.lost = deliver.last and not deliver.payload
        self.news.set()

    @property
    def updates(self) -> list[play.Update]:
        """All so far."""
        return list(play.PlayResponse.FromString(self.payload).updates)

    def of(self, kind: str) -> list[Any]:
        """The bodies of one kind."""
        return [getattr(update, kind) for update in self.updates if update.WhichOneof("body") == kind]

    @property
    def prompt(self) -> play.Prompt | None:
        """The newest."""
        prompts = self.of("prompt")
        return prompts[-1] if prompts else None

    def answer(self, command_id: str) -> play.Answer | None:
        """The answer to a command; there is one at most."""
        found = [answer for answer in self.of("answer") if answer.command_id == command_id]
        assert len(found) <= 1, "two answers"
        return found[0] if found else None

    def notices(self) -> list[int]:
        """Their kinds."""
        return [notice.kind for notice in self.of("notice")]


class Gate:
    """A gateway's end of a link. Every call with a ref gets one reply, or the link ends."""

    def __init__(self) -> None:
        self.ended = False
        self.subs: dict[int, Sub] = {}
        self.replies: dict[int, asyncio.Future[lpb.Reply]] = {}
        self.link: GatewayLink | None = None
        self._refs = 0
        self._numbers = 0

    async def connect(self, address: str) -> None:
        """Raises LinkClosed."""
        self.link = await connect(address, self._received, self._ended)

    def _received(self, down: lpb.Down) -> None:
        for deliver in down.delivers:
            for number in deliver.subs:
                self.subs[number].take(deliver)
        for reply in down.replies:
            future = self.replies[reply.ref]
            assert not future.done(), f"two replies to {reply.ref}"
            future.set_result(reply)

    def _ended(self) -> None:
        self.ended = True
        for future in self.replies.values():
            if not future.done():
                future.set_exception(LinkClosed("ended"))
                future.exception()  # whoever waits sees it; nobody has to
        for sub in self.subs.values():
            sub.news.set()

    def close(self) -> None:
        """Drop the link."""
        if self.link is not None:
            self.link.close()

    def send(self, call: lpb.Call) -> asyncio.Future[lpb.Reply]:
        """A call with a ref."""
        assert self.link is not None
        self._refs += 1
        call.ref = self._refs
        future = self.replies[call.ref] = asyncio.get_running_loop().create_future()
        self.link.send(call)
        return future

    async def ask(self, call: lpb.Call) -> lpb.Reply:
        """Its reply."""
        async with asyncio.timeout(WAIT_S):
            return await self.send(call)

    async def open(self, match: str) -> lpb.Reply:
        """Host it there."""
        return await self.ask(lpb.Call(match_id=match, open=lpb.Open()))

    def follow(
        self, match: str, who: int | None, account: str = "", **more: Any
    ) -> tuple[Sub, asyncio.Future[lpb.Reply]]:
        """Subscribe account aN to its first seat (None: a spectator)."""
        self._numbers += 1
        sub = self.subs[self._numbers] = Sub(self._numbers)
        body = lpb.Subscribe(sub=sub.number, spectate=who is None, **more)
        return sub, self.send(lpb.Call(match_id=match, account_id=account or f"a{who}", subscribe=body))

    async def sub(self, match: str, who: int | None, account: str = "", **more: Any) -> Sub:
        """The same, accepted."""
        sub, reply = self.follow(match, who, account, **more)
        async with asyncio.timeout(WAIT_S):
            assert not (await reply).HasField("problem")
        await until(lambda: sub.payload)
        return sub

    def command(
        self, match: str, seat: int, text: str, command_id: str, prompt: int, *, unary: bool = False
    ) -> asyncio.Future[lpb.Reply]:
        """A command of a seat."""
        body = play.Command(
            match_id=match, command_id=command_id, prompt=prompt, action=action_to_pb(parse_action(text))
        )
        return self.send(lpb.Call(match_id=match, account_id=f"a{seat}", command=body, unary=unary))

    async def act(self, match: str, seat: int, text: str, command_id: str, prompt: int) -> play.Answer:
        """A unary command's answer."""
        async with asyncio.timeout(WAIT_S):
            reply = await self.command(match, seat, text, command_id, prompt, unary=True)
        assert reply.WhichOneof("body") == "answer", reply
        return reply.answer

    async def query(self, match: str, account: str, **what: Any) -> lpb.Reply:
        """A question."""
        return await self.ask(lpb.Call(match_id=match, account_id=account, query=lpb.Query(**what)))


def code(reply: lpb.Reply | play.Answer) -> str:
    """A problem's code, a refusal's, `accepted`, or "" for everything else."""
    if isinstance(reply, lpb.Reply):
        if reply.HasField("problem"):
            return reply.problem.code
        return code(reply.answer) if reply.HasField("answer") else ""
    return reply.refused.code if reply.HasField("refused") else "accepted"


def text_of(action: Any) -> str:
    """An action's text."""
    return " ".join((action.verb, *action.args, *(f"{key.name}={key.value}" for key in action.keys)))


class Player:
    """Plays one seat over links, whoever owns the table: resumes, sends again what was not answered."""

    def __init__(self, world: World, match: str, seat: int, pause_s: float = 0.0) -> None:
        self.world = world
        self.match = match
        self.seat = seat
        self.pause_s = pause_s
        self.seq = 0
        self.moves = self.subscribed = 0
        self.accepted: dict[str, int] = {}
        self.moments: list[float] = []
        self.refused: list[str] = []
        self.entries: list[int] = []
        self.ended = ""
        self.problem = ""
        self._waiting: tuple[str, str, int] | None = None

    async def run(self) -> None:
        """To the end, or a problem."""
        while not self.ended and not self.problem:
            gate = await self._gate()
            if gate is None:
                await asyncio.sleep(0.02)
                continue
            try:
                await self._follow(gate)
            finally:
                gate.close()

    async def _gate(self) -> Gate | None:
        """A link to the owner, found as a gateway does."""
        world = self.world
        try:
            owner = await world.log.owner(self.match)
        except Exception:  # noqa: BLE001 - an outage: try again
            return None
        node = next((node for node in world.nodes if node.id == owner), None)
        gate = Gate()
        if node is None:
            return None
        try:
            await gate.connect(node.address)
        except ConnectionError:
            with contextlib.suppress(DirectoryUnavailable):
                await world.directory.declare_dead(node.id)
            return None
        world.gates.append(gate)
        gate.send(lpb.Call(hello=lpb.Hello(gateway_id="test", secret=SECRET)))
        return gate

    async def _follow(self, gate: Gate) -> None:
        sub, reply = gate.follow(self.match, self.seat, from_seq=self.seq)
        self.subscribed += 1
        read = 0
        try:
            async with asyncio.timeout(WAIT_S):
                found = code(await reply)
        except LinkClosed:
            return
        if found == "not_here":
            await asyncio.sleep(0.02)
            return
        if found:
            self.problem = found
            return
        self._again(gate)
        while not gate.ended and not (sub.last and read == len(sub.payload)):
            await sub.news.wait()
            sub.news.clear()
            fresh, read = sub.payload[read:], len(sub.payload)
            for update in play.PlayResponse.FromString(fresh).updates:
                await self._update(gate, update)
            self.seq = max(self.seq, sub.seq)
        if sub.last and not sub.lost and not self.ended:
            self.problem = "faulted"

    async def _update(self, gate: Gate, update: play.Update) -> None:
        what = update.WhichOneof("body")
        if what == "entry":
            assert update.entry.seq not in self.entries, "an entry twice"
            self.entries.append(update.entry.seq)
        elif what == "answer":
            answer = update.answer
            if self._waiting is not None and answer.command_id == self._waiting[0]:
                self._waiting = None
            if code(answer) == "accepted":
                assert answer.command_id not in self.accepted
                self.accepted[answer.command_id] = answer.accepted.seq
                self.moments.append(time.monotonic())
            else:
                self.refused.append(code(answer))
        elif what == "prompt" and (self._waiting is None or self._waiting[2] != update.prompt.number):
            if self.pause_s:
                await asyncio.sleep(self.pause_s)
            self.moves += 1
            text = text_of(update.prompt.default_action)
            self._waiting = (f"{self.seat}-{self.moves}", text, update.prompt.number)
            self._again(gate)
        elif what == "ended":
            self.ended = update.ended.cause

    def _again(self, gate: Gate) -> None:
        if self._waiting is not None and gate.link is not None and not gate.link.closed:
            command_id, text, prompt = self._waiting
            gate.command(self.match, self.seat, text, command_id, prompt)
