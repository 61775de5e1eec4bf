"""The directory's interface and what is listed in it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

ALIVE_MS = 3_000  # a heartbeat this old is a dead process
BEAT_S = 1.0
KEEP_BEAT_MS = 24 * 3_600_000  # how long the last sign of life, and a death, are remembered


class DirectoryUnavailable(Exception):
    """The directory cannot be reached. Nobody is dead because of that."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A process that hosts tables.

    id        of this process; one that starts again is another actor
    address   of its link
    tables    how many it hosts, cap how many it may (none while it is drained)
    """

    id: str
    address: str
    node: str
    pid: int
    tables: int = 0
    cap: int = 20_000


@dataclass(frozen=True, slots=True)
class Gateway:
    """A process that clients talk to. `figures`: what `kangtou status` shows of it."""

    id: str
    address: str
    node: str
    pid: int
    figures: Mapping[str, float] = field(default_factory=dict)


def to_json(member: Actor | Gateway) -> str:
    """As it is stored."""
    return json.dumps(asdict(member), ensure_ascii=False, separators=(",", ":"))


def known_fields(kind: type[Actor | Gateway], text: str) -> dict[str, Any]:
    """From what is stored; fields of newer versions are left out."""
    given = json.loads(text)
    return {name: given[name] for name in kind.__dataclass_fields__ if name in given}


class Directory(Protocol):
    """All methods raise DirectoryUnavailable when the store cannot be reached.

    After the store was away, the living are missing until their next heartbeat: that an actor is not listed does not
    prove that it is dead. `watch_dead` waits that out.
    """

    async def register(self, actor: Actor) -> bool:
        """List an actor, or give its next sign of life. False: it was declared dead and must stop for good."""
        ...

    async def leave(self, actor_id: str) -> None:
        """It stops and hosts nothing any more."""
        ...

    async def living(self) -> list[Actor]:
        """Actors with a heartbeat younger than ALIVE_MS and not declared dead; by id."""
        ...

    async def is_alive(self, actor_id: str) -> bool:
        """Whether it would be among them."""
        ...

    async def declare_dead(self, actor_id: str) -> None:
        """By whoever has proof, such as a process that has ended. Told to all who watch; cannot be taken back."""
        ...

    async def last_beat(self, actor_id: str) -> int | None:
        """Wall clock of its last sign of life in ms, also after its death; None if unknown or older than a day."""
        ...

    def watch_dead(self) -> AsyncGenerator[str, None]:
        """Ids of actors that die from now on, declared or silent, each once per watcher; and of any still listed.

        Goes on through outages of the store, and calls nobody dead who only could not be heard because of one.
        """
        ...

    async def register_gateway(self, gateway: Gateway) -> None:
        """As `register`."""
        ...

    async def leave_gateway(self, gateway_id: str) -> None:
        """As `leave`."""
        ...

    async def gateways(self) -> list[Gateway]:
        """As `living`."""
        ...
