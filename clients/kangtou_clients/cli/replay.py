"""`kangtou replay`: a finished match again, in plain lines, from any seat."""

from __future__ import annotations

import re
import time
from typing import Annotated

import typer

from kangtou_engine.record import Record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import OPEN, Replay, Who, find_game

from ..show import Shown
from .common import Common, of
from .exits import NOT_FOUND, USAGE
from .source import Source, load

_PLACE = re.compile(r"([0-9]+)(?::([0-9]+))?")
TABLES = ("step", "trick", "round", "none")
LONGEST_WAIT_S = 10.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE|MATCH", help="a record's file, - , or a match of the server")],
    seat: Annotated[int | None, typer.Option("--seat", metavar="N", help="as this seat saw it")] = None,
    spectator: Annotated[bool, typer.Option("--spectator", help="as a spectator saw it")] = False,
    open_: Annotated[bool, typer.Option("--open", help="all hands open (the default)")] = False,
    step: Annotated[bool, typer.Option("--step", help="wait for Enter; h shows what else can be typed")] = False,
    speed: Annotated[float, typer.Option("--speed", metavar="X", help="1: as it was played, 10: ten times")] = 0.0,
    start: Annotated[str, typer.Option("--from", metavar="PLACE", help="ROUND, ROUND:TRICK or @SEQ")] = "",
    end: Annotated[str, typer.Option("--to", metavar="PLACE", help="stop before this place")] = "",
    html: Annotated[str, typer.Option("--html", metavar="FILE", help="write one self-contained page instead")] = "",
    table: Annotated[str, typer.Option("--table", metavar="|".join(TABLES), help="how often to show it")] = "trick",
) -> None:
    """Replay a finished match.

    Shows what one seat saw, what a spectator saw, or everything open: always from the recorded events, so a
    match replays under rules that have changed since.

    \b
    Examples:
      kangtou replay match.ktr.zst --seat 0
      kangtou replay mx4k2p7q --open --from 2:3 --to 2:5
      kangtou replay mx4k2p7q --step
      kangtou replay mx4k2p7q --spectator --speed 10
      kangtou replay mx4k2p7q --seat 0 --html match.html
    """
    common = of(context)
    source = load(common, target)
    record = source.record(common)
    who = _who(common, record, seat, spectator, open_)
    if table not in TABLES:
        raise common.fail(USAGE, "bad_place", text=table)
    if speed < 0:
        raise common.fail(USAGE, "bad_speed")
    found = _replay(common, record, who)
    if found is None:
        if html:
            raise common.fail(USAGE, "not_readable", game=record.head.terms.game)
        _lines(common, record)
        return
    if html:
        from .page import write

        write(common, found, names_of(found, source), who, html)
        return
    first = _place(common, found, start) if start else 0
    last = _place(common, found, end) if end else len(found.moments)
    if step:
        from .step import Stepper

        Stepper(common, _shown(common, found, source), who, first).run()
    elif common.json:
        _json(common, found, who, first, last)
    else:
        _play(common, _shown(common, found, source), who, range(first, last), speed, table)


def _who(common: Common, record: Record, seat: int | None, spectator: bool, open_: bool) -> Who:
    if (seat is not None) + spectator + open_ > 1:
        raise common.fail(USAGE, "only_one_view")
    if seat is not None and not 0 <= seat < len(record.head.terms.seats):
        raise common.fail(NOT_FOUND, "no_seat", seat=seat)
    return seat if seat is not None else None if spectator else OPEN


def _replay(common: Common, record: Record, who: Who) -> Replay | None:
    """By its own rules version, by another that reads it, or None: only its lines can be shown, openly."""
    terms = record.head.terms
    said = f"{terms.game}@{terms.version}"
    found = find_game(REGISTRY, record)
    if found is None:
        if who != OPEN:
            raise common.fail(USAGE, "not_readable", game=said)
        return None
    game, exact = found
    if not exact and not common.json:
        common.put(common.say("other_version", game=said, other=game.spec.id))
    return Replay(game, record)


def _place(common: Common, replay: Replay, text: str) -> int:
    """A position from what was typed. Raises CommandError."""
    if text.startswith("@") and text[1:].isdigit():
        return replay.find_seq(int(text[1:]))
    found = _PLACE.fullmatch(text)
    if found is None:
        raise common.fail(USAGE, "bad_place", text=text)
    return replay.find(int(found[1]), int(found[2] or 1))


def _shown(common: Common, replay: Replay, source: Source) -> Shown:
    return Shown(replay, common.renderer(names_of(replay, source)))


def names_of(replay: Replay, source: Source) -> list[str]:
    """The players by seat: by name where it is known, else by account."""
    accounts = [seat.account for seat in replay.record.head.terms.seats]
    names = source.names or [""] * len(accounts)
    return [name or account for name, account in zip(names, accounts, strict=False)]


def _play(common: Common, shown: Shown, who: Who, places: range, speed: float, table: str) -> None:
    """All moments of a range, at the pace that was asked for."""
    for line in shown.head(who):
        common.put(line)
    moments = shown.replay.moments
    for number in places:
        moment = moments[number]
        if speed and number > places.start:
            passed = (moment.time_ms - moments[number - 1].time_ms) / 1000
            time.sleep(min(max(passed, 0.0) / speed, LONGEST_WAIT_S))
        for line in shown.moment(number, who):
            common.put(line)
        if shown.wants_table(number + 1, table, number + 1 == places.stop):
            for line in shown.table(number + 1, who):
                common.put(line)


def _json(common: Common, replay: Replay, who: Who, first: int, last: int) -> None:
    for number in range(first, last):
        moment = replay.moments[number]
        common.put_json(
            {
                "seq": moment.seq,
                "time_ms": moment.time_ms,
                "round": moment.round,
                "trick": moment.trick,
                "events": [str(event) for event in replay.seen(number, who)],
                "cause": moment.cause,
            }
        )


def _lines(common: Common, record: Record) -> None:
    """A record that no game here reads: its own lines."""
    for entry in record.entries:
        common.put(entry.text)
