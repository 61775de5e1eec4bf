"""`kangtou bot check ACCOUNT`: the inspector before a server, and trials of a bot that somebody connects."""

from __future__ import annotations

import re
import shutil

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..bots.check.inspector import Inspector
from ..bots.check.remote import NobodyCame, NotPlayed
from ..bots.check.remote import Remote as Remotely
from ..bots.check.trial import with_drop
from ..bots.check.verdicts import DROP_AFTER, MANY_TABLES, Trials
from ..screen import Screen
from .common import Common
from .exits import FAILED, NOT_FOUND, REFUSED, USAGE, CommandError
from .remote import Remote
from .remote import run as run_remote

_ACCOUNT = re.compile(r"[a-z0-9]{16}")


def by_account(text: str) -> bool:
    """Whether this is the id of an account, and not a program that there is."""
    return _ACCOUNT.fullmatch(text) is not None and shutil.which(text) is None


def checked_account(
    common: Common, account: str, games: tuple[str, ...], rounds: int, turn_ms: int, listen: str, wait_s: int
) -> Trials:
    """All trials. Raises CommandError: no such account, nobody came, the server plays no tournaments."""

    async def work(remote: Remote) -> Trials:
        inspector = Inspector(remote.client.address)
        try:
            async with inspector.serving(listen) as address:
                if common.json:
                    common.put_json({"connect": address, "account": account})
                else:
                    common.note("check_connect", address=address, account=account)
                return await _trials(
                    common, Remotely(remote.client, inspector, account, turn_ms), games, rounds, wait_s
                )
        except RuntimeError as error:
            raise CommandError(USAGE, f"--listen {listen}: {error}") from error
        except NobodyCame as error:
            raise CommandError(FAILED, str(error)) from error
        except NotPlayed as error:
            code = NOT_FOUND if "account" in str(error).partition(":")[0] else REFUSED
            raise CommandError(code, str(error)) from error

    return run_remote(common, work)


async def _trials(common: Common, bot: Remotely, games: tuple[str, ...], rounds: int, wait_s: int) -> Trials:
    """One after the other: the bot's times shall be its own."""
    trials = Trials(by_account=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    bar = Progress(*columns, console=Screen(stderr=True, no_color=not common.colour), disable=common.json)
    with bar:
        task = bar.add_task("waiting for the bot", total=None)
        await bot.come(wait_s)
        for name in games:
            bar.update(task, description=f"{name}: {rounds} rounds")
            trials.games[name] = await bot.play(name, rounds)
        if not any(run.seen.matches for run in trials.games.values()):
            return trials  # it never came to a table: nothing else can be seen
        bar.update(task, description="the server drops its streams")
        trials.dropped = await with_drop(lambda: bot.play(games[0], 1, drop=DROP_AFTER))
        bar.update(task, description=f"{MANY_TABLES} tables")
        trials.several = await bot.play(games[0], 1, tables=MANY_TABLES)
    return trials
