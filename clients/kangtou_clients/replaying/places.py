"""Places in a record as people write them, as positions: how many moments have happened.

3        the beginning of round 3
3:2      of its second trick
@117     right after the entry of that sequence number
+90      90 seconds after the match began; also +1:30 and +1:02:03
=5       after five moments: a position itself
end      where nothing comes any more
"""

from __future__ import annotations

import re

from kangtou_engine.replay import Replay

_ROUND = re.compile(r"([0-9]{1,6})(?::([0-9]{1,6}))?")
_NUMBER = re.compile(r"[0-9]{1,15}")
_TIME = re.compile(r"(?:(?:([0-9]{1,5}):)?([0-9]{1,5}):)?([0-9]{1,9})(?:\.([0-9]{1,3}))?")


class NoPlace(Exception):
    """There is no such place in the record. `code` is a stable word, `params` what belongs to it.

    bad_place (not understood), no_round, no_trick, no_seq, no_time, no_position
    """

    def __init__(self, code: str, text: str, **params: int | str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.params: dict[str, int | str] = {"text": text, **params}


def position_of(replay: Replay, text: str) -> int:
    """The position of a place. Raises NoPlace."""
    if text == "end":
        return len(replay.moments)
    kind, rest = text[:1], text[1:]
    if kind == "@" and _NUMBER.fullmatch(rest):
        return seq_position(replay, int(rest))
    if kind == "=" and _NUMBER.fullmatch(rest):
        if int(rest) > len(replay.moments):
            raise NoPlace("no_position", text, last=len(replay.moments))
        return int(rest)
    if kind == "+" and (found := _TIME.fullmatch(rest)) is not None:
        return time_position(replay, _milliseconds(found))
    if (found := _ROUND.fullmatch(text)) is not None:
        return round_position(replay, int(found[1]), int(found[2] or 1))
    raise NoPlace("bad_place", text)


def round_position(replay: Replay, round_: int, trick: int = 1) -> int:
    """Where that trick of that round begins. Raises NoPlace."""
    last = replay.moments[-1].round if replay.moments else 0
    if not 1 <= round_ <= last:
        raise NoPlace("no_round", str(round_), rounds=last)
    tricks = replay.moments[replay.find(round_ + 1) - 1].trick
    if not 1 <= trick <= tricks:
        raise NoPlace("no_trick", f"{round_}:{trick}", round=round_, tricks=tricks)
    return replay.find(round_, trick)


def seq_position(replay: Replay, seq: int) -> int:
    """Right after that entry. Raises NoPlace."""
    last = replay.moments[-1].seq if replay.moments else 0
    if seq > last:
        raise NoPlace("no_seq", str(seq), last=last)
    return replay.find_seq(seq)


def time_position(replay: Replay, since_ms: int) -> int:
    """Right after the last moment that was not later than so long after the first. Raises NoPlace."""
    moments = replay.moments
    length = moments[-1].time_ms - moments[0].time_ms if moments else 0
    if since_ms > length:
        raise NoPlace("no_time", f"+{since_ms / 1000:g}", seconds=f"{length / 1000:.1f}")
    return replay.find_time(moments[0].time_ms + since_ms) if moments else 0


def _milliseconds(found: re.Match[str]) -> int:
    hours, minutes, seconds, parts = found.groups()
    whole = (int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds)
    return whole * 1000 + int((parts or "0").ljust(3, "0"))
