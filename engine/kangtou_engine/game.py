"""The contract: what a game family supplies to the match layer.

A game is a GameSpec: data and plain functions, found in `games/<name>/__init__.py` as `GAME`. Its own part of
the state is an immutable value of its choosing (`State.game`); it must have `hands`. The match layer
(`match/`) does the lot, the shuffle, the cut, `between` and `over`, so a game has only its own phases.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from .actions import Action
from .cards import Card, Cards, Seat
from .errors import BadOptions
from .events import Event
from .match.state import Config, State
from .opening import Opening
from .options import Value
from .planning import Planning
from .rule_sets import STANDARD, RuleSet
from .scene import Draw
from .words import Words


class Own(Protocol):
    """What every game's own state has."""

    @property
    def hands(self) -> tuple[Cards, ...]:
        """The cards that each seat holds, in canonical order unless the book says otherwise."""
        ...


R = TypeVar("R", bound=Own)


@dataclass(frozen=True, slots=True)
class TooMany:
    """Instead of a list of legal actions: there are more than were asked for, or a book lists none. CM-10.3.

    `constraint` is a code of the catalogue that says in words what is legal; `params` are its numbers and cards.
    """

    rule: str
    constraint: str
    params: Mapping[str, str | int] = field(default_factory=dict)


Legal: TypeAlias = "tuple[Action, ...] | TooMany"
Pick: TypeAlias = Callable[[int], int]  # pick(n): a whole number from 0 to n-1; a bot's chance


def asked_once(state: State[Any]) -> Hashable:
    """For phases in which nobody is asked anew while the phase and the round last."""
    return None


@dataclass(frozen=True, slots=True)
class Phase(Generic[R]):
    """One phase of a game.

    to_act   the seats that may act now, ascending; must follow from what is public
    decide   the events that one action of a seat in `to_act` causes directly; raises IllegalAction. The match
             layer has checked that the seat may act, and puts `canonical` before it
    legal    all legal actions of a seat in `to_act` as canonical texts, each once, or TooMany if there are more
             than `limit`
    default  the action that the table takes for a seat whose time has run out. CM-8
    asked    a public token that changes when seats must decide anew within this phase (CM-9.1)
    """

    to_act: Callable[[State[R]], tuple[Seat, ...]]
    decide: Callable[[State[R], Seat, Action], tuple[Event, ...]]
    legal: Callable[[State[R], Seat, int], Legal]
    default: Callable[[State[R], Seat], Action]
    asked: Callable[[State[R]], Hashable] = asked_once


@dataclass(frozen=True, slots=True)
class CaseKeys(Generic[R]):
    """How a game sets up and reads positions of case files.

    position  builds the game's own state and phase from `start` (with `hands`, or phase `between`) on a state whose
              sheet already has round, dealer, scores and next_dealer; raises BadText for what does not fit
    observe   a function for each key of `expect` that is not common to all games; a value of cards is a `Cards`
              tuple, compared without order unless the key is in `ordered`
    same      comparisons (expected, observed) for keys that need their own
    carry     what carries over, from `start`, for cases that start with a round that begins
    keys      the keys of `start` that the game has besides the common ones
    """

    position: Callable[[State[R], Mapping[str, Any]], State[R]]
    observe: Mapping[str, Callable[[State[R]], object]]
    ordered: frozenset[str] = frozenset()
    same: Mapping[str, Callable[[Any, Any], bool]] = field(default_factory=dict)
    carry: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda start: {}
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Covered:
    """What no program may offer a look back at while the round lasts, such as the cards of finished tricks.

    Events of `kinds` are covered once an event of `by` follows; with the score all are open. `rule` says so.
    """

    rule: str
    kinds: frozenset[str]
    by: frozenset[str]


FREE, PHRASES, SILENT = "free", "phrases", "silent"  # what a seat may say at the table now: anything, fixed phrases


def talk_free(state: State[Any], seat: Seat) -> str:
    """For games whose book says nothing of talk."""
    return FREE


class Tell(Protocol):
    """What happened in words, where a template `event.<kind>` of the game's words is not enough."""

    def __call__(self, event: Event, config: Config, lang: str) -> tuple[str, ...]:
        """Lines, without who did it; () to use the template. Of a score: what the round came to."""
        ...


@dataclass(frozen=True, slots=True)
class Draws(Generic[R]):
    """Events that take cards from the pile in the course of a round: whoever knows the pile knows these cards.

    kinds   their types
    due     from the state as the round began, cut and with its pile, and all events of these kinds of the round as
            somebody saw them: what they must have been, in order, as far as the pile goes
    """

    kinds: tuple[type[Event], ...]
    due: Callable[[State[R], Sequence[Event]], Iterator[Event]]


def no_tell(event: Event, config: Config, lang: str) -> tuple[str, ...]:
    """For games whose templates say everything."""
    return ()


class Standing(Protocol):
    """Whether a standing answer (design §5) still holds for a seat that is asked: else it is dropped."""

    def __call__(self, state: State[Any], seat: Seat, answer: Action, until: str) -> bool | None:
        """`until` is one of the words that the game lists in `standing_until`.

        None: this is no question for it, so it is neither given now nor dropped.
        """
        ...


def no_standing(state: State[Any], seat: Seat, answer: Action, until: str) -> bool:
    """A standing answer holds until it is revoked."""
    return True


