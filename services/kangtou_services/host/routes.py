"""What gateways ask of a hosted table: one function for each kind of call.

A function that raises has not replied yet; the host then replies `faulted` and stops the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_from_pb
from kangtou_engine.cards import Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.match.clocks import RETAKE

from ..link import ActorLink
from ..table.commands import TABLE, Command, platform_refusal, refused, refused_by
from . import endings, moving, queries, talking, watching
from .slot import Ref, Slot, reply
from .watching import problem

if TYPE_CHECKING:
    from .host import Host

_WithSeat: TypeAlias = (
    "lpb.Subscribe | lpb.Query | play.Command | play.StandingAnswer | play.OpenEntropy | play.HandOver | play.TakeBack"
)
_CAUSE = re.compile(r"[a-z_]{1,32}")


def _seat(call: lpb.Call, slot: Slot, body: _WithSeat) -> Seat | None:
    """The seat of the caller that is meant; None if it has no such."""
    seats = slot.table.agreement.seats_of(call.account_id)
    if not body.HasField("seat"):
        return seats[0] if seats else None
    return body.seat if body.seat in seats else None


def _acting(call: lpb.Call, slot: Slot, body: play.Command | play.StandingAnswer) -> Seat | None:
    """The seat for which the caller acts: its own, or the one that it stands in for."""
    if not _by_house(call, slot):
        return _seat(call, slot, body)
    return body.seat if body.HasField("seat") and slot.houses.get(call.account_id) == body.seat else None


def _by_house(call: lpb.Call, slot: Slot) -> bool:
    """Whether a substitute asks; one that has been let go still is one, and is told that the seat was taken back."""
    return call.delegate or call.account_id in slot.houses


def subscribe(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A gateway follows the table for one of its clients."""
    body = call.subscribe
    if body.delegate:
        _substitute(host, peer, call, slot)
        return
    if body.spectate:
        watching.subscribe(host, peer, call, slot)
        return
    seat = _seat(call, slot, body)
    if seat is None:
        problem(peer, call, "not_seated")
        return
    slot.table.open_entropy(seat, body.entropy)
    slot.table.attended.add(seat)
    slot.seen_ms = host.now_ms()
    if body.again and seat in slot.seats and body.since_ms < slot.since_ms.get(seat, 0):
        reply(
            peer, lpb.Reply(ref=call.ref)
        )  # a stream that is lost and not yet known to be: its client has a newer one
        slot.supersede(seat, (peer, body.sub))
        return
    joining = slot.audiences.joining(seat, body.from_seq, host.now_ms(), {*slot.seats, seat})
    reply(peer, lpb.Reply(ref=call.ref))
    slot.since_ms[seat] = body.since_ms
    slot.follow(seat, (peer, body.sub), joining)
    slot.accounts[peer, body.sub] = call.account_id
    host.touch(slot)


