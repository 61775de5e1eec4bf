"""Boards: the packs of a tournament, so that several tables play the same cards. Design §6.

A tournament has one seed. Its hash is published before the first game, the seed with the final report. Every board's
own seed follows from it, so a single record opens no other board:

    board      = TOURNAMENT "/" NUMBER
    board seed = SHA-256("kangtou/board/1" 0 tournament 0 tournament seed(32) number(8))
    published  = SHA-256("kangtou/tournament/1" 0 tournament 0 tournament seed(32))

All chance of a match on a board follows from board and board seed as that of other matches does from match id and seed
(shuffle.py), with no entropies: whoever sits there, the cards are the same. The match is committed to its board seed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from .shuffle import SEED_BYTES, SeededChance, seed_commitment

_BOARD = re.compile(r"([A-Za-z0-9_.:-]{1,64})/(0|[1-9][0-9]{0,17})")


def board_name(tournament: str, number: int) -> str:
    """`TOURNAMENT/NUMBER`. Raises ValueError."""
    name = f"{tournament}/{number}"
    read_board(name)
    return name


def read_board(name: str) -> tuple[str, int]:
    """Tournament and number of a board. Raises ValueError."""
    found = _BOARD.fullmatch(name)
    if found is None:
        raise ValueError(f"a board is TOURNAMENT/NUMBER, not {name[:80]!r}")
    return found[1], int(found[2])


def board_seed(tournament: str, seed: bytes, number: int) -> bytes:
    """The 32 bytes that all chance of one board comes from."""
    _check(seed)
    return hashlib.sha256(
        b"kangtou/board/1\0" + tournament.encode() + b"\0" + seed + number.to_bytes(8, "big")
    ).digest()


def tournament_commitment(tournament: str, seed: bytes) -> str:
    """What a tournament publishes before its first game, in hex."""
    _check(seed)
    return hashlib.sha256(b"kangtou/tournament/1\0" + tournament.encode() + b"\0" + seed).hexdigest()


def _check(seed: bytes) -> None:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")


def match_commitment(match_id: str, board: str, seed: bytes) -> str:
    """What a match is committed to, whether it is played on a board or not ("")."""
    return seed_commitment(board or match_id, seed)


def match_chance(match_id: str, board: str, seed: bytes, entropies: Sequence[bytes]) -> SeededChance:
    """All chance of a match, whether it is played on a board or not ("")."""
    return SeededChance(board, seed, ()) if board else SeededChance(match_id, seed, entropies)
