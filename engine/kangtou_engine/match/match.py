"""One game's matches: begin, decide, evolve, view. The course of a match is CM-1.

    begin   the events of a fresh match
    step    one action: the events it causes, all automatic steps included, and the state after them
    evolve  one recorded event onto a state; folding what a seat was sent gives its view

`step` is `decide` with the state it had to build anyway, so that a table need not fold twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, TypeAlias

from ..actions import Action
from ..cards import Cards, Seat
from ..chance import Chance
from ..errors import IllegalAction
from ..events import Event, freeze, kinds
from ..game import GameSpec, Legal, Phase
from ..scene import Scene, scene_of_lines
from . import lot
from .between import BETWEEN_PHASE, cut_phase
from .events import (
    COMMON,
    Answered,
    BetweenOpened,
    LotDrawn,
    MatchOver,
    PileCut,
    RoundBegan,
    Scored,
    TimedOut,
    Voided,
)
from .state import BETWEEN, CUT, OVER, SCORED, SHUFFLE, Config, Sheet, State

AnyState: TypeAlias = "State[Any]"
Step: TypeAlias = "tuple[tuple[Event, ...], AnyState]"
LIST_LIMIT = 1_000_000_000  # "the whole list", for callers that do not say


class Game:
    """A GameSpec at work: the only thing that tables, clients and tests need of a game."""

    def __init__(self, spec: GameSpec[Any]) -> None:
        self.spec = spec
        self.phases: Mapping[str, Phase[Any]] = {
            CUT: cut_phase(spec),
            BETWEEN: BETWEEN_PHASE,
            **spec.phases,
        }
        self.events = kinds((*COMMON, *spec.events))

    def __repr__(self) -> str:
        return f"<Game {self.spec.id}>"

    # ---- making a match ----

    def config(self, options: Mapping[str, object] | None = None, seats: int | None = None) -> Config:
        """What was agreed, checked. Raises BadOptions. CM-11."""
        count, chosen = self.spec.configure(options or {}, seats)
        return Config(self.spec.name, self.spec.version, count, chosen)

    def before(self, config: Config) -> AnyState:
        """The state before anything has happened: what a match's events are folded onto."""
        named = self.spec.first_seat(config)
        sheet = Sheet(scores=(0,) * config.seats, dealer=named, first=named or 0)
        return State(config, sheet, "lot", game=self.spec.fresh(config, {}))

    def begin(self, config: Config, chance: Chance) -> Step:
        """A fresh match: lot, shuffle, and the deal if there is no cut. CM-1.1."""
        return self._follow(self.before(config), chance, [])

    def settle(self, state: AnyState, chance: Chance) -> AnyState:
        """The same after the automatic steps that are due: for positions that were set up by hand."""
        return self._follow(state, chance, ())[1]

    # ---- acting ----

    def to_act(self, state: AnyState) -> tuple[Seat, ...]:
        """The seats that may act now, ascending. Public (CM-12.1), so it works on views."""
        phase = self.phases.get(state.phase)
        return phase.to_act(state) if phase else ()

    def asked(self, state: AnyState) -> Hashable:
        """A token that changes when a seat that may act must decide anew. CM-9.1."""
        phase = self.phases.get(state.phase)
        sheet = state.sheet
        return (state.phase, sheet.round, sheet.deals, phase.asked(state) if phase else None)

    def legal(self, state: AnyState, seat: Seat, limit: int = LIST_LIMIT) -> Legal:
        """Its legal actions, in canonical form; () for a seat that may not act (CM-10.2)."""
        if seat not in self.to_act(state):
            return ()
        return self.phases[state.phase].legal(state, seat, limit)

    def default(self, state: AnyState, seat: Seat) -> Action:
        """What the table would do for a seat that may act. CM-8."""
        return self.phases[state.phase].default(state, seat)

    def check(self, state: AnyState, seat: Seat, action: Action) -> None:
        """Raise IllegalAction if a seat's action would be refused."""
        self._decide(state, seat, action)

    def step(self, state: AnyState, seat: Seat | None, action: Action, chance: Chance) -> Step:
        """One action of a seat (None: of the table). Raises IllegalAction; then nothing has changed."""
        if seat is not None:
            return self._follow(state, chance, self._decide(state, seat, action))
        if action.verb == "timeout":
            return self._timeout(state, action, chance)
        if state.phase == OVER:
            raise IllegalAction("CM-7.1", "match_over")
        return self._follow(state, chance, self.spec.table_action(state, action))

    def _decide(self, state: AnyState, seat: Seat, action: Action) -> tuple[Event, ...]:
        if seat not in self.to_act(state):
            if state.phase == OVER:
                raise IllegalAction("CM-7.1", "match_over")
            raise IllegalAction("CM-10.2", "not_your_turn", seat=seat)
        return self.phases[state.phase].decide(state, seat, action)

    def _timeout(self, state: AnyState, action: Action, chance: Chance) -> Step:
        """Default actions for one seat or for all that may act now, in seat order. CM-8.2."""
        seats = self._timeout_seats(state, action)
        asked = self.asked(state)
        events: list[Event] = []
        for seat in seats:
            if seat not in self.to_act(state) or self.asked(state) != asked:
                break  # a new question: that is for the next timeout
            late: Event = TimedOut(seat)
            decided = self._decide(state, seat, self.default(state, seat))
            more, state = self._follow(state, chance, (late, *decided))
            events += more
        return tuple(events), state

    def _timeout_seats(self, state: AnyState, action: Action) -> tuple[Seat, ...]:
        asked = self.to_act(state)
        if not asked:
            raise IllegalAction("CM-8.2", "nobody_to_act")
        if action.args or any(key != "seat" for key, _ in action.keys):
            raise IllegalAction("CM-8.2", "takes_nothing", verb="timeout")
        wanted = action.key("seat")
        if wanted is None:
            return asked
        if not wanted.isdigit() or wanted != str(int(wanted)) or int(wanted) >= state.config.seats:
            raise IllegalAction("CM-8.2", "bad_seat", seat=wanted)
        if int(wanted) not in asked:
            raise IllegalAction("CM-8.2", "not_your_turn", seat=int(wanted))
        return (int(wanted),)

    # ---- what follows at once (CM-1.3) ----

    def _follow(self, state: AnyState, chance: Chance, first: Iterable[Event]) -> Step:
        events: list[Event] = []
        more: Iterable[Event] = first
        while True:
            for event in more:
                state = self.evolve(state, event)
                events.append(event)
            more = self._next(state, chance)
            if not more:
                return tuple(events), state

    def _next(self, state: AnyState, chance: Chance) -> tuple[Event, ...]:
        phase = state.phase
        if phase in self.spec.phases:
            return self.spec.automatic(state)
        if phase == "lot":
            return lot.draw(self.spec, state, chance) or (self._round(state, chance),)
        if phase == "deal_now":
            return self.spec.deal(state)
        if phase == BETWEEN and not self.to_act(state):
            return self._after_between(state, chance)
        if phase == SHUFFLE:
            return (self._round(state, chance),)
        if phase == SCORED:
            return self.spec.automatic(state) or self._after_score(state, chance)
        return ()

    def _after_score(self, state: AnyState, chance: Chance) -> tuple[Event, ...]:
        if self.spec.is_over(state):
            return (self._over(state),)  # CM-6.3
        if state.config.options.between:
            return (BetweenOpened(),)
        return (self._round(state, chance),)  # CM-6.4

    def _after_between(self, state: AnyState, chance: Chance) -> tuple[Event, ...]:
        if all(answer == "vote_end" for answer in state.sheet.answers):
            return (self._over(state),)  # CM-6.2
        return (self._round(state, chance),)

    def _over(self, state: AnyState) -> MatchOver:
        """CM-7.2: 1 + the number of seats that did better."""
        scores = self.spec.final_scores(state) or state.sheet.scores
        ranked = [score * self.spec.better for score in scores]
        places = tuple(1 + sum(other > own for other in ranked) for own in ranked)
        return MatchOver(scores, places)

    def _round(self, state: AnyState, chance: Chance) -> RoundBegan:
        sheet = state.sheet
        pile = chance.shuffle(self.spec.pack(state.config), "pack", sheet.deals + 1)
        dealer = sheet.dealer if sheet.next_dealer is None else sheet.next_dealer
        return RoundBegan(
            round=sheet.round + (0 if sheet.redeal else 1),
            deals=sheet.deals + 1,
            dealer=dealer,
            first=sheet.first if dealer is None else dealer,
            scores=sheet.scores,
            lot=sheet.lot,
            last_round=sheet.last_round,
            carry=freeze(self.spec.carry(state)),
            pile=pile,
        )

    # ---- evolving ----

    def evolve(self, state: AnyState, event: Event) -> AnyState:
        """One recorded event onto a state: no checks, no chance."""
        common = _EVOLVE.get(type(event))
        return common(self, state, event) if common else self.spec.evolve(state, event)

    def fold(self, events: Iterable[Event], start: AnyState) -> AnyState:
        """Many events onto a state."""
        return reduce(self.evolve, events, start)

    def begun(self, state: AnyState, event: RoundBegan) -> AnyState:
        """The state right after a RoundBegan: depends on the config and the event alone."""
        sheet = Sheet(
            scores=event.scores,
            round=event.round,
            deals=event.deals,
            dealer=event.dealer,
            first=event.first,
            lot=event.lot,
            pile=event.pile or (),
            last_round=event.last_round,
        )
        phase = CUT if state.config.options.cut else "deal_now"
        return State(state.config, sheet, phase, game=self.spec.fresh(state.config, event.carry))

    # ---- views ----

    def view(self, state: AnyState, seat: Seat | None) -> AnyState:
        """What a seat (None: a spectator) may see now, built up from what is public. CM-12."""
        sheet = state.sheet
        shown = Sheet(
            scores=sheet.scores,
            round=sheet.round,
            deals=sheet.deals,
            dealer=sheet.dealer,
            first=sheet.first,
            next_dealer=sheet.next_dealer,
            lot=sheet.lot,
            cut=sheet.cut,
            answers=sheet.answers,
            last_round=sheet.last_round,
            places=sheet.places,
        )
        return State(state.config, shown, state.phase, game=self.spec.view(state, seat))

    def scene(self, view: AnyState, seat: Seat | None, lang: str) -> Scene:
        """The table by places, from a view of `seat` (None: a spectator), in "en" or "zh"."""
        draw = self.spec.draw
        return draw(view, seat, lang) if draw else scene_of_lines(view, self.spec.show(view, seat, lang))


