"""Pictures of exported pages for docs/screenshots, from the golden records and one six-seat match.

    .venv/bin/python tools/screenshots_page.py [NAME …]

Needs `chromium` on the path (Debian: apt-get install chromium) and fonts with Chinese. Names are those of SHOTS.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), *(str(ROOT / part) for part in ("engine", "services", "clients", "proto"))]

from kangtou_clients.page import write_page  # noqa: E402
from kangtou_engine.record import read_record  # noqa: E402
from kangtou_engine.registry import REGISTRY  # noqa: E402
from kangtou_engine.replay import OPEN, Replay, Who, find_game  # noqa: E402
from tests.browser.browser import launch  # noqa: E402
from tests.records.make import play  # noqa: E402

TARGET = ROOT / "docs" / "screenshots"
NAMES = ("Lan 兰", "Tie 铁", "Mei 梅", "Gang 刚", "Xue 雪", "Shan 山")
DESKTOP, TABLET, PHONE = (1280, 900), (1060, 840), (390, 844)


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: which match, whose view, at which share of the match, on what."""

    match: str
    who: Who
    at: float
    lang: str = "en"
    size: tuple[int, int] = DESKTOP
    scheme: Literal["light", "dark"] = "light"
    printed: bool = False


SHOTS = {
    "hongshi-open": Shot("hongshi", OPEN, 0.11),
    "hongshi-seat": Shot("hongshi", 2, 0.2, "zh"),
    "hongshi-phone": Shot("hongshi", 2, 0.2, "zh", PHONE),
    "hongshi-print": Shot("hongshi", 2, 1.0, printed=True),
    "duizhu-open": Shot("duizhu", OPEN, 0.165, "zh"),
    "duizhu-seat": Shot("duizhu", 0, 0.41, "en", scheme="dark"),
    "erbaiwu-open": Shot("erbaiwu", OPEN, 0.2),
    "erbaiwu-seat": Shot("erbaiwu", 1, 0.2, "zh"),
    "erbaiwu-six": Shot("six", OPEN, 0.45),
    "wushik-open": Shot("chengde2", OPEN, 0.06, "zh", TABLET),
    "wushik-seat": Shot("liaoning", 3, 0.2),
    "wushik-phone": Shot("chengde2", OPEN, 0.06, "en", PHONE, scheme="dark"),
}


def replay_of(name: str) -> Replay:
    """A golden record, or a match of Erbaiwu with six seats."""
    if name == "six":
        game = REGISTRY.game("erbaiwu")
        return Replay(game, play(game, 6, {"rounds": 2}, 6).record)
    record = read_record((ROOT / "tests" / "golden" / "records" / f"{name}.ktr").read_bytes())
    found = find_game(REGISTRY, record)
    assert found is not None
    return Replay(found[0], record)


def take(browser: Browser, folder: Path, name: str, shot: Shot) -> Path:
    """One picture."""
    replay = replay_of(shot.match)
    path = folder / f"{name}.html"
    path.write_text(write_page(replay, shot.who, NAMES[: replay.config.seats], shot.lang), "utf-8")
    width, height = shot.size
    page: Page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=shot.scheme)
    page.goto(path.as_uri())
    steps = int(page.get_attribute("#seek", "max") or 0)
    page.evaluate("at => { location.hash = `#${at}` }", 1 + round(shot.at * steps))
    if shot.printed:
        page.emulate_media(media="print")
    page.wait_for_timeout(100)
    target = TARGET / f"page-{name}.png"
    page.screenshot(path=target)
    page.close()
    return target


def wanted(names: list[str]) -> Iterator[tuple[str, Shot]]:
    """All pictures, or those named."""
    for name, shot in SHOTS.items():
        if not names or name in names:
            yield name, shot


def main(names: list[str]) -> int:
    """Take them."""
    program = shutil.which("chromium")
    if program is None:
        print("chromium is missing: apt-get install chromium", file=sys.stderr)
        return 1
    TARGET.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as engine, tempfile.TemporaryDirectory() as folder:
        browser = launch(engine, program)
        for name, shot in wanted(names):
            path = take(browser, Path(folder), name, shot)
            print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1000} kB")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
