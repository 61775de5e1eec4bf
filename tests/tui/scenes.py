"""Screens at fixed cards, in the middle of things: for pictures and for the texts that tests compare."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import Any, Self

from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input, Static

from kangtou_clients.api import Accepted, Match, Place, Refused, Session, Wanted
from kangtou_clients.tui.app import Play
from kangtou_clients.tui.hand import Hand
from kangtou_clients.tui.lobby import LobbyScreen
from kangtou_clients.tui.opening import Opening
from kangtou_clients.tui.records import Records
from kangtou_clients.tui.replay import ReplayScreen
from kangtou_clients.tui.seat import Seat
from tests.tui.scenes_lobby import SHOWN
from tests.tui.screens import House, house, press, screens, text_of, until

RECORDS = Path(__file__).parents[1] / "golden/records"


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture, and the same as text."""

    name: str
    svg: str
    text: str


@dataclass(frozen=True, slots=True)
class Scene:
    """What is shown. Of a match: the seed of its cards, and after how many of the seat's own turns."""

    name: str
    game: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    seats: int = 4
    seed: int = 7
    turns: int = 0
    lang: str = "zh"
    letters: bool = False
    size: tuple[int, int] = (80, 24)
    then: tuple[str, ...] = ()  # keys at the end
    screen: str = "table"


def _games() -> list[Scene]:
    found = []
    for lang in ("zh", "en"):
        found += [
            Scene(f"hongshi-{lang}", "hongshi", turns=3, lang=lang, then=("i",)),
            Scene(f"duizhu-{lang}", "duizhu", {"windows": "end"}, turns=4, lang=lang, then=("i",)),
            Scene(f"erbaiwu-{lang}", "erbaiwu", turns=9, lang=lang),
        ]
    found += [
        Scene("hongshi-score", "hongshi", {"rounds": 2}, turns=40, then=("v",)),
        Scene("hongshi-log", "hongshi", turns=6, then=("e",)),
        Scene("hongshi-wide", "hongshi", turns=5, size=(120, 36)),
        Scene("hongshi-letters", "hongshi", turns=5, lang="en", letters=True),
        Scene("duizhu-bury", "duizhu", {"windows": "end", "cut": False}, seed=251, turns=1),
        Scene("erbaiwu-six", "erbaiwu", {"cut": False}, 6, turns=2),
        *(Scene(f"wushik-{name}", "wushik", {"variant": name}, turns=3, then=("n",)) for name in _VARIANTS),
        Scene("wushik-liaoning-three", "wushik", {"variant": "liaoning"}, 3, turns=3, lang="en"),
    ]
    return found


_VARIANTS = ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")
SCENES: list[Scene] = [
    *_games(),
    Scene("lobby-zh", screen="lobby"),
    Scene("lobby-en", screen="lobby", lang="en"),
    Scene("open-zh", screen="open"),
    Scene("book-en", screen="book", lang="en"),
    Scene("replay-zh", screen="replay"),
    *(
        Scene(f"{name}-{lang}", screen=name, lang=lang)
        for name, lang in zip(SHOWN, ("en", "zh", "zh", "en"), strict=True)
    ),
    Scene("help-zh", screen="lobby", then=("question_mark",)),
    Scene("help-en", "hongshi", turns=3, lang="en", then=("question_mark",)),
]


async def shoot(scene: Scene, folder: Path) -> Shot:
    """The picture of a scene."""
    async with house(folder) as home:
        if scene.screen in SHOWN:
            shots: list[Shot] = []
            await SHOWN[scene.screen](home, scene.lang, lambda app: shots.append(_shot(scene, app)))
            return shots[0]
        return await _IN[scene.screen](scene, home)


def _shot(scene: Scene, app: Play) -> Shot:
    return Shot(scene.name, picture(app.export_screenshot(title="kangtou play")), text_of(app))


CELL = 12.2  # of a picture, in its own unit
_TEXT = re.compile(r'<text ([^>]*?)x="([0-9.]+)"([^>]*?)textLength="[0-9.]+"([^>]*)>([^<]*)</text>')
_RUN = re.compile(r"[\u2e80-\uffff]+|[^\u2e80-\uffff]+")  # Chinese, or anything else


def picture(svg: str) -> str:
    """A picture in which a Chinese character takes two cells, and that fetches no font."""
    svg = re.sub(r"@font-face {.*?}\n", "", svg, flags=re.DOTALL)
    return _TEXT.sub(_runs, svg.replace("Fira Code", "DejaVu Sans Mono, Noto Sans CJK SC"))


def _runs(found: re.Match[str]) -> str:
    """Each run of one width as a text of its own, at its cell."""
    before, x, between, after, content = found.groups()
    parts, at = [], float(x)
    for run in _RUN.findall(unescape(content)):
        width = CELL * cell_len(run)
        shown = escape(run).replace(" ", "&#160;").replace("\xa0", "&#160;")
        parts.append(f'<text {before}x="{at:.1f}"{between}textLength="{width:.1f}"{after}>{shown}</text>')
        at += width
    return "".join(parts)


# ---- a match at one's seat, all played by one hand in turn, so that it is the same every time ----


async def _table(scene: Scene, home: House) -> Shot:
    async with home.player() as (client, session, me), _Others(home, scene.seats - 1) as others:
        options = {"rounds": 1, **scene.options}
        await home.deal("m1", [me, *others.ids], scene.game, scene.seed, options)
        match = await session.attach("m1")
        assert isinstance(match, Match), match
        await others.attach("m1")
        async with screens(client, session, start=match, lang=scene.lang, size=scene.size, letters=scene.letters) as (
            app,
            pilot,
        ):
            await until(pilot, lambda: isinstance(app.screen, Seat))
            seat = app.screen
            assert isinstance(seat, Seat)
            await _advance(scene, match, others, pilot)
            await until(pilot, lambda: seat.view == match.view and (match.over or seat.turn is not None))
            if not match.over:
                seat.query_one(Hand).clear()
            random.seed(1)
            await press(pilot, *scene.then)
            seat.query_one("#clock").display = False  # another time each time
            await pilot.pause(0.1)
            return _shot(scene, app)


