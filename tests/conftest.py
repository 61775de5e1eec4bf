"""What every test may use, and what holds for all of them.

Counts: property tests and random matches ask the `counts` fixture how often to run, `counts(ci, full)`. `make test`
runs them with the first number, `make accept` passes `--counts=full`.

Skips: under CI=true a skipped test is a failed one. What a test needs, `.ci/run` installs.

Second runs: what fails where real processes, sockets and clocks are at work is run once more, and the summary names it
(RERUN). What fails in a folder of NEVER_AGAIN has failed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import hypothesis
import pytest
import structlog

TESTS = Path(__file__).parent
# Folders whose tests come out the same whatever the machine is doing, or in which one finding is one too many.
NEVER_AGAIN = frozenset("docs engine fuzz golden records secrecy shuffles simulator tools".split())

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("full", deadline=None, print_blob=True, max_examples=1000)


class Counts(Protocol):
    """Chooses between a small number for every run and a large one for acceptance."""

    def __call__(self, ci: int, full: int) -> int:
        """One of the two."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--counts`."""
    parser.addoption(
        "--counts",
        choices=("ci", "full"),
        default="ci",
        help="how often property tests and random matches run (default: ci)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let hypothesis follow `--counts`; let Ctrl-C reach the commands that tests start.

    A shell without job control starts what runs in the background with SIGINT ignored, and children inherit that.
    """
    hypothesis.settings.load_profile(config.getoption("counts"))
    structlog.configure = _uncached(structlog.configure)
    # Not to what a test captures: a server in a thread may log while a command's output is looked at.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _uncached(configure: Callable[..., None]) -> Callable[..., None]:
    """A logger that is kept would go on writing to a stream that a test has captured, and that is closed."""

    def configured(**given: Any) -> None:
        configure(**{**given, "cache_logger_on_first_use": False})

    return configured


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """What a test makes of the logs ends with it."""
    held = structlog.get_config()
    yield
    if structlog.get_config() != held:
        structlog.configure(**held)


@pytest.fixture(scope="session")
def counts(request: pytest.FixtureRequest) -> Counts:
    """`counts(ci, full)`: how often to do something in this run."""
    everything = request.config.getoption("counts") == "full"

    def choose(ci: int, full: int) -> int:
        return full if everything else ci

    return choose


class Bound(Protocol):
    """What a promised time may be in this run."""

    def __call__(self, seconds: float) -> float:
        """As promised in acceptance runs; ten times as long in CI, where the machine does other work meanwhile."""
        ...


@pytest.fixture(scope="session")
def bound(counts: Counts) -> Bound:
    """`bound(seconds)`: for assertions on wall-clock times."""
    slack = counts(10, 1)

    def choose(seconds: float) -> float:
        return seconds * slack

    return choose


def may_run_again(path: Path) -> bool:
    """Whether what fails in this file may be the machine's fault."""
    return path.is_relative_to(TESTS) and path.relative_to(TESTS).parts[0] not in NEVER_AGAIN


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Allow a second run where the machine may be at fault, but never to a line of acceptance."""
    again = config.getoption("counts") != "full"
    for item in items:
        if again and may_run_again(item.path):
            item.add_marker(pytest.mark.flaky(reruns=1))


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Under CI, turn a skip (not an expected failure) into a failure that says why it was skipped."""
    if os.environ.get("CI", "").lower() in {"1", "true"} and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skips of single tests."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skips of whole modules."""
    report = yield
    _refuse_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was wrong where a second run was needed."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"RERUN {report.nodeid} ({report.when})", sep="_")
        terminalreporter.line(report.longreprtext)
