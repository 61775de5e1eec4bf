"""The report as text, CSV and HTML: complete, in both languages, safe, and without a request."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request
from rich.cells import cell_len
from rich.console import Console

from kangtou_clients.tournament import final_table, show, write_csv, write_page
from kangtou_clients.tournament.figures import difference, signed
from kangtou_clients.tournament.words import LANGUAGES, WORDS
from kangtou_services.tournament.model import Entrant, Format, Stopping
from kangtou_services.tournament.report import report

from ..browser.conftest import browser as browser
from .made import run, spec_of, strong
from .test_schedule import SKILL, SPECS

SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1100, "light"), (400, "dark"))
RUN = {
    "id": "t1",
    "commitment": "ab" * 32,
    "began_ms": 1_796_000_000_000,
    "closed": "complete",
    "isolated": False,
    "replays": [{"game": f"s{game}.0", "attempt": 0, "why": "the table was taken over"} for game in range(3)],
}
EVIL = '<script>alert(1)</script>"&='


@cache
def told(name: str = "round robin") -> dict[str, Any]:
    """A report; the first entrant's name is an attack."""
    spec = SPECS[name]
    spec = replace(spec, entrants=(Entrant(EVIL, bot="greedy"), *spec.entrants[1:]))
    results, _ = run(spec, strong(SKILL))
    results[0] = replace(results[0], faults=("crash", *results[0].faults[1:]))
    return report(spec, results, RUN)


class Tags(HTMLParser):
    """What a page holds: tags with attributes, and the texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One more."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """One more."""
        self.texts.append(data)


@pytest.mark.parametrize("name", SPECS)
def test_page_stands_alone(name: str) -> None:
    page = Tags(write_page(told(name), "zh", "https://archive.example/{match}"))
    kinds = {tag for tag, _ in page.tags}
    assert not kinds & {"script", "img", "link", "iframe", "object", "form"}
    assert EVIL in page.texts, "escaped, so it is text"
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert len(links) == len(set(links)) > 0
    assert all(str(link).startswith("https://archive.example/m-") for link in links)
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline'")
    languages = [attrs.get("lang") for tag, attrs in page.tags if tag == "span"]
    assert languages.count("en") == languages.count("zh")
    assert {"3 × the table was taken over", "not isolated", "未隔离", "全部打完"} <= set(page.texts)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", [60, 120])
def test_text_fits_the_terminal(lang: str, width: int) -> None:
    for name in SPECS:
        out = io.StringIO()
        console = Console(file=out, width=width)
        show(told(name), console, lang)
        assert max(map(cell_len, out.getvalue().splitlines())) <= width


def test_texts_of_both_languages_take_the_same_values() -> None:
    for code, (english, chinese) in WORDS.items():
        assert set(re.findall(r"{\w+}", english)) == set(re.findall(r"{\w+}", chinese)), code


def test_table_of_a_tournament_that_begins() -> None:
    spec = spec_of(3)
    fresh = report(spec, [])
    assert final_table(fresh, "en").row_count == 3
    assert "–" in write_page(fresh)
    assert len(write_csv(fresh).splitlines()) == 4


def test_csv_reads_back() -> None:
    whole = told()
    rows = list(csv.DictReader(io.StringIO(write_csv(whole))))
    assert [row["entrant"] for row in rows] == [row["name"] for row in whole["table"]]
    assert [float(row["edge_value"]) for row in rows] == [row["edge"]["value"] for row in whole["table"]]
    assert len(list(csv.DictReader(io.StringIO(write_csv(whole, "matches"))))) == len(whole["matches"])
    assert len(list(csv.DictReader(io.StringIO(write_csv(whole, "pairs"))))) == 10
    with pytest.raises(ValueError, match="table, pairs, matches"):
        write_csv(whole, "nothing")


def test_a_pair_from_both_sides() -> None:
    whole = told("gauntlet")
    one, other = difference(whole, 0, 2), difference(whole, 2, 0)
    assert one is not None
    assert other is not None
    assert one["difference"]["value"] == -other["difference"]["value"]
    assert one["wins"] == other["wins"][::-1]
    assert difference(whole, 1, 2) is None
    assert (signed(-0.001), signed(-1.5), signed(123.44), signed(None)) == ("+0.00", "−1.50", "+123.4", "–")


def test_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    """Nothing is asked of the network, nothing is refused by the policy, each language shows its own texts alone."""
    spec = spec_of(4, "duizhu", sets=25, stopping=Stopping("sequential", 0.0, 5.0), format=Format.ROUND_ROBIN)
    file = tmp_path / "report.html"
    file.write_text(write_page(report(spec, run(spec, strong(SKILL))[0])), "utf-8")
    for width, scheme in SCREENS:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        asked, said = heard(page)
        page.goto(file.as_uri())
        assert page.get_by_role("heading", name="Cross table").is_visible()
        assert not page.get_by_text("对阵表").is_visible()
        page.click("label[for=to-zh]")
        assert page.get_by_text("对阵表").is_visible()
        assert not page.get_by_role("heading", name="Cross table").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert (asked, said) == ([file.as_uri()], [])
        page.close()


def heard(page: Page) -> tuple[list[str], list[str]]:
    """What a page asks for and what the browser has to say, from now on."""
    asked: list[str] = []
    said: list[str] = []

    def request(one: Request) -> None:
        asked.append(one.url)

    def console(one: ConsoleMessage) -> None:
        said.append(one.text)

    page.on("request", request)
    page.on("console", console)
    return asked, said
