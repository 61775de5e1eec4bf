"""The clocks of a recorded match as they were: from its entries alone. docs/clocks.md."""

from __future__ import annotations

from dataclasses import dataclass

from .cards import Seat
from .match.clocks import LAG, Clock, Prompts
from .match.match import Game
from .match.state import Config
from .notation import Note, Step
from .record import Moment, Terms
from .replay import Replay


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks at one position of a replay.

    time_ms   when the last moment before it happened
    prompts   who is asked, until when, banks, substitutes
    """

    time_ms: int
    prompts: Prompts

    def turn_left(self, seat: Seat, now_ms: int) -> int | None:
        """What was left of the question's own time, in ms; None if the seat was not asked."""
        asked = self.prompts.asked[seat]
        return max(0, asked.own_ms - now_ms) if asked is not None else None

    def bank_left(self, seat: Seat, now_ms: int) -> int:
        """What was left of the seat's bank, in ms."""
        return self.prompts.bank_left(seat, now_ms)


def clock_of(game: Game, config: Config, terms: Terms) -> Clock:
    """The clock settings that a record's header tells."""
    people = frozenset(seat for seat, place in enumerate(terms.seats) if place.kind == "human")
    return Clock(terms.turn_ms, terms.window_ms, game.spec.window_ms(config), people, *terms.clocks)


def clocks_of(replay: Replay) -> tuple[Clocks, ...]:
    """The clocks at every position of a replay, from 0 to the number of its moments. Raises ValueError, BadText."""
    game, terms = replay.game, replay.record.head.terms
    clock = clock_of(game, replay.config, terms)
    prompts = Prompts((None,) * replay.config.seats, None, clock.ledger(replay.config.seats))
    found = [Clocks(terms.created_ms, prompts)]
    moments = iter((*replay.moments, None))
    moment = next(moments)
    for entry in replay.record.entries:
        prompts = prompts.given(entry.body.given_ms)
        lag_ms = 0
        while moment is not None and moment.seq == entry.seq:
            prompts, lag_ms = _after(replay, clock, prompts, moment, lag_ms)
            found.append(Clocks(moment.time_ms, prompts))
            moment = next(moments)
    return tuple(found)


def _after(replay: Replay, clock: Clock, prompts: Prompts, moment: Moment, lag_ms: int) -> tuple[Prompts, int]:
    """One moment on; with the lag that a note gives back for the action behind it."""
    item = moment.item
    if isinstance(item, Note):
        return prompts.noted(item, clock), int(item.key("ms")) if item.word == LAG else lag_ms
    if not isinstance(item, Step) and not moment.begin:
        return prompts, lag_ms
    acted: tuple[Seat, ...] = ()
    if isinstance(item, Step):
        prompts = prompts.acts(item, moment.time_ms, lag_ms, clock)
        acted = item.acted
    state = replay.state(moment.number + 1)
    seq, time_ms = moment.seq, moment.time_ms
    return prompts.after(replay.game, state, acted, seq=seq, time_ms=time_ms, clock=clock), 0
