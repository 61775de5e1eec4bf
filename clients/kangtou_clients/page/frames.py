"""What a page shows, one frame after another, as one viewer saw it.

A viewer's frames are built from the events that it was sent, folded: never cut from the open match. So a page for one
seat cannot hold what that seat did not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeAlias

from kangtou_engine.cards import HIDDEN, Cards, Seat
from kangtou_engine.events import Event, kind_of
from kangtou_engine.match.events import MatchOver, RoundBegan, Scored, Voided
from kangtou_engine.match.match import AnyState
from kangtou_engine.match.state import BETWEEN, SCORED, SHUFFLE
from kangtou_engine.notation import Step
from kangtou_engine.record import Moment
from kangtou_engine.record.moments import TRICK_ENDS
from kangtou_engine.replay import OPEN, Replay, Who
from kangtou_engine.scene import Place, Scene
from kangtou_engine.timing import Clocks

from ..render import Renderer
from ..show import standing_lines

LANGUAGES = ("en", "zh")
Value: TypeAlias = Any  # a Text, a number, a card list as text, or a tuple of values
_CLOSING = (Scored, Voided, RoundBegan, MatchOver)  # each is shown by itself: the table before it is worth a look


@dataclass(frozen=True, slots=True)
class Text:
    """A text in both languages."""

    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of the page. `place`: (moment, part of it), the same for all viewers.

    think_ms is None for what no seat decided. `shown` is all that the page draws, by name.
    result, came_to: the end of a round, and what the game says of it.
    """

    place: tuple[int, int]
    time_ms: int
    seat: Seat | None
    think_ms: int | None
    round: int
    trick: int
    shown: Mapping[str, Value]
    result: Scored | Voided | None = None
    came_to: tuple[Text, ...] = ()


class Marked(Renderer):
    """Texts with cards and seats marked, `⟦HT⟧` and `⟦2⟧`, for the page to draw."""

    __slots__ = ()

    def _face(self, text: str) -> str:
        return f"⟦{text}⟧"

    def _round(self, event: RoundBegan) -> str:
        return super()._round(event).removeprefix("── ")

    def seat(self, seat: Seat | None) -> str:
        """The seat's number; the page knows its name."""
        return "–" if seat is None else f"⟦{seat}⟧"

    def cards(self, cards: Cards) -> str:  # type: ignore[override]
        """Card after card; a row of hidden ones as one card and their number."""
        if len(cards) > 1 and set(cards) == {HIDDEN}:
            return f"⟦{HIDDEN}⟧×{len(cards)}"
        return " ".join(map(self.card, cards)) or "–"


RENDERERS = tuple(Marked(lang) for lang in LANGUAGES)
_EMPTY = Scene((), ())


