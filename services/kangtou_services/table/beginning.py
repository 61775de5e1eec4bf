"""How a match begins: it waits for the seats' entropies, for a while; then chance is fixed and cards are dealt. §3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kangtou_engine.boards import match_chance

from .draft import Draft

if TYPE_CHECKING:
    from .core import Table


def may_begin(table: Table, now_ms: int) -> bool:
    """Whether nobody is waited for any more."""
    agreement = table.agreement
    waiting = any(member.commitment and seat not in table.entropies for seat, member in enumerate(agreement.members))
    waiting = waiting or (bool(agreement.board) and len(table.attended) < table.config.seats)
    return not waiting or now_ms >= table.opened_ms + agreement.open_wait_ms


def begin(table: Table, draft: Draft, seed: bytes) -> None:
    """Into a draft: the chance from seed and entropies, and the first deal."""
    opened = tuple(table.entropies.get(seat, b"") for seat in range(table.config.seats))
    table.chance = match_chance(table.agreement.match_id, table.agreement.board, seed, opened)
    draft.begin = tuple(entropy.hex() for entropy in opened)
    events, draft.state = table.game.begin(table.config, table.chance)
    draft.events += events
