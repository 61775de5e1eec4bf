"""What everybody was told in the course of the evening; compared with the records when it is over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kangtou.v1 import lobby_pb2 as pb
from kangtou_clients.api import Ending
from kangtou_engine.cards import Seat


@dataclass
class Ledger:
    """By match: who sat where, what each was told at the end, who was substituted and why; and the tables' tallies."""

    seats: dict[str, dict[Seat, str]] = field(default_factory=dict)
    endings: dict[str, dict[str, Ending]] = field(default_factory=dict)
    scripted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seen: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    tables: list[pb.Table] = field(default_factory=list)
    partners: list[tuple[str, tuple[str, str]]] = field(default_factory=list)
    rated: set[str] = field(default_factory=set)
    refusals: Counter[str] = field(default_factory=Counter)
    filled: set[str] = field(default_factory=set)
    said: int = 0
    moves: int = 0
    late: int = 0

    def sat(self, match_id: str, seat: Seat, account_id: str) -> None:
        """Somebody plays a seat of a match. Raises AssertionError if another does."""
        assert self.seats.setdefault(match_id, {}).setdefault(seat, account_id) == account_id

    def told(self, match_id: str, account_id: str, ending: Ending) -> None:
        """Somebody was told how it ended."""
        self.endings.setdefault(match_id, {})[account_id] = ending
