"""Random actions: bots that choose, and attempts that are mostly not legal."""

from __future__ import annotations

from random import Random

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import HIDDEN, ORDER, RANKS, SUITS, Seat, is_card
from kangtou_engine.chance import Chance
from kangtou_engine.errors import IllegalAction
from kangtou_engine.game import Legal, TooMany
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.words import LANGUAGES, explain
from tests.engine.tables import Table, pick_of

LIMIT = 400  # as many legal actions are listed


def garbage(rng: Random, game: Game, state: AnyState, seat: Seat) -> str:
    """An action text that is mostly not legal: nonsense, other cards, other seats' cards, changed legal ones."""
    kind = rng.randrange(6)
    hands = state.game.hands
    own: list[str] = [card for card in hands[seat] if card != HIDDEN]
    verbs = ("play", "pass", "cut", "reveal", "ready", "vote_end", "show", "draw", "lay", "timeout", "take", "discard")
    if kind == 0:
        letters = "SHCD3456789TJQKA2BR=, \t_-?€王"
        return "".join(rng.choice(letters) for _ in range(rng.randrange(12)))
    verb = rng.choice(verbs)
    if kind == 1:
        cards = rng.sample(own, min(len(own), rng.randrange(6)))
    elif kind == 2:
        others = [card for hand in hands for card in hand if card != HIDDEN]
        cards = rng.sample(others, min(len(others), rng.randrange(1, 6)))
    elif kind == 3:
        cards = [rng.choice((*SUITS,)) + rng.choice(RANKS) for _ in range(rng.randrange(5))]
    else:
        return _changed(rng, game, state, seat)
    keys = rng.choice(("", "", "", " as=ten", " as=red", " as=x", " seat=1", " suit=S", " 7", " BJ=D8"))
    return " ".join((verb, *cards)) + keys


def _changed(rng: Random, game: Game, state: AnyState, seat: Seat) -> str:
    """A legal action (of the seat, if it may act) as it is, with other cards of the hand, or with a word changed."""
    asked = game.to_act(state)
    legal = game.legal(state, seat if seat in asked else rng.choice(asked or (seat,)), LIMIT)
    if isinstance(legal, TooMany) or not legal:
        return "pass"
    words = str(rng.choice(legal)).split(" ")
    if rng.random() < 0.5:
        return " ".join(_other_cards(rng, words, [card for card in state.game.hands[seat] if card != HIDDEN]))
    place = rng.randrange(len(words))
    match rng.randrange(6):
        case 0:
            del words[place]
        case 1:
            words.insert(place, words[place])
        case 2:
            words[place] = rng.choice(list(ORDER)[:54])
        case 3:
            tail = words[1:]
            rng.shuffle(tail)
            words = [words[0], *tail]
        case 4:
            words.append(rng.choice(("as=ten", "x=1", "5", "H7", "")))
        case _:
            pass
    return " ".join(words)


def _other_cards(rng: Random, words: list[str], hand: list[str]) -> list[str]:
    """The words with their cards replaced by as many others of a hand."""
    places = [place for place, word in enumerate(words) if is_card(word)]
    changed = list(words)
    for place, card in zip(places, rng.sample(hand, min(len(hand), len(places))), strict=False):
        changed[place] = card
    return changed


def attempt(game: Game, state: AnyState, seat: Seat, text: str) -> Action | IllegalAction:
    """The canonical action if a table would take it, else the refusal."""
    try:
        action = game.spec.canonical(parse_action(text))
        game.check(state, seat, action)
    except IllegalAction as error:
        return error
    return action


def refusal_texts(game: Game, error: IllegalAction) -> tuple[str, ...]:
    """What a seat is told, in all languages."""
    return tuple(explain(game.spec.words, error, lang) for lang in LANGUAGES)


class Players:
    """Who acts next, and how: bots, some greedy, some random; now and then the table."""

    def __init__(self, table: Table, rng: Random, seats: int) -> None:
        spec = table.game.spec
        self._game = table.game
        self._rng = rng
        self._bots = [rng.choice((spec.random, spec.random, spec.greedy)) for _ in range(seats)]
        self._table: tuple[str, ...] = getattr(table.facts, "TABLE_ACTIONS", ())

    def choose(self, state: AnyState) -> tuple[Seat | None, str]:
        """The next actor (None: the table) and what it does, as text."""
        rng = self._rng
        seats = self._game.to_act(state)
        chance = rng.random()
        if chance < 0.01:
            return None, "timeout"
        if chance < 0.02:
            return None, f"timeout seat={rng.choice(seats)}"
        if chance < 0.03 and self._table:
            return None, rng.choice(self._table)
        seat = rng.choice(seats)
        view = self._game.view(state, seat)
        legal = self._game.legal(view, seat, LIMIT)
        return seat, str(self._bots[seat](view, seat, legal, pick_of(rng)))


def refused(game: Game, state: AnyState, seat: Seat, text: str, chance: Chance) -> bool:
    """Whether the table itself refuses it, too."""
    try:
        game.step(state, seat, game.spec.canonical(parse_action(text)), chance)
    except IllegalAction:
        return True
    return False


def listed_texts(legal: Legal) -> tuple[str, ...]:
    """A prompt's legal actions, or its constraint, as texts."""
    if isinstance(legal, TooMany):
        return (legal.rule, legal.constraint, *(f"{key}={value}" for key, value in legal.params.items()))
    return tuple(map(str, legal))
