"""What a bot is: one method on one observation.

    from kangtou_clients.bots import Bot, Observation, main

    class Careful(Bot):
        def act(self, seen: Observation) -> Action:
            return seen.default

    if __name__ == "__main__":
        main(Careful)

One instance plays one seat of one match. See docs/bots.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from kangtou_engine.actions import Action
from kangtou_engine.cards import Cards, Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event
from kangtou_engine.game import Legal, Pick, TooMany
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import Config
from kangtou_engine.planning import NOTHING, Known


@dataclass(frozen=True, slots=True)
class Observation:
    """What a seat is asked, and all that it may know.

    game, config  the rules that are played and what was agreed
    seat, view    the seat, and the table as it sees it (hidden cards are `??`): `view.game` is the game's own part
    legal         all legal actions in canonical form, or TooMany with the reason: then `listed` may know more
    default       what the table does if no answer comes in time
    deadline_ms   Unix ms by the server's clock, 0: no limit; `left_ms` is what is left of it
    pick          chance: `pick(6)` is a whole number from 0 to 5. Use no other, and a seed repeats a game
    known         what the seat remembers of the round besides its view (engine: planning.py)
    """

    game: Game
    config: Config
    seat: Seat
    view: AnyState
    legal: Legal
    default: Action
    pick: Pick
    deadline_ms: int = 0
    left_ms: int = 0
    known: Known = field(default=NOTHING)

    @property
    def phase(self) -> str:
        """The phase of the game, as the book calls it: `cut`, `play`, `between` …"""
        return self.view.phase

    @property
    def hand(self) -> Cards:
        """One's own cards."""
        hands: tuple[Cards, ...] = self.view.game.hands
        return hands[self.seat]

    @property
    def scores(self) -> tuple[int, ...]:
        """By seat, in this match so far."""
        return self.view.sheet.scores

    def listed(self, limit: int = 10_000) -> tuple[Action, ...]:
        """All legal actions, worked out here if the server's list was too long; () if there are more than `limit`."""
        legal = self.game.legal(self.view, self.seat, limit) if isinstance(self.legal, TooMany) else self.legal
        return () if isinstance(legal, TooMany) else legal

    def is_legal(self, action: Action) -> bool:
        """Whether the table would take it. (In duizhu, whether a throw stands is known to the table alone.)"""
        try:
            self.game.check(self.view, self.seat, action)
        except IllegalAction:
            return False
        return True

    def greedy(self) -> Action:
        """What the built-in bot of the game would do."""
        action: Action = self.game.spec.greedy(self.view, self.seat, self.legal, self.pick)
        return action

    def random(self) -> Action:
        """Any legal action."""
        action: Action = self.game.spec.random(self.view, self.seat, self.legal, self.pick)
        return action

    def text(self, lang: str = "en") -> str:
        """The table in words, `en` or `zh`."""
        return "\n".join(self.game.spec.show(self.view, self.seat, lang))


class Bot(ABC):
    """One seat of one match. Made without arguments by `main`.

    slow  it thinks longer than a few ms: it is asked in a thread of its own, so that other tables are not held up
    """

    slow = False

    @abstractmethod
    def act(self, seen: Observation) -> Action:
        """The answer. What is not legal is refused, and the default is played in its place."""

    def saw(self, view: AnyState, event: Event) -> None:  # noqa: B027 - may be left as it is
        """Something happened: the view before it, and the event as this seat may see it."""

    def ended(self, scores: tuple[int, ...], places: tuple[int, ...]) -> None:  # noqa: B027 - the same
        """The match is over."""