def _substitute(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A house bot follows the table for a seat whose owner is away; it has no seat here and plays for one only."""
    seat, account = call.subscribe.seat, call.account_id
    table = slot.table
    if slot.houses.get(account, seat) != seat or table.agreement.seats_of(account):
        problem(peer, call, "not_allowed")
    elif seat not in range(table.config.seats) or not table.prompts.away(seat) or table.over:
        problem(peer, call, "not_delegated")
    else:
        slot.houses[account] = seat
        joining = slot.audiences.joining(seat, call.subscribe.from_seq, host.now_ms(), slot.seats, delegate=True)
        reply(peer, lpb.Reply(ref=call.ref))
        slot.follow(seat, (peer, call.subscribe.sub), joining, delegate=True)
        host.touch(slot)


def unsubscribe(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """It no longer does."""
    slot.unfollow((peer, call.unsubscribe.sub))
    slot.tell_seats()
    reply(peer, lpb.Reply(ref=call.ref))
    host.touch(slot)


def entropy(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A seat opens its entropy."""
    seat = _seat(call, slot, call.entropy)
    if seat is not None:
        slot.table.open_entropy(seat, call.entropy.entropy)
        host.touch(slot)
    reply(peer, lpb.Reply(ref=call.ref))


def command(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A seat's action."""
    body = call.command
    seat = _acting(call, slot, body)
    if seat is None:
        _not_seated(peer, call, body.command_id)
        return
    given = Command(
        seat,
        body.command_id,
        body.prompt,
        None,
        _ref(peer, call, slot, seat),
        False,
        "",
        "",
        _by_house(call, slot),
        call.lag_ms,
    )
    try:
        action = action_from_pb(body.action)
    except IllegalAction as error:
        slot.answer(given, refused_by(slot.table.game, body.command_id, error))
        return
    _submit(host, slot, given.with_action(action))


def _ref(peer: ActorLink, call: lpb.Call, slot: Slot, seat: Seat) -> Ref:
    by_house = _by_house(call, slot)
    follower = (peer, call.sub) if call.sub else (slot.delegates if by_house else slot.seats).get(seat)
    return Ref(peer, call.ref, call.unary, by_house, perf_counter(), call.traceparent, follower)


def standing(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A seat leaves or revokes a standing answer."""
    body = call.standing
    seat = _acting(call, slot, body)
    if seat is None:
        _not_seated(peer, call, body.command_id)
        return
    given = Command(
        seat,
        body.command_id,
        0,
        None,
        _ref(peer, call, slot, seat),
        standing=True,
        until=body.until,
        delegate=_by_house(call, slot),
    )
    if not body.HasField("action"):
        _submit(host, slot, given)
        return
    try:
        action = action_from_pb(body.action)
    except IllegalAction as error:
        slot.answer(given, refused_by(slot.table.game, body.command_id, error))
        return
    _submit(host, slot, given.with_action(action))


def hand_over(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A seat's owner lets a substitute play, or leaves."""
    _order(host, peer, call, slot, call.hand_over, "left" if call.hand_over.leave else "asked")


def take_back(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A seat's owner plays again."""
    _order(host, peer, call, slot, call.take_back, RETAKE)


def _order(
    host: Host, peer: ActorLink, call: lpb.Call, slot: Slot, body: play.HandOver | play.TakeBack, order: str
) -> None:
    seat = _seat(call, slot, body)
    if seat is None:
        _not_seated(peer, call, body.command_id)
        return
    _submit(host, slot, Command(seat, body.command_id, 0, None, _ref(peer, call, slot, seat), order=order))


def award(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """The scorer has the table do what the book gives to him. HS-11.3, DZ-5.9."""
    body, table = call.award, slot.table
    if call.account_id != table.agreement.scorer or not call.account_id:
        answer = refused(body.command_id[:64], platform_refusal("not_scorer"))
        reply(peer, lpb.Reply(ref=call.ref, answer=answer))
        return
    given = Command(TABLE, body.command_id, 0, None, Ref(peer, call.ref, unary=True, at=perf_counter()))
    try:
        action = action_from_pb(body.action)
    except IllegalAction as error:
        slot.answer(given, refused_by(table.game, body.command_id, error))
        return
    _submit(host, slot, given.with_action(action))


def _not_seated(peer: ActorLink, call: lpb.Call, command_id: str) -> None:
    answer = refused(command_id[:64], platform_refusal("not_seated"))
    reply(peer, lpb.Reply(ref=call.ref, answer=answer))


def _submit(host: Host, slot: Slot, given: Command) -> None:
    """Queue it. While the log is down, only what is known to be stored, or under way, is not refused."""
    if not given.delegate:
        slot.seen_ms = host.now_ms()
    table = slot.table
    if host.down_since is not None and not table.pending(given):
        first = table.first_answer(given)
        slot.answer(given, first or refused(given.command_id[:64], platform_refusal("log_unavailable")))
        return
    early = table.submit(given)
    if early is not None:
        slot.answer(given, early)
    host.touch(slot)


def query(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """A question about one seat; changes nothing and is told to nobody else."""
    if call.query.spectate:
        watching.view(host, peer, call, slot)
        return
    seat = _seat(call, slot, call.query)
    if seat is None:
        problem(peer, call, "not_seated")
        return
    reply(peer, queries.answer(slot, call.ref, call.query, seat, host.now_ms()))


def stop(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """End a match outside the rules, for an operator. One that a fault has stopped too."""
    cause = call.stop.cause or "operator"
    if not _CAUSE.fullmatch(cause):
        problem(peer, call, "malformed")
        return
    reply(peer, lpb.Reply(ref=call.ref))
    endings.end(host, slot, cause)


def conduct(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
    """How the seats behave; for tournaments."""
    every = range(slot.table.config.seats)
    illegal = [slot.illegal.get(seat, 0) for seat in every]
    late = [slot.late.get(seat, lpb.LATENESS_UNSPECIFIED) for seat in every]
    seats = lpb.SeatsConduct(illegal=illegal, connected=sorted(slot.seats), late=late)
    reply(peer, lpb.Reply(ref=call.ref, conduct=seats))


Route = Callable[["Host", ActorLink, lpb.Call, Slot], None]

ROUTES: Mapping[str, Route] = {
    "subscribe": subscribe,
    "unsubscribe": unsubscribe,
    "command": command,
    "standing": standing,
    "hand_over": hand_over,
    "take_back": take_back,
    "entropy": entropy,
    "query": query,
    "stop": stop,
    "move": moving.move,
    "conduct": conduct,
    "rounds": watching.rounds,
    "say": talking.say,
    "list_chat": talking.list_chat,
    "mute": talking.mute,
    "award": award,
}
