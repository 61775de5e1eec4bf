"""A tournament while it is played: a bar and the current table for people, JSON lines for programs."""

from __future__ import annotations

from typing import Self

from rich.console import Group
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..api.tournaments import Progress
from ..screen import Screen
from .common import Common

SHOWN_MOST = 24  # entrants in the live table


class Live:
    """Use it as `with Live(common) as live`."""

    def __init__(self, common: Common) -> None:
        self._common = common
        console = Screen(stderr=True, no_color=not common.colour)
        self._live = RichLive(console=console, refresh_per_second=4, transient=True)
        self._shown = not common.json and console.is_terminal
        self._plain = not common.json and not console.is_terminal
        self._said = -1

    def __enter__(self) -> Self:
        if self._shown:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Nothing more is shown."""
        if self._shown:
            self._live.stop()
            self._shown = False

    def show(self, progress: Progress) -> None:
        """The newest."""
        summary = progress.summary
        if self._common.json:
            self._common.put_json(
                {
                    "tournament": summary.tournament_id,
                    "state": summary.state,
                    "games": summary.games_done,
                    "planned": summary.games_planned,
                    "running": progress.running,
                    "moves": progress.moves,
                    "moves_per_s": round(progress.moves_per_s, 1),
                    "faults": progress.faults,
                    "replays": progress.replays,
                    "seconds_left": round(progress.seconds_left, 1),
                    "table": [
                        {"entrant": one.entrant, "sets": one.sets, "mean": one.mean, "half": one.half}
                        for one in progress.standings
                    ],
                }
            )
        elif self._shown:
            self._live.update(Group(*self._lines(progress)))
        elif self._plain and summary.games_planned:
            tenth = summary.games_done * 10 // summary.games_planned
            if tenth != self._said:
                self._said = tenth
                self._common.note("tournament_at", **self._numbers(progress))

    def _numbers(self, progress: Progress) -> dict[str, object]:
        left = f"{progress.seconds_left:.0f}" if progress.seconds_left else "?"
        return {
            "name": progress.summary.name,
            "done": progress.summary.games_done,
            "planned": progress.summary.games_planned,
            "rate": f"{progress.moves_per_s:.0f}",
            "faults": progress.faults,
            "replays": progress.replays,
            "left": left,
        }

    def _lines(self, progress: Progress) -> list[Text | ProgressBar | Table]:
        say, summary = self._common.say, progress.summary
        head = Text(say("tournament_at", **self._numbers(progress)))
        bar = ProgressBar(total=max(1, summary.games_planned), completed=summary.games_done, width=60)
        table = Table(box=None, padding=(0, 2))
        for code in ("col_entrant", "col_sets", "col_mean", "col_faults"):
            table.add_column(say(code), justify="left" if code == "col_entrant" else "right")
        for one in progress.standings[:SHOWN_MOST]:
            half = f" ± {one.half:.2f}" if one.half else " ± ?"
            table.add_row(one.entrant, str(one.sets), f"{one.mean:+.2f}{half}", str(one.faults))
        return [head, bar, table]
