"""The orders of operators, as every process of a server looks at them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Protocol

DRAIN, STOP = "drain", "stop"  # take nothing new and let go of what there is; and then end
KEEP_MS = 24 * 3_600_000  # an order to a process that is no more is forgotten
LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Since when (Unix ms), and what is told to players beside the standing text."""

    since_ms: int
    message: str = ""

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Maintenance:
        """The same again."""
        given = json.loads(text)
        return cls(int(given["since_ms"]), str(given["message"]))


class Orders(Protocol):
    """All methods raise StoreUnavailable."""

    async def maintenance(self) -> Maintenance | None:
        """None: the server is open."""
        ...

    async def set_maintenance(self, wanted: Maintenance | None) -> None:
        """Begin (or change) it, or end it."""
        ...

    async def order(self, member_id: str, how: str) -> None:
        """Tell an actor or a gateway to drain: DRAIN, STOP, or "" to take that back."""
        ...

    async def ordered(self, member_ids: Iterable[str]) -> Mapping[str, str]:
        """What each of them has been told; those that have not are left out."""
        ...