@dataclass(slots=True)
class Track:
    """The frames of one viewer."""

    replay: Replay
    who: Who
    clocks: Sequence[Clocks]  # at every position
    _asked: dict[int, int] = field(default_factory=dict)  # when each entry was written, less the time given back

    def frames(self) -> Iterator[Frame]:
        """All of them; nothing for a moment that this viewer was told nothing of."""
        replay = self.replay
        self._asked = _clock(replay)
        state = replay.game.before(replay.config)
        for number, moment in enumerate(replay.moments):
            parts = list(self._parts(replay.seen(number, self.who), state.sheet.round > 0))
            for part, events in enumerate(parts):
                state = replay.game.fold(events, state)
                told = self._told(events)
                settled = part == len(parts) - 1
                if settled:
                    told += _texts(*(_beside(render, moment, self.who) for render in RENDERERS))
                if told or events:
                    yield self._frame((number, part), state, events, told, settled)

    def _parts(self, events: Sequence[Event], begun: bool) -> Iterator[tuple[Event, ...]]:
        """A moment's events, cut where the table before is worth a look: at the end of a trick or of a round."""
        part: list[Event] = []
        for event in events:
            if part and begun and (isinstance(event, _CLOSING) or kind_of(type(event)) in TRICK_ENDS):
                yield tuple(part)
                part = []
            part.append(event)
        yield tuple(part)

    def _told(self, events: Sequence[Event]) -> tuple[Text, ...]:
        game, config = self.replay.game, self.replay.config
        return tuple(
            text for event in events for text in _texts(*(render.event(game, event, config) for render in RENDERERS))
        )

    def _frame(
        self, place: tuple[int, int], state: AnyState, events: Sequence[Event], told: tuple[Text, ...], settled: bool
    ) -> Frame:
        moment = self.replay.moments[place[0]]
        step = moment.item if isinstance(moment.item, Step) and not place[1] else None
        ends = [event for event in events if isinstance(event, Scored | Voided)]
        return Frame(
            place=place,
            time_ms=moment.time_ms,
            seat=step.seat if step is not None else None,
            think_ms=self._think(step, moment.seq) if step is not None else None,
            round=state.sheet.round,
            trick=moment.trick if state.sheet.round == moment.round else 1,
            shown={"told": told, **self._table(state, settled), **self._clock(place[0], settled)},
            result=ends[-1] if ends else None,
            came_to=self._came_to(ends),
        )

    def _came_to(self, ends: Sequence[Event]) -> tuple[Text, ...]:
        spec, config = self.replay.game.spec, self.replay.config
        return tuple(
            text for event in ends for text in _marked(*(spec.tell(event, config, lang) for lang in LANGUAGES))
        )

    def _think(self, step: Step, seq: int) -> int | None:
        """From the entry that put the question to the one with the answer, less what was given back. Design §4."""
        if step.seat is None or step.prompt not in self._asked:
            return None
        return max(0, self._asked[seq] - self._asked[step.prompt])

    def _table(self, state: AnyState, settled: bool) -> Mapping[str, Value]:
        """All that is drawn, flat, so that what does not change costs nothing. `settled`: no more of this moment."""
        game, seat = self.replay.game, self.who if isinstance(self.who, int) else None
        scenes = tuple(game.scene(drawable(state), seat, lang) if state.sheet.round else _EMPTY for lang in LANGUAGES)
        found: dict[str, Value] = {
            "asked": game.to_act(state) if settled else (),
            "scores": state.sheet.scores,
            "places": state.sheet.places or (),
            "head": _marked(*(scene.head for scene in scenes)),
            "areas": tuple(
                (title, _packed(area.cards))
                for title, area in zip(
                    _marked(*([area.title for area in scene.areas] for scene in scenes)), scenes[0].areas, strict=True
                )
            ),
            "lines": _marked(*(scene.lines for scene in scenes)),
        }
        for who, hand in enumerate(state.game.hands):
            places = [scene.places[who] if scene.places else Place() for scene in scenes]
            found[f"hand{who}"] = _packed(places[0].hand or hand)
            found[f"shown{who}"] = _packed(places[0].shown)
            found[f"laid{who}"] = (
                _packed(places[0].laid),
                *_marked(*([place.said] for place in places)),
                places[0].best,
            )
            found[f"marks{who}"] = _marked(*(place.marks for place in places))
        return found

    def _clock(self, number: int, settled: bool) -> Mapping[str, Value]:
        """By seat, in tenths of a second: left of its question's own time, of its bank (-1: none); a substitute."""
        clocks, seats = self.clocks[number + settled], range(self.replay.config.seats)
        now, ledger, banks = clocks.time_ms, clocks.prompts.ledger, self.replay.record.head.terms.bank_ms
        found: dict[str, Value] = {}
        for seat in seats:
            left = clocks.turn_left(seat, now) if settled else None
            found[f"clock{seat}"] = (
                -1 if left is None else left // 100,
                clocks.bank_left(seat, now) // 100 if banks else -1,
                int(ledger is not None and bool(ledger.away[seat])),
            )
        return found


def drawable(state: AnyState) -> AnyState:
    """A table that has just been scored is drawn as one between two rounds: that phase games can show. CM-6."""
    return state.with_phase(BETWEEN) if state.phase in (SCORED, SHUFFLE) else state


def viewers_of(replay: Replay, who: Who) -> tuple[Who, ...]:
    """Whose views a page holds: an open one all, any other only its own."""
    return (OPEN, *range(replay.config.seats), None) if who == OPEN else (who,)


def _beside(render: Renderer, moment: Moment, who: Who) -> list[str]:
    """What is no event: standing answers, as far as they are this viewer's; the end of the match."""
    lines = standing_lines(render, moment.item, who)
    if moment.cause:
        lines.append(render.word("ended", cause=render.word(f"cause.{moment.cause}")))
    return lines


def _clock(replay: Replay) -> dict[int, int]:
    """When each entry was written, on a clock that stood still while time was given back. In ms, by sequence number."""
    given, found = 0, {}
    for entry in replay.record.entries:
        given += entry.body.given_ms
        found[entry.seq] = entry.body.time_ms - given
    return found


def _texts(*texts: Sequence[str]) -> tuple[Text, ...]:
    return tuple(Text(*pair) for pair in zip_longest(*texts, fillvalue=""))


def _marked(*texts: Sequence[str]) -> tuple[Text, ...]:
    return _texts(*([render.line(text) for text in some] for render, some in zip(RENDERERS, texts, strict=True)))


def _packed(cards: Cards) -> str:
    """`S5 HT BJ=D8`; hidden ones at the end as their number: `?9`."""
    known = [card for card in cards if card != HIDDEN]
    return " ".join([*known, f"?{len(cards) - len(known)}"] if len(known) < len(cards) else known)
