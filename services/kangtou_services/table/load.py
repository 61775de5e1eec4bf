"""A table from its log: folds the entries of the round in play, and remembers the command ids of two rounds.

Loading reads back to the former round's beginning only; state, prompts, clocks and standing answers come out as the
owner before had them (tested equal to folding from the beginning).
"""

from __future__ import annotations

from collections.abc import Sequence

from kangtou_engine.boards import match_chance
from kangtou_engine.errors import BadText
from kangtou_engine.events import Event, from_text
from kangtou_engine.match.clocks import CLOCKS, DELEGATE, LAG, RETAKE
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.notation import BY_STANDING, CHAIN_START, Body, Item, Left, Note, Step, chain, read_body

from ..log.base import Entry, EventLog
from .commands import TABLE, Command
from .core import Table
from .standing import Standing, kept

HEAD = 16  # entries read at a time in search of the one in which the match began

_Group = tuple[Item | None, tuple[Event, ...]]  # what a seat or the table did, and what it caused


class BrokenLog(Exception):
    """The entries do not follow one another, or do not fit the game. The table stops; the log is kept."""


async def entries_to_load(log: EventLog, match: str) -> list[Entry]:
    """What a loader needs, oldest first: up to the match's beginning (entropies), and all from the former round's."""
    tail = await log.tail(match)
    if tail is None:
        return []
    first = tail.rounds[-1] - 1 if tail.rounds else 0  # with the entry before it, for its hash
    head: list[Entry] = []
    while len(head) < first - 1 and not (head and any(map(_begins, head))):
        more = await log.read(match, len(head) + 1, min(len(head) + HEAD, first - 1))
        if not more:
            break
        head += more
    return head + await log.read(match, first)


def _begins(entry: Entry) -> bool:
    return "\n= begin " in entry.body


def load(table: Table, entries: Sequence[Entry]) -> None:
    """Bring a fresh table to the state after its last entry. Raises BrokenLog."""
    if not entries:
        return
    tail = entries[-1]
    start, first = (tail.rounds[0], tail.rounds[-1]) if tail.rounds else (0, 0)
    previous: Entry | None = None
    for entry in entries:
        _check(entry, previous, first)
        previous = entry
        try:
            _load(table, entry, start, first)
        except (BadText, ValueError) as error:
            raise BrokenLog(f"entry {entry.id} does not fit the game") from error
    if start and not table.begun:
        raise BrokenLog("the entry in which the match began is missing")
    table.tail, table.epoch = tail, tail.epoch


def follow(table: Table, entry: Entry) -> tuple[Event, ...]:
    """Fold the next entry onto a table that only follows the log; what it told. Raises BrokenLog."""
    _check(entry, table.tail, 0)
    try:
        _load(table, entry, 0, entry.seq + 1)
    except (BadText, ValueError) as error:
        raise BrokenLog(f"entry {entry.id} does not fit the game") from error
    return table.history[-1][2]


def time_of(entry: Entry) -> int:
    """When an entry was written, Unix ms."""
    return int(entry.body.partition("\n")[0].split(" ")[1])


def _check(entry: Entry, previous: Entry | None, first: int) -> None:
    """Entries are linked without a gap, but for one before the former round's beginning, where none need be read."""
    if previous is None or entry.seq != previous.seq + 1:
        skipped = previous is not None and previous.seq < entry.seq <= first
        if not skipped and entry.seq != 1:
            raise BrokenLog(f"entry {entry.id} does not follow the one before")
        if skipped:
            return
    if previous is not None and entry.epoch < previous.epoch:
        raise BrokenLog(f"entry {entry.id} is of an older epoch than the one before")
    if chain(previous.chain if previous else CHAIN_START, entry.id, entry.body) != entry.chain:
        raise BrokenLog(f"entry {entry.id} has been changed, or one before it")


