"""Spectators of a hosted table: who is let in, to what, and the finished rounds for those who come late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou.v1 import spectate_pb2 as pb
from kangtou.wire import event_to_pb
from kangtou_engine.cards import Seat
from kangtou_engine.company import open_event
from kangtou_engine.events import Event, from_text
from kangtou_engine.match.events import RoundBegan, Scored, Voided
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Step, read_body

from ..company import NONE, OPEN, ROUND
from ..identity import StoreUnavailable
from ..link import ActorLink
from ..log.base import Entry, LogError
from ..table.load import time_of
from .feed import Feed
from .slot import Follower, Slot, reply

if TYPE_CHECKING:
    from .host import Host

PAGE = 500  # entries that are read at a time
REPLY_BYTES = 256 * 1024  # then the gateway asks for more


def problem(peer: ActorLink, call: lpb.Call, code: str) -> None:
    """The call could not be carried out here."""
    reply(peer, lpb.Reply(ref=call.ref, problem=lpb.Problem(code=code)))


def sees_late(slot: Slot, account_id: str) -> bool:
    """Whether an account sees the table with its delay: all spectators but the scorer, who must be in time."""
    agreement = slot.table.agreement
    return bool(agreement.watch_delay_ms) and account_id != agreement.scorer


async def refused(host: Host, slot: Slot, account_id: str) -> str:
    """Why an account may not look on; "" if it may. Whoever plays sees what his seat sees, and no more."""
    agreement = slot.table.agreement
    if agreement.seats_of(account_id) or account_id in slot.houses:
        return "not_allowed"
    if account_id == agreement.scorer:
        return ""
    if agreement.watch == NONE:
        return "no_spectators"
    if not agreement.owner or agreement.owner == account_id:
        return ""
    try:
        blocked = await host.blocks.of(agreement.owner)
    except StoreUnavailable:
        return "log_unavailable"
    return "not_welcome" if account_id in blocked else ""


def feed_of(host: Host, slot: Slot) -> Feed:
    """The delayed table of a slot; made if there is none."""
    if slot.feed is None:
        slot.feed = Feed(host, slot, slot.table.again)
    return slot.feed


def subscribe(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A spectator follows the table, once it is known that he may."""
    follower = (peer, call.subscribe.sub)
    slot.expected.add(follower)
    host.serve(peer, call, _subscribe(host, peer, call, slot, follower))


async def _subscribe(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot, follower: Follower) -> None:
    account, from_seq = call.account_id, call.subscribe.from_seq
    code = await refused(host, slot, account)
    if follower not in slot.expected:
        return  # it has gone meanwhile
    slot.expected.discard(follower)
    if host.slots.get(slot.match) is not slot:
        problem(peer, call, "not_here")
    elif code:
        problem(peer, call, code)
    else:
        with host.guard(slot):
            if sees_late(slot, account):
                reply(peer, lpb.Reply(ref=call.ref))
                slot.accounts[follower] = account
                feed_of(host, slot).join(follower, from_seq)
                return
            joining = slot.audiences.joining(None, from_seq, host.now_ms(), slot.seats)
            reply(peer, lpb.Reply(ref=call.ref))
            slot.follow(None, follower, joining)
            slot.accounts[follower] = account
            return
        problem(peer, call, "faulted")


# ---- the view, for scripts ----


def view(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A spectator's view now, or as it was."""
    host.serve(peer, call, _view(host, peer, call, slot))


async def _view(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    from . import queries

    code = await refused(host, slot, call.account_id)
    if code:
        problem(peer, call, code)
        return
    audiences, connected = slot.audiences, tuple(slot.seats)
    if sees_late(slot, call.account_id):
        feed = feed_of(host, slot)
        await feed.ready.wait()
        audiences, connected = feed.audiences, ()
    with host.guard(slot):
        response = queries.view(audiences, None, host.now_ms(), connected)
        reply(peer, lpb.Reply(ref=call.ref, view=response))
        return
    problem(peer, call, "faulted")


# ---- finished rounds ----


def rounds(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """Finished rounds, for whoever comes late."""
    host.serve(peer, call, _rounds(host, peer, call, slot))


async def _rounds(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    seats = slot.table.agreement.seats_of(call.account_id)
    seat = seats[0] if seats else None
    code = "" if seats else await refused(host, slot, call.account_id)
    if code:
        problem(peer, call, code)
        return
    late = not seats and sees_late(slot, call.account_id)
    until_ms = host.now_ms() - (slot.table.agreement.watch_delay_ms if late else 0)
    found = lpb.RoundsReply()
    try:
        entries = await _read(host, slot, call.rounds.after_seq, until_ms)
    except LogError:
        problem(peer, call, "log_unavailable")
        return
    with host.guard(slot):
        for last, message in _finished(slot, entries, seat):
            if message.round >= call.rounds.first_round:
                if found.rounds and found.ByteSize() + message.ByteSize() > REPLY_BYTES:
                    reply(peer, lpb.Reply(ref=call.ref, rounds=found))
                    return
                found.rounds.append(message)
            found.after_seq = last
        found.after_seq = 0
        reply(peer, lpb.Reply(ref=call.ref, rounds=found))
        return
    problem(peer, call, "faulted")


async def _read(host: Host, slot: Slot, after_seq: int, until_ms: int) -> list[Entry]:
    """All entries behind one that may be seen by now."""
    entries: list[Entry] = []
    last = ""
    while page := await host.log.after(slot.match, last, PAGE):
        entries += [entry for entry in page if entry.seq > after_seq]
        if time_of(page[-1]) > until_ms or len(page) < PAGE:
            break
        last = page[-1].id
    return [entry for entry in entries if time_of(entry) <= until_ms]


def _finished(slot: Slot, entries: Sequence[Entry], seat: Seat | None) -> Iterator[tuple[int, pb.GetRoundsResponse]]:
    """Each finished round, with a sequence number behind which one can go on."""
    told: list[tuple[Entry, list[Event]]] | None = None
    for entry in entries:
        if told is not None:
            told.append((entry, []))
        for event in _events(slot.table.game, entry):
            if isinstance(event, RoundBegan):
                told = [(entry, [])]
            if told is not None:
                told[-1][1].append(event)
            if told is not None and isinstance(event, (Scored, Voided)):
                yield entry.seq - 1, _round(slot, told, seat, scored=isinstance(event, Scored))
                told = None


def _round(
    slot: Slot, told: Sequence[tuple[Entry, list[Event]]], seat: Seat | None, *, scored: bool
) -> pb.GetRoundsResponse:
    """One round as it may be seen now that it is over; hands only of one that was scored."""
    table = slot.table
    watch, seats = table.agreement.watch, table.config.seats
    hands = (watch == ROUND and scored) or (watch == OPEN and seat is None)
    began = told[0][1][0]
    assert isinstance(began, RoundBegan)
    message = pb.GetRoundsResponse(round=began.round)
    for entry, events in told:
        shown = [open_event(event, seats) if hands else event.seen_by(seat) for event in events]
        if shown:
            message.entries.append(play.Entry(seq=entry.seq, time_ms=time_of(entry), events=map(event_to_pb, shown)))
    return message


def _events(game: Game, entry: Entry) -> list[Event]:
    body = read_body(entry.body)
    lines = list(body.events)
    for item in body.items:
        lines += item.events if isinstance(item, Step) else ()
    return [from_text(game.events, line) for line in lines]
