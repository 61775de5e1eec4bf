"""Exported pages in chromium: every game and variant, stepped through, switched, printed, on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import OPEN, Replay, Who
from tests.conftest import Counts
from tests.records.make import play

from .watch import NAMES, PHONE, RECORDS, golden, shown

# Steps through all of a match in one call, and gathers what each step said and held.
WALK = """() => {
  const found = [], seek = document.getElementById("seek");
  for (let at = 0; at <= Number(seek.max); at++) {
    document.querySelector('[data-do="on"]').disabled || (at && document.querySelector('[data-do="on"]').click());
    found.push([Number(seek.value), document.getElementById("now").textContent,
      document.querySelectorAll(".card:not(.back)").length, document.querySelectorAll(".log li.here").length]);
  }
  return found;
}"""

# Whether any seat, area or laid cards lie on another.
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".seat, .area, .spot:not(:empty)")];
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const places = boxes.map((one) => one.getBoundingClientRect());
  return places.some((one, i) => places.some((other, j) => i < j && over(one, other)));
}"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", RECORDS)
def test_a_match_stepped_to_its_end(browser: Browser, tmp_path: Path, name: str, counts: Counts) -> None:
    """Open, as a seat, as a spectator: one of them for each record, all in full."""
    views: list[Who] = [OPEN, 1, None]
    first = RECORDS.index(name)
    for number in range(counts(1, 3)):
        step_through(browser, tmp_path, golden(name), views[(first + number) % 3])


def step_through(browser: Browser, tmp_path: Path, replay: Replay, who: Who) -> None:
    """Every step says something and has its line in the log; the end shows the record's scores and places."""
    outcome = replay.record.head.outcome
    with shown(browser, tmp_path, replay, who) as page:
        steps = page.run(WALK)
        assert [at for at, *_ in steps] == list(range(page.last + 1))
        assert all(said for _, said, _, _ in steps)
        assert all(here == 1 for *_, here in steps)
        assert any(cards for _, _, cards, _ in steps)
        seats = range(replay.config.seats)
        assert [page.text(f'[data-seat="{seat}"] .score') for seat in seats] == [f"score {n}" for n in outcome.scores]
        total = page.text("#sheet tr.total").split()
        wanted = [f"{score} place {place}" for score, place in zip(outcome.scores, outcome.places or (), strict=True)]
        assert " ".join(total) == "final scores " + " ".join(wanted)
        assert page.count("#sheet tr.has-told") >= outcome.rounds


def test_the_next_seat_sits_to_the_right(browser: Browser, tmp_path: Path, counts: Counts) -> None:
    """Play goes anticlockwise; the viewer sits near; no seat lies on another, with two to six of them."""
    for seats in (2, 3, 6, 4, 5)[: counts(3, 5)]:
        game = REGISTRY.game("erbaiwu")
        replay = Replay(game, play(game, seats, {"rounds": 1}, seats, stop_after=40).record)
        with shown(browser, tmp_path, replay, 1) as page:
            page.press("End")
            boxes = [page.page.locator(f'[data-seat="{seat}"]').bounding_box() for seat in range(seats)]
            places = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]
            assert len(places) == seats
            order = [places[(1 + step) % seats] for step in range(seats)]
            assert all(order[0][1] > other[1] for other in order[1:])
            if seats > 2:
                assert order[1][0] == max(x for x, _ in order)
                assert order[-1][0] == min(x for x, _ in order)
                far = [x for x, _ in order[2:-1]]
                assert far == sorted(far, reverse=True)
            assert not page.run(OVERLAPS)