def no_table_action(state: State[Any], action: Action) -> tuple[Event, ...]:
    """For games in which the table has no verb of its own besides `timeout`."""
    from .errors import IllegalAction

    raise IllegalAction("CM-10.1", "unknown_verb", verb=action.verb)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSpec(Generic[R]):
    """One version of one game family.

    name, version   `hongshi`, 1. A change of legality, scoring or events makes a new version
    prefix          of its rules and cases: `HS`
    title           (English, Chinese)
    configure       checks seats (None: the default) and options and gives (seats, options object); BadOptions
    option_rows     what `configure` accepts, for help and listings
    pack            all cards of a round, canonical order
    first_seat      who draws first in round 1 without a lot (EB-2.2), or None for the lot
    cutter_phase_on whether a round begins with `cut` (CM-4.2)
    fresh           the game's own state when a round begins, before the deal, from what carries over
    carry           what carries over into the next round besides the sheet, as plain JSON-able values
    deal            the events that deal `sheet.pile` (already cut) and open the first phase
    automatic       events that follow by themselves from a position of a game phase, () if a seat is waited for;
                    called again after them. Ends a round with `Scored` (or `Voided`)
    evolve          one event of the game onto the state: never checks, never fails, works on hidden cards too
    view            the game's own state as one seat (None: a spectator) may see it, built field by field
    canonical       the canonical form of a legal action; gives others back as they are
    is_over         whether the book's end condition holds after a score (CM-6.3)
    better          1 if a higher score is better, -1 if a lower one (CM-7.2)
    final_scores    scores set at the end of the match (Duizhu), or None to keep them
    events          the game's event types (common ones are added)
    table_action    verbs of the table besides `timeout`
    words           texts by code: refusals, constraints, names of things; (English, Chinese) templates
    random, greedy  bots: an action for `seat` from its view, by the given chance
    show            lines that show the table from a view, language "en" or "zh"
    tell            an event in words, for what templates cannot say
    draw            the same as `show` by places, for programs that draw the table; None: the lines will do
    sides           seats that are partners for the whole match, side by side; () where each seat is for itself or the
                    partners change. What follows outside the rules: ratings and parties
    hidden_sides    whether seats are partners for a round, by their cards (Hongshi)
    board           options of the shortest fair match, for tournaments on boards
    rule_sets       named house rules, the book's own first; no two mean the same
    covered         what the book forbids to look back at during a round
    window_ms       what people have in the windows of a phase, in ms, at a table that chose no window clock
    talk            what a seat may say now: FREE, PHRASES (phrases.py) or SILENT
    opening         what stands out in a hand as dealt, for statistics; None: nothing is said
    draws           events after the deal that take cards from the pile; None: there are none
    planning        its part in a search by bots; None: bots that search play greedily
    """

    name: str
    version: int
    prefix: str
    title: tuple[str, str]
    seats_allowed: tuple[int, ...]
    configure: Callable[[Mapping[str, object], int | None], tuple[int, Any]]
    option_rows: tuple[Any, ...]
    pack: Callable[[Config], Cards]
    fresh: Callable[[Config, Mapping[str, Any]], R]
    carry: Callable[[State[R]], Mapping[str, Any]]
    deal: Callable[[State[R]], tuple[Event, ...]]
    phases: Mapping[str, Phase[R]]
    automatic: Callable[[State[R]], tuple[Event, ...]]
    evolve: Callable[[State[R], Event], State[R]]
    view: Callable[[State[R], Seat | None], R]
    canonical: Callable[[Action], Action]
    is_over: Callable[[State[R]], bool]
    events: tuple[type[Event], ...]
    words: Words
    cases: CaseKeys[R]
    random: Callable[[State[R], Seat, Legal, Pick], Action]
    greedy: Callable[[State[R], Seat, Legal, Pick], Action]
    show: Callable[[State[R], Seat | None, str], tuple[str, ...]]
    better: int = 1
    first_seat: Callable[[Config], Seat | None] = lambda config: None
    dealer_by_lot: bool = True
    final_scores: Callable[[State[R]], tuple[int, ...] | None] = lambda state: None
    table_action: Callable[[State[R], Action], tuple[Event, ...]] = no_table_action
    standing: Standing = no_standing
    standing_until: tuple[str, ...] = ()
    tell: Tell = no_tell
    draw: Draw | None = None
    covered: Callable[[Config], tuple[Covered, ...]] = lambda config: ()
    window_ms: Callable[[Config], Mapping[str, int]] = lambda config: {}
    sides: Callable[[Config], tuple[tuple[Seat, ...], ...]] = lambda config: ()
    hidden_sides: bool = False
    board: Mapping[str, Value] = field(default_factory=lambda: {"rounds": 1})
    talk: Callable[[State[R], Seat], str] = talk_free
    opening: Opening | None = None
    draws: Draws[R] | None = None
    planning: Planning[R] | None = None
    rule_sets: tuple[RuleSet, ...] = (STANDARD,)

    @property
    def id(self) -> str:
        """`hongshi@1`."""
        return f"{self.name}@{self.version}"

    def rule_set(self, name: str) -> RuleSet:
        """House rules by name. Raises BadOptions."""
        for known in self.rule_sets:
            if known.name == name:
                return known
        raise BadOptions("CM-11.1", "bad_option", "rules", name[:40], ", ".join(one.name for one in self.rule_sets))


def check_seats(given: int | None, allowed: tuple[int, ...], default: int) -> int:
    """The number of seats of a table. Raises BadOptions. CM-11.1."""
    if given is None:
        return default
    if type(given) is not int or given not in allowed:
        raise BadOptions("CM-11.1", "bad_seats", "seats", str(given)[:20], ", ".join(map(str, allowed)))
    return given


__all__ = ["Card", "CaseKeys", "GameSpec", "Legal", "Phase", "Pick", "TooMany", "check_seats"]
