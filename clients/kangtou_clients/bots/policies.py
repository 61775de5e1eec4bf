"""The bots that there are by name: `random`, `greedy`, `search` (with a budget: `search:200ms`, `search:64`)."""

from __future__ import annotations

from kangtou_engine.actions import Action

from .bot import Bot, Observation
from .search import Budget, Search

POLICIES = ("random", "greedy", "search")


class Random(Bot):
    """Any legal action."""

    def act(self, seen: Observation) -> Action:
        """See Bot."""
        return seen.random()


class Greedy(Bot):
    """The rules of thumb of the game."""

    def act(self, seen: Observation) -> Action:
        """See Bot."""
        return seen.greedy()


_PLAIN: dict[str, type[Bot]] = {"random": Random, "greedy": Greedy}


def bot_named(name: str) -> Bot:
    """A new bot for one seat. Raises ValueError for what is no bot."""
    word, colon, budget = name.partition(":")
    if word == "search" and (budget or not colon):
        return Search(Budget.parse(budget))
    if name not in _PLAIN:
        raise ValueError(f"no bot {name[:40]!r}; there are: {', '.join(POLICIES)}, and search:200ms, search:64")
    return _PLAIN[name]()


def is_bot(name: str) -> bool:
    """Whether there is such a bot."""
    try:
        bot_named(name)
    except ValueError:
        return False
    return True