def test_keys_buttons_and_jumps(browser: Browser, tmp_path: Path) -> None:
    """Steps, tricks, rounds, ends; the slider, the log, the score sheet, the lists; the address keeps the place."""
    with shown(browser, tmp_path, golden("hongshi"), OPEN) as page:
        page.press("ArrowRight", "ArrowRight", "ArrowLeft")
        assert page.at == 1
        page.press("End")
        assert page.at == page.last
        assert page.page.is_disabled('[data-do="on"]')
        page.press("Home")
        assert page.at == 0
        page.press("PageDown")
        assert "round 2" in page.text("#where")
        round_at = page.at
        page.press("ArrowDown")
        assert "trick 2" in page.text("#where")
        page.press("ArrowUp")
        assert page.at == round_at
        page.page.select_option("#jump", label="round 3 · trick 2")
        assert "round 3" in page.text("#where")
        assert "trick 2" in page.text("#where")
        place = page.at
        page.page.locator("#log li.here").click()
        page.page.locator("#seek").fill("7")
        assert page.at == 7
        page.page.locator("#sheet a").first.click()
        assert page.at > 0
        expect(page.page).to_have_url(re.compile(f"#{page.at + 1}$"))
        page.run(f"() => {{ location.hash = '#{place + 1}' }}")
        expect(page.page.locator("#seek")).to_have_value(str(place))
        page.press("?")
        assert page.count("dialog[open] dt") == page.run("() => KEYS.length")
        page.press("Escape")
        assert page.count("dialog[open]") == 0
        for button in ("first", "on", "on_trick", "on_round", "back_round", "back_trick", "back", "last"):
            page.page.click(f'[data-label="{button}"]') if page.page.is_enabled(f'[data-label="{button}"]') else None
        assert page.at == page.last


def test_auto_play_goes_on_by_itself_and_stops_at_the_end(browser: Browser, tmp_path: Path) -> None:
    """At the chosen pace, with a clock in the test's hand; Space pauses it."""
    replay = golden("jiangnan")
    file = tmp_path / "page.html"
    with shown(browser, tmp_path, replay, 0) as page:
        page.page.clock.install()
        page.page.goto(file.as_uri() + "?again")
        page.asked[:] = [file.as_uri()]
        page.press(" ")
        page.page.clock.run_for(3_050)
        assert page.at == 3
        page.press(" ")
        page.page.clock.run_for(5_000)
        assert page.at == 3
        page.press("+", "+", " ")
        page.page.clock.run_for(1_050)
        assert page.at == 7
        page.page.select_option("#pace", label="as played")
        steps = page.run("() => steps.map((step) => step.time)")
        page.page.clock.run_for(int(steps[12] - steps[7]) + 50)
        assert 12 <= page.at <= 13
        page.page.locator("#seek").fill(str(page.last - 1))
        page.page.clock.run_for(20_000)
        assert page.at == page.last
        assert page.page.get_attribute("#play", "aria-label") == "Play"


def test_the_view_is_switched_where_the_export_allows_it(browser: Browser, tmp_path: Path) -> None:
    """An open page to any seat and the spectator, keeping the place; a seat's page nowhere."""
    replay = golden("chengde2")
    with shown(browser, tmp_path, replay, OPEN) as page:
        page.press("ArrowRight", "ArrowRight", "ArrowRight")
        assert page.count(".seat .back") == 0
        page.press("2")
        assert page.at == 3
        assert page.count(".seat .back") == 3
        assert page.count('#near [data-seat="2"] .card:not(.back)') > 20
        page.press("s")
        assert page.count(".seat .back") == 4
        page.page.select_option("#view", label="as seat 0 saw it")
        assert page.count('[data-seat="0"] .back') == 0
        page.press("o")
        assert page.count(".seat .back") == 0
    with shown(browser, tmp_path, replay, 3) as page:
        page.press("ArrowRight", "1", "o", "s")
        assert page.page.is_disabled("#view")
        assert page.count('#near [data-seat="3"] .card:not(.back)') > 20
        assert page.count(".seat .back") == 3


@pytest.mark.parametrize("name", ["hongshi", "duizhu", "erbaiwu", "liaoning"])
def test_the_language_is_switched_at_run_time(browser: Browser, tmp_path: Path, name: str) -> None:
    """Chinese and back, at the same step; what screen readers are told as well."""
    replay = golden(name)
    with shown(browser, tmp_path, replay, 0, "zh") as page:
        page.press("PageDown", "ArrowRight")
        at = page.at
        assert page.page.get_attribute("html", "lang") == "zh-Hans"
        assert replay.game.spec.title[1] in page.text("#title")
        assert page.page.get_attribute('[data-do="on"]', "aria-label") == "前进一步"
        assert page.run("() => /[\\u4e00-\\u9fff]/.test(document.querySelector('.where').textContent)")
        page.page.click("#language")
        assert page.at == at
        assert page.page.get_attribute("html", "lang") == "en"
        assert "has just acted" in page.text("#table")
        assert page.text("#sheet").startswith("round")
        page.press("l")
        assert "刚行动" in page.text("#table")


