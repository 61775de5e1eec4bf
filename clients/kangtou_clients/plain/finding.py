"""Finding a table in the line mode: lists, opening, sitting down, the queue, with a partner or alone."""

from __future__ import annotations

from kangtou.v1 import party_pb2
from kangtou_engine.registry import REGISTRY

from ..api import Refused, TableTerms
from ..api.parties import Parties, wanted_of
from ..desk.asked import Asked
from ..desk.people import party_lines
from ..desk.tables import option_lines, tally_lines, terms_lines, warning
from ..desk.text import SEAT_STATES, game_title, table_options, table_seats
from .asked import Bad, asked, game_of
from .here import Handlers, Here
from .waiting import AtOpenTable, InQueue


class Finding:
    """Commands before a match."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self._party: party_pb2.Party | None = None

    def handlers(self) -> Handlers:
        """By code."""
        return {
            "list": self.tables,
            "games": self.games,
            "quick": self.quick,
            "open": self.open,
            "sit": self.sit,
            "enter": self.enter,
            "watch": self.watch,
            "party": self.party,
        }

    # ---- looking ----

    async def tables(self, words: list[str]) -> None:
        """Tables."""
        here = self.here
        tables = await here.room.tables(game_of(words, here.lang) if words else "", playing=True)
        for table in tables:
            state = here.text(SEAT_STATES.get(table.state, "none"))
            seats = table_seats(table, here.lang)
            here.put(f"{table.match_id}  {table.choice.game}  {state}  {seats}  {table_options(table)}".rstrip())
        if not tables:
            here.say("no_tables")

    async def games(self, words: list[str]) -> None:
        """The games, or one's options."""
        here = self.here
        wanted = game_of(words, here.lang) if words else ""
        for name in REGISTRY.names():
            if wanted in ("", name):
                here.put(f"{name}  {game_title(name, here.lang)}")
        for row in REGISTRY.game(wanted).spec.option_rows if wanted else ():
            here.put(f"  {row.name}={str(row.default).lower()}  ({row.rule}: {row.allowed()})")

    async def about(self, match_id: str, code: str = "") -> None:
        """A table in full: what one should know before sitting down."""
        here = self.here
        table = here.given(await here.room.client.lobby.table(match_id, code))
        state = here.text(SEAT_STATES.get(table.state, "none"))
        here.put(f"{table.match_id}  {game_title(table.choice.game, here.lang)}  {state}")
        for number, seat in enumerate(table.seats):
            ready = f"  {here.text('is_ready', name='').strip()}" if seat.ready else ""
            here.put(f"  {here.text('seat', seat=number)}  {seat.name or seat.account_id or here.text('free')}{ready}")
        for line in (*terms_lines(table, here.lang), *option_lines(table), *tally_lines(table, here.lang)):
            here.put(f"  {line}")
        if warning(table, here.lang):
            here.say("trust", text=warning(table, here.lang))

    # ---- to a seat ----

    def _which(self, words: list[str]) -> str:
        if not words:
            raise Bad(self.here.text("which_match"))
        return words[0]

    async def open(self, words: list[str]) -> None:
        """A table of one's own."""
        here, what = self.here, asked(words, self.here.lang)
        table = here.given(await here.room.client.lobby.open(what.wanted, terms=what.terms))
        if table.code:
            here.say("about.code", word=table.code)
        await self.sit([table.match_id])

    async def sit(self, words: list[str]) -> None:
        """Take a seat; the rest is said as it happens."""
        here, which = self.here, self._which(words)
        code = which.removeprefix("code=") if which.startswith("code=") else ""
        seat = int(words[1]) if len(words) > 1 and words[1].isascii() and words[1].isdigit() else None
        place = here.given(await here.room.sit("" if code else which, seat, code))
        table = await here.room.client.lobby.table(place.match_id)
        if not isinstance(table, Refused) and warning(table, here.lang):
            here.say("trust", text=warning(table, here.lang))
        await here.leave_quietly()
        await here.wait_for(AtOpenTable(here, place.match_id, place.entropy))

    async def enter(self, words: list[str]) -> None:
        """Back to a seat in a match."""
        await self.here.begin(self.here.given(await self.here.room.enter(self._which(words))))

    async def watch(self, words: list[str]) -> None:
        """Look on."""
        await self.here.begin(self.here.given(await self.here.room.watch(self._which(words))))

    async def quick(self, words: list[str]) -> None:
        """Into the queue."""
        what = asked(words, self.here.lang)
        await self.here.leave_quietly()
        await self.here.wait_for(InQueue(self.here, what))

    # ---- two ----

    async def party(self, words: list[str]) -> None:
        """Make one, join one, queue, leave; how it stands."""
        here, parties = self.here, Parties(self.here.room.client)
        what, rest = (words[0], words[1:]) if words else ("", [])
        if what == "new":
            made = asked(rest, here.lang)
            self._party = here.given(await parties.create(made.wanted, rated=made.terms.rated))
        elif what == "join" and rest:
            self._party = here.given(await parties.join(rest[0]))
        elif what in ("", "queue", "leave"):
            if self._party is None:
                raise Bad(here.text("party.none") if what else here.text("which_party"))
            if what == "leave":
                refused = await parties.leave(self._party.code)
                self._party = None
                here.given(refused) if refused is not None else here.say("party.over")
                return
            self._party = here.given(await parties.find(self._party.code))
            if what == "queue":
                await self._queue(self._party)
                return
        else:
            raise Bad(here.text("which_party"))
        here.lines(party_lines(self._party, here.lang))

    async def _queue(self, party: party_pb2.Party) -> None:
        here = self.here
        what = Asked(wanted_of(party), TableTerms(rated=party.rated))
        await here.leave_quietly()
        await here.wait_for(InQueue(here, what, party.code, party.pool))
