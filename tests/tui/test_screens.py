"""Every screen by its keys and the mouse, in both languages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from kangtou_clients.api import Match, Place, Refused, Session, Wanted
from kangtou_clients.api.talk import ChatMessage
from kangtou_clients.bots.player import Tally, dice, play, policy_of
from kangtou_clients.tui.app import Play
from kangtou_clients.tui.book import Book
from kangtou_clients.tui.choose import Choose
from kangtou_clients.tui.company import Company
from kangtou_clients.tui.filling import Filling
from kangtou_clients.tui.hand import Hand
from kangtou_clients.tui.lobby import LobbyScreen
from kangtou_clients.tui.opening import Opening
from kangtou_clients.tui.records import Records
from kangtou_clients.tui.replay import ReplayScreen
from kangtou_clients.tui.seat import Seat
from kangtou_clients.tui.sheets import Page
from kangtou_clients.tui.talk import TalkPage
from kangtou_clients.tui.waiting import Queueing
from kangtou_engine.phrases import PHRASES
from kangtou_engine.registry import REGISTRY
from tests.tui.screens import House, bots, house, press, screens, text_of, until

RECORDS = Path(__file__).parents[1] / "golden/records"


async def shows(app: Play, pilot: Pilot[None], kind: type[object]) -> Any:
    """Wait for a screen of this kind."""
    await until(pilot, lambda: type(app.screen) is kind)
    return app.screen


async def says(app: Play, pilot: Pilot[None], text: str) -> None:
    """Wait for a text on the screen."""
    try:
        await until(pilot, lambda: text in text_of(app))
    except TimeoutError:
        pytest.fail(f"{text!r} is not on the screen:\n{text_of(app)}")


@asynccontextmanager
async def at_table(folder: Path, game: str, seed: int, **options: Any) -> AsyncIterator[tuple[Play, Pilot[None], Seat]]:
    """A person's seat in a match of fixed cards."""
    async with house(folder) as home, home.player() as (client, session, me), bots(home, "m1", 3) as ids:
        await home.deal("m1", [me, *ids], game, seed, {"rounds": 1, **options})
        ids.go()
        match = await session.attach("m1")
        assert isinstance(match, Match)
        async with screens(client, session, start=match) as (app, pilot):
            screen: Seat = await shows(app, pilot, Seat)
            await until(pilot, lambda: screen.turn is not None)
            yield app, pilot, screen


@asynccontextmanager
async def in_lobby(folder: Path) -> AsyncIterator[tuple[Play, Pilot[None], House]]:
    """The lobby of a server with nothing in it."""
    async with (
        house(folder) as home,
        home.player() as (client, session, _),
        screens(client, session) as (app, pilot),
    ):
        await shows(app, pilot, LobbyScreen)
        yield app, pilot, home


# ---- the lobby ----


async def _fill(home: House, match: str, seats: int) -> list[asyncio.Task[None]]:
    """Others sit down at a table and play."""

    async def one(number: int) -> None:
        async with home.player(f"bot {number}", "bot") as (client, session, _):
            place = await client.lobby.sit(match)
            assert isinstance(place, Place), place
            found: object = None
            while not isinstance(found, Match):
                await asyncio.sleep(0.05)
                found = await session.attach(match, entropy=place.entropy)
            await play(found, "greedy", dice(number), Tally())

    return [asyncio.create_task(one(number)) for number in range(seats)]