def _load(table: Table, entry: Entry, start: int, first: int) -> None:
    body = read_body(entry.body)
    if body.begin is not None:
        opened = [bytes.fromhex(text) for text in body.begin]
        table.entropies = {seat: entropy for seat, entropy in enumerate(opened) if entropy}
        agreement = table.agreement
        table.chance = match_chance(agreement.match_id, agreement.board, table._seed, opened)
        table.begun = True
    if entry.seq >= start:
        _fold(table, entry, body, fresh=entry.seq == start)
    if entry.seq >= first:
        _ids(table, entry, body)
    if body.end is not None:
        table.cause, table.receipt = body.end, entry.chain


def _fold(table: Table, entry: Entry, body: Body, *, fresh: bool) -> None:
    """One entry of the round in play. `fresh`: the round begins in it; what came before that is not looked at."""
    game = table.game
    groups: Sequence[_Group] = _groups(table, body)
    every = tuple(event for _, events in groups for event in events)
    state, standing = table.state, table.standing
    prompts = table.prompts.given(body.given_ms)
    lag_ms = 0
    if fresh:
        groups = _from_round(groups)
        said = next((item for item, _ in groups if isinstance(item, Note) and item.word == CLOCKS), None)
        prompts = prompts.noted(said, table.clock) if said is not None else prompts
    for item, events in groups:
        began = next((event for event in events if isinstance(event, RoundBegan)), None) if fresh else None
        if began is not None:  # all that carries over is in it
            events = events[events.index(began) + 1 :]
            state = game.begun(state, began)
        state = game.fold(events, state)
        if isinstance(item, Left):
            standing = {seat: one for seat, one in standing.items() if seat != item.seat}
            if item.action is not None:
                standing[item.seat] = Standing(item.action, item.until)
        elif isinstance(item, Note):
            prompts = prompts.noted(item, table.clock)
            lag_ms = int(item.key("ms")) if item.word == LAG else 0
            if item.word in (DELEGATE, RETAKE):
                standing = {seat: one for seat, one in standing.items() if seat != int(item.key("seat"))}
        else:
            if item is not None and began is None:  # what that action took is in the clocks said behind it
                prompts = prompts.acts(item, body.time_ms, lag_ms, table.clock)
            lag_ms, acted = 0, item.acted if item is not None else ()
            prompts = prompts.after(game, state, acted, seq=entry.seq, time_ms=body.time_ms, clock=table.clock)
        standing = kept(game, state, standing)
    table.standing = standing
    table.adopt(entry, body.time_ms, state, prompts, every)


def _groups(table: Table, body: Body) -> list[_Group]:
    found: list[_Group] = []
    if body.begin is not None:
        found.append((None, _events(table, body.events)))
    for item in body.items:
        found.append((item, _events(table, item.events) if isinstance(item, Step) else ()))
    return found


def _events(table: Table, lines: Sequence[str]) -> tuple[Event, ...]:
    return tuple(from_text(table.game.events, line) for line in lines)


def _from_round(groups: Sequence[_Group]) -> Sequence[_Group]:
    """From the last beginning of a round on. Standing answers that went on are said again behind it."""
    for place in range(len(groups) - 1, -1, -1):
        if any(isinstance(event, RoundBegan) for event in groups[place][1]):
            return groups[place:]
    raise BrokenLog("no round begins where one should")


def _ids(table: Table, entry: Entry, body: Body) -> None:
    for item in body.items:
        if isinstance(item, Note):
            if item.word in (DELEGATE, RETAKE) and (command := item.get("command")):
                content = f"{DELEGATE} {item.get('cause')}" if item.word == DELEGATE else RETAKE
                table.done[int(item.key("seat")), command] = (content, entry.seq)
            continue
        if item.command == BY_STANDING or not item.command:
            continue  # given by a standing answer, or by the clock
        if item.seat is None:
            table.done[TABLE, item.command] = (str(item.action), entry.seq)
            continue
        content = str(item.action)
        if isinstance(item, Left):
            content = Command(item.seat, item.command, 0, item.action, None, True, item.until).content
        table.done[item.seat, item.command] = (content, entry.seq)
