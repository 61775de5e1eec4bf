"""`kangtou replay --html`: the page written to a file, with a bar for long matches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from kangtou_engine.replay import Replay, Who

from ..page import write_page
from ..screen import Screen
from ..show import Shown
from .common import Common
from .exits import USAGE


def write(common: Common, replay: Replay, names: Sequence[str], who: Who, target: str) -> None:
    """Write the page. Raises CommandError if the file cannot be written; half a file is never left there."""
    path = Path(target)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    console = Screen(stderr=True, no_color=not common.colour)
    try:
        half.touch()  # before the work, not after it
        with Progress(*columns, console=console, transient=True, disable=common.json or not console.is_terminal) as bar:
            task = bar.add_task(path.name)
            page = write_page(
                replay, who, names, common.lang, lambda now, of: bar.update(task, completed=now, total=of)
            )
        half.write_text(page, "utf-8")
        half.replace(path)
    except OSError as error:
        raise common.fail(USAGE, "page_failed", path=target, problem=error.strerror or error) from error
    except ValueError as error:
        raise common.fail(USAGE, "bad_record", path=replay.record.head.terms.match, problem=error) from error
    finally:
        half.unlink(missing_ok=True)
    size = len(page.encode())
    if common.json:
        common.put_json({"page": target, "bytes": size, "view": "open" if who == "open" else who})
    else:
        view = Shown(replay, common.renderer(names)).viewer(who)
        common.put(common.say("page_written", path=target, view=view, kb=-(-size // 1000)))
