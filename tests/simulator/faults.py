"""Carries out what a plan says goes wrong, and counts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from .loop import Process
from .plan import Fault
from .world import World

T = TypeVar("T")
STEP = "crash at step"


class Faults:
    """The faults of one run."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._do: Mapping[str, Callable[[Fault], bool]] = {
            "crash host": lambda fault: self._crash(self._host(fault), fault),
            "crash gateway": lambda fault: self._crash(self._gateway(fault), fault),
            "crash client": lambda fault: self._crash(self._client(fault), fault),
            "cut stream": lambda fault: self._cut(fault, "stream"),
            "cut link": lambda fault: self._cut(fault, "link"),
            "split network": self._split,
            "outage": lambda fault: self._outage(fault, restart=False),
            "restart store": lambda fault: self._outage(fault, restart=True),
            "cut off host": lambda fault: self._shut(fault, world.store.cut_off),
            "deafen host": lambda fault: self._shut(fault, world.store.deaf),
            "pause host": lambda fault: self._pause(self._host(fault), fault),
            "pause gateway": lambda fault: self._pause(self._gateway(fault), fault),
            "pause client": lambda fault: self._pause(self._client(fault), fault),
            "declare dead": self._declare,
            "jump clock": self._jump,
        }

    def arm(self) -> None:
        """Set them all."""
        loop = self.world.loop
        for fault in self.world.plan.faults:
            if fault.kind == STEP:
                loop.before_step(int(fault.at), lambda process, fault=fault: self._at_step(process, fault))  # type: ignore[misc]
            else:
                loop.at(fault.at, loop.outside, self._happen, fault)

    def _happen(self, fault: Fault) -> None:
        if self._do[fault.kind](fault):
            self.world.journal.count(fault.kind)
            self.world.loop.note("fault", fault.kind)

    def _at_step(self, process: Process, fault: Fault) -> None:
        """Whoever would run next, between two awaits."""
        if process is self.world.loop.outside or process is self.world.store.process:
            return
        if self._crash(process, fault):
            self.world.journal.count(STEP)

    # ---- whom ----

    def _one(self, among: Sequence[T], fault: Fault) -> T | None:
        return among[int(fault.draw * len(among))] if among else None

    def _host(self, fault: Fault) -> Process | None:
        """The owner more often than not."""
        owner = self.world.serving_owner()
        return owner if owner is not None and fault.draw < 0.7 else self._one(self.world.hosts, fault)

    def _gateway(self, fault: Fault) -> Process | None:
        return self._one([gate.process for gate in self.world.gates], fault)

    def _client(self, fault: Fault) -> Process | None:
        return self._one([player.process for player in self.world.players if not player.done], fault)

    # ---- what ----

    def _crash(self, process: Process | None, fault: Fault) -> bool:
        if process is None or process.dead:
            return False
        self.world.network.process_gone(process, silent=fault.silent)
        process.crash()
        return True

    def _pause(self, process: Process | None, fault: Fault) -> bool:
        if process is None:
            return False
        process.pause(fault.seconds)
        return True

    def _cut(self, fault: Fault, kind: str) -> bool:
        one = self._one(self.world.network.between(kind), fault)
        if one is not None:
            one.cut(silent=fault.silent)
        return one is not None

    def _split(self, fault: Fault) -> bool:
        """A gateway and a host, or a client and a gateway, do not reach each other for a while."""
        one = self._one(self.world.network.between("link", "stream"), fault)
        if one is None:
            return False
        network = self.world.network
        pair = (one.ends[0].name, one.ends[1].name)
        network.apart.add(pair)
        for other in network.between("link", "stream"):
            if {end.name for end in other.ends} == set(pair):
                other.cut(silent=True)
        self.world.loop.at(fault.seconds, self.world.loop.outside, network.apart.discard, pair)
        return True

    def _outage(self, fault: Fault, *, restart: bool) -> bool:
        self.world.store.outage(fault.seconds, restart=restart)
        return True

    def _shut(self, fault: Fault, names: set[str]) -> bool:
        process = self._host(fault)
        if process is None:
            return False
        names.add(process.name)
        self.world.loop.at(fault.seconds, self.world.loop.outside, names.discard, process.name)
        return True

    def _declare(self, fault: Fault) -> bool:
        """Somebody is sure that a host that lives is dead: two own its tables until it hears of it."""
        process = self._host(fault)
        served = self.world.servings.get(process.name) if process is not None else None
        if served is None:
            return False
        directory = self.world.store.directory
        self.world.store.process.spawn(directory.declare_dead(served.host.actor_id))
        return True

    def _jump(self, fault: Fault) -> bool:
        process = self._host(fault)
        if process is None:
            return False
        process.skew_ms += round((fault.draw * 4 - 2) * fault.seconds * 1000)
        return True
