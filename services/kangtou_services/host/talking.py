"""Chat at a hosted table: who may say what now, and who is sent it. docs/talk.md

The owner of the table decides, since it alone knows whether a round is being played and who follows. What is said is
stored first, then sent; it is not in the log and changes nothing of the match.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import game_pb2
from kangtou.v1 import talk_pb2 as pb
from kangtou_engine.cards import Seat
from kangtou_engine.game import FREE, SILENT
from kangtou_engine.match.state import BETWEEN, CUT, OVER
from kangtou_engine.notation import valid_id
from kangtou_engine.phrases import PHRASES

from ..identity import StoreUnavailable
from ..link import ActorLink
from ..plain_text import clean_line
from ..refusals import refusal
from ..table.audience import CHAT
from ..table.core import Table
from ..talk import Message
from ..talk.messages import chat_to_pb
from . import watching
from .slot import Follower, Slot, reply
from .watching import problem

if TYPE_CHECKING:
    from .host import Host

TEXT_MOST = 200  # characters
HELD_MOST = 200  # messages that wait for delayed spectators
_NUMBER = re.compile(r"[0-9]{1,20}")  # in the id of a message, which whoever asks for the later ones may have made up


def round_in_play(table: Table) -> bool:
    """From the deal until the end of the round."""
    return table.begun and not table.over and table.state.phase not in (CUT, BETWEEN, OVER)


def _route(
    serve: Callable[[Host, lpb.Call, Slot], Coroutine[Any, Any, lpb.Reply]],
) -> Callable[[Host, ActorLink, lpb.Call, Slot], None]:
    """A route that has to ask a store first."""

    async def answered(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        try:
            found = await serve(host, call, slot)
        except StoreUnavailable:
            problem(peer, call, "log_unavailable")
            return
        found.ref = call.ref
        reply(peer, found)

    def route(host: Host, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        host.serve(peer, call, answered(host, peer, call, slot))

    return route


def _seat(slot: Slot, account_id: str) -> Seat:
    seats = slot.table.agreement.seats_of(account_id)
    return seats[0] if seats else -1


def _no_spectator(code: str) -> game_pb2.Refusal:
    """Why somebody who is not at the table has no part in its chat. Raises StoreUnavailable."""
    if code == "log_unavailable":
        raise StoreUnavailable(code)
    return refusal(code if code == "no_spectators" else "not_at_table")


# ---- saying something ----


async def _say(host: Host, call: lpb.Call, slot: Slot) -> lpb.Reply:
    said = await _said(host, call, slot)
    if isinstance(said, game_pb2.Refusal):
        return lpb.Reply(said=pb.SayResponse(refused=said))
    return lpb.Reply(said=pb.SayResponse(said=said))


async def _said(host: Host, call: lpb.Call, slot: Slot) -> pb.Chat | game_pb2.Refusal:
    account, given = call.account_id, call.say.said
    seat = _seat(slot, account)
    if not valid_id(given.command_id):
        return refusal("bad_id")
    if seat < 0 and (code := await watching.refused(host, slot, account)):
        return _no_spectator(code)
    text = clean_line(given.text, TEXT_MOST, drop=True) if given.text else ""
    wish = Message(
        account_id=account,
        name=call.say.name,
        seat=seat,
        text=text or "",
        phrase=given.phrase[:32],
        watchers=seat < 0 and round_in_play(slot.table),
        time_ms=host.now_ms(),
        command=given.command_id,
    )
    first = await host.talk.find(slot.match, account, given.command_id)
    if first is not None:
        return chat_to_pb(first) if first.same(wish) else refusal("id_reused")
    no = _refused(slot.table, wish) or await _kept_quiet(host, slot, account)
    if no is not None:
        return no
    stored, fresh = await host.talk.say(slot.match, wish)
    if fresh:
        await _deliver(host, slot, stored)
    return chat_to_pb(stored)


def _refused(table: Table, wish: Message) -> game_pb2.Refusal | None:
    """What the text and the book say of it."""
    if wish.phrase and wish.phrase not in PHRASES:
        return refusal("unknown_phrase")
    if bool(wish.text) is bool(wish.phrase):
        return refusal("bad_text", limit=TEXT_MOST)
    if wish.seat < 0 or not table.begun or table.over:
        return None
    allowed = table.game.spec.talk(table.state, wish.seat)
    if allowed == SILENT:
        return refusal("no_talk")
    return refusal("phrases_only") if allowed != FREE and not wish.phrase else None


async def _kept_quiet(host: Host, slot: Slot, account: str) -> game_pb2.Refusal | None:
    if account in await host.talk.muted(slot.match):
        return refusal("muted")
    if not slot.pace.allows(account, asyncio.get_running_loop().time()):
        return refusal("too_fast")
    return None


async def _deliver(host: Host, slot: Slot, message: Message) -> None:
    """To everybody whom it is for, but not to those who have blocked its author."""
    present = {account for account in slot.accounts.values() if account != message.account_id}
    deaf = await host.blocks.who_block(message.account_id, present)

    def hear(followers: list[Follower]) -> list[Follower]:
        return [one for one in followers if slot.accounts.get(one) not in deaf]

    body = chat_to_pb(message)
    if not message.watchers:
        for seat, follower in slot.seats.items():
            slot.send(hear([follower]), 0, slot.audiences.message(seat, CHAT, body))
    payload = slot.audiences.message(None, CHAT, body)
    slot.send(hear(list(slot.watchers)), 0, payload)
    if slot.feed is None:
        return
    if message.seat < 0:
        slot.send(hear(list(slot.feed.followers)), 0, payload)
        return
    if slot.held >= HELD_MOST:
        return  # delayed spectators find it in the list when its time has come
    slot.held += 1

    def late() -> None:
        slot.held -= 1
        if slot.feed is not None:
            slot.send(hear(list(slot.feed.followers)), 0, payload)

    asyncio.get_running_loop().call_later(slot.feed.delay_ms / 1000, late)


# ---- the rest ----


async def _list(host: Host, call: lpb.Call, slot: Slot) -> lpb.Reply:
    account, after = call.account_id, call.list_chat.after
    seat = _seat(slot, account)
    if seat < 0 and (code := await watching.refused(host, slot, account)):
        return lpb.Reply(chat=pb.ListChatResponse(refused=_no_spectator(code)))
    blocked = set(await host.blocks.of(account))
    found = await host.talk.last(slot.match)
    late_ms = slot.table.agreement.watch_delay_ms if seat < 0 and watching.sees_late(slot, account) else 0
    until_ms = host.now_ms() - late_ms
    response = pb.ListChatResponse()
    for one in found:
        due = one.seat < 0 or one.time_ms <= until_ms
        if due and one.account_id not in blocked and (seat < 0 or not one.watchers) and _newer(one.chat_id, after):
            response.chat.append(chat_to_pb(one))
    return lpb.Reply(chat=response)


async def _mute(host: Host, call: lpb.Call, slot: Slot) -> lpb.Reply:
    agreement, wish = slot.table.agreement, call.mute
    if call.account_id not in filter(None, (agreement.owner, agreement.scorer)):
        return lpb.Reply(muted=pb.MuteResponse(refused=refusal("not_owner_or_scorer")))
    if not valid_id(wish.account_id) or wish.account_id == call.account_id:
        return lpb.Reply(muted=pb.MuteResponse(refused=refusal("unknown_account")))
    await host.talk.mute(slot.match, wish.account_id, wish.muted)
    return lpb.Reply(muted=pb.MuteResponse())


def _newer(chat_id: str, after: str) -> bool:
    return not after or _order(chat_id) > _order(after)


def _order(chat_id: str) -> tuple[int, ...]:
    return tuple(int(part) for part in chat_id.split("-") if _NUMBER.fullmatch(part))


say, list_chat, mute = _route(_say), _route(_list), _route(_mute)
