"""The lobby in lines, by two people at once: what the terminal screen can do before and after a match."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from kangtou_clients.plain.asked import Bad, asked
from kangtou_clients.plain.commands import ALL, BY_WORD, help_lines
from kangtou_clients.plain.shell import Shell
from kangtou_clients.plain.words import COMMANDS
from kangtou_engine.registry import REGISTRY
from tests.clients.rooms import Rooms
from tests.clients.typists import WAIT_S, Typist, typist

Pair = tuple[Typist, Typist]
TWO = "erbaiwu seats=2 rounds=1 cut=false"


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    found = Rooms(tmp_path_factory.mktemp("data"))
    found.address  # noqa: B018 - waits until it is up
    yield found
    found.stop()


@pytest_asyncio.fixture
async def pair(rooms: Rooms) -> AsyncIterator[Pair]:
    async with typist(rooms.address, "Ann") as ann, typist(rooms.address, "Ben") as ben:
        yield ann, ben


async def both_in(ann: Typist, ben: Typist, opening: str) -> str:
    """Ann opens a table, Ben sits down; gives its id."""
    match = (await ann.asks(opening, "you have seat")).partition(":")[0]
    await ben.asks(f"sit {match}", "you have seat")
    await ann.reads("Ben has seat 1")
    return match


async def over(pair: Pair) -> None:
    """Both play the match that has begun to its end."""
    for one in pair:
        await one.reads("match ")
    await asyncio.gather(*(one.plays_on() for one in pair))
    for one in pair:
        await one.reads("the match is over")


async def test_a_private_table_with_a_ready_check(pair: Pair) -> None:
    """By its code only; everybody gets ready, and takes it back once; the match begins by itself."""
    ann, ben = pair
    code = (await ann.asks(f"open {TWO} private start=ready turn=60", "private, code")).rpartition(" ")[2]
    match = (await ann.reads("you have seat 0; 1 seats")).partition(":")[0]
    await ben.asks("list erbaiwu", "no tables")
    await ben.asks("sit code=nonsense", "refused: no table has this code")
    await ben.asks(f"table code={code}", "Erbaiwu")
    await ben.reads("begins when everybody is ready")
    await ben.reads("60 s a move")
    await ben.asks(f"sit code={code}", f"{match}: you have seat 1; 0 seats")
    await ben.reads("it begins when everybody is ready")
    ann.types("ready")
    await ben.reads("Ann is ready")
    ann.types("ready no")
    await ben.reads("Ann is not ready")
    ann.types("准备")  # either language is understood
    ben.types("ready")
    for one in pair:
        await one.reads("match ")
    ben.types("say /hello")
    await ann.reads("Ben: Hello")
    await ann.asks("quick hongshi", "you are at a table; leave it first")
    await ann.asks("stand", "the match has started")
    await ann.asks("ready", "")  # a word of the book here


async def test_the_owner(pair: Pair) -> None:
    """Removes somebody, lets them come back, cannot start alone, starts; who stands passes the table on."""
    ann, ben = pair
    match = await both_in(ann, ben, f"open {TWO} start=owner")
    await ben.asks("start", "only the owner of the table can do this")
    await ann.asks("remove Ben", "seat 1 is free again")
    await ben.reads("you have no seat at the table any more")
    await ben.asks(f"sit {match}", "has removed you")
    ann.types(f"allow {ben.account}", "seat 1")
    await ann.reads("you have seat 1; 1 seats")
    await ben.asks(f"sit {match} 0", "you have seat 0; 0 seats")
    await ann.reads("Ben has seat 0")
    await ann.asks("start", "somebody is not ready")
    await ann.asks("stand", "you gave the seat back")
    await ben.reads("Ben owns the table now")
    await ann.asks(f"sit {match}", "you have seat 1")
    await ann.asks("fill", "only the owner")
    ann.types("ready")
    await ben.reads("Ann is ready")
    ben.types("start")
    for one in pair:
        await one.reads(f"match {match}, you have seat")


async def test_another_match(pair: Pair) -> None:
    """Played to its end and agreed on again by both; the table shows how it stands."""
    ann, ben = pair
    first = await both_in(ann, ben, f"open {TWO}")
    await over(pair)
    await ann.asks("again", "waiting whether the others want another match")
    ben.types("again")
    for one in pair:
        await one.reads("match ")
    assert ann.shell.here.at_table().match.match_id != first
    await ben.asks(f"table {first}", "Ben: 1 matches")


async def test_the_queue(pair: Pair) -> None:
    """A ticket is taken back; a match is found, declined by one, found again and taken by both."""
    ann, ben = pair
    await ann.asks(f"quick {TWO}", "in the queue, 1 waiting")
    await ann.asks("sit somewhere", "you are in the queue")
    await ann.asks("take", "not asked")
    await ann.asks("取消", "taken back")
    for one in pair:
        one.types(f"quick {TWO} rated ask")
        await one.reads("in the queue")
    for one in pair:
        await one.reads("take or decline")
    ben.types("decline")
    await ann.reads("in the queue, 1 waiting")
    await ben.asks(f"quick {TWO} rated", "in the queue")
    ann.types("take")
    for one in pair:
        await one.reads("you have seat")
    await ann.asks("leave bot", "a substitute plays your seat to the end")
    await ben.reads("a substitute plays for seat")


async def test_two_as_a_party(rooms: Rooms, pair: Pair) -> None:
    """By a code; they wait as one and are partners; who leaves ends it for both."""
    ann, ben = pair
    await ann.asks("party queue", "you are in no party")
    await ann.asks("party new hongshi", "no fixed partners")
    await ann.asks("party new duizhu rounds=1", "party ")
    code = (await ann.reads("tell your partner the code")).rpartition(" ")[2]
    await ann.asks("party queue", "nobody has joined your party yet")
    await ben.asks(f"party join {code}", "Ann, Ben")
    async with typist(rooms.address, "Cat") as cat, typist(rooms.address, "Dan") as dan:
        for one in (ann, ben):
            await one.asks("party queue", "in the queue")
        for one in (cat, dan):
            one.types("quick duizhu rounds=1")
        for one in (ann, ben, cat, dan):
            await one.reads("you have seat")
        seats = [one.shell.here.at_table().match.seat for one in pair]
        assert abs((seats[0] or 0) - (seats[1] or 0)) == 2
    await ann.asks("leave", "you left the table")
    await ann.asks("party leave", "the party has ended")
    await ann.asks("party", "say which")


async def test_talk_people_and_records(pair: Pair) -> None:
    """Chat by number, mute, report, block; profile, ladders, records, replay; all in Chinese too."""
    ann, ben = pair
    await both_in(ann, ben, f"open {TWO}")
    for one in pair:
        await one.reads("match ")
    await ann.asks("chat", "nothing was said yet")
    ben.types("say /hurry")
    await ann.reads("Ben: Please hurry")
    await ann.asks("report 2 rude", "no message 2")
    await ann.asks("chat", "   1  Ben: Please hurry")
    await ann.asks("report 1 rude", "the operators will see it")
    await ann.asks("mute Ben", "Ben may not talk")
    await ben.asks("say /hello", "you may not talk")
    await ben.asks("mute Ann", "only the owner of the table or its scorer")
    await ann.asks("mute Ben off", "Ben may talk")
    await ann.asks("penalty penalize seat=1", "refused")
    await ann.asks("profile Ben", "no rated match yet")
    await ann.asks("block Ben", "Ben is blocked")
    await ann.asks("blocks", "Ben")
    await ann.asks("unblock Ben", "Ben is not blocked")
    await ann.asks("leaderboard wushik nonsense", "allowed: chengde1")
    await ann.asks("leaderboard hongshi", "nobody has enough results")
    await ann.asks("order rank", "your hand")
    await ann.asks("substitute", "a substitute plays your seat now")
    await ann.asks("back", "you play your seat again")


async def test_after_a_match(pair: Pair) -> None:
    """Who wants another one alone keeps the seat; the record is listed and read again, in Chinese."""
    ann, ben = pair
    match = await both_in(ann, ben, f"open {TWO}")
    await over(pair)
    await ann.asks("again", "waiting whether")
    await ben.asks("ready", "no seat at a table that fills")
    await ben.asks("stand", "you gave the seat back")
    await ann.reads("not everybody wants another match; you keep your seat")
    await ann.reads("you have seat 0; 1 seats")
    await ann.asks("stand", "you gave the seat back")
    await ann.asks("cancel", "you are not in the queue")
    await ann.asks("语言 zh", "中文")
    async with asyncio.timeout(WAIT_S):  # the archive takes it up by and by
        while not any(match in line for line in ann.said[-3:]):
            await ann.asks("战绩 二百五", "")
            await asyncio.sleep(0.1)
    await ann.asks(f"回放 {match} 1 end", match)
    await ann.asks("回放 nonsense", "没有已结束的对局 nonsense")
    await ann.asks(f"回放 {match} 99", "其中没有位置 99")
    await ann.asks("帮助 开桌", "开桌 游戏")


def test_every_command_has_a_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the list, each with words of its own in both languages, within the width of a terminal."""
    from rich.cells import cell_len

    from kangtou_clients.render import Renderer

    shell = Shell.__new__(Shell)
    monkeypatch.setattr("kangtou_clients.plain.here.StandsBy", lambda session: None)

    class Nowhere:
        session = client = None

    Shell.__init__(shell, Nowhere(), Renderer(), print)  # type: ignore[arg-type]
    assert set(shell._handlers) == set(COMMANDS) == {command.code for command in ALL}
    assert len(BY_WORD) == 2 * len(ALL) + 2  # no word twice; exit, q
    for lang in ("en", "zh"):
        assert all(cell_len(line) <= 130 for line in help_lines(lang))
        assert len(help_lines(lang, "open")) > 5
    assert help_lines("en", "nonsense") == []


