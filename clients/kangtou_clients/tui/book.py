"""The rule books: chapters, search, and any rule by its number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from rich.markdown import Markdown
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input, OptionList, RichLog, Static
from textual.widgets.option_list import Option

from .. import books
from .look import Look

if TYPE_CHECKING:
    from .app import Play

_SECTION = re.compile(r"^## +(.+)$", re.MULTILINE)
_RULE = re.compile(r"[A-Za-z]{2}-[0-9]+(\.[0-9]+)?")


class Book(Screen[None]):
    """One book at a time. A rule is opened by its number; other texts are searched for."""

    DEFAULT_CSS = """
    Book #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    Book #body { height: 1fr; }
    Book #chapters { width: 28; height: 100%; border: round $secondary; background: $background; }
    Book RichLog { width: 1fr; height: 1fr; background: $background; padding: 0 1; }
    Book #find { height: 1; border: none; padding: 0 1; }
    Book #says { height: 1; padding: 0 1; color: $accent; }
    Book #keys { height: 1; color: $text-muted; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("slash", "find", show=False),
        Binding("n", "next", show=False),
        Binding("b", "other", show=False),
    ]

    def __init__(self, book: str, rule: str = "") -> None:
        super().__init__()
        self._wanted = rule
        self._book, self._text = book, ""
        self._chapters: list[str] = []
        self._found: list[int] = []  # lines of the last search
        self._at = 0
        self._search = ""

    @property
    def look(self) -> Look:
        """Language of now."""
        app: Play = self.app  # type: ignore[assignment]
        return app.look

    def compose(self) -> ComposeResult:
        """Chapters at the left, the text at the right."""
        yield Static(id="head", markup=False)
        with Horizontal(id="body"):
            yield OptionList(id="chapters", markup=False)
            with Vertical():
                yield Input(id="find", compact=True)
                yield RichLog(wrap=True, auto_scroll=False, min_width=20)
        yield Static(id="says", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """At the rule, or at the beginning."""
        try:
            if self._wanted:
                self._book = books.book_of(self._wanted) or self._book
            self._open(self._book)
        except books.BooksMissing:
            self._say(self.look.say("books.missing"))
            return
        self.query_one("#chapters").focus()
        if self._wanted:
            self.call_after_refresh(self.go, self._wanted)

    def relabel(self) -> None:
        """In the language of now. The books are in English with the Chinese terms."""
        look = self.look
        title = look.say("book.common") if self._book == books.COMMON else self._book
        self.query_one("#head", Static).update(look.say("book", book=title))
        self.query_one("#find", Input).placeholder = look.say("book.find")
        self.query_one("#keys", Static).update(look.say("keys.book"))

    def _open(self, name: str) -> None:
        self._book, self._text = name, books.book(name) or ""
        self._chapters = _SECTION.findall(self._text)
        chapters = self.query_one("#chapters", OptionList)
        chapters.clear_options()
        chapters.add_options(Option(Text(chapter, no_wrap=True, overflow="ellipsis")) for chapter in self._chapters)
        self._found, self._at = [], 0
        self.relabel()
        self._show(0)

    # ---- the text ----

    def _show(self, chapter: int) -> None:
        """A chapter, from its heading on."""
        starts = [found.start() for found in _SECTION.finditer(self._text)]
        ends = [*starts[1:], len(self._text)]
        log = self.query_one(RichLog)
        log.clear()
        part = self._text[starts[chapter] : ends[chapter]] if starts else self._text
        log.write(Markdown(part, hyperlinks=False), expand=True)
        log.scroll_home(animate=False)
        chapters = self.query_one("#chapters", OptionList)
        if self._chapters and chapters.highlighted != chapter:
            with self.prevent(OptionList.OptionHighlighted):
                chapters.highlighted = chapter
        self._shown = chapter

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Another chapter."""
        self._say("")
        self._show(event.option_index)

    def go(self, rule: str) -> None:
        """To a rule or a section; says so if there is none."""
        number = rule.upper()
        book = books.book_of(number)
        if book is not None and book != self._book:
            self._open(book)
        section = number.partition(".")[0]
        place = next((at for at, one in enumerate(self._chapters) if re.match(rf"{section}\b", one)), None)
        if book is None or place is None or books.rule(self._text, number) is None:
            self._say(self.look.say("book.nothing", text=rule))
            return
        self._show(place)
        self._say(number)
        self.call_after_refresh(self._to_line, number)

    def _to_line(self, text: str) -> None:
        """So that the line with a text is near the top."""
        log = self.query_one(RichLog)
        wanted = text.lower()
        for number, strip in enumerate(log.lines):
            if wanted in strip.text.lower():
                log.scroll_to(y=max(0, number - 1), animate=False)
                return

    # ---- searching ----

    def action_find(self) -> None:
        """Type what is looked for."""
        self.query_one("#find", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A rule's number, or a text."""
        text = event.value.strip()
        self.query_one("#chapters").focus()
        if _RULE.fullmatch(text):
            self.go(text)
        elif text:
            self._search, self._at = text, -1
            starts = [found.start() for found in _SECTION.finditer(self._text)]
            hits = [found.start() for found in re.finditer(re.escape(text), self._text, re.IGNORECASE)]
            self._found = [max(0, sum(start <= hit for start in starts) - 1) for hit in hits]
            self._found = list(dict.fromkeys(self._found))  # a chapter once
            self.action_next()

    def action_next(self) -> None:
        """The next chapter that has it."""
        if not self._found:
            self._say(self.look.say("book.nothing", text=self._search) if self._search else "")
            return
        self._at = (self._at + 1) % len(self._found)
        self._show(self._found[self._at])
        self._say(self.look.say("book.found", number=self._at + 1, count=len(self._found)))
        self.call_after_refresh(self._to_line, self._search)

    def action_other(self) -> None:
        """The next book."""
        names = books.names()
        self._open(names[(names.index(self._book) + 1) % len(names)])

    def _say(self, text: str) -> None:
        self.query_one("#says", Static).update(text)
