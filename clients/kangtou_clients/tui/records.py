"""Finished matches: those of the server's archive, or a record in a file."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import ClassVar

import zstandard
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Input, Static

from kangtou.v1 import archive_pb2 as pb
from kangtou_engine.errors import BadText
from kangtou_engine.record import read_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import Replay, find_game

from ..api import ApiError
from ..api.archive import Archive
from ..desk.text import game_name
from .inside import Inside
from .look import RED

LIST_MOST = 100
MAX_BYTES = 256 << 20
_ZSTD = b"\x28\xb5\x2f\xfd"
COLUMNS = ("match", "game", "when", "seats", "result")


class Records(Inside[None]):
    """A list, and a line for a file or a match."""

    DEFAULT_CSS = """
    Records #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    Records DataTable { height: 1fr; border: round $secondary; background: $background; }
    Records #path { height: 1; border: none; padding: 0 1; }
    Records #says { height: auto; max-height: 3; padding: 0 1; }
    Records #keys { height: 1; color: $text-muted; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self._records: list[pb.RecordInfo] = []
        self._said = ""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="head", markup=False)
        yield DataTable(id="records", cursor_type="row")
        yield Input(id="path", compact=True)
        yield Static(id="says", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Ask the archive."""
        self.relabel()
        self.query_one("#records").focus()
        self.load()

    def relabel(self) -> None:
        """In the language of now."""
        look = self.look
        self.query_one("#head", Static).update(look.say("replay"))
        self.query_one("#path", Input).placeholder = look.say("replay.path")
        self.query_one("#keys", Static).update(look.say("back"))
        table = self.query_one("#records", DataTable)
        table.clear(columns=True)
        for column in COLUMNS:
            table.add_column(look.say(f"column.{column}"), key=column)
        for one in self._records:
            ended = datetime.fromtimestamp(one.ended_ms / 1000).astimezone()
            scores = " ".join(map(str, one.scores))
            row = (one.match_id, game_name(one.game, look.lang), f"{ended:%m-%d %H:%M}", ", ".join(one.names), scores)
            table.add_row(*map(Text, row), key=one.match_id)  # text alone would be markup

    @work(group="list", exclusive=True)
    async def load(self) -> None:
        """The newest records."""
        try:
            async for one in Archive(self.play.room.client).records():
                self._records.append(one)
                if len(self._records) >= LIST_MOST:
                    break
        except ApiError as error:
            self._say(self.look.say("server_says", text=error))
            return
        self.relabel()
        if not self._records and not self._said:
            self._say(self.look.say("replay.none"))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """A record of the list."""
        self.open(str(event.row_key.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A file, or a match."""
        if event.value.strip():
            self.open(event.value.strip())

    @work(group="open", exclusive=True)
    async def open(self, target: str) -> None:
        """Show a record."""
        found = await self._text(target)
        if found is None:
            self._say(self.look.say("replay.no_file", text=target))
            return
        names, data = found
        try:
            record = read_record(data)
            game = find_game(REGISTRY, record)
            if game is None:
                raise BadText(record.head.terms.game)
            replay = Replay(game[0], record)
        except BadText as error:
            self._say(self.look.say("replay.bad", text=target, problem=error))
            return
        from .replay import ReplayScreen

        accounts = [seat.account for seat in record.head.terms.seats]
        self.app.push_screen(ReplayScreen(replay, names or tuple(accounts)))

    async def _text(self, target: str) -> tuple[tuple[str, ...], bytes] | None:
        """Names and text of a file, or of a match of the archive."""
        try:
            data = await asyncio.to_thread(_file, target)
            if data is not None:
                return (), data
            found = await Archive(self.play.room.client).record(target)
        except (ApiError, OSError, zstandard.ZstdError) as error:
            self._say(self.look.say("replay.bad", text=target, problem=error))
            return None
        return None if found is None else (tuple(found[0].names), found[1])

    def _say(self, text: str) -> None:
        self._said = text
        self.query_one("#says", Static).update(Text(text, RED))


def _file(target: str) -> bytes | None:
    """A record's text, unpacked; None if there is no such file. Raises OSError, ZstdError."""
    path = Path(target).expanduser()
    if not path.is_file():
        return None
    data = path.read_bytes()
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_BYTES) if data.startswith(_ZSTD) else data
