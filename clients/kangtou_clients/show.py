"""A replay as lines: what happened, and the table. For the command line, and for whatever else prints lines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from kangtou_engine.notation import BY_STANDING, Left, Note, Step
from kangtou_engine.replay import OPEN, Replay, Who

from .render import DIM, Renderer


@dataclass(frozen=True, slots=True)
class Shown:
    """One replay, shown one way."""

    replay: Replay
    render: Renderer

    def head(self, who: Who) -> list[str]:
        """What match this is, who played, whose view it is."""
        head = self.replay.record.head
        spec = self.replay.game.spec
        began = datetime.fromtimestamp((head.outcome.started_ms or head.terms.created_ms) / 1000, UTC)
        title = spec.title[0 if self.render.lang == "en" else 1]
        options = "  ".join(f"{name}={value}" for name, value in head.terms.options.items())
        lines = [f"{head.terms.match} · {title} ({head.terms.game}@{head.terms.version}) · {began:%Y-%m-%d %H:%M} UTC"]
        if options:
            lines.append(options)
        for number, seat in enumerate(head.terms.seats):
            lines.append(f"  {self.render.seat(number)} ({self.render.word(seat.kind)})")
        return [*lines, f"[{self.viewer(who)}]"]

    def viewer(self, who: Who) -> str:
        """Whose view, in words."""
        if who == OPEN:
            return self.render.word("view.open")
        if isinstance(who, int):
            return self.render.word("view.seat", seat=self.render.seat(who))
        return self.render.word("view.spectator")

    def moment(self, number: int, who: Who) -> list[str]:
        """What happened, as this viewer saw it, with round, trick and the time since the moment before."""
        moment = self.replay.moments[number]
        replay, lines = self.replay, []
        for event in replay.seen(number, who):
            lines += self.render.event(replay.game, event, replay.config)
        lines += standing_lines(self.render, moment.item, who)
        if moment.cause:
            lines.append(self.render.word("ended", cause=self.render.word(f"cause.{moment.cause}")))
        if not lines:
            return []
        before = self.replay.moments[number - 1].time_ms if number else moment.time_ms
        where = f"{moment.round}:{moment.trick}" if moment.round else ""
        stamp = f"{where:>6} {max(0, moment.time_ms - before) / 1000:>8.2f}s  "
        blank = " " * len(stamp)
        return [self.render.paint(DIM, stamp) + lines[0], *(blank + line for line in lines[1:])]

    def table(self, position: int, who: Who) -> list[str]:
        """The table at a position, as the game itself shows it; nothing before the first round."""
        view = self.replay.view(position, who)
        if not view.sheet.round:
            return []
        seat = who if isinstance(who, int) else None
        lines = [self.render.line(line) for line in self.replay.game.spec.show(view, seat, self.render.lang)]
        if who == OPEN:
            lines += [
                f"{self.render.seat(number)} {self.render.word('holds', cards=self.render.cards(hand))}"
                for number, hand in enumerate(view.game.hands)
                if hand
            ]
        return [f"    {line}" for line in lines]

    def wants_table(self, position: int, every: str, last: bool) -> bool:
        """Whether the table is shown at a position: `step`, `trick` (where one begins), `round` or `none`."""
        if every in ("step", "none") or last:
            return every != "none"
        before, after = self.replay.moments[position - 1], self.replay.moments[position]
        if every == "trick":
            return (before.round, before.trick) != (after.round, after.trick)
        return before.round != after.round


def standing_lines(render: Renderer, item: Step | Left | Note | None, who: Who) -> list[str]:
    """A standing answer that was left or taken back: told to nobody but its seat. Design §5."""
    if not isinstance(item, Left) or who not in (OPEN, item.seat) or item.command == BY_STANDING:
        return []
    seat = render.seat(item.seat)
    if item.action is None:
        return [f"{seat} {render.word('revoked')}"]
    code = "left.until" if item.until else "left"
    return [f"{seat} {render.word(code, action=render.action(item.action), until=item.until)}"]
