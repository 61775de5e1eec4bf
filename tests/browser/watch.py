"""An exported page in the browser, watched: what it asks for, what it complains of, what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Request

from kangtou_clients.page import write_page
from kangtou_engine.record import read_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import Replay, Who, find_game

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "records"
RECORDS = tuple(sorted(file.stem for file in GOLDEN.glob("*.ktr")))
NAMES = ("Lan 兰", "Tie 铁", "Mei 梅", "Gang 刚", "Xue 雪", "Shan 山")
DESKTOP, PHONE = (1280, 900), (390, 844)


def golden(name: str) -> Replay:
    """A golden record."""
    record = read_record((GOLDEN / f"{name}.ktr").read_bytes())
    found = find_game(REGISTRY, record)
    assert found is not None
    return Replay(found[0], record)


class Watched:
    """A page with what it did. `at` is the step shown, from 0."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.said: list[str] = []
        page.on("request", self._request)
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)

    @property
    def at(self) -> int:
        """Which step the slider stands at."""
        return int(self.page.input_value("#seek"))

    @property
    def last(self) -> int:
        """The last step."""
        return int(self.page.get_attribute("#seek", "max") or 0)

    def press(self, *keys: str) -> None:
        """Keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        return self.page.inner_text(selector)

    def count(self, selector: str) -> int:
        """How many there are."""
        return self.page.locator(selector).count()

    def run(self, script: str, given: object = None) -> Any:
        """A value from the page."""
        return self.page.evaluate(script, given)


@contextmanager
def shown(
    browser: Browser, folder: Path, replay: Replay, who: Who, lang: str = "en", size: tuple[int, int] = DESKTOP
) -> Iterator[Watched]:
    """An export, opened from its file; at the end it has complained of nothing and asked for nothing but itself."""
    file = folder / "page.html"
    file.write_text(write_page(replay, who, NAMES[: replay.config.seats], lang), "utf-8")
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    try:
        watched = Watched(page)
        page.goto(file.as_uri())
        yield watched
        assert watched.said == []
        assert watched.asked == [file.as_uri()]
    finally:
        page.close()
