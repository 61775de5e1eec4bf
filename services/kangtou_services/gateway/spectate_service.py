"""SpectateService and RefereeService: finished rounds for those who come late; what the scorer does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import referee_pb2, referee_pb2_grpc, spectate_pb2_grpc
from kangtou.v1 import spectate_pb2 as pb

from ..table.commands import refused
from ..tournament.ids import tournament_of
from .auth import Callers
from .calls import Context
from .limits import questions
from .refused import refusal
from .requests import COMMAND_BYTES, MATCH_ID
from .routes import TableProblem
from .tables import Tables

if TYPE_CHECKING:
    from .server import Parts


class SpectateService(spectate_pb2_grpc.SpectateServiceServicer):
    """kangtou.v1.SpectateService."""

    def __init__(self, tables: Tables, callers: Callers) -> None:
        self._tables = tables
        self._callers = callers
        self._rate = questions()

    async def GetRounds(self, request: pb.GetRoundsRequest, context: Context) -> AsyncIterator[pb.GetRoundsResponse]:
        """Round by round, as they come from the table's owner."""
        account_id = (await self._callers.session(context)).account.account_id
        last = request.last_round if request.last_round > 0 else 1 << 31
        after_seq = 0
        while True:
            ask = lpb.Rounds(after_seq=after_seq, first_round=max(0, request.first_round))
            reply = await self._ask(account_id, request.match_id, ask)
            if isinstance(reply, str):
                yield pb.GetRoundsResponse(refused=refusal(reply))
                return
            for one in reply.rounds.rounds:
                if one.round > last:
                    return
                yield one
            after_seq = reply.rounds.after_seq
            if not after_seq:
                return

    async def _ask(self, account_id: str, match_id: str, ask: lpb.Rounds) -> lpb.Reply | str:
        """The owner's reply, or the code of a problem."""
        if not MATCH_ID.fullmatch(match_id):
            return "unknown_match"
        if tournament_of(match_id):
            return "withheld"
        if not self._rate.allowed(account_id):
            return "rate_limited"
        try:
            return await self._tables.call(lpb.Call(match_id=match_id, account_id=account_id, rounds=ask))
        except TableProblem as error:
            return error.code


class RefereeService(referee_pb2_grpc.RefereeServiceServicer):
    """kangtou.v1.RefereeService."""

    def __init__(self, tables: Tables, callers: Callers) -> None:
        self._tables = tables
        self._callers = callers

    async def Award(self, request: referee_pb2.AwardRequest, context: Context) -> referee_pb2.AwardResponse:
        """By the scorer. A refusal is an answer."""
        wish, problem = request.award, ""
        account_id = (await self._callers.session(context)).account.account_id
        if not MATCH_ID.fullmatch(wish.match_id):
            problem = "unknown_match"
        elif wish.ByteSize() > COMMAND_BYTES:
            problem = "malformed"
        else:
            try:
                call = lpb.Call(match_id=wish.match_id, account_id=account_id, award=wish, unary=True)
                return referee_pb2.AwardResponse(answer=(await self._tables.call(call)).answer)
            except TableProblem as error:
                problem = error.code
        return referee_pb2.AwardResponse(answer=refused(wish.command_id[:64], refusal(problem)))


def add(
    server: grpc.aio.Server, parts: Parts
) -> tuple[tuple[str, ...], Callable[[], Coroutine[Any, Any, None]] | None]:
    """For `gateway.server.start`: put both services on a gateway."""
    spectate_pb2_grpc.add_SpectateServiceServicer_to_server(SpectateService(parts.router, parts.callers), server)
    referee_pb2_grpc.add_RefereeServiceServicer_to_server(RefereeService(parts.router, parts.callers), server)
    services = ((pb, "SpectateService"), (referee_pb2, "RefereeService"))
    return tuple(module.DESCRIPTOR.services_by_name[name].full_name for module, name in services), None
