"""`python -m kangtou_services ratings rebuild`: replay the log of results and compare, or write the ratings anew.

Exit codes: 0 equal, bit for bit (or written); 1 they differ, and the first difference is named; 2 usage; 4 no server.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from .. import logs
from ..identity import StoreUnavailable
from ..redis_client import connect
from ..settings import Settings
from .applier import Applier
from .base import RatingStore
from .model import Ratings, replay
from .redis import RedisRatingStore
from .values import Standing

_USAGE = "usage: python -m kangtou_services ratings rebuild [--write]\n"
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Check:
    """What a comparison found. `difference` is "" if there is none."""

    results: int
    ladders: int
    ratings: int
    difference: str = ""


async def check(store: RatingStore, progress: Progress | None = None) -> Check:
    """Replay the results that are applied now, and compare all ratings with what is stored. Raises StoreUnavailable."""
    mark, stored = await store.everything()
    again: Ratings = {}
    at = 0
    task = progress.add_task("results", total=mark.at) if progress else None
    while at < mark.at:
        results = await store.read(at, min(_PAGE, mark.at - at))
        if not results:
            said = f"the log ends at {at}, the mark is {mark.at}"
            return Check(at, len(stored), sum(map(len, stored.values())), said)
        replay(results, again)
        at += len(results)
        if progress and task is not None:
            progress.update(task, completed=at)
    return Check(at, len(stored), sum(map(len, stored.values())), difference(stored, again))


def difference(stored: Ratings, again: Ratings) -> str:
    """The first place, by ladder and account, where two sets of ratings differ, in words; "" if there is none."""
    for ladder in sorted({*stored, *again}):
        left, right = stored.get(ladder, {}), again.get(ladder, {})
        for account in sorted({*left, *right}):
            one, other = left.get(account), right.get(account)
            if _text(one) != _text(other):
                return f"{ladder.id} {account}: stored {_text(one)}, from the log {_text(other)}"
    return ""


def _text(standing: Standing | None) -> str:
    return "nothing" if standing is None else standing.to_text()


async def write(store: RatingStore, progress: Progress | None = None) -> Check:
    """Forget all ratings and apply the log from the beginning; then check. Raises StoreUnavailable."""
    await store.restart()
    await Applier(store).catch_up()
    return await check(store, progress)


async def _run(settings: Settings, anew: bool) -> Check:
    client = connect(settings.redis, connect_s=2.0, reply_s=30.0)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            store = RedisRatingStore(client, settings.replicas)
            return await (write if anew else check)(store, progress)
    finally:
        await client.aclose()


def main(settings: Settings) -> int:
    """For the command line. A server may run meanwhile."""
    given = sys.argv[2:]
    if given not in (["rebuild"], ["rebuild", "--write"]):
        sys.stderr.write(_USAGE)
        return 2
    logs.configure(settings.log_level, "ratings", settings.log_format)
    try:
        found = asyncio.run(_run(settings, "--write" in given))
    except StoreUnavailable as no:
        sys.stderr.write(f"kangtou: Redis cannot be used: {no}\n")
        return 4
    said = f"{found.results} results, {found.ladders} ladders, {found.ratings} ratings"
    sys.stdout.write(f"{said}: {found.difference or 'equal, bit for bit'}\n")
    return 1 if found.difference else 0