def _lot_drawn(game: Game, state: AnyState, event: LotDrawn) -> AnyState:
    sheet = replace(state.sheet, lot=(*state.sheet.lot, event.draws), first=event.highest[0])
    if len(event.highest) == 1 and game.spec.dealer_by_lot:
        sheet = replace(sheet, dealer=event.highest[0])
    return state.with_sheet(sheet)


def _pile_cut(game: Game, state: AnyState, event: PileCut) -> AnyState:
    pile = state.sheet.pile
    cut: Cards = pile[event.n :] + pile[: event.n]
    return state.with_sheet(replace(state.sheet, pile=cut, cut=event.n), "deal_now")


def _scored(game: Game, state: AnyState, event: Scored) -> AnyState:
    scores = tuple(old + new for old, new in zip(state.sheet.scores, event.points, strict=True))
    sheet = replace(state.sheet, scores=scores, next_dealer=event.next_dealer, last_round=event.result, pile=())
    return game.spec.evolve(state.with_sheet(sheet, SCORED), event)


def _voided(game: Game, state: AnyState, event: Voided) -> AnyState:
    sheet = replace(state.sheet, next_dealer=event.next_dealer, last_round=event.result, redeal=True, pile=())
    return game.spec.evolve(state.with_sheet(sheet, SHUFFLE), event)


def _answered(game: Game, state: AnyState, event: Answered) -> AnyState:
    answers = list(state.sheet.answers)
    answers[event.seat] = event.answer
    return state.with_sheet(replace(state.sheet, answers=tuple(answers)))


def _between(game: Game, state: AnyState, event: BetweenOpened) -> AnyState:
    blank = ("",) * state.config.seats
    return state.with_sheet(replace(state.sheet, answers=blank), BETWEEN)


def _over(game: Game, state: AnyState, event: MatchOver) -> AnyState:
    sheet = replace(state.sheet, scores=event.scores, places=event.places, answers=(), next_dealer=None)
    return state.with_sheet(sheet, OVER)


def _timed_out(game: Game, state: AnyState, event: TimedOut) -> AnyState:
    return state


_EVOLVE: Mapping[type[Event], Callable[[Game, AnyState, Any], AnyState]] = {
    LotDrawn: _lot_drawn,
    RoundBegan: Game.begun,
    PileCut: _pile_cut,
    Scored: _scored,
    Voided: _voided,
    BetweenOpened: _between,
    Answered: _answered,
    MatchOver: _over,
    TimedOut: _timed_out,
}
