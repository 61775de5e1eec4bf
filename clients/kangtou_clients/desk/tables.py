"""A table before its match, in lines: what one should know before sitting down."""

from __future__ import annotations

import time

from kangtou.v1 import lobby_pb2 as pb
from kangtou.wire import option_from_pb

from ..api.spectating import watching_from
from .words import say

_STARTS = {pb.START_RULE_READY: "ready", pb.START_RULE_OWNER: "owner"}


def start_rule(table: pb.Table) -> str:
    """What its match waits for: `seated`, `ready`, `owner`."""
    return _STARTS.get(table.start, "seated")


def free_seats(table: pb.Table) -> int:
    """How many are free."""
    return sum(not seat.account_id for seat in table.seats)


def name_at(table: pb.Table, account_id: str) -> str:
    """What somebody is called there; the account of one who does not sit."""
    return next((seat.name for seat in table.seats if seat.account_id == account_id and seat.name), account_id)


def account_at(table: pb.Table, name: str) -> str:
    """The account of somebody at the table by name, or by account; what was given if there is no such name."""
    named = {seat.account_id for seat in table.seats if name and name in (seat.name, seat.account_id)}
    return named.pop() if len(named) == 1 else name


def terms_lines(table: pb.Table, lang: str) -> list[str]:
    """When it begins, clocks, rated or not, code, owner, scorer, spectators."""
    clock = table.clock
    times = {"turn": clock.turn_ms, "bank": clock.bank_ms, "increment": clock.increment_ms}
    lines = [
        say(f"about.{start_rule(table)}", lang),
        say("about.clock", lang, **{name: f"{ms / 1000:g}" for name, ms in times.items()}),
        say("about.rated" if table.rated else "about.unrated", lang),
    ]
    if table.code:
        lines.append(say("about.code", lang, word=table.code))
    if table.owner_id:
        lines.append(say("about.mine", lang, name=name_at(table, table.owner_id)))
    if table.scorer_id:
        lines.append(say("about.scorer", lang, name=name_at(table, table.scorer_id)))
    lines.append(_watching(table, lang))
    if table.fill_ms and free_seats(table):
        lines.append(say("about.bots", lang, seconds=max(0, round(table.fill_ms / 1000 - time.time()))))
    return lines


def warning(table: pb.Table, lang: str) -> str:
    """What whoever sits down must know of spectators; "": nothing."""
    return table.watching.warning_zh if lang == "zh" else table.watching.warning_en


def option_lines(table: pb.Table) -> list[str]:
    """Every option with its rule; * differs from the book."""
    return [
        f"{option.name:<18}{str(option_from_pb(option.value)).lower():<12}{option.rule}"
        f"{'' if option.is_default else '  *'}"
        for option in table.options
    ]


def tally_lines(table: pb.Table, lang: str) -> list[str]:
    """How it stands over all its matches."""
    return [
        say(
            "about.tally",
            lang,
            name=row.name or row.account_id,
            matches=row.matches,
            points=row.points,
            places=" ".join(map(str, row.places)),
        )
        for row in table.tally
    ]


def _watching(table: pb.Table, lang: str) -> str:
    watching = watching_from(table.watching)
    policy = say(f"about.watch.{watching.policy}", lang)
    return say("about.late", lang, policy=policy, seconds=watching.delay_s) if watching.delay_s else policy
