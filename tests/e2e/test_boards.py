"""A tournament's board: the same packs for whoever sits there, committed to, withheld, and verified afterwards."""

from __future__ import annotations

import asyncio
import hashlib
import secrets

import pytest

from kangtou_clients.api import Ending, Match, connect
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_engine.boards import board_name, board_seed, read_board, tournament_commitment
from kangtou_engine.record import read_record, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify
from tests.inprocess import Server, until, whole_server
from tests.records.independent_check import check

SEED = bytes(range(32))
NAMES = ("ann", "bob", "cat", "dan")


def test_the_formulas_of_the_page() -> None:
    """docs/record-format.md, "Boards"."""
    number = (7).to_bytes(8, "big")
    assert board_seed("t1", SEED, 7) == hashlib.sha256(b"kangtou/board/1\0t1\0" + SEED + number).digest()
    assert tournament_commitment("t1", SEED) == hashlib.sha256(b"kangtou/tournament/1\0t1\0" + SEED).hexdigest()
    assert read_board(board_name("t1", 7)) == ("t1", 7)


@pytest.mark.parametrize("text", ["t1", "t1/", "/7", "t1/07", "t1/-1", "t 1/7", "t1/7/8", "t1/1\n"])
def test_what_is_no_board(text: str) -> None:
    """One clear error."""
    with pytest.raises(ValueError, match="TOURNAMENT/NUMBER"):
        read_board(text)


async def _played(server: Server, match_id: str, board: str, seats: tuple[str, ...]) -> list[Match]:
    tournament, number = read_board(board)
    options = {"rounds": 2, "cut": False, "between": False}
    await server.make(
        match_id, seats, game="hongshi", board=board, seed=board_seed(tournament, SEED, number), options=options
    )

    async def one(name: str) -> Match:
        async with connect(server.address, f"t-{name}") as client, client.play() as session:
            match = await session.attach(match_id, entropy=secrets.token_bytes(16))
            assert isinstance(match, Match), match
            await play(match, "greedy", dice(1), Tally())
            return match

    return await asyncio.wait_for(asyncio.gather(*map(one, seats)), 60)


async def _text(server: Server, match_id: str) -> str:
    archive = server.backend.archiver
    await until(lambda: archive.index.find(match_id))
    row = archive.index.find(match_id)
    assert row is not None
    return archive.records.text(row.path)


async def test_two_tables_play_one_board() -> None:
    """Other seats, other match, the same cards; nothing is opened at the end, and nothing looks suspicious."""
    async with whole_server() as server:
        texts = []
        for match_id, names in (("m1", NAMES), ("m2", NAMES[::-1])):
            matches = await _played(server, match_id, "cup/3", names)
            for match in matches:
                assert isinstance(match.ending, Ending)
                assert (match.ending.cause, match.ending.seed, match.ending.entropies) == ("rules", b"", ())
                assert match.ending.receipt
                assert match.warnings == ()
            texts.append(await _text(server, match_id))
        piles = [next(line for line in text.split("\n") if line.startswith("round_began ")) for text in texts]
        assert piles[0].split("pile=")[1] == piles[1].split("pile=")[1]
        for text in texts:
            assert check(text) == []
            report = verify(text, REGISTRY, tournament_seed=SEED)
            assert (report.findings, report.notes, report.deals) == ([], [], 2)
            assert [finding.code for finding in verify(text, REGISTRY, tournament_seed=bytes(32)).findings] == ["board"]
            assert "compared with the tournament's" in verify(text, REGISTRY).notes[0]
            assert write_record(read_record(text)) == text
