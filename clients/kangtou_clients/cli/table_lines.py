"""Tables as lines for people and as documents for programs."""

from __future__ import annotations

import time
from typing import Any

from kangtou.v1 import lobby_pb2 as pb
from kangtou.wire import option_from_pb, options_from_pb

from ..api.spectating import watching_from
from ..api.tables import KINDS, STARTS, STATES
from .common import Common

_STATES = {number: word for word, number in STATES.items()}
_STARTS = {number: word for word, number in STARTS.items()}
_KINDS = {number: word for word, number in KINDS.items()}


def put_table(common: Common, table: pb.Table, lead: str = "") -> None:
    """One line: id, game, who sits where, named rules or options; `lead` before it."""
    if common.json:
        common.put_json({"change": lead, **plain(table)} if lead else plain(table))
        return
    free = common.say("free")
    seats = ", ".join(_seat(common, seat) or free for seat in table.seats)
    given = options_from_pb(table.choice)
    shown = table.rules or "  ".join(f"{name}={str(value).lower()}" for name, value in sorted(given.items()))
    state = "" if table.state == pb.TABLE_STATE_OPEN else common.say(f"table_{_STATES.get(table.state, 'closed')}")
    code = common.say("table_code", word=table.code) if table.code else ""
    parts = (f"{lead:<8}" if lead else "", table.match_id, table.choice.game, seats, shown, state, code)
    common.put("  ".join(part for part in parts if part).rstrip())


def put_whole(common: Common, table: pb.Table) -> None:
    """Everything that one should know before sitting down."""
    put_table(common, table)
    if common.json:
        return
    owner = next((seat.name for seat in table.seats if seat.account_id == table.owner_id), table.owner_id)
    common.put("  " + common.say("table_start", start=common.say(f"start_{_STARTS.get(table.start, 'seated')}")))
    clock = table.clock
    times = {"turn": clock.turn_ms, "bank": clock.bank_ms, "increment": clock.increment_ms}
    common.put("  " + common.say("table_clock", **{name: f"{ms / 1000:g}" for name, ms in times.items()}))
    if owner:
        common.put("  " + common.say("table_owner", owner=owner))
    common.put("  " + _watching(common, table))
    if table.scorer_id:
        scorer = next((seat.name for seat in table.seats if seat.account_id == table.scorer_id), table.scorer_id)
        common.put("  " + common.say("table_scorer", scorer=scorer))
    for code, until in (("table_ready_until", table.ready_until_ms), ("table_rematch_until", table.rematch_until_ms)):
        if until:
            common.put("  " + common.say(code, seconds=max(0, round(until / 1000 - time.time()))))
    for option in table.options:
        value = str(option_from_pb(option.value)).lower()
        mark = "" if option.is_default else "  *"
        common.put(f"  {option.name:<18}{value:<12}{option.rule}{mark}")
    for row in table.tally:
        places = " ".join(map(str, row.places))
        common.put("  " + common.say("tally", name=row.name, matches=row.matches, points=row.points, places=places))


def plain(table: pb.Table) -> dict[str, Any]:
    """For programs."""
    return {
        "match": table.match_id,
        "current_match": table.current_match_id,
        "game": table.choice.game,
        "options": options_from_pb(table.choice),
        "all_options": {option.name: option_from_pb(option.value) for option in table.options},
        "rules": table.rules,
        "seats": [seat.name or seat.account_id for seat in table.seats],
        "accounts": [seat.account_id for seat in table.seats],
        "ready": [seat.ready for seat in table.seats],
        "rematch": [seat.rematch for seat in table.seats],
        "state": _STATES.get(table.state, "closed"),
        "start": _STARTS.get(table.start, "seated"),
        "owner": table.owner_id,
        "private": table.private,
        "code": table.code,
        "kind": _KINDS.get(table.kind, ""),
        "rated": table.rated,
        "watch": {"policy": watching_from(table.watching).policy, "delay_s": table.watching.delay_s},
        "scorer": table.scorer_id,
        "clock": {
            "turn_ms": table.clock.turn_ms,
            "window_ms": table.clock.window_ms,
            "bank_ms": table.clock.bank_ms,
            "increment_ms": table.clock.increment_ms,
        },
        "ready_until_ms": table.ready_until_ms,
        "rematch_until_ms": table.rematch_until_ms,
        "matches": [
            {"match": one.match_id, "scores": list(one.scores), "places": list(one.places)} for one in table.matches
        ],
        "tally": [
            {
                "account": row.account_id,
                "name": row.name,
                "matches": row.matches,
                "points": row.points,
                "places": list(row.places),
            }
            for row in table.tally
        ],
    }


def _watching(common: Common, table: pb.Table) -> str:
    """What spectators see, as one line."""
    watching = watching_from(table.watching)
    policy = common.say(f"watch_{watching.policy}")
    return common.say("watch_late", policy=policy, seconds=watching.delay_s) if watching.delay_s else policy


def _seat(common: Common, seat: pb.SeatInfo) -> str:
    name = seat.name or seat.account_id
    if seat.ready or seat.rematch:
        return f"{name} ({common.say('is_ready' if seat.ready else 'wants_rematch')})"
    return name