async def test_from_the_lobby_to_a_table(tmp_path: Path) -> None:
    """A table is opened with its options, listed, filled, played at, left, and watched by another."""
    async with in_lobby(tmp_path) as (app, pilot, home):
        lobby: LobbyScreen = await shows(app, pilot, LobbyScreen)
        await says(app, pilot, "No tables now")
        await press(pilot, "o")
        form: Opening = await shows(app, pilot, Opening)
        await says(app, pilot, "DZ-13.1")  # the first game's options, with their rules
        form.query_one("#o-rounds", Input).value = "x"
        await press(pilot, "ctrl+g")
        await says(app, pilot, "rounds cannot be x")
        form.query_one("#o-rounds", Input).value = "1"
        await press(pilot, "ctrl+g")
        await shows(app, pilot, Filling)
        await says(app, pilot, "Waiting for 3 more")
        await press(pilot, "f2")
        await says(app, pilot, "还差 3 人")
        await press(pilot, "f2")
        await press(pilot, "escape")
        await shows(app, pilot, LobbyScreen)
        await until(pilot, lambda: len(lobby.tables) == 1)
        await says(app, pilot, "4 of 4 free")
        match = lobby.tables[0].match_id
        lobby.query_one("#tables").focus()
        await press(pilot, "enter")
        await shows(app, pilot, Filling)
        tasks = await _fill(home, match, 3)
        seat: Seat = await shows(app, pilot, Seat)
        assert seat.match.match_id == match
        await until(pilot, lambda: seat.turn is not None)
        await press(pilot, "ctrl+l")
        await shows(app, pilot, Choose)
        await press(pilot, "down", "enter")
        await shows(app, pilot, LobbyScreen)
        await press(pilot, "f")
        await until(pilot, lambda: lobby.tables and "playing" in text_of(app))
        await press(pilot, "w")  # one's own seat, so no spectator
        seat = await shows(app, pilot, Seat)
        assert not seat.match.spectate
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_queue_is_left_again(tmp_path: Path) -> None:
    """A ticket is taken and taken back; a second one finds nobody in its way."""
    async with in_lobby(tmp_path) as (app, pilot, _):
        await shows(app, pilot, LobbyScreen)
        for _round in range(2):
            await press(pilot, "q")
            await shows(app, pilot, Opening)
            await press(pilot, "enter")
            await shows(app, pilot, Queueing)
            await says(app, pilot, "1 waiting")
            await press(pilot, "escape")
            await shows(app, pilot, LobbyScreen)


async def test_looking_on(tmp_path: Path) -> None:
    """A spectator sees no hand, and has no keys for cards."""
    async with house(tmp_path) as home, home.player() as (client, session, _), bots(home, "m1", 4) as ids:
        await home.deal("m1", list(ids), "hongshi", 5, {"rounds": 1, "between": False})
        ids.go()
        match = await session.watch("m1")
        assert isinstance(match, Match)
        async with screens(client, session, start=match) as (app, pilot):
            table: Company = await shows(app, pilot, Company)
            assert not table.query(Hand)
            await says(app, pilot, "over (by the rules)")
            await press(pilot, "v")
            await shows(app, pilot, Page)
            await says(app, pilot, "Score sheet")
            await press(pilot, "escape", "ctrl+l")
            await shows(app, pilot, LobbyScreen)


# ---- the table ----


async def test_refusals_name_rule_and_cards_and_open_the_book(tmp_path: Path) -> None:
    """Cards that do not go together: the server's reason; `u` opens that rule."""
    async with at_table(tmp_path, "hongshi", 7, reveal=False, cut=False, lightning=False) as (app, pilot, seat):
        hand = seat.query_one(Hand)
        hand.choose((hand.cards[0], hand.cards[-1]))
        seat.on_hand_changed()
        await press(pilot, "enter")
        await says(app, pilot, "✗ HS-")
        rule = seat.rule
        await press(pilot, "u")
        await shows(app, pilot, Book)
        await says(app, pilot, rule)
        await press(pilot, "escape")
        assert app.screen is seat
        await press(pilot, "colon")
        seat.query_one("#typed", Input).value = "play ♥99"
        await press(pilot, "enter")
        await says(app, pilot, "CM-10.1")


async def test_the_mouse(tmp_path: Path) -> None:
    """A click takes a card up, another puts it down; a click on an action does it."""
    async with at_table(tmp_path, "hongshi", 7, reveal=False, cut=False, lightning=False) as (_, pilot, seat):
        hand = seat.query_one(Hand)
        usable = next(place for place in range(len(hand.cards)) if hand.cards[place] in seat.turn.choices.can_add(()))  # type: ignore[union-attr]
        column = next(x for x in range(hand.size.width) if hand.place_at(x, 1) == usable) + 1
        await pilot.click(Hand, offset=(column, 1))
        await until(pilot, lambda: hand.chosen == [usable])
        await pilot.click(Hand, offset=(column, 1))
        await until(pilot, lambda: hand.chosen == [])
        await pilot.click(Hand, offset=(column, 1))
        turn = seat.turn
        await pilot.click("Bar", offset=(3, 0))
        await until(pilot, lambda: seat.turn is not turn)


