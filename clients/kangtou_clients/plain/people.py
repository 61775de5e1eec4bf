"""Other people, ladders and finished matches in the line mode."""

from __future__ import annotations

from kangtou_engine.errors import BadText
from kangtou_engine.record import read_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import OPEN, Replay, find_game

from ..api.archive import Archive
from ..api.people import People
from ..desk.people import leader_text, profile_lines, record_text, variants
from ..desk.tables import account_at
from ..render import Renderer
from ..replaying import NoPlace, position_of
from ..show import Shown
from .asked import Bad, game_of
from .here import Handlers, Here
from .waiting import AtOpenTable

ROWS_MOST = 20
RECENT = 5


class Others:
    """Commands about accounts and what was played."""

    def __init__(self, here: Here) -> None:
        self.here = here

    def handlers(self) -> Handlers:
        """By code."""
        return {
            "profile": self.profile,
            "leaderboard": self.leaderboard,
            "records": self.records,
            "replay": self.replay,
            "block": self.block,
            "unblock": self.unblock,
            "blocks": self.blocks,
        }

    def account(self, words: list[str]) -> str:
        """Somebody by name at the table where one is, or by account; "" if nobody is named."""
        name = " ".join(words)
        here = self.here
        if isinstance(here.waiting, AtOpenTable) and here.waiting.table is not None:
            return account_at(here.waiting.table, name)
        players = here.table.match.players if here.table is not None else ()
        named = {player.account_id for player in players if name and name == player.name}
        return named.pop() if len(named) == 1 else name

    def _somebody(self, words: list[str]) -> str:
        account = self.account(words)
        if not account:
            raise Bad(self.here.text("which_name"))
        return account

    async def profile(self, words: list[str]) -> None:
        """Who somebody is, with the last matches."""
        here, client = self.here, self.here.room.client
        found = here.given(await People(client).profile(self.account(words)))
        here.lines(profile_lines(found, here.lang))
        left = RECENT
        async for record in Archive(client).records(account_id=found.account.account_id):
            here.put(f"  {record_text(record, here.lang)}")
            left -= 1
            if not left:
                break

    async def leaderboard(self, words: list[str]) -> None:
        """The best of a ladder."""
        here = self.here
        game = game_of(words, here.lang)
        names = variants(game)
        variant, kind = names[0] if names else "", "human"
        for word in words[1:]:
            if word in ("bots", here.text("people.bots")):
                kind = "bot"
            elif word in names:
                variant = word
            else:
                raise Bad(here.text("bad_value", name="VARIANT", given=word, allowed=", ".join((*names, "bots"))))
        count = 0
        async for row in People(here.room.client).leaderboard(game, variant, kind):
            here.put(leader_text(row, here.lang))
            count += 1
            if count == ROWS_MOST:
                break
        if not count:
            here.say("people.nobody")

    async def records(self, words: list[str]) -> None:
        """Finished matches."""
        here, count = self.here, 0
        async for record in Archive(here.room.client).records(game=game_of(words, here.lang) if words else ""):
            here.put(record_text(record, here.lang))
            count += 1
            if count == ROWS_MOST:
                break
        if not count:
            here.say("no_records")

    async def replay(self, words: list[str]) -> None:
        """A finished match, or a part of it, in lines; everything open."""
        here = self.here
        if not words:
            raise Bad(here.text("which_match"))
        found = await Archive(here.room.client).record(words[0])
        if found is None:
            raise Bad(here.text("no_record", match=words[0]))
        info, data = found
        replay = self._replay(words[0], data)
        try:
            first = position_of(replay, words[1]) if len(words) > 1 else 0
            last = position_of(replay, words[2]) if len(words) > 2 else len(replay.moments)
        except NoPlace as error:
            raise Bad(here.text("no_place", text=error.params["text"])) from error
        render = here.render
        shown = Shown(replay, Renderer(render.lang, letters=render.letters, names=tuple(info.names)))
        here.lines(shown.head(OPEN))
        for number in range(first, last):
            here.lines(shown.moment(number, OPEN))
            if shown.wants_table(number + 1, "trick", number + 1 == last):
                here.lines(shown.table(number + 1, OPEN))

    def _replay(self, match_id: str, data: bytes) -> Replay:
        try:
            record = read_record(data)
        except BadText as error:
            raise Bad(self.here.text("no_record", match=match_id)) from error
        game = find_game(REGISTRY, record)
        if game is None:
            raise Bad(self.here.text("no_record", match=match_id))
        return Replay(game[0], record)

    async def block(self, words: list[str]) -> None:
        """Never meet somebody again."""
        account = self._somebody(words)
        refused = await People(self.here.room.client).block(account)
        if refused is not None:
            self.here.given(refused)
        self.here.say("people.blocked", name=" ".join(words))

    async def unblock(self, words: list[str]) -> None:
        """Take that back."""
        await People(self.here.room.client).unblock(self._somebody(words))
        self.here.say("people.unblocked", name=" ".join(words))

    async def blocks(self, words: list[str]) -> None:
        """Whom one has blocked."""
        found = await People(self.here.room.client).blocks()
        for one in found:
            self.here.put(f"{one.account_id}  {one.name}".rstrip())
        if not found:
            self.here.say("people.no_blocks")
