"""Two who queue together: a code to tell, a code to join by, and the queue for both."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Button, Input, Static

from kangtou.v1 import party_pb2 as pb

from ..api import ApiError, Refused
from ..api.parties import Parties
from ..desk.people import party_lines
from ..desk.room import refusal_text
from .dialog import Dialog
from .look import FAINT, GOLD, RED

LOOK_S = 2.0  # between two looks at whether the partner has come


class PartyScreen(Dialog[str | None]):
    """Gives `new`: a party is to be made; `queue`: both are there and want to play; None: back."""

    BUTTONS = ("new", "join", "queue", "end_party", "back")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self._problem = ""

    def between(self) -> ComposeResult:
        """A line for a code."""
        yield Input(id="code", compact=True, max_length=40)

    def on_mount(self) -> None:
        """Whether the partner has come is looked at again and again."""
        self.relabel()
        self.query_one("#code" if self.party is None else "#back").focus()
        self.set_interval(LOOK_S, self.look_again)

    @property
    def party(self) -> pb.Party | None:
        """One's party; it stays while this screen is closed."""
        return self.play.party

    def relabel(self) -> None:
        """In the language of now."""
        look, party = self.look, self.party
        lines = [Text(look.say("party"), GOLD)]
        if party is None:
            lines.append(Text(look.say("party.about"), FAINT))
        else:
            lines += [Text(line) for line in party_lines(party, look.lang)]
        if self._problem:
            lines.append(Text(self._problem, RED))
        self.query_one("#text", Static).update(Text("\n").join(lines))
        code = self.query_one("#code", Input)
        code.placeholder, code.display = look.say("party.code"), party is None
        if party is None or party.over:
            self.offer({"new", "join", "back"} if party is None else {"new", "back"})
        else:
            self.offer({"end_party", "back"} | ({"queue"} if len(party.members) > 1 else set()))

    @work(group="look", exclusive=True)
    async def look_again(self) -> None:
        """How it stands."""
        if self.party is not None and not self.party.over:
            await self._ask(self.party.code, join=False)

    @work(group="join", exclusive=True)
    async def join(self, code: str) -> None:
        """Become the second of a party."""
        await self._ask(code, join=True)
        if self.party is not None:
            self.query_one("#queue").focus()

    async def _ask(self, code: str, *, join: bool) -> None:
        parties = Parties(self.play.room.client)
        try:
            found = await (parties.join(code) if join else parties.find(code))
        except ApiError as error:
            self._problem = self.look.say("server_says", text=error)
        else:
            refused = isinstance(found, Refused)
            self._problem = refusal_text(found, self.look.lang) if isinstance(found, Refused) else ""
            self.play.party = self.party if isinstance(found, Refused) else found
            if refused and not join:
                self.play.party = None  # forgotten by the server
        self.relabel()

    @work(group="end", exclusive=True)
    async def end_party(self) -> None:
        """For both."""
        assert self.party is not None
        try:
            refused = await Parties(self.play.room.client).leave(self.party.code)
        except ApiError as error:
            self._problem = self.look.say("server_says", text=error)
        else:
            self._problem = refusal_text(refused, self.look.lang) if refused is not None else ""
            self.play.party = None
        self.relabel()
        self.query_one("#code").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A code."""
        if event.value.strip():
            self.join(event.value.strip())

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """One of the things that can be done."""
        name = event.button.id or ""
        if name == "join":
            self.on_input_submitted(
                Input.Submitted(self.query_one("#code", Input), self.query_one("#code", Input).value)
            )
        elif name == "end_party":
            self.end_party()
        else:
            self.dismiss(None if name == "back" else name)