async def test_looking_around(tmp_path: Path) -> None:
    """Order of the hand, letters, language, sheets, help; the log covers what the book covers."""
    async with at_table(tmp_path, "hongshi", 7, reveal=False, cut=False, lightning=False) as (app, pilot, seat):
        hand = seat.query_one(Hand)
        orders = []
        for _ in range(3):
            await press(pilot, "o")
            orders.append(hand.cards)
        assert len(set(orders)) > 1
        await press(pilot, "x")
        await until(pilot, lambda: "│S" in text_of(app) and "│♠" not in text_of(app))
        await press(pilot, "f2")
        await says(app, pilot, "回车 出牌")
        for key, text in (("v", "计分表"), ("e", "对局经过"), ("question_mark", "牌上的 •")):
            await press(pilot, key)
            await shows(app, pilot, Page)
            await says(app, pilot, text)
            await press(pilot, "escape")
        await press(pilot, "f2")
        while not any(isinstance(one, str) for one in seat.follower.history.shown()):  # type: ignore[union-attr]
            await until(pilot, lambda: seat.turn is not None)
            turn = seat.turn
            await press(pilot, "i", "enter")
            await until(pilot, lambda turn=turn: seat.turn is not turn)  # type: ignore[misc]
        await press(pilot, "e")
        await says(app, pilot, "not to be looked back at (HS-13.3)")


async def test_too_many_to_list_is_checked_by_the_server(tmp_path: Path) -> None:
    """Burying: any six of eighteen. The server says of a choice what it lacks, and when it is right."""
    alone = 251  # a deal in which only this seat holds a level card
    async with at_table(tmp_path, "duizhu", alone, cut=False, windows="end") as (app, pilot, seat):
        turn = seat.turn
        assert turn is not None
        declare = next(action for action in turn.choices.actions if action.verb == "declare")
        seat.send(turn, declare)
        await until(pilot, lambda: seat.turn is not None and seat.turn.choices.too_many is not None)
        hand = seat.query_one(Hand)
        hand.choose(hand.cards[:5])
        seat.on_hand_changed()
        await says(app, pilot, "six cards are buried, not 5")
        hand.choose(hand.cards[:6])
        seat.on_hand_changed()
        await says(app, pilot, "may be played")


# ---- books and records ----


async def test_the_books(tmp_path: Path) -> None:
    """Chapters, search, a rule of another book, the next book."""
    async with in_lobby(tmp_path) as (app, pilot, _):
        await shows(app, pilot, LobbyScreen)
        app.open_book("hongshi", "HS-4.3")
        book: Book = await shows(app, pilot, Book)
        await says(app, pilot, "HS-4.3")
        await press(pilot, "slash")
        book.query_one("#find", Input).value = "lightning"
        await press(pilot, "enter")
        await says(app, pilot, "1 of ")
        await press(pilot, "n")
        await says(app, pilot, "2 of ")
        await press(pilot, "slash")
        book.query_one("#find", Input).value = "dz-7.3"
        await press(pilot, "enter")
        await says(app, pilot, "Rule book: duizhu")
        await press(pilot, "slash")
        book.query_one("#find", Input).value = "xyzzy"
        await press(pilot, "enter")
        await says(app, pilot, "xyzzy is not found")
        await press(pilot, "b", "f2")
        await says(app, pilot, "规则书")
        await press(pilot, "escape")
        await shows(app, pilot, LobbyScreen)


@pytest.mark.parametrize("record", sorted(path.name for path in RECORDS.glob("*.ktr")))
async def test_a_replay(record: str, tmp_path: Path) -> None:
    """A record from a file: steps, tricks, rounds, places, sides, legal plays, the end."""
    async with in_lobby(tmp_path) as (app, pilot, _):
        await shows(app, pilot, LobbyScreen)
        await press(pilot, "r")
        records: Records = await shows(app, pilot, Records)
        records.open(str(RECORDS / record))
        screen: ReplayScreen = await shows(app, pilot, ReplayScreen)
        player = screen.player
        await press(pilot, "right", "right", "left", "down", "l", "pagedown", "up", "s", "s", "f2", "x")
        assert player.who == 0
        assert 0 < player.position <= player.length
        await press(pilot, "g")
        screen.query_one("#goto", Input).value = "1:1"
        await press(pilot, "enter")
        assert player.last is not None
        assert player.last.round <= 1
        await press(pilot, "plus", "plus", "plus", "plus", "space", "space", "end")
        assert player.position == player.length
        assert screen.replay.game.spec.name in REGISTRY.names()
        await press(pilot, "v")
        await shows(app, pilot, Page)
        await press(pilot, "escape", "escape")
        await shows(app, pilot, Records)


