"""Fixtures of the tests of a table host."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kangtou_services.host import endings, health, serve
from tests.services.hosts import World, world


@pytest.fixture(autouse=True)
def _brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watches look more often than in earnest."""
    monkeypatch.setattr(health, "PROBE_S", 0.02)
    monkeypatch.setattr(health, "ABSENT_CHECK_S", 0.05)
    monkeypatch.setattr(serve, "SWEEP_S", 0.2)
    monkeypatch.setattr(endings, "LINGER_S", 0.3)


@pytest.fixture
async def here() -> AsyncIterator[World]:
    """A world with one host."""
    async with world() as made:
        await made.node()
        yield made
