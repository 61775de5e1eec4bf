"""Bugs to plant in production code while a run lasts, to see that the invariants find each of them.

PROMISES says which promise each breaks; every promise has one at least.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

from kangtou_clients.api import session
from kangtou_clients.api.match import Match
from kangtou_engine.match.clocks import Asked, Prompts
from kangtou_services.gateway.strays import Strays
from kangtou_services.host import host
from kangtou_services.host.host import Host
from kangtou_services.host.slot import Slot
from kangtou_services.log.commit import GroupCommit
from kangtou_services.log.memory import MemoryLog
from kangtou_services.table import load, orders
from kangtou_services.table.core import Table
from kangtou_services.table.standing import Moments
from kangtou_services.table.substitutes import Substitutes


def planted(bug: str) -> contextlib.AbstractContextManager[Any]:
    """Production code with that bug ("": as it is)."""
    if not bug:
        return contextlib.nullcontext()
    owner, name, made = BUGS[bug]
    return patch.object(owner, name, made(getattr(owner, name)))


def _acknowledge_first(append: Any) -> Any:
    async def wrong(self: Host, slot: Slot, draft: Any) -> None:
        answers, draft.answers = draft.answers, []
        for command, answer in answers:
            slot.answer(command, answer)
        await append(self, slot, draft)

    return wrong


def _nothing(_: Any) -> Any:
    return lambda *args: None


def _unfenced(_: Any) -> Any:
    def wrong(self: MemoryLog, match: str, entry: Any) -> None:
        found = self.server.find(match)
        assert found is not None
        found.entries.append(entry)

    return wrong


def _claim_anyway(claim: Any) -> Any:
    async def wrong(self: MemoryLog, match: str, owner: str, tail: Any, marker: Any) -> Any:
        found = self.server.find(match)
        last = found.entries[-1] if found is not None and found.entries else None
        return await claim(self, match, owner, last, marker)

    return wrong


def _same_epoch(claim: Any) -> Any:
    def wrong(self: Table, now_ms: int, owner: str) -> Any:
        if self.epoch:
            self.epoch -= 1
        return claim(self, now_ms, owner)

    return wrong


def _one_too_far(attach: Any) -> Any:
    def wrong(match: Match) -> Any:
        request = attach(match)
        if match.seq:
            request.attach.from_seq += 1
        return request

    return wrong


def _answer_again(publish: Any) -> Any:
    def wrong(self: Slot, draft: Any, now_ms: int) -> None:
        publish(self, draft, now_ms)
        for command, answer in draft.answers:
            self.answer(command, answer)

    return wrong


def _any_prompt(answer: Any) -> Any:
    def wrong(self: Table, draft: Any, command: Any) -> Any:
        asked = draft.prompts.asked[command.seat] if command.seat >= 0 else None
        if asked is not None and not command.order and not command.standing:
            old = Asked(command.prompt, asked.deadline_ms, asked.own_ms, asked.turn)
            every = tuple(old if one is asked else one for one in draft.prompts.asked)
            draft.prompts = Prompts(every, draft.prompts.token, draft.prompts.ledger)
        return answer(self, draft, command)

    return wrong


def _fold_twice(entry: Any) -> Any:
    def wrong(self: Match, message: Any) -> None:
        entry(self, message)
        if message.seq % 5 == 0:
            self.seq = message.seq - 1
            entry(self, message)

    return wrong


def _refuse_at_the_end(stored: Any) -> Any:
    def wrong(self: Host, slot: Slot, draft: Any) -> None:
        if draft.end is not None:
            self._refuse_waiting(slot, "match_over")
        stored(self, slot, draft)

    return wrong


def _higher_epoch_only(_: Any) -> Any:
    return lambda tail, table: tail is not None and tail.epoch > table.epoch


def _early(at: Any) -> Any:
    return lambda self, prompts, seat, now_ms: at(self, prompts, seat, now_ms) - 200


def _surely_stored(_: Any) -> Any:
    async def wrong(self: Host, slot: Slot, draft: Any) -> None:
        self._stored(slot, draft)

    return wrong


def _any_stream(_: Any) -> Any:
    def wrong(self: Slot, seat: int, ref: Any) -> Any:
        follower = self.seats.get(seat)
        return follower if follower is not None and follower[0] is ref.peer and not ref.unary else None

    return wrong


def _no_answer_if_stale(answer: Any) -> Any:
    def wrong(self: Slot, command: Any, given: Any) -> None:
        if given.refused.code != "stale_prompt":
            answer(self, command, given)

    return wrong


def _broken_is_stored(_: Any) -> Any:
    def wrong(self: GroupCommit, batch: list[Any], why: str) -> None:
        for append in batch:
            append.answer()

    return wrong


def _refused_is_stored(_: Any) -> Any:
    async def wrong(self: GroupCommit, appends: list[Any]) -> None:
        for append in appends:
            append.answer()

    return wrong


def _first_stands_for_all(write: Any) -> Any:
    async def wrong(self: GroupCommit, appends: list[Any]) -> Any:
        for append in appends[1:]:
            append.answer()
        return await write(self, appends[:1])

    return wrong


def _revoked_stays(leave: Any) -> Any:
    def wrong(table: Table, draft: Any, command: Any) -> Any:
        before = dict(draft.standing)
        refused = leave(table, draft, command)
        if command.action is None:
            draft.standing = before
        return refused

    return wrong


def _at_once(_: Any) -> Any:
    return lambda self, seat, prompt, now_ms: now_ms


BUGS: Mapping[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "acknowledge before append": (Host, "_append", _acknowledge_first),
    "answer of a batch for its first entry": (GroupCommit, "_write", _first_stands_for_all),
    "answer on whatever stream": (Slot, "_on_stream", _any_stream),
    "answer twice": (Slot, "publish", _answer_again),
    "assume that an unanswered append is stored": (Host, "_unknown", _surely_stored),
    "claim whatever the tail": (MemoryLog, "claim", _claim_anyway),
    "claim without a new epoch": (Table, "claim", _same_epoch),
    "drop given-back time": (Table, "give_back", _nothing),
    "fold an entry twice": (Match, "_entry", _fold_twice),
    "forget a stale command": (Slot, "answer", _no_answer_if_stale),
    "forget command ids on takeover": (load, "_ids", _nothing),
    "give a person's standing answer at once": (Moments, "of", _at_once),
    "keep a revoked standing answer": (orders, "leave", _revoked_stays),
    "lose answers to streams that lag": (Strays, "keep_answers", _nothing),
    "no fencing": (MemoryLog, "_store", _unfenced),
    "refuse what waits at the end": (Host, "_stored", _refuse_at_the_end),
    "resume one entry too far": (session, "_attach", _one_too_far),
    "stop at a late append": (host, "ahead", _higher_epoch_only),
    "take a broken batch for stored": (GroupCommit, "_give_up", _broken_is_stored),
    "take a refused entry for stored": (GroupCommit, "_settle", _refused_is_stored),
    "take any prompt": (Table, "_answer", _any_prompt),
    "time out early": (Substitutes, "at", _early),
}

PROMISES: Mapping[str, tuple[str, ...]] = {
    "what is acknowledged is in the log exactly once": (
        "acknowledge before append",
        "answer of a batch for its first entry",
        "assume that an unanswered append is stored",
        "forget command ids on takeover",
        "refuse what waits at the end",
        "take a broken batch for stored",
        "take a refused entry for stored",
    ),
    "the log is a legal match": ("keep a revoked standing answer", "take any prompt"),
    "a client's view is the fold of the log": ("fold an entry twice", "resume one entry too far"),
    "a command gets exactly one answer": (
        "answer on whatever stream",
        "answer twice",
        "forget a stale command",
        "lose answers to streams that lag",
    ),
    "deadlines hold": ("drop given-back time", "give a person's standing answer at once", "time out early"),
    "at most one writer per epoch": ("claim whatever the tail", "claim without a new epoch", "no fencing"),
    "no match is stopped": ("stop at a late append",),
}
