"""Plays any legal action."""

from __future__ import annotations

from kangtou_clients.bots import Bot, Observation, main
from kangtou_engine.actions import Action


class RandomBot(Bot):
    """Where the list is too long, the game knows how to choose without it."""

    def act(self, seen: Observation) -> Action:
        """See Bot."""
        return seen.random()


if __name__ == "__main__":
    main(RandomBot)
