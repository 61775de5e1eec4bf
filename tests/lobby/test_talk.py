"""Chat over gRPC on several gateways: who hears what and when, limits, mute, report. docs/talk.md"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from kangtou_clients.api import CallFailed, ChatMessage, Match, Refused, Talk
from kangtou_services.gateway import spectate_service, talk_service
from kangtou_services.gateway.server import Extra
from kangtou_services.host import pace
from kangtou_services.marks import MemoryMarks
from kangtou_services.table.core import Table
from tests.inprocess import Server, until, whole_server
from tests.lobby.test_spectators import NAMES, client_of


class Ear:
    """Somebody who follows the match on a gateway, and hears."""

    def __init__(self, talk: Talk, match: Match) -> None:
        self.talk = talk
        self.match = match
        self.heard: list[tuple[float, ChatMessage]] = []
        self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """No longer."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _listen(self) -> None:
        async for message in self.match.chat():
            self.heard.append((time.time(), message))

    async def say(self, text: str = "", *, phrase: str = "", command_id: str = "") -> str:
        """The code of the refusal, "" if it was said."""
        said = await self.talk.say("m1", text, phrase=phrase, command_id=command_id)
        return said.code if isinstance(said, Refused) else ""

    @property
    def texts(self) -> list[str]:
        """What it has heard."""
        return [message.text or message.phrase for _, message in self.heard]