WISHES = [
    ("erbaiwu seats=3 settle_at=7 turn=60", ""),
    ("二百五 seats=7", "seats cannot be '7'; allowed: 2, 3, 4, 5, 6"),
    ("hongshi turn=x", "turn cannot be 'x'; allowed: whole seconds"),
    ("hongshi watch=all", "watch cannot be 'all'; allowed: none, no_hands, round, open"),
    ("hongshi start=now", "start cannot be 'now'; allowed: seated, ready, owner"),
    ("hongshi rules=nonsense", "rules cannot be 'nonsense'; allowed: standard, "),
    ("hongshi nonsense=1", "'nonsense=1' is no option: write NAME=VALUE"),
    ("hongshi rounds=x", "HS-15.1: rounds cannot be x"),
    ("", "say which game"),
]


@pytest.mark.parametrize(("text", "problem"), WISHES)
def test_what_is_asked_for(text: str, problem: str) -> None:
    """Options, clocks and terms as they are typed; what is wrong is named."""
    if problem:
        with pytest.raises(Bad) as error:
            asked(text.split(), "en")
        assert problem in str(error.value)
        return
    found = asked(text.split(), "en")
    assert (found.wanted.seats, found.wanted.turn_ms, found.wanted.options) == (3, 60_000, {"settle_at": 7})
    assert found.wanted.game in REGISTRY.names()
