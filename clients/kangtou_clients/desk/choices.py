"""What a seat may do now, and how cards taken up in hand lead to it.

All of it follows from the legal actions that the server or the engine lists. Where there are too many to list, a
selection is only guessed at, by the forms of the book: then the server says whether it is legal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kangtou_engine.actions import Action, is_named
from kangtou_engine.cards import HIDDEN, Cards, Seat, is_card, missing
from kangtou_engine.game import Legal, Pick, TooMany
from kangtou_engine.match.match import AnyState, Game

from .forms import forms_of

LIST_MOST = 3_000  # legal actions that are listed here, where a prompt leaves them out; takes a few ms


@dataclass(frozen=True, slots=True)
class Way:
    """A legal action, and the cards of one's hand that it uses, sorted."""

    action: Action
    cards: Cards


class Choices:
    """One question to one seat. `legal` is the prompt's list; a longer one is made from the view if it can be."""

    def __init__(self, game: Game, view: AnyState, seat: Seat, legal: Legal) -> None:
        self.game, self.view, self.seat = game, view, seat
        self.hand: Cards = tuple(card for card in view.game.hands[seat] if card != HIDDEN)
        listed = game.legal(view, seat, LIST_MOST) if isinstance(legal, TooMany) else legal
        self.too_many = listed if isinstance(listed, TooMany) else None
        self.ways = () if isinstance(listed, TooMany) else tuple(self._way(action) for action in listed)

    def _way(self, action: Action) -> Way:
        return Way(action, _sorted(used(action, self.hand)))

    @property
    def actions(self) -> tuple[Action, ...]:
        """All that are listed."""
        return tuple(way.action for way in self.ways)

    @property
    def bare(self) -> tuple[Action, ...]:
        """Those that use no card of the hand: pass, draw, cut …"""
        return tuple(way.action for way in self.ways if not way.cards)

    def can_add(self, chosen: Iterable[str]) -> Cards:
        """The cards of the hand that a legal action uses together with all those chosen; each as often as it may be."""
        have = Counter(chosen)
        if self.too_many is not None:
            return tuple((Counter(self.hand) - have).elements())
        most: Counter[str] = Counter()
        for way in self.ways:
            cards = Counter(way.cards)
            if have <= cards:
                most |= cards - have
        return tuple(most.elements())

    def fits(self, chosen: Iterable[str]) -> tuple[Action, ...]:
        """The actions that use exactly these cards. Nothing is chosen: nothing fits."""
        cards = _sorted(chosen)
        if not cards:
            return ()
        return tuple(way.action for way in self.ways if way.cards == cards)

    def guesses(self, chosen: Iterable[str]) -> tuple[Action, ...]:
        """What these cards may be meant for, by the book's forms; may be illegal."""
        cards = _sorted(chosen)
        forms = forms_of(self.game.spec.name, self.view.phase)
        plain = dict.fromkeys(form.verb for form in forms if form.plain)
        exact = dict.fromkeys(form.verb for form in forms if form.takes(len(cards)))
        verbs = exact or (plain if len(plain) == 1 else {})
        return tuple(self.game.spec.canonical(Action(verb, cards)) for verb in verbs) if cards else ()

    def meant(self, chosen: Iterable[str]) -> tuple[Action, ...]:
        """What to do with these cards: what fits, else what they may be meant for."""
        cards = tuple(chosen)
        return self.fits(cards) or self.guesses(cards)

    def forced(self) -> Action | None:
        """The only thing that can be done."""
        return self.ways[0].action if len(self.ways) == 1 else None

    def hint(self, pick: Pick) -> Action:
        """What the game's own bot would do."""
        legal: Legal = self.too_many or self.actions
        if not isinstance(legal, TooMany) and len(legal) == 1:
            return legal[0]
        found: Action = self.game.spec.greedy(self.view, self.seat, legal, pick)
        return found


def used(action: Action, hand: Sequence[str]) -> Cards:
    """The cards of `hand` that an action names, in arguments or keys; a joker that stands for a card is the joker."""
    named = [part[:2] if is_named(part) else part for part in action.args]
    named += [part for _, value in action.keys for part in value.split(",") if len(part) == 2]
    wanted = tuple(part for part in named if is_card(part))
    lacking = Counter(missing(wanted, hand))
    found: list[str] = []
    for card in wanted:
        if lacking[card]:
            lacking[card] -= 1
        else:
            found.append(card)
    return tuple(found)


def _sorted(cards: Iterable[str]) -> Cards:
    return tuple(sorted(cards))
