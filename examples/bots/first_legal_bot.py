"""The shortest bot: the first legal action."""

from __future__ import annotations

from kangtou_clients.bots import Bot, Observation, main
from kangtou_engine.actions import Action


class FirstLegalBot(Bot):
    """Repeats itself exactly, which is good for tests."""

    def act(self, seen: Observation) -> Action:
        """See Bot."""
        listed = seen.listed()
        return listed[0] if listed else seen.default


if __name__ == "__main__":
    main(FirstLegalBot)