async def test_a_record_that_is_none(tmp_path: Path) -> None:
    """What cannot be shown is said."""
    (tmp_path / "bad.ktr").write_text("nothing")
    async with in_lobby(tmp_path / "data") as (app, pilot, _):
        app.push_screen(Records())
        records: Records = await shows(app, pilot, Records)
        records.open(str(tmp_path / "bad.ktr"))
        await says(app, pilot, "the text breaks off")
        records.open("no-such-match")
        await says(app, pilot, "no such file or match")


async def test_practice_from_the_lobby(tmp_path: Path) -> None:
    """A table of one's own within seconds, and gone with the screen."""
    async with in_lobby(tmp_path) as (app, pilot, _):
        await shows(app, pilot, LobbyScreen)
        await press(pilot, "p")
        await shows(app, pilot, Opening)
        await press(pilot, "enter")
        seat: Seat = await shows(app, pilot, Seat)
        assert seat.client.address != app.room.client.address
        await until(pilot, lambda: seat.view.sheet.round)
        await press(pilot, "ctrl+l")
        await shows(app, pilot, Choose)
        await press(pilot, "down", "enter")
        await shows(app, pilot, LobbyScreen)


def test_wanted_is_what_was_chosen() -> None:
    """The form's result is the client library's own value."""
    assert Opening("open", "hongshi")._game == "hongshi"
    assert Wanted("hongshi").options == {}


# ---- company ----


async def test_talk_substitutes_and_another_match(tmp_path: Path) -> None:
    """A phrase is heard by the others; a seat is handed over and taken back; all agree on another match."""
    async with in_lobby(tmp_path) as (app, pilot, home), home.player("Mary") as (other, session, account):
        table = await app.room.client.lobby.open(Wanted("erbaiwu", seats=2, options={"rounds": 1, "cut": False}))
        assert not isinstance(table, Refused)
        place = await other.lobby.sit(table.match_id, 1)
        assert isinstance(place, Place)
        lobby = app.screen
        assert isinstance(lobby, LobbyScreen)
        lobby.sit(table.match_id)
        theirs = await _entered(session, table.match_id, place.entropy)
        seat: Seat = await shows(app, pilot, Seat)
        heard = asyncio.create_task(_heard(theirs))
        await press(pilot, "slash")
        page: TalkPage = await shows(app, pilot, TalkPage)
        page.query_one("#phrases").focus()
        await press(pilot, "enter")
        assert (await asyncio.wait_for(heard, 60)).phrase in PHRASES
        await says(app, pilot, "Xiaoming: Hello")
        await press(pilot, "escape")
        await seat.stands_by.session.hand_over(seat.match)
        await says(app, pilot, "a substitute plays for you")
        await press(pilot, "enter")
        await until(pilot, lambda: not seat.match.delegated)
        await asyncio.wait_for(asyncio.gather(_played(theirs), _played(seat.match)), 60)
        await says(app, pilot, "play again")
        await press(pilot, "enter")
        await says(app, pilot, "waiting whether the others")
        agreed = await other.tables.rematch(table.match_id, account)
        assert not isinstance(agreed, Refused), agreed
        await until(pilot, lambda: isinstance(app.screen, Seat) and app.screen is not seat)
        assert isinstance(app.screen, Seat)
        assert app.screen.match.match_id == agreed.match_id


async def _played(match: Match) -> None:
    """To its end, beside whoever else is told its questions (each is told to one only)."""
    policy = policy_of(match.game, "greedy")
    assert match.seat is not None
    while not match.over:
        if match.prompt is not None and match.seat in match.game.to_act(match.view):
            await match.prompt.answer(policy(match.view, match.seat, match.prompt.legal, dice(1)))
        else:
            await match.news()


async def _heard(match: Match) -> ChatMessage:
    """The first thing that is said."""
    async for message in match.chat():
        return message
    raise AssertionError("nothing was said")


async def _entered(session: Session, match_id: str, entropy: bytes) -> Match:
    """Attach as soon as there is the match."""
    found: object = None
    while not isinstance(found, Match):
        await asyncio.sleep(0.05)
        found = await session.attach(match_id, entropy=entropy)
    return found
