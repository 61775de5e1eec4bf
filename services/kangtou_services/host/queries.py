"""Questions about one seat: its view, its legal actions, whether an action would do."""

from __future__ import annotations

from collections.abc import Collection

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_from_pb, action_to_pb, refusal_to_pb, too_many_to_pb
from kangtou_engine.cards import Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.game import TooMany

from ..table.audience import Audiences
from ..table.commands import platform_refusal, well_formed
from .slot import Slot

FULL_LIST = 2_000  # the longest list that any book asks for (WK-7.5)


def answer(slot: Slot, ref: int, query: lpb.Query, seat: Seat | None, now_ms: int) -> lpb.Reply:
    """The reply to a query of a seat (None: a spectator, who has views only)."""
    if query.view or seat is None:
        return lpb.Reply(ref=ref, view=view(slot.audiences, seat, now_ms, slot.seats))
    if query.legal:
        return lpb.Reply(ref=ref, legal=_legal(slot, seat))
    return lpb.Reply(ref=ref, check=_check(slot, seat, query))


def view(audiences: Audiences, seat: Seat | None, now_ms: int, connected: Collection[Seat]) -> play.GetViewResponse:
    """What a seat (None: a spectator) sees, with its open question."""
    table = audiences.table
    response = play.GetViewResponse(match=audiences.attached())
    response.match.seats.CopyFrom(audiences.seats(connected))
    if table.begun:
        response.snapshot.CopyFrom(audiences.snapshot(seat))
        response.to_act.extend(() if table.over else table.game.to_act(table.state))
    prompt = audiences.prompt(seat, now_ms)
    if prompt is not None:
        response.prompt.CopyFrom(prompt)
    if seat is not None:
        response.seat = seat
    return response


def _legal(slot: Slot, seat: Seat) -> play.LegalResponse:
    table = slot.table
    legal = () if table.over else table.game.legal(table.state, seat, FULL_LIST)
    if isinstance(legal, TooMany):
        return play.LegalResponse(too_many=too_many_to_pb(table.game, legal))
    return play.LegalResponse(legal=map(action_to_pb, legal))


def _check(slot: Slot, seat: Seat, query: lpb.Query) -> play.CheckResponse:
    table = slot.table
    if table.over:
        return play.CheckResponse(refused=platform_refusal("match_over"))
    if not table.begun:
        return play.CheckResponse(refused=platform_refusal("not_begun"))
    try:
        table.game.check(table.state, seat, table.game.spec.canonical(well_formed(action_from_pb(query.check))))
    except IllegalAction as error:
        return play.CheckResponse(refused=refusal_to_pb(table.game, error))
    return play.CheckResponse()
