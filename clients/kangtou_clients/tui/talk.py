"""Talk at the table: what was said, fixed phrases, a line of one's own where the table allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from kangtou_engine.phrases import PHRASES, phrase

from ..api import ApiError, Client, Refused
from ..api.talk import ChatMessage, Talk
from ..desk.room import refusal_text
from .look import FAINT, RED, Look

if TYPE_CHECKING:
    from .company import Company


def chat_line(message: ChatMessage, look: Look) -> Text:
    """Who said what."""
    who = message.name or (look.seat(message.seat) if message.seat is not None else message.account_id)
    mark = "" if message.seat is not None else " 👁"
    return Text(f"{who}{mark}: ", FAINT) + Text(message.shown(look.lang))


class TalkPage(ModalScreen[None]):
    """What was said at a table, and ways to say something."""

    DEFAULT_CSS = """
    TalkPage { align: center middle; }
    TalkPage > Vertical { width: 70; height: 90%; border: round $secondary; background: $surface; padding: 0 1; }
    TalkPage .title { text-style: bold; height: 1; }
    TalkPage VerticalScroll { height: 1fr; }
    TalkPage VerticalScroll Static { height: auto; }
    TalkPage OptionList { height: auto; max-height: 8; border: none; background: $surface; padding: 0; }
    TalkPage Input { height: 1; border: none; }
    TalkPage #says { height: auto; max-height: 2; color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, table: Company, client: Client) -> None:
        super().__init__()
        self._table, self._talk = table, Talk(client)

    def compose(self) -> ComposeResult:
        """Title, what was said, phrases, a line."""
        with Vertical():
            yield Static(classes="title", markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(id="said", markup=False)
            yield OptionList(id="phrases", markup=False)
            yield Input(id="line", compact=True, max_length=200)
            yield Static(id="says", markup=False)

    def on_mount(self) -> None:
        """The line first."""
        self.relabel()
        self.query_one("#line").focus()

    def relabel(self) -> None:
        """In the language of now."""
        look = self._table.look
        self.query_one(".title", Static).update(look.say("talk"))
        self.query_one("#line", Input).placeholder = look.say("talk.line")
        phrases = self.query_one("#phrases", OptionList)
        phrases.clear_options()
        phrases.add_options(Option(phrase(code, look.lang), id=code) for code in PHRASES)
        phrases.highlighted = 0
        self.heard(self._table.chat)

    def heard(self, messages: Sequence[ChatMessage]) -> None:
        """What has been said by now."""
        look = self._table.look
        lines = [chat_line(message, look) for message in messages]
        self.query_one("#said", Static).update(Text("\n").join(lines) if lines else Text(look.say("talk.none"), FAINT))
        self.call_after_refresh(self.query_one(VerticalScroll).scroll_end, animate=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A line."""
        if event.value.strip():
            self.utter(event.value.strip())
            event.input.value = ""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A phrase."""
        self.utter(code=event.option_id or "")

    @work(group="say", exclusive=True)
    async def utter(self, text: str = "", code: str = "") -> None:
        """Say it; a refusal is shown here."""
        look, says = self._table.look, self.query_one("#says", Static)
        try:
            said = await self._talk.say(self._table.match.match_id, text, phrase=code)
        except ApiError as error:
            says.update(Text(look.say("server_says", text=error), RED))
            return
        says.update(refusal_text(said, look.lang) if isinstance(said, Refused) else "")
