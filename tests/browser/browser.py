"""Debian's chromium, driven by Playwright: nothing is downloaded."""

from __future__ import annotations

from playwright.sync_api import Browser, Playwright

PROGRAM = "chromium"
MISSING = "chromium is missing: apt-get install chromium (Debian, Ubuntu), then run the tests again"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launch(engine: Playwright, program: str) -> Browser:
    """One browser; end it with `close`."""
    return engine.chromium.launch(executable_path=program, args=list(ARGUMENTS))
