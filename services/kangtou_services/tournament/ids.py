"""Ids that follow from one another, so that whatever is done again is the same thing again.

tournament   t_ and 12 letters
match        TOURNAMENT-HASH-ATTEMPT: of game and attempt
account      16 letters: of an entrant that is a built-in bot, or of one seat of one match
"""

from __future__ import annotations

import hashlib
import re
import secrets

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_MATCH = re.compile(r"(t_[a-z0-9]{12})-[a-z0-9]{16}-\d{1,4}")
_TOURNAMENT = re.compile(r"t_[a-z0-9]{12}")


def _letters(count: int, *parts: str) -> str:
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:count])


def tournament_id(account: str, command_id: str) -> str:
    """Of whoever submits, and his command id; without one a new id."""
    return "t_" + _letters(12, "tournament", account, command_id or secrets.token_hex(16))


def is_tournament(text: str) -> bool:
    """Whether it has the form of a tournament's id."""
    return _TOURNAMENT.fullmatch(text) is not None


def match_id(tournament: str, game: str, attempt: int) -> str:
    """Of a game's attempt (from 0)."""
    return f"{tournament}-{_letters(16, 'match', tournament, game)}-{attempt}"


def tournament_of(match: str) -> str:
    """The tournament that a match belongs to; "" if it is of none."""
    found = _MATCH.fullmatch(match)
    return found[1] if found else ""


def entrant_account(tournament: str, entrant: int) -> str:
    """The account of a built-in bot for a tournament."""
    return _letters(16, "entrant", tournament, str(entrant))


def seat_account(match: str, seat: int) -> str:
    """The account of one seat of one match: its token is good for nothing else."""
    return _letters(16, "seat", match, str(seat))


def dice_seed(board_seed: bytes, game: str, seat: int) -> str:
    """What a built-in bot's chance comes from in a game, in hex. Says nothing of the board's packs."""
    return hashlib.sha256(b"kangtou/dice/1\0" + board_seed + game.encode() + b"\0%d" % seat).hexdigest()
