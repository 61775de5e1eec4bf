"""At what kind of table: clocks, rated or not, private, who looks on, bots. A part of the form in opening.py."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text
from textual.containers import Grid
from textual.widgets import Input, Select, Static

from ..api import TableTerms, Wanted
from ..api.spectating import POLICIES
from ..api.tables import STARTS
from ..desk.asked import Asked
from .look import FAINT, Look

SECONDS = ("bank", "increment", "delay", "fill", "ready", "rematch")
YES_OR_NO = ("rated", "private", "guests", "ask")
WORDS = {"start": tuple(STARTS), "watch": ("no_hands", *(word for word in POLICIES if word != "no_hands"))}
FIELDS = {
    "open": (
        *("bank", "increment", "rated", "private", "start", "ready", "watch", "delay", "guests", "fill"),
        *("rematch", "scorer"),
    ),
    "quick": ("bank", "increment", "rated", "ask"),
    "party": ("bank", "increment", "rated"),
    "practice": (),
}


class Terms(Grid):
    """The fields of one kind of form; what was given in them survives another language."""

    def __init__(self, kind: str) -> None:
        super().__init__(id="terms")
        self.fields: tuple[str, ...] = FIELDS[kind]
        self._given: dict[str, str] = {}

    async def build(self, look: Look) -> None:
        """The fields in a language."""
        self._given |= {name: self.value(name) for name in self.fields if self.query(f"#t-{name}")}
        await self.remove_children()
        cells: list[Static | Input | Select[str]] = []
        for name in self.fields:
            cells.append(Static(look.say(f"term.{name}")))
            cells.append(self._field(name, look))
            cells.append(Static(Text(look.say(f"term.{name}.about"), FAINT)))
        await self.mount(*cells)

    def _field(self, name: str, look: Look) -> Input | Select[str]:
        given, key = self._given.get(name), f"t-{name}"
        if name in SECONDS:
            return Input(given or "0", type="integer", id=key, compact=True)
        if name in YES_OR_NO:
            pairs = [(look.say("no"), "no"), (look.say("yes"), "yes")]
        elif name in WORDS:
            pairs = [(look.say(f"term.{name}.{word}"), word) for word in WORDS[name]]
        else:
            return Input(given or "", id=key, compact=True)
        return Select(pairs, value=given or pairs[0][1], allow_blank=False, id=key, compact=True)

    def value(self, name: str) -> str:
        """What stands in a field; what is usual where there is none of that name."""
        for field in self.query(f"#t-{name}"):
            if isinstance(field, (Input, Select)):
                return str(field.value).strip()
        return WORDS[name][0] if name in WORDS else ""

    def read(self, wanted: Wanted, look: Look) -> Asked:
        """With what was given here. Raises ValueError in words."""
        wanted = replace(
            wanted,
            bank_ms=self._seconds("bank", look) * 1000,
            increment_ms=self._seconds("increment", look) * 1000,
        )
        terms = TableTerms(
            start=self.value("start"),
            private=self.value("private") == "yes",
            rated=self.value("rated") == "yes",
            ready_s=self._seconds("ready", look),
            rematch_s=self._seconds("rematch", look),
            fill_after_s=self._seconds("fill", look),
            only_guests=self.value("guests") == "yes",
            watch=self.value("watch"),
            watch_delay_s=self._seconds("delay", look),
            scorer=self.value("scorer"),
        )
        return Asked(wanted, terms, ask=self.value("ask") == "yes")

    def _seconds(self, name: str, look: Look) -> int:
        """Raises ValueError in words."""
        text = self.value(name) or "0"
        if not (text.isascii() and text.isdigit()):
            raise ValueError(look.say("bad_number", name=look.say(f"term.{name}"), text=text))
        return int(text)