@pytest.fixture(autouse=True)
def generous(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the test of the pace is about it."""
    monkeypatch.setattr(pace, "MINE_MOST", 1_000)
    monkeypatch.setattr(pace, "TABLE_MOST", 1_000)


@asynccontextmanager
async def evening(**given: object) -> AsyncIterator[tuple[Server, dict[str, Ear]]]:
    """A match of Hongshi in its cut: four seats and two spectators, each on one of two gateways."""
    extras: list[Extra] = [spectate_service.add, talk_service.add(MemoryMarks())]
    async with whole_server(gateways=2, extras=extras) as server, AsyncExitStack() as stack:
        terms = {"game": "hongshi", "options": {"rounds": 2}, "owner": "ann", "turn_ms": 60_000, **given}
        await server.make("m1", NAMES[:4], **terms)  # type: ignore[arg-type]
        ears: dict[str, Ear] = {}
        for number, name in enumerate((*NAMES[:4], "zed", "zoe")):
            client, session = await stack.enter_async_context(client_of(server, name, number))
            found = await (session.attach("m1") if number < 4 else session.watch("m1"))
            assert isinstance(found, Match), found
            ears[name] = Ear(Talk(client), found)
            stack.push_async_callback(ears[name].close)
        await asyncio.sleep(0)  # each has begun to listen
        yield server, ears


def table(server: Server) -> Table:
    """The only one."""
    return server.hosts[0].host.slots["m1"].table


async def cut(ears: dict[str, Ear]) -> None:
    """The pile is cut and dealt: the round is in play."""
    asked = next(ear.match for ear in ears.values() if ear.match.prompt is not None)
    assert not isinstance(await asked.act(asked.prompt.default), Refused)  # type: ignore[union-attr]
    await until(lambda: all(ear.match.view.phase in ("reveal", "play") for ear in ears.values()))


async def test_who_hears_what() -> None:
    """All before the round; in it phrases only, and spectators among themselves."""
    async with evening() as (_, ears):
        assert await ears["bob"].say("good evening") == ""
        assert await ears["zed"].say("good luck") == ""
        await until(lambda: all(ear.texts == ["good evening", "good luck"] for ear in ears.values()))
        first = ears["zoe"].heard[0][1]
        assert (first.name, first.seat, first.account_id) == ("Bob", 1, "bob")
        assert ears["ann"].heard[1][1].seat is None
        await cut(ears)
        assert await ears["bob"].say("who has a red ten?") == "phrases_only"
        assert await ears["bob"].say(phrase="shout") == "unknown_phrase"
        assert await ears["bob"].say(phrase="hurry") == ""
        assert await ears["zed"].say("he has both") == ""
        await until(lambda: ears["zoe"].texts[2:] == ["hurry", "he has both"])
        assert ears["zoe"].heard[2][1].shown("zh") == "请快一点"
        assert ears["ann"].texts[2:] == ["hurry"]
        seats, watchers = await ears["ann"].talk.list("m1"), await ears["zoe"].talk.list("m1")
        assert not isinstance(seats, Refused)
        assert not isinstance(watchers, Refused)
        assert [one.text or one.phrase for one in watchers] == ears["zoe"].texts
        assert [one.text or one.phrase for one in seats] == ears["ann"].texts
        later = await ears["zoe"].talk.list("m1", watchers[2].chat_id)
        assert not isinstance(later, Refused)
        assert [one.text for one in later] == ["he has both"]


@pytest.mark.parametrize(("chat", "code"), [("free", ""), ("off", "no_talk")])
async def test_the_option_of_the_book(chat: str, code: str) -> None:
    """`free` lets all through in a round, `off` nothing at any time. HS-11.4"""
    async with evening(options={"rounds": 2, "chat": chat}) as (_, ears):
        assert await ears["bob"].say("hello") == code
        await cut(ears)
        assert await ears["bob"].say("hello") == code
        assert await ears["bob"].say(phrase="hello") == code
        assert await ears["zed"].say("spectators may") == ""


async def test_a_repeat_says_nothing_twice() -> None:
    """Also at once and through another gateway; another text under the id is refused."""
    async with evening() as (_, ears):
        codes = await asyncio.gather(*(ears["bob"].say("hello", command_id="c1") for _ in range(5)))
        assert codes == [""] * 5
        assert await ears["bob"].say("hullo", command_id="c1") == "id_reused"
        assert await ears["bob"].say("hello", command_id="c 1") == "bad_id"
        assert await ears["bob"].say("end") == ""
        await until(lambda: ears["zoe"].texts == ["hello", "end"])


async def test_what_is_let_through() -> None:
    """Nothing that moves a cursor or turns the line; no empty line, none that is too long, not both."""
    async with evening() as (_, ears):
        for text in ("", " \n\t", "\u202e\u200b", "x" * 201):
            assert await ears["bob"].say(text) == "bad_text"
        assert await ears["bob"].say("hello", phrase="hello") == "bad_text"
        assert await ears["bob"].say("\x1b[2Jred\u202e\r\nline\u2028two \U000e0041") == ""
        await until(lambda: ears["zoe"].texts == ["[2Jred line two"])


async def test_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five messages of one account in ten seconds, whatever the gateway; others may still talk."""
    monkeypatch.setattr(pace, "MINE_MOST", 5)
    async with evening() as (_, ears):
        codes = [await ears["bob"].say(f"line {number}") for number in range(7)]
        assert codes == [""] * 5 + ["too_fast"] * 2
        assert await ears["cat"].say("hello") == ""


async def test_mute_and_block() -> None:
    """The owner and the scorer may silence; a block keeps a message from those who made it, and from nobody else."""
    async with evening(scorer="zed") as (server, ears):
        no = await ears["bob"].talk.mute("m1", "cat")
        assert isinstance(no, Refused)
        assert no.code == "not_owner_or_scorer"
        for who in ("ann", "zed"):
            assert await ears[who].talk.mute("m1", "cat") is None
            assert await ears["cat"].say("hello") == "muted"
            assert await ears[who].talk.mute("m1", "cat", muted=False) is None
        await server.backend.blocks.block("dan", "cat", 1)
        await server.backend.blocks.block("zoe", "cat", 1)
        assert await ears["cat"].say("hello") == ""
        assert await ears["bob"].say("end") == ""
        await until(lambda: all(ear.texts[-1:] == ["end"] for ear in ears.values()))
        assert {name for name, ear in ears.items() if "hello" in ear.texts} == {"ann", "bob", "cat", "zed"}
        listed = await ears["dan"].talk.list("m1")
        assert not isinstance(listed, Refused)
        assert [one.text for one in listed] == ["end"]


async def test_reports_are_for_operators() -> None:
    """With what stood around it; once for each reporter; only of what one may see."""
    async with evening() as (server, ears), AsyncExitStack() as stack:
        server.identity.roles["boss"] = frozenset({"player", "operator"})
        boss, _ = await stack.enter_async_context(client_of(server, "boss"))
        for text in ("one", "two", "three"):
            assert await ears["bob"].say(text) == ""
        await until(lambda: len(ears["cat"].texts) == 3)
        two = ears["cat"].heard[1][1]
        for _ in range(2):
            assert await ears["cat"].talk.report("m1", two.chat_id, "rude\x1b[0m") is None
        no = await ears["cat"].talk.report("m1", "1-1")
        assert isinstance(no, Refused)
        assert no.code == "unknown_chat"
        (found,) = await Talk(boss).reports()
        assert (found.reporter_id, found.reason, found.chat_id) == ("cat", "rude[0m", two.chat_id)
        assert [one.text for one in found.context] == ["one", "two", "three"]
        with pytest.raises(CallFailed) as raised:
            await ears["cat"].talk.reports()
        assert raised.value.status == "PERMISSION_DENIED"


async def test_delayed_spectators_hear_the_seats_late() -> None:
    """What seats say comes with the delay, also in the list; what spectators say among themselves at once."""
    async with evening(watch_delay_ms=800) as (_, ears):
        await until(lambda: ears["zed"].match.view.phase == "cut")
        at = time.time()
        assert await ears["bob"].say("now") == ""
        assert await ears["zoe"].say("already?") == ""
        await until(lambda: ears["ann"].texts == ["now", "already?"])
        listed = await ears["zed"].talk.list("m1")
        assert not isinstance(listed, Refused)
        assert [one.text for one in listed] == ["already?"]
        await until(lambda: ears["zed"].texts == ["already?", "now"])
        assert ears["zed"].heard[1][0] - at >= 0.79


async def test_those_who_are_not_there_have_no_part() -> None:
    """At a table without spectators; and somebody whom the owner has blocked."""
    extras: list[Extra] = [spectate_service.add, talk_service.add(MemoryMarks())]
    async with whole_server(extras=extras) as server, AsyncExitStack() as stack:
        await server.make("m1", watch="none", owner="ann")
        await server.make("m2", owner="ann")
        await server.backend.blocks.block("ann", "zed", 1)
        client, _ = await stack.enter_async_context(client_of(server, "zed"))
        talk = Talk(client)
        for match, code in (
            ("m1", "no_spectators"),
            ("m2", "not_at_table"),
            ("m3", "unknown_match"),
            ("/", "unknown_match"),
        ):
            for answer in (await talk.say(match, "hello"), await talk.list(match), await talk.report(match, "1-1")):
                assert isinstance(answer, Refused)
                assert (answer.code, bool(answer.text_zh)) == (code, True)
