"""What somebody wants to play, from typed words: `erbaiwu seats=3 settle_at=7 turn=60 start=ready rated`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from kangtou_engine.errors import BadOptions
from kangtou_engine.options import option_from_text
from kangtou_engine.registry import REGISTRY
from kangtou_engine.words import explain

from ..api import TableTerms, Wanted
from ..api.spectating import POLICIES
from ..api.tables import AS_USUAL, STARTS
from ..desk.asked import Asked
from .words import say

SECONDS_MOST = 86_400


class Bad(Exception):
    """A line that cannot be done; the text is for people."""


@dataclass(slots=True)
class _Reading:
    """Words as they are read."""

    lang: str
    wanted: Wanted
    terms: TableTerms = AS_USUAL
    ask: bool = False
    options: dict[str, int | bool | str] = field(default_factory=dict)

    def one_of(self, name: str, given: str, allowed: Collection[str]) -> str:
        """A word that is allowed. Raises Bad."""
        if given not in allowed:
            raise Bad(say("bad_value", self.lang, name=name, given=given, allowed=", ".join(allowed)))
        return given

    def seconds(self, name: str, given: str) -> int:
        """Seconds. Raises Bad."""
        if not (given.isascii() and given.isdigit() and int(given) <= SECONDS_MOST):
            whole = say("whole_seconds", self.lang)
            raise Bad(say("bad_value", self.lang, name=name, given=given, allowed=whole))
        return int(given)

    def number(self, name: str, given: str, allowed: Sequence[int]) -> int:
        """One of a few numbers. Raises Bad."""
        return int(self.one_of(name, given, [str(number) for number in allowed]))

    def flag(self, word: str) -> bool:
        """A word alone; False if it is none."""
        if word == "rated":
            self.terms = replace(self.terms, rated=True)
        elif word == "private":
            self.terms = replace(self.terms, private=True)
        elif word == "guests":
            self.terms = replace(self.terms, only_guests=True)
        elif word == "ask":
            self.ask = True
        else:
            return False
        return True

    def term(self, name: str, given: str) -> bool:
        """A term of the table, or a clock; False if there is none of that name."""
        game = REGISTRY.game(self.wanted.game)
        if name in _CLOCKS:
            self.wanted = _CLOCKS[name](self.wanted, self.seconds(name, given) * 1000)
        elif name == "seats":
            self.wanted = replace(self.wanted, seats=self.number(name, given, game.spec.seats_allowed))
        elif name == "rules":
            sets = [one.name for one in game.spec.rule_sets]
            self.wanted = replace(self.wanted, rules=self.one_of(name, given, sets))
        else:
            taken = _TERMS.get(name)
            if taken is None:
                return False
            self.terms = taken(self, self.terms, given)
        return True


_CLOCKS: dict[str, Callable[[Wanted, int], Wanted]] = {
    "turn": lambda wanted, ms: replace(wanted, turn_ms=ms),
    "window": lambda wanted, ms: replace(wanted, window_ms=ms),
    "bank": lambda wanted, ms: replace(wanted, bank_ms=ms),
    "increment": lambda wanted, ms: replace(wanted, increment_ms=ms),
}
_TERMS: dict[str, Callable[[_Reading, TableTerms, str], TableTerms]] = {
    "start": lambda reads, terms, given: replace(terms, start=reads.one_of("start", given, STARTS)),
    "watch": lambda reads, terms, given: replace(terms, watch=reads.one_of("watch", given, POLICIES)),
    "delay": lambda reads, terms, given: replace(terms, watch_delay_s=reads.seconds("delay", given)),
    "fill": lambda reads, terms, given: replace(terms, fill_after_s=reads.seconds("fill", given)),
    "scorer": lambda reads, terms, given: replace(terms, scorer=given),
}


def asked(words: Sequence[str], lang: str) -> Asked:
    """What the words ask for; the first is the game. Raises Bad."""
    game = game_of(words, lang)
    reads = _Reading(lang, Wanted(game))
    spec = REGISTRY.game(game).spec
    rows = {row.name: row for row in spec.option_rows}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if name in rows and equals:
            try:
                reads.options[name] = option_from_text(rows[name], value)
            except BadOptions as error:
                raise Bad(explain(spec.words, error, lang)) from error
        elif not (reads.term(name, value) if equals else reads.flag(word)):
            raise Bad(say("bad_option", lang, text=word))
    return Asked(replace(reads.wanted, options=reads.options), reads.terms, reads.ask)


def game_of(words: Sequence[str], lang: str) -> str:
    """The game that is named first, by its name or its Chinese one. Raises Bad."""
    names = REGISTRY.names()
    if not words:
        raise Bad(say("which_game", lang, games=", ".join(names)))
    for name in names:
        if words[0] in (name, REGISTRY.game(name).spec.title[1]):
            return name
    raise Bad(say("no_game", lang, game=words[0], games=", ".join(names)))
