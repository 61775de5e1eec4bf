"""Orders in this process: for practice and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .base import Maintenance


class MemoryOrders:
    """An Orders."""

    def __init__(self) -> None:
        self._maintenance: Maintenance | None = None
        self._told: dict[str, str] = {}

    async def maintenance(self) -> Maintenance | None:
        """See Orders."""
        return self._maintenance

    async def set_maintenance(self, wanted: Maintenance | None) -> None:
        """See Orders."""
        self._maintenance = wanted

    async def order(self, member_id: str, how: str) -> None:
        """See Orders."""
        self._told[member_id] = how

    async def ordered(self, member_ids: Iterable[str]) -> Mapping[str, str]:
        """See Orders."""
        return {name: how for name in member_ids if (how := self._told.get(name))}
