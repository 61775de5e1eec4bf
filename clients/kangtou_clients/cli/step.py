"""`kangtou replay --step`: one thing after another, back and forth, from any seat, with legal plays and clocks."""

from __future__ import annotations

import re

from kangtou_engine.game import TooMany
from kangtou_engine.replay import OPEN, Who

from ..replaying import NoPlace, Player
from ..show import Shown
from .common import Common
from .exits import CommandError
from .source import Source

_GO = re.compile(r"g ?(\S+)")
_FORK = re.compile(r"f ?([0-9]+)")
_SEAT = re.compile(r"s ?([0-9]+)")
LIST_LIMIT = 60


class Stepper:
    """Reads what is typed and moves the player."""

    def __init__(self, common: Common, shown: Shown, player: Player, source: Source, *, clocks: bool = False) -> None:
        self.common = common
        self.shown = shown
        self.player = player
        self.source = source
        self.clocks = clocks

    def run(self) -> None:
        """Until q, or the end of what is typed."""
        self._put([*self.shown.head(self.player.who), *self._table()])
        self.common.put(self.common.say("step_help"))
        while True:
            try:
                typed = input("› ").strip()
            except EOFError:
                return
            if typed == "q":
                return
            self._put(self._do(typed))

    def _put(self, lines: list[str]) -> None:
        for line in lines:
            self.common.put(line)

    def _do(self, typed: str) -> list[str]:
        simple = {"": self._on, "n": self._on, "b": self._back, "t": self._table, "l": self._legal, "c": self._asked}
        if typed in simple:
            return simple[typed]()
        if typed == "h":
            return [self.common.say("step_help")]
        if typed in ("o", "p"):
            return self._look(OPEN if typed == "o" else None)
        if (found := _GO.fullmatch(typed)) is not None:
            return self._go(found[1])
        if (found := _SEAT.fullmatch(typed)) is not None and int(found[1]) < self.player.replay.config.seats:
            return self._look(int(found[1]))
        if (found := _FORK.fullmatch(typed)) is not None and int(found[1]) < self.player.replay.config.seats:
            return self._fork(int(found[1]))
        return [self.common.say("step_what")]

    def _on(self) -> list[str]:
        number = self.player.position
        if self.player.forward() is None:
            return [self.common.say("step_end")]
        return [*self.shown.moment(number, self.player.who), *self._thought(number), *self._table()]

    def _back(self) -> list[str]:
        return [self.common.say("step_start")] if self.player.back() is None else self._table()

    def _go(self, place: str) -> list[str]:
        try:
            self.player.seek(place)
        except NoPlace as error:
            return [self.common.say(error.code, **error.params)]
        return self._table()

    def _look(self, who: Who) -> list[str]:
        self.player.look(who)
        return [*self.shown.head(who)[-1:], *self._table()]

    def _fork(self, seat: int) -> list[str]:
        """Bots play on from here; then this goes on where it was."""
        from .replay import go_on

        try:
            go_on(self.common, self.source, self.player.position, seat, "greedy")
        except CommandError as error:
            return [error.text]
        return [self.common.say("fork_over"), *self._table()]

    def _table(self) -> list[str]:
        return self.shown.table(self.player.position, self.player.who)

    def _thought(self, number: int) -> list[str]:
        from .replay import thought

        return thought(self.common, self.shown, self.player, number) if self.clocks else []

    def _asked(self) -> list[str]:
        """Who was asked here, with which clock."""
        lines = [
            self.common.say("asked", seat=self.shown.render.seat(seat), limit=f"{one.limit_ms / 1000:g}")
            for seat, one in enumerate(self.player.asked())
            if one is not None
        ]
        return lines or [self.common.say("legal_none")]

    def _legal(self) -> list[str]:
        """The legal plays of the seats whose hands are open to this viewer."""
        player, render = self.player, self.shown.render
        lines: list[str] = []
        for seat in player.to_act():
            if player.who not in (OPEN, seat):
                continue
            legal = player.legal(seat, LIST_LIMIT)
            if isinstance(legal, TooMany):
                lines.append(self.common.say("legal_many", seat=render.seat(seat)))
            else:
                lines.append(f"{render.seat(seat)}: " + " | ".join(render.action(action) for action in legal))
        return lines or [self.common.say("legal_none")]
