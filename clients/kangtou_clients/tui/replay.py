"""A finished match again: step, seek, play, from any seat."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input, Static

from kangtou_engine.game import TooMany
from kangtou_engine.replay import OPEN, Replay, Who

from ..desk.history import History
from ..desk.text import action_text, game_title
from ..replaying import NoPlace, Player
from .board import Board
from .hand import Hand
from .look import FAINT, GOLD, Look
from .sheets import Page, help_page, score_page

if TYPE_CHECKING:
    from .app import Play

SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 50.0)
LEGAL_MOST = 60
TOLD = 3  # lines of what happened last


class ReplayScreen(Screen[None]):
    """One record. Starts open, at the first deal."""

    DEFAULT_CSS = """
    ReplayScreen #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    ReplayScreen #told { height: 3; padding: 0 1; }
    ReplayScreen #goto { height: 1; border: none; padding: 0 1; display: none; }
    ReplayScreen #goto.open { display: block; }
    ReplayScreen #place { height: 1; padding: 0 1; text-style: bold; }
    ReplayScreen #keys { height: 1; color: $text-muted; padding: 0 1; }
    """
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "step(1)", show=False),
        Binding("left", "step(-1)", show=False),
        Binding("down", "trick(1)", show=False),
        Binding("up", "trick(-1)", show=False),
        Binding("pagedown", "round(1)", show=False),
        Binding("pageup", "round(-1)", show=False),
        Binding("home", "end(0)", show=False),
        Binding("end", "end(1)", show=False),
        Binding("space", "play", show=False),
        Binding("plus", "speed(1)", show=False),
        Binding("minus", "speed(-1)", show=False),
        Binding("s", "viewer", show=False),
        Binding("g", "goto", show=False),
        Binding("l", "legal", show=False),
        Binding("v", "score", show=False),
        Binding("x", "app.letters", show=False),
        Binding("u", "book", show=False),
        Binding("question_mark", "help", show=False),
        Binding("escape", "back", show=False),
    ]

    def __init__(self, replay: Replay, names: tuple[str, ...]) -> None:
        super().__init__()
        self.replay, self.names = replay, names
        self.player = Player(replay)
        self._speed = SPEEDS.index(1.0)
        self._said: Text | None = None

    @property
    def look(self) -> Look:
        """Language, glyphs, and this match's players."""
        app: Play = self.app  # type: ignore[assignment]
        return Look(app.look.lang, app.look.letters, self.names)

    @property
    def _bottom(self) -> int:
        return self.player.who if isinstance(self.player.who, int) else 0

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="head", markup=False)
        yield Board(self.replay.config.seats, self._bottom)
        yield Static(id="told", markup=False)
        yield Hand()
        yield Input(id="goto", compact=True)
        yield Static(id="place", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """At the first thing that happened."""
        self.player.forward()
        self.relabel()

    def relabel(self) -> None:
        """In the language of now."""
        self.query_one("#keys", Static).update(self.look.say("keys.replay"))
        self.query_one("#goto", Input).placeholder = self.look.say("replay.goto")
        self.draw()

    # ---- drawing ----

    def draw(self) -> None:
        """The position, from the viewer's side."""
        player, look, game = self.player, self.look, self.replay.game
        view, who = player.view, player.who
        seat = who if isinstance(who, int) else None
        title = game_title(game.spec.name, look.lang)
        hand = self.query_one(Hand)
        if view.sheet.round:
            scene = game.scene(view, seat, look.lang)
            self.query_one("#head", Static).update(look.line(" · ".join((title, *scene.head))))
            self.query_one(Board).show(game, view, scene, seat, look)
            hand.hold(scene.places[seat].hand if seat is not None else (), look)
        else:
            self.query_one("#head", Static).update(title)
            self.query_one(Board).clear("")
            hand.hold((), look)
        hand.display = seat is not None
        self.query_one("#told", Static).update(self._said or self._told())
        self.query_one("#place", Static).update(self._place())

    def _told(self) -> Text:
        """What happened last, and how long its seat had thought."""
        player, look = self.player, self.look
        if not player.position:
            return Text()
        number = player.position - 1
        lines: list[str] = []
        for event in player.seen(number):
            lines += look.render.event(self.replay.game, event, self.replay.config)
        thought = player.thought(number)
        shown = look.lines(lines[-TOLD:])
        return shown + Text(f"  {thought.ms / 1000:.1f} s", FAINT) if thought is not None and lines else shown

    def _place(self) -> Text:
        player, look = self.player, self.look
        last = player.last
        place = look.say(
            "replay.place",
            round=last.round if last else 0,
            trick=last.trick if last else 0,
            position=player.position,
            count=player.length,
        )
        viewer = self._viewer_text(player.who)
        speed = f"{SPEEDS[self._speed]:g}"
        state = look.say("replay.playing", speed=speed) if player.playing else look.say("replay.stopped")
        return Text(" · ").join((Text(place, GOLD), Text(viewer), Text(state, FAINT)))

    def _viewer_text(self, who: Who) -> str:
        look = self.look
        if who == OPEN:
            return look.render.word("view.open")
        if isinstance(who, int):
            return look.render.word("view.seat", seat=look.seat(who))
        return look.render.word("view.spectator")

    def _moved(self) -> None:
        self._said = None
        self.draw()

    # ---- moving ----

    def action_step(self, step: int) -> None:
        """One moment."""
        self.player.pause()
        self.player.forward() if step > 0 else self.player.back()
        self._moved()

    def _jump(self, same: bool, step: int) -> None:
        """To where a trick (`same` round counts) or a round begins."""
        self.player.pause()
        moments, at = self.replay.moments, self.player.position
        key = [(one.round, one.trick) if same else (one.round,) for one in moments]
        starts = [number for number in range(len(key)) if not number or key[number] != key[number - 1]]
        places = [start + 1 for start in starts] + [len(moments)]
        later = [place for place in places if place > at]
        earlier = [place for place in places if place < at]
        if later and step > 0:
            self.player.go(later[0])
        elif earlier and step < 0:
            self.player.go(earlier[-1])
        self._moved()

    def action_trick(self, step: int) -> None:
        """A trick on or back."""
        self._jump(True, step)

    def action_round(self, step: int) -> None:
        """A round on or back."""
        self._jump(False, step)

    def action_end(self, last: int) -> None:
        """To the beginning or the end."""
        self.player.pause()
        self.player.go(self.player.length if last else 1)
        self._moved()

    def action_play(self) -> None:
        """Play, or stop."""
        if self.player.playing:
            self.player.pause()
            self._moved()
        else:
            self.run_on()

    @work(group="play", exclusive=True)
    async def run_on(self) -> None:
        """As it was played, at the chosen speed."""
        async for _ in self.player.play(SPEEDS[self._speed]):
            self._moved()
        self._moved()

    def action_speed(self, step: int) -> None:
        """Faster or slower."""
        self._speed = min(max(self._speed + step, 0), len(SPEEDS) - 1)
        self.player.speed = SPEEDS[self._speed]
        self.draw()

    async def action_viewer(self) -> None:
        """From the next side: open, spectator, each seat."""
        sides: list[Who] = [OPEN, None, *range(self.replay.config.seats)]
        self.player.look(sides[(sides.index(self.player.who) + 1) % len(sides)])
        await self.query_one(Board).remove()
        await self.mount(Board(self.replay.config.seats, self._bottom), after="#head")
        self._moved()

    # ---- places, legal plays ----

    def action_goto(self) -> None:
        """Type a place."""
        line = self.query_one("#goto", Input)
        line.add_class("open")
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A place."""
        self._close_line()
        try:
            self.player.pause()
            self.player.seek(event.value.strip())
        except NoPlace:
            self._said = Text(self.look.say("replay.bad_place", text=event.value.strip()), GOLD)
            self.draw()
            return
        self._moved()

    def _close_line(self) -> None:
        line = self.query_one("#goto", Input)
        line.value = ""
        line.remove_class("open")
        self.set_focus(None)

    def action_back(self) -> None:
        """Close the line for a place, or the replay."""
        if self.query_one("#goto", Input).has_class("open"):
            self._close_line()
        else:
            self.player.pause()
            self.dismiss(None)

    def action_legal(self) -> None:
        """What the seats to act could have done here, as far as this viewer sees their hands."""
        look, player, words = self.look, self.player, self.replay.game.spec.words
        lines: list[Text] = []
        for seat in player.to_act():
            if player.who not in (OPEN, seat):
                continue
            legal = player.legal(seat, LEGAL_MOST)
            if isinstance(legal, TooMany):
                said = look.say("legal.many")
            else:
                said = " | ".join(action_text(action, look.render, words) for action in legal)
            lines.append(look.line(f"{look.seat(seat)}: {said}"))
        self._said = Text("\n").join(lines) if lines else Text(look.say("legal.nobody"), FAINT)
        self.draw()

    # ---- other screens ----

    def action_score(self) -> None:
        """The score sheet up to here."""
        history = History(self.replay.game, self.replay.config)
        for number in range(self.player.position):
            history.take(0, self.player.seen(number))
        self.app.push_screen(Page(score_page(history, self.player.view), lambda: self.look))

    def action_book(self) -> None:
        """The rule book."""
        app: Play = self.app  # type: ignore[assignment]
        app.open_book(self.replay.game.spec.name)

    def action_help(self) -> None:
        """The keys."""
        self.app.push_screen(Page(help_page("help.replay"), lambda: self.look))
