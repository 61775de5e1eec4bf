"""Standing answers for the quick windows of a game, which people cannot answer one by one. (Design, "Windows")

A game says in which phases people have a short clock (`window_ms`), and until when its standing answers hold
(`standing_until`). There the default action is left with the table, and the seat is asked only when something new can
be done. Choosing the default declines what can be done now for the rest of the deal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kangtou_engine.actions import Action
from kangtou_engine.game import TooMany

from ..api import Accepted, Answer, Match, Prompt, Refused, Session

Deal = tuple[str, int, str]  # match, deals of the match so far, phase


@dataclass(slots=True)
class StandsBy:
    """Leaves them, for any number of matches of one session."""

    session: Session
    _declined: dict[Deal, frozenset[Action]] = field(default_factory=dict)
    _left: dict[Deal, int] = field(default_factory=dict)  # how much was declined when an answer was left
    _told: set[Deal] = field(default_factory=set)

    async def asks(self, match: Match, prompt: Prompt) -> bool:
        """Whether the seat is to be asked; if not, the default is left with the table."""
        deal = _deal(match)
        if deal is None or isinstance(prompt.legal, TooMany):
            return True
        options = frozenset(prompt.legal) - {prompt.default}
        declined = self._declined.get(deal, frozenset())
        if not options <= declined:
            if self._left.pop(deal, None) is not None and declined:
                await self.session.stand_by(match, None)
            return True
        if self._left.get(deal) == len(declined) and declined:
            return False
        return not await self._leave(match, deal, prompt.default)

    async def answer(self, match: Match, prompt: Prompt, action: Action) -> Answer:
        """Answer for the seat; the default in such a window is left for the rest of the deal."""
        deal = _deal(match)
        if deal is None or action != prompt.default or isinstance(prompt.legal, TooMany):
            return await prompt.answer(action)
        self._declined[deal] = self._declined.get(deal, frozenset()) | frozenset(prompt.legal) - {action}
        if await self._leave(match, deal, action):
            return Accepted(match.seq)
        return await prompt.answer(action)

    async def _leave(self, match: Match, deal: Deal, action: Action) -> bool:
        declined = self._declined.get(deal, frozenset())
        until = "" if declined else match.game.spec.standing_until[0]
        if isinstance(await self.session.stand_by(match, action, until), Refused):
            return False
        self._left[deal] = len(declined)
        return True

    def news(self, match: Match) -> bool:
        """Whether it is to be said that answers are left: once a deal."""
        deal = _deal(match)
        if deal is None or deal in self._told:
            return False
        self._told.add(deal)
        return True


def _deal(match: Match) -> Deal | None:
    spec, view = match.game.spec, match.view
    quick = view.phase in spec.window_ms(match.config) and spec.standing_until
    return (match.match_id, view.sheet.deals, view.phase) if quick else None
