"""The server cannot choose the cards: entropies count, whatever it changes is noticed, and no deal comes twice."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from unittest.mock import patch

import pytest

from kangtou.v1 import game_pb2 as pb
from kangtou.wire import option_to_pb
from kangtou_clients.api import Match, connect
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_engine.boards import match_chance
from kangtou_engine.cards import Cards
from kangtou_engine.chance import Chance
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import Game
from kangtou_engine.registry import REGISTRY
from kangtou_engine.shuffle import SEED_BYTES
from kangtou_services.agreement import BOT, Member
from kangtou_services.gateway.calls import CallError, Code
from kangtou_services.opening import Choice, Opening, check_choice, clocks_of
from kangtou_services.table import beginning
from kangtou_services.table.core import Table
from tests.conftest import Counts
from tests.inprocess import Server, until, whole_server
from tests.operate.server import Small, server_on
from tests.services.tables import Played, agree

NAMES = ("ann", "bob", "cat", "dan")
WUSHIK = ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")
KINDS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    **{name: (name, {}) for name in ("hongshi", "duizhu", "erbaiwu")},
    **{name: ("wushik", {"variant": name}) for name in WUSHIK},
    # Where a cut comes in between, a short round may see nothing of what lies behind a place of the pack.
    "erbaiwu uncut": ("erbaiwu", {"cut": False}),
}


# ---- entropies ----


def first_pile(name: str, opened: Mapping[int, bytes], committed: Mapping[int, bytes]) -> Cards:
    """How the first pack of a match lies when its seats have opened these entropies."""
    game, options = KINDS[name]
    played = Played(Game(REGISTRY.game(game).spec), agree(REGISTRY.game(game), options, entropies=committed))
    for seat, entropy in opened.items():
        played.table.open_entropy(seat, entropy)
    played.now += played.agreement.open_wait_ms
    assert played.write() is not None
    return next(event.pile or () for event in played.drafts[0].events if isinstance(event, RoundBegan))


@pytest.mark.parametrize("name", KINDS)
def test_an_entropy_of_a_seat_changes_the_deal(name: str) -> None:
    """Of every seat, by one bit; and one that was not committed to does not count."""
    seats = REGISTRY.game(KINDS[name][0]).config(KINDS[name][1], None).seats
    given = {seat: secrets.token_bytes(32) for seat in range(seats)}
    piles = [first_pile(name, given, given), first_pile(name, {}, given)]
    assert first_pile(name, given, given) == piles[0]
    for seat in range(seats):
        other = bytes([given[seat][0] ^ 1]) + given[seat][1:]
        changed = {**given, seat: other}
        piles.append(first_pile(name, changed, changed))
        without = {one: entropy for one, entropy in given.items() if one != seat}
        piles.append(first_pile(name, without, given))
        assert first_pile(name, changed, given) == piles[-1]  # opened what it had not committed to: as if nothing
    assert len(set(piles)) == len(piles)


# ---- a server that cheats ----


@dataclasses.dataclass
class Exchanged:
    """A match's chance but for one shuffle, whose cards from place `start` on lie one place further."""

    others: Chance
    purpose: str
    number: int
    start: int

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """See Chance."""
        made = self.others.shuffle(pack, purpose, number)
        kept, moved = made[: self.start], made[self.start :]
        return (*kept, *moved[1:], moved[0]) if (purpose, number) == (self.purpose, self.number) else made


def _dealt_from(other: bytes) -> object:
    return patch.object(
        beginning, "match_chance", lambda match, board, seed, opened: match_chance(match, board, other, opened)
    )


def _exchanged(purpose: str, start: int = 0) -> object:
    return patch.object(beginning, "match_chance", lambda *given: Exchanged(match_chance(*given), purpose, 1, start))


@contextmanager
def _forged_entropy() -> Iterator[None]:
    """Another entropy for seat 2 than its client has opened, without a look at what it had committed to."""
    real = Table.open_entropy

    def forged(self: Table, seat: int, entropy: bytes) -> None:
        if seat == 2:
            self.entropies[seat] = b"the server's own"
        else:
            real(self, seat, entropy)

    with patch.object(Table, "open_entropy", forged):
        yield


OTHER = bytes(range(SEED_BYTES))
DRAWN = "exchanges what is drawn later"  # seen by whoever draws; a round may be over before that is seat 0
STOCK = 20  # the place of the pack where erbaiwu's stock begins
WAYS: Mapping[str, tuple[object, set[str], set[str]]] = {  # what seat 0 warns of, and what a match of one round cannot
    "deals from another seed": (lambda: _dealt_from(OTHER), {"deal"}, {"seed_not_committed"}),
    "reveals another seed": (
        lambda: patch.object(Table, "reveal_seed", lambda self: OTHER),
        {"seed_not_committed", "deal"},
        {"own_entropy"},
    ),
    "exchanges one deal": (lambda: _exchanged("pack"), {"deal"}, {"lot", "seed_not_committed"}),
    DRAWN: (lambda: _exchanged("pack", STOCK), {"deal"}, {"lot", "seed_not_committed"}),
    "exchanges the lot": (lambda: _exchanged("lot"), {"lot"}, {"deal", "seed_not_committed"}),
    "gives a seat another entropy": (_forged_entropy, {"entropy_not_committed"}, {"deal", "own_entropy"}),
}


IN_CI: Mapping[str, Sequence[str]] = {
    "deals from another seed": ["hongshi"],
    "reveals another seed": ["duizhu"],
    "exchanges one deal": ["jiangnan"],
    DRAWN: ["duizhu", "erbaiwu uncut"],
    "exchanges the lot": ["duizhu"],
    "gives a seat another entropy": ["chengde1"],
}


