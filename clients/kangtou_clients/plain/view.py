"""What the line mode says of a match: events as they come, the question, the table, score sheet and log."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from kangtou_engine.actions import Action
from kangtou_engine.match.state import OVER
from kangtou_engine.words import say as engine_say

from ..api import Match, Prompt
from ..desk.choices import Choices
from ..desk.history import History, Row
from ..desk.orders import ordered
from ..desk.text import action_text
from ..desk.words import say
from ..render import Renderer


class View:
    """One match, shown one way. `render` may be replaced when the language changes, `order` (of the hand) too."""

    def __init__(self, match: Match, render: Renderer, order: str = "game") -> None:
        self.match, self.render, self.order = match, render, order
        self.history = History(match.game, match.config)
        if match.view.sheet.round:
            self.history.joined(match.view.sheet.round, match.view.sheet.scores)

    @property
    def lang(self) -> str:
        """The language of now."""
        return self.render.lang

    def action(self, action: Action) -> str:
        """An action in words, and as it can be typed."""
        words = action_text(action, self.render, self.match.game.spec.words)
        return words if words == str(action) else f"{words}  [{action}]"

    def events(self, events: Iterable[object]) -> list[str]:
        """What happened."""
        lines: list[str] = []
        for event in events:
            lines += self.render.event(self.match.game, event, self.match.config)  # type: ignore[arg-type]
        return lines

    def table(self) -> list[str]:
        """The table as the game shows it."""
        if not self.match.view.sheet.round:
            return []
        lines = self.match.game.spec.show(self.match.view, self.match.seat, self.lang)
        return [self.render.line(line) for line in lines]

    def hand(self) -> list[str]:
        """The own hand as players hold it."""
        seat = self.match.seat
        if seat is None or not self.match.view.sheet.round:
            return []
        place = self.match.game.scene(self.match.view, seat, self.lang).places[seat]
        hand = ordered(place.hand, self.order)
        return [say("your_hand", self.lang, cards=self.render.cards(hand))] if hand else []

    def question(self, prompt: Prompt, choices: Choices) -> list[str]:
        """That the seat is asked, how much there is to choose from, and by when."""
        default = self.action(prompt.default)
        many = choices.too_many
        if many is not None:
            told = engine_say(self.match.game.spec.words, many.constraint, many.params, self.lang)
            text = say("your_turn_many", self.lang, constraint=self.render.line(told), default=default)
        else:
            text = say("your_turn", self.lang, count=len(choices.ways), default=default)
        left = seconds_left(prompt)
        if left is not None:
            text += " · " + say("seconds", self.lang, seconds=left)
        return [*self.hand(), text]

    def listed(self, actions: Sequence[Action]) -> list[str]:
        """Actions, numbered."""
        return [f"{number:>4}  {self.action(action)}" for number, action in enumerate(actions, 1)]

    def asked(self) -> str:
        """Who is to act."""
        seats = self.match.game.to_act(self.match.view)
        return ", ".join(map(self.render.seat, seats)) or say("none", self.lang)

    def score(self) -> list[str]:
        """The score sheet: a line a round, totals last."""
        seats = range(self.match.config.seats)
        names = [self.render.seat(seat) for seat in seats]
        lines = [" | ".join([say("round", self.lang), *names])]
        lines += [_row(row, self.lang) for row in self.history.rows]
        totals = map(str, self.match.view.sheet.scores)
        return [*lines, " | ".join([say("total", self.lang), *totals])]

    def log(self) -> list[str]:
        """What has happened in this round, as far as the book lets one look back."""
        lines: list[str] = []
        for told in self.history.shown():
            if isinstance(told, str):
                lines.append(say("covered", self.lang, rule=told))
            elif told.round == self.history.round:
                lines += self.events([told.event])
        return lines

    @property
    def over(self) -> bool:
        """Whether the last round is scored."""
        return self.match.view.phase == OVER


def _row(row: Row, lang: str) -> str:
    if row.points is None:
        return " | ".join([say("before", lang), *map(str, row.totals)])
    return " | ".join([str(row.round), *(f"{point:+d}" for point in row.points)])


def seconds_left(prompt: Prompt) -> int | None:
    """Until the default is played, by this computer's clock; None without a limit."""
    if not prompt.deadline_ms:
        return None
    return max(0, round(prompt.deadline_ms / 1000 - time.time()))
