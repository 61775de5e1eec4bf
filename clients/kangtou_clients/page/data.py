"""The data of a page: every text and value once, and of each frame only what changed, for whom.

texts    [[en, zh], …]
values   card lists as texts, or lists of numbers, of places in `texts`, and of such lists
names    what is drawn: `told`, `phase`, `hand0`, …
frames   [time, seat, think, round, trick, who, [name, value, who, name, value, who, …]], in ms since the beginning,
         -1 for none. `who` is a set of viewers as bits, 0 for all: who has this frame, whose value changes
sheet    a row for each round that was scored or made void
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kangtou_engine.match.events import Scored
from kangtou_engine.replay import OPEN, Replay, Who
from kangtou_engine.timing import clocks_of

from ..names import word
from . import words
from .frames import LANGUAGES, Frame, Text, Track, Value, viewers_of

Json: TypeAlias = Any
Done: TypeAlias = Callable[[int, int], None]  # so many of so many moments


@dataclass(slots=True)
class Table:
    """Values by place; the same one has the same place."""

    rows: list[Json] = field(default_factory=list)
    places: dict[Any, int] = field(default_factory=dict)

    def place(self, value: Any, row: Json) -> int:
        """Where a value is; `row` is how it is written there."""
        found = self.places.get(value)
        if found is None:
            found = self.places[value] = len(self.rows)
            self.rows.append(row)
        return found


@dataclass(slots=True)
class Packer:
    """Packs the frames of some viewers into one list."""

    count: int
    texts: Table = field(default_factory=Table)
    values: Table = field(default_factory=Table)
    names: Table = field(default_factory=Table)
    last: dict[tuple[int, int], int] = field(default_factory=dict)  # (name, viewer): value

    def value(self, value: Value) -> int:
        """Its place, with texts in it as places of theirs."""
        found = self.values.places.get(value)
        return self.values.place(value, self._row(value)) if found is None else found

    def text(self, text: Text) -> int:
        """The place of a text."""
        return self.texts.place(text, (text.en, text.zh))

    def _row(self, value: Value) -> Json:
        if isinstance(value, Text):
            return self.text(value)
        return [self._row(part) for part in value] if isinstance(value, tuple) else value

    def frame(self, frames: Mapping[int, Frame], start_ms: int) -> Json:
        """One step: the viewers that have it, with what each of them is shown."""
        first = next(iter(frames.values()))
        return [
            first.time_ms - start_ms,
            -1 if first.seat is None else first.seat,
            -1 if first.think_ms is None else first.think_ms,
            first.round,
            first.trick,
            self._mask(frames),
            self._changes({viewer: frame.shown for viewer, frame in frames.items()}),
        ]

    def _mask(self, viewers: Sequence[int] | Mapping[int, Any]) -> int:
        return 0 if len(viewers) == self.count else sum(1 << viewer for viewer in viewers)

    def _changes(self, shown: Mapping[int, Mapping[str, Value]]) -> Json:
        found: dict[tuple[int, int], list[int]] = {}
        for viewer, values in shown.items():
            for name, value in values.items():
                key, place = self.names.place(name, name), self.value(value)
                if self.last.get((key, viewer)) != place:
                    self.last[key, viewer] = place
                    found.setdefault((key, place), []).append(viewer)
        return [number for (key, place), viewers in found.items() for number in (key, place, self._mask(viewers))]


def page_data(replay: Replay, who: Who, names: Sequence[str], lang: str, done: Done = lambda now, of: None) -> Json:
    """All that a page holds, as plain values. `names` by seat; "" shows the seat's number alone."""
    viewers = viewers_of(replay, who)
    packer = Packer(len(viewers))
    clocks = clocks_of(replay)
    frames = _together(
        [Track(replay, viewer, clocks) for viewer in viewers], lambda now: done(now, len(replay.moments))
    )
    start_ms = frames[0][min(frames[0])].time_ms if frames else 0
    packed = [packer.frame(step, start_ms) for step in frames]
    return {
        "lang": lang,
        "head": _head(replay, names, start_ms),
        "viewers": ["open" if one == OPEN else "spectator" if one is None else one for one in viewers],
        "words": words.WORDS,
        "names": packer.names.rows,
        "sheet": _sheet(packer, frames),
        "frames": packed,
        "texts": packer.texts.rows,
        "values": packer.values.rows,
    }


def _together(tracks: Sequence[Track], done: Callable[[int], None]) -> list[dict[int, Frame]]:
    """The frames of all viewers by place: a step that one was not told of is missing for it."""
    found: dict[tuple[int, int], dict[int, Frame]] = {}
    walks = [track.frames() for track in tracks]
    for viewer, walk in enumerate(walks):
        for frame in walk:
            found.setdefault(frame.place, {})[viewer] = frame
            done((viewer * len(tracks[0].replay.moments) + frame.place[0]) // len(tracks))
    return [found[place] for place in sorted(found)]


def _head(replay: Replay, names: Sequence[str], start_ms: int) -> Json:
    """What match this is. No seed, no commitment, no hash: a page may be published while its deal is asked about."""
    terms, spec = replay.record.head.terms, replay.game.spec
    return {
        "match": terms.match,
        "title": spec.title,
        "game": f"{terms.game}@{terms.version}",
        "began": start_ms,
        "options": [[name, value] for name, value in terms.options.items()],
        "turn": terms.turn_ms,
        "window": terms.window_ms,
        "bank": terms.bank_ms,
        "increment": terms.increment_ms,
        "rated": terms.rated,
        "seats": [
            {"name": name, "kind": [word(seat.kind, lang) for lang in LANGUAGES], "bot": seat.kind == "bot"}
            for name, seat in zip(names, terms.seats, strict=True)
        ],
    }


def _sheet(packer: Packer, frames: Sequence[Mapping[int, Frame]]) -> Json:
    """A row for each round that ended: where, which, points of the seats (none: void), totals, in words."""
    rows = []
    for number, step in enumerate(frames):
        frame = step[min(step)]
        if frame.result is None:
            continue
        rows.append(
            {
                "frame": number,
                "round": frame.round,
                "points": frame.result.points if isinstance(frame.result, Scored) else None,
                "totals": frame.shown["scores"],
                "told": [packer.text(text) for text in frame.came_to],
            }
        )
    return rows
