"""`kangtou replay --step`: one thing after another, back and forth, from any seat, with the legal plays."""

from __future__ import annotations

import re

from kangtou_engine.game import TooMany
from kangtou_engine.replay import OPEN, Who

from ..show import Shown
from .common import Common

_GO = re.compile(r"g ?([0-9]+)(?::([0-9]+))?")
_SEAT = re.compile(r"s ?([0-9]+)")
LIST_LIMIT = 60


class Stepper:
    """Reads what is typed and moves. A position is how many moments have happened."""

    def __init__(self, common: Common, shown: Shown, who: Who, position: int) -> None:
        self.common = common
        self.shown = shown
        self.who = who
        self.position = position

    def run(self) -> None:
        """Until q, or the end of what is typed."""
        self._put([*self.shown.head(self.who), *self.shown.table(self.position, self.who)])
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
        if typed in ("", "n"):
            return self._on()
        if typed == "b":
            return self._back()
        if typed == "t":
            return self._table()
        if typed == "l":
            return self._legal()
        if typed == "h":
            return [self.common.say("step_help")]
        if typed in ("o", "p"):
            return self._look(OPEN if typed == "o" else None)
        if (found := _GO.fullmatch(typed)) is not None:
            self.position = self.shown.replay.find(int(found[1]), int(found[2] or 1))
            return self._table()
        if (found := _SEAT.fullmatch(typed)) is not None and int(found[1]) < self.shown.replay.config.seats:
            return self._look(int(found[1]))
        return [self.common.say("step_what")]

    def _on(self) -> list[str]:
        if self.position >= len(self.shown.replay.moments):
            return [self.common.say("step_end")]
        self.position += 1
        return [*self.shown.moment(self.position - 1, self.who), *self._table()]

    def _back(self) -> list[str]:
        if self.position == 0:
            return [self.common.say("step_start")]
        self.position -= 1
        return self._table()

    def _look(self, who: Who) -> list[str]:
        self.who = who
        return [*self.shown.head(who)[-1:], *self._table()]

    def _table(self) -> list[str]:
        return self.shown.table(self.position, self.who)

    def _legal(self) -> list[str]:
        """The legal plays of the seats whose hands are open to this viewer."""
        replay, render = self.shown.replay, self.shown.render
        state = replay.state(self.position)
        lines: list[str] = []
        for seat in replay.game.to_act(state):
            if self.who not in (OPEN, seat):
                continue
            legal = replay.game.legal(state, seat, LIST_LIMIT)
            if isinstance(legal, TooMany):
                lines.append(self.common.say("legal_many", seat=render.seat(seat)))
            else:
                lines.append(f"{render.seat(seat)}: " + " | ".join(render.action(action) for action in legal))
        return lines or [self.common.say("legal_none")]
