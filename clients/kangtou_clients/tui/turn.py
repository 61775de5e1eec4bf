"""A question to the seat: what can be done with the cards taken up, and how it is put into words."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from kangtou_engine.actions import Action
from kangtou_engine.cards import Cards
from kangtou_engine.match.match import Game
from kangtou_engine.words import say as engine_say

from ..api import Prompt
from ..desk.choices import Choices, used
from ..desk.text import action_text
from ..desk.words import verb_text
from .bar import MANY, Item
from .look import GOLD, Look


@dataclass(slots=True)
class Turn:
    """One open question. `prompt` is replaced when it is put again, with another deadline."""

    game: Game
    prompt: Prompt
    choices: Choices

    def text(self, action: Action, look: Look) -> str:
        """An action in words."""
        return action_text(action, look.render, self.game.spec.words)

    @property
    def default(self) -> Action | None:
        """The default action, if it uses no cards of the hand: what `p` does."""
        default = self.prompt.default
        return None if used(default, self.choices.hand) else default

    @property
    def needs_cards(self) -> bool:
        """Whether anything can be done with cards."""
        return self.choices.too_many is not None or any(way.cards for way in self.choices.ways)

    def items(self, taken: Cards, look: Look) -> list[Item]:
        """What can be done with the cards taken up; without any, what needs none, many of one verb as one item."""
        if taken:
            return [Item(self.text(action, look), (action,)) for action in self.choices.meant(taken)]
        by_verb: dict[str, list[Action]] = {}
        for action in self._bare():
            by_verb.setdefault(action.verb, []).append(action)
        items = []
        for verb, actions in by_verb.items():
            if len(actions) > MANY:
                items.append(Item(look.say("more", verb=verb_text(verb, look.lang, self.game.spec.words)), actions))
            else:
                items += [Item(self.text(action, look), (action,)) for action in actions]
        return items

    def _bare(self) -> tuple[Action, ...]:
        if self.choices.too_many is None:
            return self.choices.bare
        return () if self.default is None else (self.default,)

    def question(self, look: Look) -> Text:
        """What is asked."""
        choices = self.choices
        if choices.too_many is not None:
            told = engine_say(self.game.spec.words, choices.too_many.constraint, choices.too_many.params, look.lang)
            return Text(look.say("turn") + ": ", GOLD) + look.line(told)
        text = Text(look.say("turn.count", count=len(choices.ways)) + " · ", GOLD)
        if not self.needs_cards:
            return text + look.line(look.say("choose_bare", default=self.text(self.prompt.default, look)))
        if self.default is None:
            return text + Text(look.say("choose_only"))
        return text + look.line(look.say("choose_first", default=self.text(self.default, look)))
