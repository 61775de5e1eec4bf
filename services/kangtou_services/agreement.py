"""What a match was agreed to be: stored once beside its log, never changed. JSON text in the store."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

HUMAN, BOT = "human", "bot"
_CLOCKS = frozenset(("bank_ms", "increment_ms", "lag_ms", "lag_match_ms", "late_most", "substitute_ms"))
_COMPANY = frozenset(("watch", "watch_delay_ms", "owner", "scorer"))


@dataclass(frozen=True, slots=True)
class Member:
    """Who has a seat. `commitment` is the hash of the seat's entropy ("" if it sent none)."""

    account_id: str
    name: str
    kind: str
    commitment: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Game and rules version, options as given, who sits where, clocks in ms, what the shuffle is committed to.

    `board` marks packs that come from a tournament's seed (no seat entropy). `open_wait_ms`: how long the table waits
    for the seats to open their entropies before it begins without. `window_ms` 0: the game's own for people, else the
    turn clock.

    Bank, increment, lag and `late_most` (turns in a row that the clock plays until a person's seat goes to a
    substitute) are those of match/clocks.py, all 0 in agreements of before. `substitute_ms`: after so long the default
    action is played for a seat whose owner is away and that no house bot plays.

    `watch` … `scorer` are those of company.py.
    """

    match_id: str
    game: str
    version: int
    seats: int
    options: Mapping[str, Any]
    members: tuple[Member, ...]
    seed_commitment: str
    created_ms: int
    turn_ms: int = 30_000
    window_ms: int = 0
    rated: bool = False
    pool: str = ""
    board: str = ""
    open_wait_ms: int = 5_000
    tags: Mapping[str, str] = field(default_factory=dict)
    bank_ms: int = 0
    increment_ms: int = 0
    lag_ms: int = 0
    lag_match_ms: int = 0
    late_most: int = 0
    substitute_ms: int = 1_000
    watch: str = "no_hands"
    watch_delay_ms: int = 0
    owner: str = ""
    scorer: str = ""

    def to_json(self) -> str:
        """Canonical JSON. Clocks and company as by default are left out: older servers know only the others."""
        fields = self.__dataclass_fields__
        given = {
            name: value
            for name, value in asdict(self).items()
            if name not in _CLOCKS | _COMPANY or value != fields[name].default
        }
        return json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Agreement:
        """The same again; fields of newer versions are left out. Raises ValueError."""
        given = json.loads(text)
        known = {name: given[name] for name in cls.__dataclass_fields__ if name in given}
        known["members"] = tuple(Member(**member) for member in given["members"])
        return cls(**known)

    def seats_of(self, account_id: str) -> tuple[int, ...]:
        """The seats that an account has here."""
        return tuple(seat for seat, member in enumerate(self.members) if member.account_id == account_id)


def new_id() -> str:
    """An id for a match or ticket: 80 random bits, 16 letters and digits."""
    return "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(16))
