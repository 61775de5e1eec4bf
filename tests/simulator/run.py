"""One seed, from plan to verdict. Time and chance of the whole process are the simulator's while a run lasts."""

from __future__ import annotations

import contextlib
import gc
import random
import secrets
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import structlog

from kangtou_services import link
from kangtou_services.gateway import links, router, streams
from kangtou_services.gateway.followers import Follower
from kangtou_services.gateway.routes import Route, Subscription
from kangtou_services.link import ActorLink

from .faults import Faults
from .invariants import Checked
from .loop import START_S, SimLoop
from .plan import Plan, plan
from .world import World

UNTIL_S = 400.0  # of virtual time: a run that has not ended by then waits for ever
HARMLESS = frozenset({"log_unavailable", "declared_dead", "heartbeat_missed"})
ERRORS = ("error", "exception", "critical")


@dataclass
class Outcome:
    """What came of a seed. `digest` is the hash of everything that was sent and stored."""

    seed: int
    plan: Plan
    violations: list[str]
    counts: Counter[str]
    digest: int = 0
    steps: int = 0
    virtual_s: float = 0.0
    entries: int = 0
    answered: int = 0
    trace: list[str] = field(default_factory=list)


def run_seed(seed: int, *, trace: bool = False, given: Plan | None = None) -> Outcome:
    """Run it and check everything."""
    loop = SimLoop(seed, [] if trace else None)
    folder = Path(tempfile.mkdtemp(prefix="kt-sim-"))
    collecting = gc.isenabled()
    gc.disable()  # what is collected in the middle of a run would be unwound there
    gc.freeze()
    try:
        return _run(loop, given or plan(seed), folder)
    finally:
        _let_go(loop)
        gc.unfreeze()
        if collecting:
            gc.enable()
        shutil.rmtree(folder, ignore_errors=True)


def _run(loop: SimLoop, wanted: Plan, folder: Path) -> Outcome:
    with _simulated(loop):
        world = World(wanted, loop, folder)
        Faults(world).arm()
        for fault in wanted.faults:
            loop.note("planned", fault)
        if not loop.run(world.play(), UNTIL_S):
            waiting = [player.process.name for player in world.players if not player.done]
            world.journal.violation(f"still waiting after {UNTIL_S:.0f} s: {waiting or 'the archive'}")
        for problem in loop.problems:
            world.journal.violation(problem)
        if world.archives.written:
            Checked(world).all()
        return Outcome(
            wanted.seed,
            wanted,
            world.journal.violations,
            world.journal.counts,
            loop.digest,
            loop.steps,
            loop.time() - START_S,
            len(world.store.stored),
            world.journal.answered,
            loop.trace or [],
        )


@contextlib.contextmanager
def _simulated(loop: SimLoop) -> Iterator[None]:
    """Clocks and chance of this process follow the run; errors that production code logs are violations."""
    rng = random.Random(f"secrets {loop.rng.random()}")
    kept, configured = random.getstate(), structlog.get_config()
    random.seed(rng.random())

    def noted(_: Any, level: str, event: Any) -> Any:
        if level in ERRORS and event["event"] not in HARMLESS:
            loop.problems.append(f"logged: {event}")
        loop.note("log", event["event"])
        raise structlog.DropEvent

    structlog.configure(processors=[noted], wrapper_class=structlog.make_filtering_bound_logger(20))
    with contextlib.ExitStack() as stack:
        for module, name, value in (
            (time, "time_ns", loop.wall_ns),
            (time, "monotonic", loop.time),
            (secrets, "token_hex", lambda size=8: rng.randbytes(size).hex()),
            (secrets, "token_bytes", lambda size=32: rng.randbytes(size)),
            (secrets, "randbits", rng.getrandbits),
            (links, "_NUMBERS", count(1)),
            *((module, kind.__name__, _numbered(kind)) for module, kind in _IN_SETS),
            *((module, "perf_counter", loop.time) for module in _STOPWATCHES),
        ):
            stack.enter_context(patch.object(module, name, value))
        try:
            yield
        finally:
            random.setstate(kept)
            structlog.configure(**configured)


_IN_SETS: Sequence[tuple[Any, type]] = ((router, Route), (router, Subscription), (streams, Follower), (link, ActorLink))

_STOPWATCHES = [  # what they measure travels in messages
    module
    for name, module in sorted(sys.modules.items())
    if name.startswith("kangtou_") and getattr(module, "perf_counter", None) is time.perf_counter
]


def _numbered(kind: Any) -> Any:
    """A class whose objects are hashed by number and not by address: sets of them have the same order again."""
    numbers = count(1)

    class Numbered(kind):  # type: ignore[misc]
        __slots__ = ("order",)

        def __new__(cls, *_: Any, **__: Any) -> Any:
            made = object.__new__(cls)
            made.order = next(numbers)
            return made

        def __hash__(self) -> int:
            return int(self.order)

    return Numbered


def _let_go(loop: SimLoop) -> None:
    """Forget all tasks. What is unwound by that can do nothing any more, and is not heard."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    configured = structlog.get_config()
    structlog.configure(processors=[_drop])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loop.finish()
            gc.collect()
    finally:
        sys.unraisablehook = hook
        structlog.configure(**configured)


def _drop(*_: Any) -> Any:
    raise structlog.DropEvent