def test_cards_say_their_suit_in_three_ways(browser: Browser, tmp_path: Path) -> None:
    """Glyph, letter and colour, and in words for who cannot see; four colours, in light and dark."""
    with shown(browser, tmp_path, golden("chengde2"), OPEN) as page:
        for scheme in ("light", "dark"):
            page.page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
            colours = {
                suit: page.run(f"() => getComputedStyle(document.querySelector('.seat .card.{suit}')).color")
                for suit in "SHCD"
            }
            assert len(set(colours.values())) == 4
        for suit, glyph, word in zip("SHCD", "♠♥♣♦", ("spades", "hearts", "clubs", "diamonds"), strict=True):
            card = page.page.locator(f".seat .card.{suit}").first
            assert card.locator(".glyph").inner_text() == glyph
            assert card.locator(".letter").inner_text() == suit
            assert (card.get_attribute("aria-label") or "").endswith(word)
        assert page.page.get_attribute("#now", "aria-live") == "polite"


def test_the_focus_is_seen_and_later_moves_are_not(browser: Browser, tmp_path: Path) -> None:
    """Tab reaches the controls with a visible outline; what comes later shows only when asked for."""
    with shown(browser, tmp_path, golden("hongshi"), 2) as page:
        page.press("Tab")
        assert page.run("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"
        visible = "() => [...document.querySelectorAll('#log li')].filter((one) => one.offsetParent).length"
        page.press("ArrowRight")
        assert page.run(visible) == page.at + 1
        assert page.count("#sheet tr.has-told:not(.later)") == 0
        page.page.check("#later")
        assert page.run(visible) == page.last + 1


def test_far_jumps_in_a_long_match(browser: Browser, tmp_path: Path) -> None:
    """The line of the step comes into view, exactly what is past shows, and most of the log is not laid out."""
    game = REGISTRY.game("hongshi")
    replay = Replay(game, play(game, 3, {"rounds": 12}).record)
    in_view = """() => {
      const line = document.querySelector("#log li.here").getBoundingClientRect();
      const box = document.getElementById("log").getBoundingClientRect();
      return line.top >= box.top - 1 && line.bottom <= box.bottom + 1;
    }"""
    shown_lines = "() => [...document.querySelectorAll('#log li')].filter((one) => one.offsetParent).length"
    laid_out = """() => [...document.querySelectorAll("#log li")]
      .filter((one) => one.checkVisibility({ contentVisibilityAuto: true })).length"""
    with shown(browser, tmp_path, replay, OPEN) as page:
        for share in (1.0, 0.02, 0.7, 0.69, 0.1, 0.98, 0.0):
            page.run(f"() => go({int(share * page.last)})")
            page.page.wait_for_function(in_view)
            assert page.run(shown_lines) == page.at + 1
            assert page.count("#log li.here") == 1
        page.run("() => actions.last()")
        page.page.wait_for_function(in_view)
        assert 0 < page.run(laid_out) < page.last / 2


def test_print_shows_score_sheet_and_all_moves(browser: Browser, tmp_path: Path) -> None:
    """Without table and controls, from the first step on."""
    replay = golden("hongshi")
    with shown(browser, tmp_path, replay, OPEN) as page:
        page.page.emulate_media(media="print")
        for hidden in (".play", ".tools", "footer"):
            assert not page.page.is_visible(hidden)
        assert page.page.is_visible("#sheet tr.total")
        assert page.run("() => [...document.querySelectorAll('#log li')].filter((one) => one.offsetParent).length") == (
            page.last + 1
        )
        document = page.page.pdf(format="A4")
        assert document.startswith(b"%PDF")


@pytest.mark.parametrize("name", ["hongshi", "erbaiwu", "chengde2"])
def test_on_a_phone_nothing_is_wider_than_the_screen(
    browser: Browser, tmp_path: Path, name: str, counts: Counts
) -> None:
    """With all hands open; buttons are large enough for a finger."""
    with shown(browser, tmp_path, golden(name), OPEN, size=PHONE) as page:
        wide = page.run(
            """(most) => { const found = []; for (let at = 0; at < Math.min(most, steps.length); at++) { go(at);
            if (document.documentElement.scrollWidth > innerWidth) found.push(at); } return found; }""",
            counts(25, 1000),
        )
        assert wide == []
        sizes = page.run("() => [...document.querySelectorAll('.buttons button')].map((one) => one.offsetHeight)")
        assert min(sizes) >= 40
        assert not page.run(OVERLAPS)
        assert NAMES[0] in page.text("#table")
