"""A table from its log: folds the entries of the round in play, and remembers the command ids of two rounds.

Loading reads back to the last round-begin entry only; state, prompts and clocks come out as the owner before had
them (tested equal to folding from the beginning).
"""

from __future__ import annotations

from collections.abc import Sequence

from kangtou_engine.events import Event, from_text
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import AnyState
from kangtou_engine.notation import CHAIN_START, Body, Left, Step, chain, read_body
from kangtou_engine.shuffle import SeededChance

from ..log.base import Entry, EventLog
from .commands import Command
from .core import Standing, Table


class BrokenLog(Exception):
    """The entries do not follow one another, or do not fit the game. The table stops; the log is kept."""


async def entries_to_load(log: EventLog, match: str) -> list[Entry]:
    """What a loader needs: from the former round's beginning (its command ids) to the tail; oldest first."""
    tail = await log.tail(match)
    if tail is None:
        return []
    first = tail.rounds[-1] if tail.rounds else 0
    head = await log.read(match, 0, 3) if first > 3 else []  # the claim and begin entries: entropies
    return [entry for entry in head if entry.seq < first] + await log.read(match, first)


def load(table: Table, entries: Sequence[Entry]) -> None:
    """Bring a fresh table to the state after its last entry. Raises BrokenLog."""
    previous: Entry | None = None
    bodies: list[tuple[Entry, Body]] = []
    tail = entries[-1] if entries else None
    start = tail.rounds[0] if tail and tail.rounds else 0
    for entry in entries:
        linked = previous is not None and entry.seq == previous.seq + 1
        if linked or entry.seq == 1:
            _check_chain(entry, previous if linked else None)
        body = read_body(entry.body)
        _note(table, entry, body)
        if entry.seq >= start:
            _fold(table, entry, body)
        bodies.append((entry, body))
        previous = entry
    number = table.state.sheet.round
    for entry, body in bodies:
        _ids(table, entry, body, number if entry.seq >= start else number - 1)
    if tail is not None:
        table.tail, table.epoch = tail, tail.epoch


def _check_chain(entry: Entry, previous: Entry | None) -> None:
    expected = chain(previous.chain if previous else CHAIN_START, entry.id, entry.body)
    if expected != entry.chain:
        raise BrokenLog(f"entry {entry.id} does not follow the one before")


def _note(table: Table, entry: Entry, body: Body) -> None:
    """What holds for the whole match: entropies, the end, standing answers."""
    if body.begin is not None:
        opened = [bytes.fromhex(text) for text in body.begin]
        table.entropies = {seat: entropy for seat, entropy in enumerate(opened) if entropy}
        table.chance = SeededChance(table.agreement.match_id, table._seed, opened)
        table.begun = True
    if body.end is not None:
        table.cause, table.receipt = body.end, entry.chain
    for item in body.items:
        if isinstance(item, Left):
            table.standing.pop(item.seat, None)
            if item.action is not None:
                table.standing[item.seat] = Standing(item.action, item.until)


def _fold(table: Table, entry: Entry, body: Body) -> None:
    prompts = table.prompts.given(body.given_ms)
    state = table.state
    every: list[Event] = []
    groups: list[tuple[tuple[str, ...], tuple[int, ...]]] = [(body.events, ())]
    groups += [(item.events, _acted(item)) for item in body.items if isinstance(item, Step)]
    for lines, acted in groups:
        if not lines:
            continue
        events = [from_text(table.game.events, line) for line in lines]
        every += events
        state = _evolve(table, state, events)
        prompts = prompts.after(table.game, state, acted, seq=entry.seq, time_ms=body.time_ms, clock=table.clock)
    table.adopt(entry, body.time_ms, state, prompts, tuple(every))


def _evolve(table: Table, state: AnyState, events: Sequence[Event]) -> AnyState:
    for place, event in enumerate(events):
        if isinstance(event, RoundBegan):  # all that carries over is in it
            return table.game.fold(events[place + 1 :], table.game.begun(state, event))
    return table.game.fold(events, state)


def _acted(step: Step) -> tuple[int, ...]:
    if step.seat is not None:
        return (step.seat,)
    late = step.action.key("seat")
    return (int(late),) if late else ()


def _ids(table: Table, entry: Entry, body: Body, number: int) -> None:
    for item in body.items:
        if isinstance(item, Left):
            command = Command(item.seat, item.command, 0, item.action, None, True, item.until)
            table.done[item.seat, item.command] = (command.content, entry.seq, number)
        elif item.seat is not None and item.command != "*":
            table.done[item.seat, item.command] = (str(item.action), entry.seq, number)
