"""Plays what the rules of thumb of each game say."""

from __future__ import annotations

from kangtou_clients.bots import Bot, Observation, main
from kangtou_engine.actions import Action


class GreedyBot(Bot):
    """The built-in bot as a program of its own: what a bot should beat."""

    def act(self, seen: Observation) -> Action:
        """See Bot."""
        return seen.greedy()


if __name__ == "__main__":
    main(GreedyBot)
