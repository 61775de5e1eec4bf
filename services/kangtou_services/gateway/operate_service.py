"""OperateService: what operators do. Each method first asks who calls; each change is logged with that account."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import grpc
import structlog

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import operate_pb2 as pb
from kangtou.v1 import operate_pb2_grpc as rpc

from ..accounts.deletion import Deletions
from ..agreement import Agreement
from ..directory import choose
from ..identity import Identity
from ..operate import DRAIN, STOP, Maintenance
from ..refusals import refusal
from .calls import CallError, Code, Context
from .operators import Accounts
from .refused import refusal as link_refusal
from .routes import TableProblem

if TYPE_CHECKING:
    from .server import Parts

log = structlog.get_logger(__name__)

LIST_MOST = 1_000
FIND_MOST = 200
AT_ONCE = 100
MESSAGE_MOST = 200
_CAUSE = re.compile(r"[a-z_]{1,32}")
_OURS = frozenset({"suspect", "no_actor"})


class OperateService(rpc.OperateServiceServicer):
    """kangtou.v1.OperateService."""

    def __init__(self, parts: Parts, identity: Identity, deletions: Deletions) -> None:
        self._backend = parts.backend
        self._callers = parts.callers
        self._router = parts.router
        self._maintenance = parts.maintenance
        self._accounts = Accounts(identity, deletions, parts.callers, parts.check_tokens)

    # ---- tables ----

    async def ListLiveTables(self, request: pb.ListLiveTablesRequest, context: Context) -> pb.ListLiveTablesResponse:
        """See operate.proto."""
        await self._callers.session(context)
        live = await self._backend.store.live()
        owners = dict(zip(live, await self._backend.log.owners(live), strict=True))
        living = {actor.id for actor in await self._backend.directory.living()}
        wanted = [match for match in live if not request.actor_id or owners[match] == request.actor_id]
        wanted = wanted[: min(request.limit or LIST_MOST, LIST_MOST)]
        response = pb.ListLiveTablesResponse(live=len(live))
        for start in range(0, len(wanted), AT_ONCE):
            batch = wanted[start : start + AT_ONCE]
            response.tables.extend(await asyncio.gather(*(self._table(match, owners, living) for match in batch)))
        return response

    async def _table(self, match: str, owners: dict[str, str | None], living: set[str]) -> pb.LiveTable:
        owner = owners[match] or ""
        table = pb.LiveTable(match_id=match, actor_id=owner if owner in living else "")
        if not table.actor_id:
            table.deaths = await self._backend.store.deaths(match)
        text = await self._backend.store.agreement(match)
        if text is not None:
            agreed = Agreement.from_json(text)
            table.game, table.seats, table.pool, table.rated = agreed.game, agreed.seats, agreed.pool, agreed.rated
            table.created_ms = agreed.created_ms
            table.accounts.extend(member.account_id for member in agreed.members)
        return table

    async def MoveMatch(self, request: pb.MoveMatchRequest, context: Context) -> pb.MoveMatchResponse:
        """See operate.proto."""
        operator = await self._callers.session(context)
        match, to = request.match_id, request.actor_id
        owner = await self._backend.log.owner(match)
        living = await self._backend.directory.living()
        if not to:
            found = choose(match, [actor for actor in living if actor.id != owner])
            if found is None:
                return pb.MoveMatchResponse(refused=refusal("no_actor"))
            to = found.id
        elif to not in {actor.id for actor in living}:
            return pb.MoveMatchResponse(refused=refusal("unknown_member", member=to))
        try:
            await self._router.call(lpb.Call(match_id=match, move=lpb.Move(actor_id=to)))
        except TableProblem as problem:
            code = problem.code
            return pb.MoveMatchResponse(refused=refusal(code) if code in _OURS else link_refusal(code))
        await self._router.open(match)
        log.info("operator_moved", operator=operator.account.account_id, match=match, to=to)
        return pb.MoveMatchResponse(moved=pb.Moved(actor_id=await self._backend.log.owner(match) or ""))

    async def EndMatch(self, request: pb.EndMatchRequest, context: Context) -> pb.EndMatchResponse:
        """See operate.proto."""
        operator = await self._callers.session(context)
        cause = request.cause or "operator"
        if not _CAUSE.fullmatch(cause):
            return pb.EndMatchResponse(refused=refusal("bad_cause"))
        try:
            await self._router.call(lpb.Call(match_id=request.match_id, stop=lpb.Stop(cause=cause)))
        except TableProblem as problem:
            return pb.EndMatchResponse(refused=link_refusal(problem.code))
        log.info("operator_ended", operator=operator.account.account_id, match=request.match_id, cause=cause)
        return pb.EndMatchResponse(ended=pb.MatchEnded())

    # ---- processes ----

    async def ListMembers(self, request: pb.ListMembersRequest, context: Context) -> pb.ListMembersResponse:
        """See operate.proto."""
        await self._callers.session(context)
        actors, gateways = await self._backend.directory.living(), await self._backend.directory.gateways()
        told = await self._backend.orders.ordered([*(one.id for one in actors), *(one.id for one in gateways)])
        response = pb.ListMembersResponse()
        for actor in actors:
            tables, how = actor.tables, told.get(actor.id, "")
            response.members.add(kind=pb.Member.KIND_ACTOR, tables=tables, **_shown(actor, how))
        for gateway in gateways:
            response.members.add(kind=pb.Member.KIND_GATEWAY, **_shown(gateway, told.get(gateway.id, "")))
        return response

    async def Drain(self, request: pb.DrainRequest, context: Context) -> pb.DrainResponse:
        """See operate.proto. It is carried out within a second by the process itself."""
        operator = await self._callers.session(context)
        actors = {actor.id for actor in await self._backend.directory.living()}
        gateways = {gateway.id for gateway in await self._backend.directory.gateways()}
        if request.id not in actors | gateways:
            return pb.DrainResponse(refused=refusal("unknown_member", member=request.id))
        if request.id in actors and len(actors) < 2 and not request.undo:
            return pb.DrainResponse(refused=refusal("no_actor"))
        how = "" if request.undo else STOP if request.stop or request.id in gateways else DRAIN
        await self._backend.orders.order(request.id, how)
        log.info("operator_drains", operator=operator.account.account_id, member=request.id, how=how or "undo")
        return pb.DrainResponse(drained=pb.Drained())

    async def Maintenance(self, request: pb.MaintenanceRequest, context: Context) -> pb.MaintenanceResponse:
        """See operate.proto."""
        operator = await self._callers.session(context)
        if request.HasField("set"):
            message = request.set.message
            if len(message) > MESSAGE_MOST or not (message.isprintable() or not message):
                raise CallError(Code.INVALID_ARGUMENT, "a message is one short line", "维护通知须为一行短文")
            wanted = Maintenance(time.time_ns() // 1_000_000, message) if request.set.on else None
            await self._backend.orders.set_maintenance(wanted)
            log.info("operator_maintenance", operator=operator.account.account_id, on=request.set.on)
        now = await self._maintenance.look()
        if now is None:
            return pb.MaintenanceResponse(state=pb.MaintenanceState())
        return pb.MaintenanceResponse(state=pb.MaintenanceState(on=True, message=now.message, since_ms=now.since_ms))

    # ---- accounts ----

    async def FindAccounts(self, request: pb.FindAccountsRequest, context: Context) -> pb.FindAccountsResponse:
        """See operate.proto."""
        await self._callers.session(context)
        limit = min(request.limit or FIND_MOST, FIND_MOST)
        found = await self._accounts.find(request.text, request.role, limit + 1)
        return pb.FindAccountsResponse(accounts=found[:limit], more=len(found) > limit)

    async def ChangeAccount(self, request: pb.ChangeAccountRequest, context: Context) -> pb.ChangeAccountResponse:
        """See operate.proto."""
        operator = await self._callers.session(context)
        return await self._accounts.change(request, operator.account.account_id)


def _shown(member: Any, how: str) -> dict[str, Any]:
    """What an actor and a gateway have in common."""
    shown = {name: getattr(member, name) for name in ("id", "node", "pid", "address")}
    return {**shown, "draining": bool(how), "stopping": how == STOP}


def add(
    identity: Identity, deletions: Deletions
) -> Callable[[grpc.aio.Server, Parts], tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]]:
    """What adds this service to a gateway."""

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, None]:
        rpc.add_OperateServiceServicer_to_server(OperateService(parts, identity, deletions), server)
        return "kangtou.v1.OperateService", None

    return extra
