"""Reading the header of a record, field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import BadText
from ..events import freeze
from ..notation import NO_ID, valid_id
from .text import head_lines
from .values import FORMAT, MAJOR, NO_HANDS, Head, Outcome, Place, Terms

_VERSION = re.compile(rf"{FORMAT} (0|[1-9][0-9]{{0,8}})(?:\.([1-9][0-9]{{0,8}}))?")
_FIELD = re.compile(r"[a-z][a-z0-9-]{0,31}")
_GAME = re.compile(r"([a-z][a-z0-9_]{0,31})@([1-9][0-9]{0,8})")
_SEAT = re.compile(r"(0|[1-9][0-9]?) (human|bot) (\S{1,64}) (-|[0-9a-f]{64})")
_CLOCK = re.compile(r"turn=([0-9]{1,15}) window=([0-9]{1,15})")
_CLOCKS = re.compile(
    r"bank=([0-9]{1,15}) increment=([0-9]{1,15}) lag=([0-9]{1,15}) lag-match=([0-9]{1,15}) late=([0-9]+)"
)
_WATCHED = re.compile(r"policy=([a-z_]{1,16}) delay=([0-9]{1,15}) scorer=(\S{1,64})")
_RESULT = re.compile(r"rounds=([0-9]+) moves=([0-9]+) scores=([-0-9,]+)(?: places=([0-9,]+))?")
_HASH = re.compile(r"[0-9a-f]{64}")
_CAUSE = re.compile(r"[a-z][a-z_]{0,31}")


def read_version(line: str) -> int:
    """The minor version. Raises BadText for another format and for a higher major version."""
    found = _VERSION.fullmatch(line)
    if found is None:
        raise BadText(f"not a record: it must begin with `{FORMAT} {MAJOR}`", 1)
    if int(found[1]) != MAJOR:
        raise BadText(f"format version {found[1]}: this program reads version {MAJOR}; a newer one is needed", 1)
    return int(found[2] or 0)


def read_head(lines: Sequence[str]) -> Head:
    """The header from its lines, without the one that closes it. Raises BadText with the line."""
    minor = read_version(lines[0])
    given: dict[str, Any] = {"seat": []}
    extra: list[tuple[str, str]] = []
    for number, line in enumerate(lines[1:], 2):
        name, _, value = line.partition(" ")
        if not _FIELD.fullmatch(name) or not value or not value.isprintable():
            raise BadText(f"not a header field: {line[:60]!r}", number)
        if name not in _FIELDS:
            extra.append((name, value))
            continue
        try:
            _keep(given, name, _FIELDS[name](value))
        except (ValueError, KeyError, RecursionError) as error:
            raise BadText(f"header field `{name}` cannot be read: {value[:60]!r}", number) from error
    head = _made(given, minor, tuple(extra), len(lines))
    for number, (line, right) in enumerate(zip(lines, head_lines(head), strict=False), 1):
        if line != right:
            raise BadText(f"header field out of place or not in canonical form: {line[:60]!r}", number)
    return head


def _keep(given: dict[str, Any], name: str, value: Any) -> None:
    if name == "seat":
        number, place = value
        if number != len(given["seat"]):
            raise ValueError("seats are numbered from 0")
        given["seat"].append(place)
    elif name in given:
        raise ValueError("given twice")
    else:
        given[name] = value


def _made(given: Mapping[str, Any], minor: int, extra: tuple[tuple[str, str], ...], last: int) -> Head:
    lacking = [name for name in _FIELDS if name not in given and name not in _OPTIONAL]
    if lacking or not given["seat"]:
        raise BadText(f"header field `{(lacking or ['seat'])[0]}` is missing", last)
    game, version = given["game"]
    turn_ms, window_ms = given["clock"]
    rounds, moves, scores, places = given["result"]
    bank_ms, increment_ms, lag_ms, lag_match_ms, late_most = given.get("clocks", (0, 0, 0, 0, 0))
    watch, watch_delay_ms, scorer = given.get("watched", (NO_HANDS, 0, ""))
    terms = Terms(
        match=given["match"],
        game=game,
        version=version,
        options=given["options"],
        seats=tuple(given["seat"]),
        seed_commitment=given["seed-commitment"],
        turn_ms=turn_ms,
        window_ms=window_ms,
        rated=given["rated"],
        pool=given.get("pool", ""),
        board=given.get("board", ""),
        tags=given.get("tags", {}),
        created_ms=given["created"],
        bank_ms=bank_ms,
        increment_ms=increment_ms,
        lag_ms=lag_ms,
        lag_match_ms=lag_match_ms,
        late_most=late_most,
        watch=watch,
        watch_delay_ms=watch_delay_ms,
        scorer=scorer,
    )
    outcome = Outcome(
        started_ms=given.get("started"),
        ended_ms=given["ended"],
        cause=given["cause"],
        rounds=rounds,
        moves=moves,
        scores=scores,
        places=places,
    )
    return Head(terms, outcome, given["engine"], minor, extra)


def _match(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return found


def _id(text: str) -> str:
    if not valid_id(text):
        raise ValueError(text)
    return text


def _game(text: str) -> tuple[str, int]:
    found = _match(_GAME, text)
    return found[1], int(found[2])


def _seat(text: str) -> tuple[int, Place]:
    number, kind, account, commitment = _match(_SEAT, text).groups()
    return int(number), Place(_id(account), kind, "" if commitment == NO_ID else commitment)


def _map(text: str) -> Mapping[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return freeze(value)  # type: ignore[no-any-return]


def _word(text: str) -> str:
    value = json.loads(text) if text.startswith('"') else text
    if not isinstance(value, str):
        raise ValueError(text)
    return value


def _pair(text: str) -> tuple[int, int]:
    found = _match(_CLOCK, text)
    return int(found[1]), int(found[2])


def _clocks(text: str) -> tuple[int, ...]:
    return tuple(map(int, _match(_CLOCKS, text).groups()))


def _watched(text: str) -> tuple[str, int, str]:
    watch, delay_ms, scorer = _match(_WATCHED, text).groups()
    return watch, int(delay_ms), "" if scorer == NO_ID else _id(scorer)


def _flag(text: str) -> bool:
    return {"yes": True, "no": False}[text]


def _result(text: str) -> tuple[int, int, tuple[int, ...], tuple[int, ...] | None]:
    found = _match(_RESULT, text)
    return int(found[1]), int(found[2]), _ints(found[3]), _ints(found[4]) if found[4] else None


def _ints(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


_FIELDS: Mapping[str, Callable[[str], Any]] = {
    "match": _id,
    "game": _game,
    "engine": _word,
    "options": _map,
    "seat": _seat,
    "seed-commitment": lambda text: _match(_HASH, text)[0],
    "clock": _pair,
    "rated": _flag,
    "pool": _word,
    "board": _word,
    "tags": _map,
    "created": int,
    "started": int,
    "ended": int,
    "cause": lambda text: _match(_CAUSE, text)[0],
    "result": _result,
    "clocks": _clocks,
    "watched": _watched,
}
_OPTIONAL = frozenset(("pool", "board", "tags", "started", "seat", "clocks", "watched"))
