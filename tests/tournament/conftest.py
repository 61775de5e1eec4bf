"""One server for all tests of tournaments that need one: what they look at is told apart by its id."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..faults.server import Server, running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A gateway, two actors, a runner."""
    with running(tmp_path_factory.mktemp("kt") / "d", gateways=1, actors=2, log_level="warning") as found:
        yield found
