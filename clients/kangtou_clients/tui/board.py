"""The seats round the table and what lies in the middle, from a scene of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from kangtou_engine.cards import Seat
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.scene import Place, Scene

from ..desk.seating import seated
from .look import FAINT, GOLD, Look


class SeatBox(Static):
    """One seat: who, how many cards, score, marks, its play."""

    DEFAULT_CSS = """
    SeatBox { height: auto; width: 1fr; padding: 0 1; background: $surface; text-align: center; }
    SeatBox.left { text-align: left; }
    SeatBox.right { text-align: right; }
    SeatBox.top { margin: 0 1; }
    SeatBox.acting { background: $primary 28%; }
    """


class Board(Vertical):
    """The table. `show` draws a view of it; the seat at the bottom is the viewer's, or seat 0."""

    DEFAULT_CSS = """
    Board { height: 1fr; }
    Board #top { height: auto; }
    Board #middle { height: 1fr; }
    Board .side { width: 22; height: 100%; align: center middle; }
    Board #centre { width: 1fr; height: 100%; padding: 0 1; align: center middle; scrollbar-size: 1 1; }
    Board #centre Static { width: 100%; height: auto; text-align: center; }
    Board #bottom { height: auto; }
    """

    def __init__(self, seats: int, own: Seat) -> None:
        super().__init__()
        self.seats, self.own = seats, own
        self._boxes: dict[Seat, SeatBox] = {}

    def compose(self) -> ComposeResult:
        """Boxes by side."""
        sides = seated(self.seats, self.own)
        for side, members in sides.items():
            for seat in members:
                self._boxes[seat] = SeatBox(classes=side)
        with Horizontal(id="top"):
            for seat in sides["top"]:
                yield self._boxes[seat]
        with Horizontal(id="middle"):
            with Vertical(classes="side"):
                for seat in sides["left"]:
                    yield self._boxes[seat]
            with VerticalScroll(id="centre", can_focus=False):
                yield Static(id="lies", markup=False)
            with Vertical(classes="side"):
                for seat in sides["right"]:
                    yield self._boxes[seat]
        with Horizontal(id="bottom"):
            yield self._boxes[self.own]

    def show(
        self,
        game: Game,
        view: AnyState,
        scene: Scene,
        viewer: Seat | None,
        look: Look,
        *,
        marks: Mapping[Seat, tuple[str, ...]] | None = None,
    ) -> None:
        """Draw a view. `marks`: more to be said of seats than the game does."""
        acting = game.to_act(view)
        for seat, box in self._boxes.items():
            own = seat == viewer
            place = scene.places[seat]
            place = replace(place, marks=(*place.marks, *(marks or {}).get(seat, ())))
            text = _seat_text(seat, place, view, look, acting=seat in acting, own=own)
            box.set_class(seat in acting, "acting")
            box.update(text)
        self.query_one("#lies", Static).update(_middle(scene, look))

    def clear(self, text: str) -> None:
        """Nothing is dealt yet."""
        for box in self._boxes.values():
            box.update("")
        self.query_one("#lies", Static).update(text)


def _seat_text(seat: Seat, place: Place, view: AnyState, look: Look, *, acting: bool, own: bool) -> Text:
    count = len(view.game.hands[seat])
    head = Text("▶ " if acting else "", GOLD)
    head.append(f"{seat} ", FAINT)
    head.append(look.seat(seat), "bold")
    head.append(f" ({look.say('you')})" if own else "", FAINT)
    if count:
        head.append(" " + look.say("card" if count == 1 else "cards", count=count), FAINT)
    head.append(" " + look.say("score", score=view.sheet.scores[seat]), FAINT)
    marks = look.line(" · ".join(place.marks), FAINT)
    lines = [Text("  ").join((head, marks)) if own and place.marks else head]
    if place.marks and not own:
        lines.append(marks)
    if place.shown:
        lines.append(look.cards(place.shown))
    lines += _play(place, look)
    if place.hand and not own:
        lines.append(look.cards(place.hand))
    return Text("\n").join(lines)


def _play(place: Place, look: Look) -> list[Text]:
    """Its play of the trick: the cards, a star on the one to beat, a word beside it."""
    if not place.laid:
        return [look.line(place.said, "italic")] if place.said else []
    play = look.cards(place.laid)
    if place.best:
        play = Text("★ ", GOLD) + play
    if place.said:
        play = play + Text(" ") + look.line(place.said, "italic")
    return [play]


def _middle(scene: Scene, look: Look) -> Text:
    lines = []
    for area in scene.areas:
        title = look.line(area.title, FAINT)
        lines.append(title + Text(" ") + look.cards(area.cards) if area.cards else title)
    lines += [look.line(line) for line in scene.lines]
    return Text("\n").join(lines)