async def seat(server: Server, number: int, entropy: bytes) -> Match:
    """Play one seat to the end, by a client of its own."""
    async with connect(server.address, f"t-{NAMES[number]}") as client, client.play() as session:
        match = await session.attach("m1", entropy=entropy)
        assert isinstance(match, Match), match
        await play(match, "greedy", dice(), Tally())
        return match


async def whole_match(server: Server, name: str) -> Sequence[Match]:
    """All seats to the end."""
    game, options = KINDS[name]
    seats = REGISTRY.game(game).config(options, None).seats
    entropies = {number: secrets.token_bytes(16) for number in range(seats)}
    await server.make(
        "m1", NAMES[:seats], game=game, entropies=entropies, options={**options, "rounds": 1}, open_wait_ms=200
    )
    work = [seat(server, number, entropy) for number, entropy in entropies.items()]
    return await asyncio.wait_for(asyncio.gather(*work), 120)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("way", WAYS)
async def test_a_server_that_cheats_is_noticed(way: str, counts: Counts) -> None:
    """By the client library of a seat, in every game, whatever it changes after the commitment."""
    cheat, due, absent = WAYS[way]
    chosen = list(KINDS) if counts(0, 1) else IN_CI[way]
    if way == DRAWN:
        chosen = IN_CI[way]
    if way == "exchanges the lot":
        chosen = [name for name in chosen if draws_lots(name)]
    assert chosen
    for name in chosen:
        with cheat():  # type: ignore[operator]
            async with whole_server() as server:
                matches = await whole_match(server, name)
        those = matches if way == DRAWN else matches[:1]
        codes = {warning.code for match in those for warning in match.warnings}
        assert due <= codes, (name, codes)
        assert not absent & codes, (name, codes)
    async with whole_server() as server:  # and an honest one is not suspected
        assert {match.warnings for match in await whole_match(server, chosen[-1])} == {()}


def draws_lots(name: str) -> bool:
    """Whether a match of this kind begins with a lot."""
    game, options = KINDS[name]
    config = REGISTRY.game(game).config({**options, "rounds": 1}, None)
    began = REGISTRY.game(game).begin(config, match_chance("m", "", OTHER, ()))[0]
    return any(isinstance(event, RoundBegan) and event.lot for event in began)


async def test_a_commitment_that_changes_is_noticed() -> None:
    """A server that commits anew in the middle of a match: the client compares at every attach."""
    async with whole_server() as server:
        await server.make("m1", game="hongshi", options={"rounds": 1})
        others = [asyncio.create_task(seat(server, number, b"")) for number in (1, 2, 3)]
        async with connect(server.address, "t-ann") as client, client.play() as session:
            match = await session.attach("m1")
            assert isinstance(match, Match)
            await until(lambda: match.seq)
            table = server.hosts[0].host.slots["m1"].table
            table.agreement = dataclasses.replace(table.agreement, seed_commitment="0" * 64)
            for stream in server.gateways[0].streams.all():
                stream.end(CallError(Code.UNAVAILABLE, "again", "再来"))
            await play(match, "greedy", dice(), Tally())
        await asyncio.gather(*others)
    assert "commitment_changed" in {warning.code for warning in match.warnings}


# ---- no deal comes twice ----


async def opened(server: Small, match: str, kind: str) -> None:
    """Start a match of that id as the lobby does, again or for the first time; until its cards are dealt."""
    game, options = KINDS[kind]
    wanted = pb.GameChoice(game=game, options={"rounds": option_to_pb(1)})
    for name, value in options.items():
        wanted.options[name].CopyFrom(option_to_pb(value))
    clocks = clocks_of(server.settings)
    choice = check_choice(server.backend.registry, clocks, wanted, pb.Clock())
    assert isinstance(choice, Choice), choice
    members = [Member(f"{match}-{number}", "", BOT, "") for number in range(choice.seats)]
    opening = Opening(server.backend.store, server.gateways[0].parts.router, clocks, open_s=60.0)
    assert await opening.start(match, choice, members)
    async with asyncio.timeout(60):
        while not await dealt(server, match):  # noqa: ASYNC110 - the log has no event to wait for
            await asyncio.sleep(0.01)


async def dealt(server: Small, match: str) -> str:
    """The first pack of a match, as it lies in its log; "" before."""
    lines = [line for entry in await server.backend.log.read(match) for line in entry.body.split("\n")]
    found = [line.partition(" pile=")[2].partition("]")[0] for line in lines if line.startswith("round_began ")]
    assert len(found) <= 1
    return found[0] if found else ""


@pytest.mark.redis
@pytest.mark.timeout(600)
async def test_no_deal_comes_again_after_restarts(
    tmp_path: Path, counts: Counts, capsys: pytest.CaptureFixture[str]
) -> None:
    """Real Redis, stopped and started on its file; every id is created again each time, and new ones with it."""
    known: dict[str, tuple[str, str]] = {}
    each, starts = counts(8, 400), 3
    for start in range(starts):
        async with server_on(tmp_path / "d") as server:
            for number, kind in zip(range((start + 1) * each), cycle(KINDS)):
                match = f"m{number}"
                await opened(server, match, kind)
                found = (await dealt(server, match), await server.backend.store.agreement(match) or "")
                assert known.setdefault(match, found) == found, f"{match} was dealt again"
                assert not await server.backend.store.create(match, "{}", secrets.token_bytes(SEED_BYTES))
    assert len(known) == starts * each
    assert len({pile for pile, _ in known.values()}) == len(known)
    with capsys.disabled():
        print(f"\nrestarts: {starts}; {len(known)} matches created again and again, {len(known)} different deals")
