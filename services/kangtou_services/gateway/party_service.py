"""PartyService: two who queue together."""

from __future__ import annotations

from kangtou.v1 import account_pb2, game_pb2
from kangtou.v1 import party_pb2 as pb
from kangtou.v1 import party_pb2_grpc as rpc

from ..agreement import new_id
from ..identity import Account, Identity, good_command_id
from ..marks import Marks
from ..matchmaking import Matchmaker, Pool
from ..matchmaking.arriving import POOL_NAME, pool_of
from ..matchmaking.parties import KEEP_MS, NoParty, Party, PartyStore
from ..opening import Choice, Clocks, Games
from ..refusals import refusal
from .account_service import account_to_pb
from .auth import Callers
from .calls import Context
from .choosing import chosen

_CODE_LETTERS = 8  # of the 31 that ids are made of: 39 random bits, for two hours


class PartyService(rpc.PartyServiceServicer):
    """kangtou.v1.PartyService."""

    def __init__(
        self,
        games: Games,
        clocks: Clocks,
        store: PartyStore,
        maker: Matchmaker,
        identity: Identity,
        marks: Marks,
        callers: Callers,
    ) -> None:
        self._games = games
        self._clocks = clocks
        self._store = store
        self._maker = maker
        self._identity = identity
        self._marks = marks
        self._callers = callers

    async def CreateParty(self, request: pb.CreatePartyRequest, context: Context) -> pb.CreatePartyResponse:
        """Refused: bad_id, id_reused, bad_pool, party_no_sides, and what is wrong with the choice."""
        account = (await self._callers.session(context)).account
        pool = self._pool(request, account)
        if isinstance(pool, game_pb2.Refusal):
            return pb.CreatePartyResponse(refused=pool)
        mine = f"{new_id()[:_CODE_LETTERS]} {pool.id}"
        claimed = await self._marks.claim("party", account.account_id, request.command_id, mine, KEEP_MS)
        code, pool_id = claimed.split(" ")
        if pool_id != pool.id:
            return pb.CreatePartyResponse(refused=refusal("id_reused"))
        await self._store.create(code, pool, account.account_id)
        party = await self._store.find(code)
        if party is None:
            return pb.CreatePartyResponse(refused=refusal(NoParty.UNKNOWN))
        return pb.CreatePartyResponse(party=await self._shown(party))

    def _pool(self, request: pb.CreatePartyRequest, account: Account) -> Pool | game_pb2.Refusal:
        if not good_command_id(request.command_id):
            return refusal("bad_id")
        if POOL_NAME.fullmatch(request.pool) is None:
            return refusal("bad_pool")
        choice = chosen(self._games, self._clocks, request.choice, request.rules, request.clock, rated=request.rated)
        if isinstance(choice, game_pb2.Refusal):
            return choice
        return pool_of(account, request.pool, choice) if self._has_sides(choice) else refusal("party_no_sides")

    def _has_sides(self, choice: Choice) -> bool:
        game = self._games.game(choice.game, choice.version)
        return bool(game.spec.sides(game.config(choice.options, choice.seats)))

    async def JoinParty(self, request: pb.JoinPartyRequest, context: Context) -> pb.JoinPartyResponse:
        """Refused: unknown_party, party_over, party_full, party_kind."""
        account = (await self._callers.session(context)).account
        party: Party | NoParty | None = await self._store.find(request.code)
        if isinstance(party, Party) and party.pool.kind not in ("", account.kind):
            return pb.JoinPartyResponse(refused=refusal("party_kind"))
        party = await self._store.join(request.code, account.account_id)
        if isinstance(party, NoParty):
            return pb.JoinPartyResponse(refused=refusal(party))
        return pb.JoinPartyResponse(party=await self._shown(party))

    async def GetParty(self, request: pb.GetPartyRequest, context: Context) -> pb.GetPartyResponse:
        """Refused: unknown_party."""
        await self._callers.session(context)
        party = await self._store.find(request.code)
        if party is None:
            return pb.GetPartyResponse(refused=refusal(NoParty.UNKNOWN))
        return pb.GetPartyResponse(party=await self._shown(party))

    async def LeaveParty(self, request: pb.LeavePartyRequest, context: Context) -> pb.LeavePartyResponse:
        """Refused: unknown_party, not_in_party. A repeat takes tickets back that a crash has left."""
        mine = (await self._callers.session(context)).account.account_id
        party = await self._store.leave(request.code, mine)
        if isinstance(party, NoParty):
            return pb.LeavePartyResponse(refused=refusal(party))
        for one in sorted(party.refs, key=lambda one: one != mine):  # the caller declines what was found, if so
            await self._maker.take_back(party.pool.id, party.refs[one], by=mine)
        return pb.LeavePartyResponse()

    async def _shown(self, party: Party) -> pb.Party:
        known = await self._identity.accounts(party.members)
        choice = party.pool.choice
        members = [
            account_to_pb(known[one]) if one in known else account_pb2.Account(account_id=one) for one in party.members
        ]
        return pb.Party(
            code=party.code,
            choice=choice.choice_pb(),
            clock=choice.clock_pb(),
            rated=choice.rated,
            pool=party.pool.name,
            members=members,
            over=party.over,
        )