async def _advance(scene: Scene, match: Match, others: _Others, pilot: Pilot[None]) -> None:
    """Until the seat has something to decide for the n-th time, everybody played by the game's bot with one chance."""
    rng = random.Random(scene.seed)
    turns = 0
    while not match.over and (asked := match.game.to_act(match.view)):
        seat = asked[-1]  # in a window the person last
        if seat:
            await _act(others.matches[seat - 1], (match, *others.matches), rng, pilot)
            continue
        seq = match.seq
        await until(pilot, lambda: match.prompt is not None or match.seq > seq)  # noqa: B023
        if match.prompt is None or match.game.legal(match.view, 0, 2) == (match.prompt.default,):
            if match.view.phase in match.game.spec.window_ms(match.config):  # the screen leaves a standing answer
                await until(pilot, lambda: match.seq > seq)  # noqa: B023
                continue
        elif match.view.phase != "between":
            if turns == scene.turns:
                return
            turns += 1
        await _act(match, (match, *others.matches), rng, pilot)


async def _act(one: Match, all_: tuple[Match, ...], rng: random.Random, pilot: Pilot[None]) -> None:
    """One seat's answer, until everybody has seen it."""
    await until(pilot, lambda: one.prompt is not None)
    assert one.prompt is not None
    assert one.seat is not None
    answer = await one.prompt.answer(one.game.spec.greedy(one.view, one.seat, one.prompt.legal, rng.randrange))
    assert isinstance(answer, Accepted), answer
    await until(pilot, lambda: all(match.seq >= answer.seq or match.over for match in all_))


class _Others:
    """The other seats' clients."""

    def __init__(self, home: House, count: int) -> None:
        self._home, self._count = home, count
        self.ids: list[str] = []
        self.matches: list[Match] = []
        self._stack = AsyncExitStack()
        self._sessions: list[Session] = []

    async def __aenter__(self) -> Self:
        for number in range(self._count):
            _, session, account = await self._stack.enter_async_context(self._home.player(f"bot {number}", "bot"))
            self._sessions.append(session)
            self.ids.append(account)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def attach(self, match: str) -> None:
        """At the table."""
        for session in self._sessions:
            found = await session.attach(match)
            assert isinstance(found, Match), found
            self.matches.append(found)


# ---- the other screens ----


async def _lobby(scene: Scene, home: House) -> Shot:
    async with home.player("老张") as (client, session, _), home.player("Mary", "bot") as (other, _, _):
        for wanted, who in (
            (Wanted("hongshi", options={"rounds": 8, "play_out": False}), client),
            (Wanted("wushik", options={"variant": "jinzhou"}), other),
            (Wanted("erbaiwu", seats=6), client),
            (Wanted("duizhu", options={"end_level": "J"}), other),
        ):
            table = await who.lobby.open(wanted)
            assert not isinstance(table, Refused), table
            assert isinstance(await who.lobby.sit(table.match_id, 0), Place)
        async with screens(client, session, lang=scene.lang, size=scene.size) as (app, pilot):
            lobby = app.screen
            assert isinstance(lobby, LobbyScreen)
            await until(pilot, lambda: len(lobby.tables) == 4 or len(app.screen_stack) > 2)
            lobby.workers.cancel_group(lobby, "tables")
            await pilot.pause(0.1)
            for one in lobby.tables:
                one.match_id = one.choice.game[:3] + "4k2p7q"  # theirs differ each time
            lobby._fill()
            lobby.query_one("#head", Static).update("炕头 Kangtou")
            await press(pilot, *scene.then)
            await pilot.pause(0.1)
            return _shot(scene, app)


async def _open(scene: Scene, home: House) -> Shot:
    async with (
        home.player() as (client, session, _),
        screens(client, session, lang=scene.lang, size=scene.size) as (app, pilot),
    ):
        app.push_screen(Opening("open", "hongshi"))
        await until(pilot, lambda: app.screen.query("#o-chat"))
        await pilot.pause(0.1)
        return _shot(scene, app)


async def _book(scene: Scene, home: House) -> Shot:
    async with (
        home.player() as (client, session, _),
        screens(client, session, lang=scene.lang, size=scene.size) as (app, pilot),
    ):
        app.open_book("hongshi", "HS-4.3")
        await until(pilot, lambda: "HS-4.3" in text_of(app))
        await pilot.pause(0.1)
        return _shot(scene, app)


async def _replay(scene: Scene, home: House) -> Shot:
    async with (
        home.player() as (client, session, _),
        screens(client, session, lang=scene.lang, size=scene.size) as (app, pilot),
    ):
        records = Records()
        app.push_screen(records)
        await until(pilot, lambda: app.screen is records)
        records.open(str(RECORDS / "duizhu.ktr"))
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
        screen = app.screen
        assert isinstance(screen, ReplayScreen)
        screen.names = ("小明", "老张", "大姐", "老叔")
        await press(pilot, "g")
        screen.query_one("#goto", Input).value = "1:3"
        await press(pilot, "enter", "right", "right")
        await pilot.pause(0.1)
        return _shot(scene, app)


_IN: dict[str, Callable[[Scene, House], Awaitable[Shot]]] = {
    "table": _table,
    "lobby": _lobby,
    "open": _open,
    "book": _book,
    "replay": _replay,
}
