"""What people do around a match, on the screen: terms, seats, the owner, parties, ladders, penalties."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input, Select

from kangtou.v1 import lobby_pb2 as pb
from kangtou_clients.api import Client, Match, Place, Refused, TableTerms, Wanted
from kangtou_clients.api.parties import Parties
from kangtou_clients.desk.asked import Asked
from kangtou_clients.desk.forms import penalties
from kangtou_clients.tui.app import Play
from kangtou_clients.tui.choose import Ask, Choose
from kangtou_clients.tui.filling import Filling
from kangtou_clients.tui.lobby import LobbyScreen
from kangtou_clients.tui.opening import Opening
from kangtou_clients.tui.party import PartyScreen
from kangtou_clients.tui.people import Ladders
from kangtou_clients.tui.seat import Seat
from kangtou_clients.tui.sheets import Page
from kangtou_clients.tui.terms import FIELDS
from kangtou_clients.tui.waiting import Queueing
from kangtou_services.ratings.applier import Applier
from kangtou_services.ratings.values import Ladder, Result
from tests.tui.screens import House, house, press, screens, until
from tests.tui.test_screens import says, shows

TWO = Wanted("erbaiwu", seats=2, options={"rounds": 1, "cut": False})


@asynccontextmanager
async def two_people(folder: Path) -> AsyncIterator[tuple[Play, Pilot[None], House, Client]]:
    """The lobby on one's screen, and somebody else's client."""
    async with (
        house(folder) as home,
        home.player() as (client, session, _),
        home.player("Mary") as (other, _, _),
        screens(client, session) as (app, pilot),
    ):
        await shows(app, pilot, LobbyScreen)
        yield app, pilot, home, other


async def click(app: Play, pilot: Pilot[None], name: str) -> None:
    """Press a button of the dialog. One that still looks pressed does not hear a key."""
    button = app.screen.query_one(f"#{name}")
    await until(pilot, lambda: button.display and not button.has_class("-active"))
    button.focus()
    await press(pilot, "enter")


def good(found: Any) -> Any:
    """What is no refusal."""
    assert not isinstance(found, Refused), found
    return found


async def test_a_table_with_its_terms(tmp_path: Path) -> None:
    """All that the form offers reaches the server; what was given survives another language and the other page."""
    async with two_people(tmp_path) as (app, pilot, _, other):
        await press(pilot, "o")
        form: Opening = await shows(app, pilot, Opening)
        await until(pilot, lambda: form.built)
        await press(pilot, "ctrl+t")
        await says(app, pilot, "time bank")
        given = {"bank": "90", "increment": "2", "delay": "30", "ready": "45", "rematch": "50", "fill": "20"}
        for name, text in given.items():
            form.query_one(f"#t-{name}", Input).value = text
        for name, word in {"private": "yes", "start": "owner", "watch": "round", "guests": "yes"}.items():
            form.query_one(f"#t-{name}", Select).value = word
        await press(pilot, "f2")
        await says(app, pilot, "时库")
        await until(pilot, lambda: form.built and form.query_one("#t-bank", Input).value == "90")
        form.query_one("#t-bank", Input).value = "x"
        await press(pilot, "ctrl+g")
        await says(app, pilot, "时库 不是数字：x")
        form.query_one("#t-bank", Input).value = "90"
        await press(pilot, "f2")
        await says(app, pilot, "time bank")
        await until(pilot, lambda: form.built)
        await press(pilot, "ctrl+g")
        filling: Filling = await shows(app, pilot, Filling)
        await says(app, pilot, "private, code")
        table = filling._table
        assert table is not None
        assert (table.clock.bank_ms, table.clock.increment_ms) == (90_000, 2_000)
        assert (table.private, table.rated, table.start) == (True, False, pb.START_RULE_OWNER)
        assert table.watching.delay_s == 30
        await click(app, pilot, "about")
        await shows(app, pilot, Page)
        await says(app, pilot, "spectators see the hands of finished rounds, 30 s late")
        await press(pilot, "escape")
        assert isinstance(await other.lobby.sit("", code=table.code), Place)
        await says(app, pilot, "Mary")


async def test_seats_and_the_owner(tmp_path: Path) -> None:
    """Another seat, ready and not, somebody removed, bots asked for, the start; the match follows the seat."""
    async with two_people(tmp_path) as (app, pilot, _, other):
        table = good(await app.room.client.lobby.open(TWO, terms=TableTerms(start="owner")))
        lobby = app.screen
        assert isinstance(lobby, LobbyScreen)
        lobby.sit(table.match_id)
        filling: Filling = await shows(app, pilot, Filling)
        await until(pilot, lambda: filling._table is not None)
        await click(app, pilot, "fill")
        await until(pilot, lambda: filling._table.fill_ms)  # type: ignore[union-attr]
        await click(app, pilot, "seat")
        await shows(app, pilot, Choose)
        await press(pilot, "enter")
        await until(pilot, lambda: filling._seat == 1)
        good(await other.lobby.sit(table.match_id))
        await click(app, pilot, "remove")
        await shows(app, pilot, Choose)
        await says(app, pilot, "Mary")
        await press(pilot, "enter")
        await says(app, pilot, "Waiting for 1 more")
        found = await other.lobby.sit(table.match_id)
        assert isinstance(found, Refused)
        assert found.code == "removed"
        good(await app.room.client.tables.allow(table.match_id, (await other.accounts.who_am_i()).account_id))
        good(await other.lobby.sit(table.match_id))
        await click(app, pilot, "ready")
        await says(app, pilot, "✓ ready")
        await click(app, pilot, "unready")
        await click(app, pilot, "start")
        await says(app, pilot, "somebody is not ready")
        good(await other.tables.ready(table.match_id))
        await click(app, pilot, "start")
        seat: Seat = await shows(app, pilot, Seat)
        assert seat.match.seat == 1


async def test_a_dialog_goes_once_with_what_lies_over_it(tmp_path: Path) -> None:
    """The lobby stays, whoever closes the dialog, and however often."""
    async with two_people(tmp_path) as (app, pilot, _, _):
        lobby = app.screen
        assert isinstance(lobby, LobbyScreen)
        lobby.sit(good(await app.room.client.lobby.open(TWO)).match_id)
        filling: Filling = await shows(app, pilot, Filling)
        await until(pilot, lambda: filling._table is not None)
        await click(app, pilot, "about")
        await shows(app, pilot, Page)
        for _ in range(2):
            filling.dismiss(None)
        assert app.screen is lobby


async def test_who_is_removed_is_told(tmp_path: Path) -> None:
    """The dialog closes by itself, at a table for all; a private table is found by its code, and is gone for them."""
    async with two_people(tmp_path) as (app, pilot, _, other):
        for private in (True, False):
            table = good(await other.lobby.open(TWO, terms=TableTerms(private=private)))
            await press(pilot, "c")
            ask: Ask = await shows(app, pilot, Ask)
            if not private:
                await press(pilot, "escape")
                lobby: LobbyScreen = await shows(app, pilot, LobbyScreen)
                lobby.sit(table.match_id)
            else:
                ask.query_one(Input).value = table.code
                await press(pilot, "enter")
            await shows(app, pilot, Filling)
            await says(app, pilot, "Xiaoming")
            good(await other.tables.remove(table.match_id, (await app.account())))
            await shows(app, pilot, LobbyScreen)
            await says(app, pilot, "you have no seat at that table any more")


async def test_two_as_a_party(tmp_path: Path) -> None:
    """Made on the screen, joined by the other, queued for by both; ended; joined by a code."""
    async with two_people(tmp_path) as (app, pilot, home, other):
        await press(pilot, "t")
        await shows(app, pilot, PartyScreen)
        await click(app, pilot, "new")
        await shows(app, pilot, Opening)
        await press(pilot, "enter")
        await shows(app, pilot, PartyScreen)
        await says(app, pilot, "tell your partner the code")
        assert app.party is not None
        theirs = good(await Parties(other).join(app.party.code))
        await says(app, pilot, "Xiaoming, Mary")
        async with home.player("Cat") as (cat, _, _), home.player("Dan") as (dan, _, _):
            queues = [asyncio.create_task(one.lobby.quick(Wanted("duizhu")).place()) for one in (cat, dan)]
            queues.append(asyncio.create_task(other.lobby.quick(Wanted("duizhu"), party=theirs.code).place()))
            await click(app, pilot, "queue")
            seat: Seat = await shows(app, pilot, Seat)
            partner = good(await queues[2])
            assert seat.match.seat is not None
            assert abs(seat.match.seat - partner.seat) == 2
            await asyncio.gather(*queues)
        await press(pilot, "ctrl+l")
        await shows(app, pilot, Choose)
        await press(pilot, "down", "enter")
        await shows(app, pilot, LobbyScreen)
        await press(pilot, "t")
        await shows(app, pilot, PartyScreen)
        await click(app, pilot, "end_party")
        await says(app, pilot, "Two who queue together")
        party = good(await Parties(other).create(Wanted("duizhu")))
        app.screen.query_one("#code", Input).value = party.code
        app.screen.query_one("#code").focus()
        await press(pilot, "enter")
        await says(app, pilot, "Mary, Xiaoming")


async def test_a_match_of_the_queue_is_asked_about(tmp_path: Path) -> None:
    """Rated, with `ask`: declined, then taken; the estimate and the seconds are shown."""
    async with two_people(tmp_path) as (app, pilot, _, other):
        lobby = app.screen
        assert isinstance(lobby, LobbyScreen)
        wish = Asked(TWO, TableTerms(rated=True), ask=True)
        for answer in ("decline", "take"):
            lobby.run_worker(lobby._queue(wish))
            await shows(app, pilot, Queueing)
            queue = other.lobby.quick(TWO, rated=True)
            placed = asyncio.create_task(queue.place())
            await says(app, pilot, "take it?")
            await click(app, pilot, answer)
            if answer == "decline":
                await shows(app, pilot, LobbyScreen)
                await queue.cancel()
            await asyncio.wait({placed})
        seat: Seat = await shows(app, pilot, Seat)
        assert seat.match.rated


async def note(home: House, accounts: list[str], matches: int = 12) -> None:
    """Rated matches of Hongshi, all with these places in order, applied at once."""
    ladder, sides = Ladder("hongshi", "", "human"), tuple((account,) for account in accounts)
    for number in range(matches):
        await home.backend.ratings.append(Result(f"r{number}", ladder, sides, tuple(range(1, len(sides) + 1)), number))
    await Applier(home.backend.ratings).catch_up()


async def test_ladders_and_profiles(tmp_path: Path) -> None:
    """The best first; one of them in full; oneself; blocked and not."""
    async with two_people(tmp_path) as (app, pilot, home, other):
        await press(pilot, "l")
        ladders: Ladders = await shows(app, pilot, Ladders)
        await says(app, pilot, "nobody has a rating here yet")
        await press(pilot, "escape")
        mary = (await other.accounts.who_am_i()).account_id
        await note(home, [mary, await app.account()])
        await press(pilot, "l")
        ladders = await shows(app, pilot, Ladders)
        await until(pilot, lambda: len(ladders.rows) == 2)
        assert [row.name for row in ladders.rows] == ["Mary", "Xiaoming"]
        await says(app, pilot, "Hongshi")
        await press(pilot, "enter")
        await shows(app, pilot, Page)
        await says(app, pilot, "12 results")
        await press(pilot, "escape", "m")
        await shows(app, pilot, Page)
        await says(app, pilot, "Xiaoming")
        await press(pilot, "escape", "b")
        await says(app, pilot, "Mary is blocked")
        await press(pilot, "f2", "n")
        await says(app, pilot, "已解除屏蔽 Mary")
        await press(pilot, "escape")
        await shows(app, pilot, LobbyScreen)


async def test_penalties(tmp_path: Path) -> None:
    """The scorer's, by the book: refused to others; in the log and on the screen."""
    assert [str(one) for one in penalties("duizhu", "play", 4)] == ["annul"]
    assert penalties("wushik", "play", 4) == ()
    async with house(tmp_path) as home, home.player() as (client, session, me), home.player("B") as (_, _, b):
        options = {"rounds": 1, "reveal": False, "cut": False, "lightning": False}
        for scorer in (b, me):
            await home.deal(f"m-{scorer}", [me, b, "c", "d"], "hongshi", 7, options, scorer=scorer)
            match = await session.attach(f"m-{scorer}")
            assert isinstance(match, Match)
            async with screens(client, session, start=match) as (app, pilot):
                seat: Seat = await shows(app, pilot, Seat)
                await until(pilot, lambda seat=seat: seat.view.sheet.round)  # type: ignore[misc]
                await press(pilot, "k")
                if scorer != me:
                    await says(app, pilot, "you are not the scorer")
                    continue
                await shows(app, pilot, Choose)
                await says(app, pilot, "(HS-11.2)")
                await press(pilot, "3")
                await says(app, pilot, "awarded; it is in the log")
                assert seat.view.game.penalties[2] == 1


async def test_every_form(tmp_path: Path) -> None:
    """Both pages of each form, where it has two, in both languages."""
    async with two_people(tmp_path) as (app, pilot, _, _):
        for kind, fields in FIELDS.items():
            form = Opening(kind, "wushik")
            app.push_screen(form)
            await until(pilot, lambda form=form: form.built and app.screen is form)  # type: ignore[misc]
            await press(pilot, "ctrl+t")
            assert form.query_one("#terms").display == bool(fields)
            if fields:
                await says(app, pilot, app.look.say(f"term.{fields[-1]}"))
            form.dismiss(None)
            await shows(app, pilot, LobbyScreen)
            await press(pilot, "f2")
