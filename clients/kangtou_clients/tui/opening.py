"""What to play: the game, seats and house rules, with rule numbers and what is allowed; and at what kind of table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Select, Static

from kangtou_engine.errors import BadOptions
from kangtou_engine.options import OptionSpec, option_from_text
from kangtou_engine.registry import REGISTRY
from kangtou_engine.words import explain

from ..api import Wanted
from ..desk.asked import Asked
from ..desk.text import game_title
from .look import FAINT, Look
from .terms import Terms

if TYPE_CHECKING:
    from .app import Play

Value = bool | int | str


class Opening(ModalScreen[Asked | None]):
    """A form of two pages. None: never mind. `kind` is `open`, `quick`, `party` or `practice`."""

    DEFAULT_CSS = """
    Opening { align: center middle; }
    Opening > Vertical { width: 94%; height: 94%; border: round $secondary; background: $surface; padding: 0 1; }
    Opening #title { text-style: bold; height: 1; }
    Opening VerticalScroll { height: 1fr; }
    Opening Grid { grid-size: 3; grid-columns: 22 18 1fr; grid-rows: auto; height: auto; }
    Opening Grid > Static { height: auto; padding: 0 1; }
    Opening Select { width: 18; }
    Opening Select > SelectCurrent { border: none; height: 1; padding: 0 1; }
    Opening Input { width: 18; }
    Opening Grid#terms { grid-columns: 22 20 1fr; }
    Opening Grid#terms Select, Opening Grid#terms Input { width: 20; }
    Opening #buttons { height: 1; }
    Opening Button { margin: 0 1; }
    Opening #says { height: auto; color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("ctrl+g", "go", show=False),
        Binding("ctrl+t", "turn", show=False),
    ]

    def __init__(self, kind: str, game: str) -> None:
        super().__init__()
        self._kind = kind
        self._game = game or REGISTRY.names()[0]
        self._given: dict[str, Value] = {}
        self._rules = ""  # the named house rules that were chosen last
        self.built = False  # all fields are there; not while they are made anew

    @property
    def look(self) -> Look:
        """Language of now."""
        app: Play = self.app  # type: ignore[assignment]
        return app.look

    def compose(self) -> ComposeResult:
        """The game first; its options below."""
        with Vertical():
            yield Static(id="title", markup=False)
            with Horizontal(id="buttons"):
                yield Button(id="go", compact=True, variant="primary")
                yield Button(id="turn-page", compact=True)
                yield Button(id="back", compact=True)
            with VerticalScroll(can_focus=False):
                yield Grid(id="form")
                yield Terms(self._kind)
            yield Static(id="says", markup=False)

    async def on_mount(self) -> None:
        """Enter goes at once."""
        self.query_one(Terms).display = False
        await self._build()
        self.query_one("#go").focus()

    def relabel(self) -> None:
        """In the language of now."""
        self.run_worker(self._build(), exclusive=True, group="build")

    async def _build(self) -> None:
        look, form = self.look, self.query_one("#form", Grid)
        self.built = False
        self.query_one("#title", Static).update(look.say(f"open.{self._kind}"))
        self.query_one("#go", Button).label = look.say("button.go")
        self.query_one("#back", Button).label = look.say("button.back")
        terms = self.query_one(Terms)
        await terms.build(look)
        self._name_page()
        await form.remove_children()
        spec = REGISTRY.game(self._game).spec
        titles = [(game_title(name, look.lang), name) for name in REGISTRY.names()]
        game = Select(titles, value=self._game, allow_blank=False, id="game", compact=True)
        seats = Select(
            [(str(count), count) for count in spec.seats_allowed],
            value=REGISTRY.game(self._game).config().seats,
            allow_blank=False,
            id="seats",
            compact=True,
        )
        turn = Input("0", type="integer", id="turn", compact=True)
        sets = [(one.title[0 if look.lang == "en" else 1], one.name) for one in spec.rule_sets]
        rules = Select(sets, value=self._rules or Select.NULL, prompt="–", id="rules", compact=True)
        await form.mount(Static(look.say("field.game")), game, Static())
        if sets:
            await form.mount(Static(look.say("field.rules")), rules, Static())
        await form.mount(Static(look.say("field.seats")), seats, Static())
        await form.mount(Static(look.say("field.turn")), turn, Static())
        for row in spec.option_rows:
            about = Text(f"{row.rule}  {row.allowed()}", FAINT)
            await form.mount(Static(row.name, markup=False), self._field(row), Static(about, markup=False))
        self.built = True

    def _name_page(self) -> None:
        """The button says what is on the other page."""
        terms, button = self.query_one(Terms), self.query_one("#turn-page", Button)
        button.display = bool(terms.fields)
        if terms.fields:
            button.label = self.look.say("page.rules" if terms.display else f"page.{self._kind}")

    def action_turn(self) -> None:
        """To the other page."""
        terms = self.query_one(Terms)
        if terms.fields:
            terms.display = not terms.display
            self.query_one("#form").display = not terms.display
            self._name_page()

    def _field(self, row: OptionSpec) -> Select[Value] | Input:
        value = self._given.get(row.name, row.default)
        name = f"o-{row.name}"
        if row.low is not None or (not row.words):
            return Input(str(value), id=name, compact=True)
        pairs = [(self._word(word), word) for word in row.words]
        return Select(pairs, value=value, allow_blank=False, id=name, compact=True)

    def _word(self, word: Value) -> str:
        if isinstance(word, bool):
            return self.look.say("yes" if word else "no")
        return str(word)

    # ---- what is given ----

    def on_select_changed(self, event: Select.Changed) -> None:
        """Another game has other options."""
        if event.select.id == "game" and event.value != self._game:
            self._game, self._given, self._rules = str(event.value), {}, ""
            self.relabel()
        elif event.select.id == "rules" and event.value not in (self._rules, Select.NULL):
            self._rules = str(event.value)
            sets = REGISTRY.game(self._game).spec.rule_sets
            self._given = dict(next(one.options for one in sets if one.name == self._rules))
            self.relabel()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Go, or back."""
        if event.button.id == "back":
            self.dismiss(None)
        elif event.button.id == "turn-page":
            self.action_turn()
        else:
            self.action_go()

    def on_input_submitted(self) -> None:
        """Enter in a field."""
        self.action_go()

    def action_go(self) -> None:
        """Check, and give it back."""
        if not self.built:
            return
        says = self.query_one("#says", Static)
        seats = self.query_one("#seats", Select).value
        try:
            options, turn = self._options(), self._number("turn", self.query_one("#turn", Input).value)
            REGISTRY.game(self._game).config(options, int(str(seats)))
            wanted = Wanted(self._game, seats=int(str(seats)), options=options, turn_ms=turn * 1000)
            asked = self.query_one(Terms).read(wanted, self.look)
        except BadOptions as error:
            says.update(explain(REGISTRY.game(self._game).spec.words, error, self.look.lang))
            return
        except ValueError as error:
            says.update(str(error))
            return
        self.dismiss(asked)

    def _options(self) -> dict[str, Value]:
        """What differs from the defaults. Raises BadOptions, ValueError."""
        found: dict[str, Value] = {}
        for row in REGISTRY.game(self._game).spec.option_rows:
            field = self.query_one(f"#o-{row.name}")
            value: Value = option_from_text(row, field.value.strip()) if isinstance(field, Input) else row.default
            if isinstance(field, Select):
                value = next(word for word in row.words if word == field.value)
            if value != row.default:
                found[row.name] = value
        return found

    def _number(self, name: str, text: str) -> int:
        """A whole number. Raises ValueError in words."""
        if not text.strip().removeprefix("-").isdigit():
            raise ValueError(self.look.say("bad_number", name=name, text=text))
        return int(text)
