"""One browser for all tests; without chromium they are skipped, which CI does not accept."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from .browser import MISSING, PROGRAM, launch


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser. Ended with the last test of a module: while it lives, the worker's thread runs its event loop."""
    program = shutil.which(PROGRAM)
    if program is None:
        pytest.skip(MISSING)
    with sync_playwright() as engine:
        found = launch(engine, program)
        yield found
        found.close()
