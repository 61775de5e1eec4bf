"""How patient matchmaking is at a gateway, and how often it looks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatchmakingSettings:
    """tick_s, sweep_s: how often a pool of this gateway, and all pools, are looked at without being asked.

    patience_s: how long a ticket may wait for the end of its account's former match or ticket to arrive
    bot_tickets: tickets and seats that a bot's account may have in one pool (a person's: one)
    fill_after_ms: how long people wait until bots may take the free seats; 0: they do not
    house_pool: the pool in which nobody need wait for house bots
    """

    tick_s: float = 0.5
    sweep_s: float = 3.0
    patience_s: float = 3.0
    keep_ms: int = 2 * 3_600_000
    bot_tickets: int = 256
    fill_after_ms: int = 0
    house_pool: str = "house"
