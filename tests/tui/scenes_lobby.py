"""Pictures of what stands around a match: a table that fills, its terms, a party, ladders. See scenes.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.widgets import DataTable

from kangtou_clients.api import Client, Place, Refused, TableTerms, Wanted
from kangtou_clients.api.parties import Parties
from kangtou_clients.tui.app import Play
from kangtou_clients.tui.filling import Filling
from kangtou_clients.tui.opening import Opening
from kangtou_clients.tui.party import PartyScreen
from kangtou_clients.tui.people import Ladders
from kangtou_services.ratings.applier import Applier
from kangtou_services.ratings.values import Ladder, Result
from tests.tui.screens import House, press, screens, until

Draw = Callable[[Play], None]
CODE = "k3m9x2q7ab"  # theirs differ each time


async def terms(home: House, lang: str, draw: Draw) -> None:
    """The second page of the form."""
    async with home.player() as (client, session, _), screens(client, session, lang=lang) as (app, pilot):
        form = Opening("open", "hongshi")
        app.push_screen(form)
        await until(pilot, lambda: form.built and app.screen is form)
        await press(pilot, "ctrl+t")
        await pilot.pause(0.1)
        draw(app)


async def filling(home: House, lang: str, draw: Draw) -> None:
    """A private table of one's own, with somebody there who is ready."""
    async with (
        home.player("小明") as (client, session, _),
        home.player("老张") as (other, _, _),
        screens(client, session, lang=lang) as (app, pilot),
    ):
        wanted = Wanted("duizhu", options={"end_level": "J"}, bank_ms=60_000)
        table = await client.lobby.open(wanted, terms=TableTerms(start="owner", private=True, watch="open"))
        assert not isinstance(table, Refused), table
        place = await client.lobby.sit(table.match_id, 0)
        assert isinstance(place, Place)
        assert isinstance(await other.lobby.sit(table.match_id, 2, code=table.code), Place)
        await other.tables.ready(table.match_id)
        screen = Filling(place)
        app.push_screen(screen)
        await until(pilot, lambda: screen._table is not None and screen._table.seats[2].ready)
        screen.workers.cancel_group(screen, "fill")
        assert screen._table is not None
        screen._place, screen._table.code = Place("dui4k2p7", 0, b""), CODE
        screen.relabel()
        await pilot.pause(0.1)
        draw(app)


async def party(home: House, lang: str, draw: Draw) -> None:
    """Both are there."""
    async with (
        home.player("小明") as (client, session, _),
        home.player("老张") as (other, _, _),
        screens(client, session, lang=lang) as (app, pilot),
    ):
        made = await Parties(client).create(Wanted("duizhu"))
        assert not isinstance(made, Refused)
        joined = await Parties(other).join(made.code)
        assert not isinstance(joined, Refused)
        joined.code, joined.over = CODE, False
        app.party = joined
        screen = PartyScreen()
        screen.look_again = _still  # type: ignore[method-assign]
        app.push_screen(screen)
        await until(pilot, lambda: app.screen is screen and screen.query("#queue"))
        await pilot.pause(0.1)
        draw(app)


async def ladders(home: House, lang: str, draw: Draw) -> None:
    """Six people, each better than the next."""
    names = ("老张", "大姐", "Mary", "三妹", "二嫂", "小明")
    accounts = [(await _account(home, name)) for name in names]
    for number in range(16):
        ladder = Ladder("hongshi" if number < 14 else "wushik", "" if number < 14 else "liaoning", "human")
        seats = [accounts[(number + seat) % 6] for seat in range(4)]
        seats.sort(key=accounts.index)
        result = Result(f"r{number}", ladder, tuple((one,) for one in seats), (1, 2, 3, 4), number)
        await home.backend.ratings.append(result)
    await Applier(home.backend.ratings).catch_up()
    async with home.player() as (client, session, _), screens(client, session, lang=lang) as (app, pilot):
        screen = Ladders()
        app.push_screen(screen)
        await until(pilot, lambda: screen.rows and screen.query_one(DataTable).row_count == len(screen.rows))
        await pilot.pause(0.1)
        draw(app)


def _still() -> Any:
    """In place of looking at the server again, which does not know this code."""


async def _account(home: House, name: str) -> str:
    found: Client
    async with home.player(name) as (found, _, account):
        assert found.token
        return account


SHOWN: dict[str, Callable[[House, str, Draw], Awaitable[None]]] = {
    "terms": terms,
    "filling": filling,
    "party": party,
    "ladders": ladders,
}
