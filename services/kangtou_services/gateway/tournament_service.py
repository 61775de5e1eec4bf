"""TournamentService: specs in, progress and reports out. What is played, the runner plays (tournament/runner.py)."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

import grpc

from kangtou.v1 import tournament_pb2 as pb
from kangtou.v1 import tournament_pb2_grpc as rpc
from kangtou_engine.boards import tournament_commitment
from kangtou_engine.shuffle import SEED_BYTES

from ..identity import OPERATOR, Account, Identity, good_command_id
from ..plain_text import visible
from ..runtime import Backend
from ..tournament.events import State, event_from, fold, submitted
from ..tournament.fits import Misfit
from ..tournament.ids import is_tournament, tournament_id
from ..tournament.model import Spec, to_plain
from ..tournament.progress import Progress
from ..tournament.reporting import NoReport, planned, report_of
from .admin import here
from .auth import Callers
from .calls import CallError, Code, Context

if TYPE_CHECKING:
    from .server import Parts

LOOK_S = 0.5
SPEC_MOST = 32 * 1024  # letters
LIST_MOST = 200
STREAMS_MOST = 200  # of watchers and entrants at this gateway


class TournamentService(rpc.TournamentServiceServicer):
    """kangtou.v1.TournamentService."""

    def __init__(self, backend: Backend, identity: Identity, callers: Callers) -> None:
        self._backend = backend
        self._identity = identity
        self._store = backend.tournaments
        self._callers = callers
        self._open = 0
        self._planned: dict[str, tuple[int, int]] = {}  # by tournament: results when it was counted, games

    async def CheckSpec(self, request: pb.CheckSpecRequest, context: Context) -> pb.CheckSpecResponse:
        """What is wrong with a spec."""
        account = (await self._callers.session(context)).account
        found = await self._checked(request.spec_json, account, context)
        if isinstance(found, tuple):
            return pb.CheckSpecResponse(problems=map(problem_to_pb, found))
        games = await asyncio.to_thread(planned, found)
        return pb.CheckSpecResponse(spec_json=json.dumps(to_plain(found), ensure_ascii=False), games=games)

    async def SubmitTournament(
        self, request: pb.SubmitTournamentRequest, context: Context
    ) -> pb.SubmitTournamentResponse:
        """Store it; the runner takes it up."""
        account = (await self._callers.session(context)).account
        if request.command_id and not good_command_id(request.command_id):
            raise CallError(Code.INVALID_ARGUMENT, "this is no command id", "命令编号无效")
        found = await self._checked(request.spec_json, account, context)
        if isinstance(found, tuple):
            return pb.SubmitTournamentResponse(problems=map(problem_to_pb, found))
        tournament, seed = tournament_id(account.account_id, request.command_id), secrets.token_bytes(SEED_BYTES)
        first = submitted(found, account.account_id, tournament_commitment(tournament, seed), _wall_ms())
        await self._store.create(tournament, seed, first.to_text())
        return pb.SubmitTournamentResponse(tournament_id=tournament)

    async def GetTournament(self, request: pb.GetTournamentRequest, context: Context) -> pb.GetTournamentResponse:
        """One of them."""
        await self._callers.session(context)
        state = await self._state(request.tournament_id)
        assert state.spec is not None
        spec = json.dumps(to_plain(state.spec), ensure_ascii=False)
        return pb.GetTournamentResponse(tournament=await self._info(state), spec_json=spec)

    async def ListTournaments(self, request: pb.ListTournamentsRequest, context: Context) -> pb.ListTournamentsResponse:
        """The newest ones."""
        await self._callers.session(context)
        response = pb.ListTournamentsResponse()
        for tournament in (await self._store.tournaments())[:LIST_MOST]:
            texts = await self._store.read(tournament)
            if texts:
                response.tournaments.append(await self._info(fold(tournament, texts)))
        return response

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: Context
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """Progress until it is closed."""
        await self._callers.session(context)
        state = await self._state(request.tournament_id)
        assert state.spec is not None
        progress = Progress(state.spec)
        with self._streaming():
            length, told = -1, ""
            while True:
                info = await self._info(state)
                if state.length != length or info.state != told:
                    length, told = state.length, info.state
                    yield self._progress(state, info, progress)
                if not state.open:
                    return
                await asyncio.sleep(LOOK_S)
                for text in await self._store.read(state.tournament, state.length):
                    state.fold(event_from(text))

    def _progress(self, state: State, info: pb.TournamentInfo, progress: Progress) -> pb.WatchTournamentResponse:
        moves_per_s, games_per_s = progress.rates(time.monotonic(), state)
        left = max(0, info.games_planned - info.games_done)
        response = pb.WatchTournamentResponse(
            tournament=info,
            running=sum(bool(flight.match) for flight in state.flights.values()),
            moves=state.moves,
            moves_per_s=moves_per_s,
            seconds_left=left / games_per_s if games_per_s else 0.0,
            replays=len(state.replays),
        )
        for one in progress.standings(state):
            response.standings.add(entrant=one.name, sets=one.sets, mean=one.mean, half=one.half, faults=one.faults)
        response.faults = progress.faults
        return response

    async def CancelTournament(
        self, request: pb.CancelTournamentRequest, context: Context
    ) -> pb.CancelTournamentResponse:
        """Pause it or close it."""
        await self._owned(request.tournament_id, context)
        await self._store.wish(request.tournament_id, "pause" if request.pause else "cancel")
        return pb.CancelTournamentResponse()

    async def ResumeTournament(
        self, request: pb.ResumeTournamentRequest, context: Context
    ) -> pb.ResumeTournamentResponse:
        """Go on."""
        state = await self._owned(request.tournament_id, context)
        if not state.open:
            raise CallError(Code.FAILED_PRECONDITION, "this tournament is closed", "该锦标赛已结束")
        await self._store.wish(request.tournament_id, "")
        return pb.ResumeTournamentResponse()

    async def GetTournamentReport(
        self, request: pb.GetTournamentReportRequest, context: Context
    ) -> pb.GetTournamentReportResponse:
        """The report so far."""
        await self._callers.session(context)
        await self._state(request.tournament_id)
        try:
            return pb.GetTournamentReportResponse(report_json=await report_of(self._backend, request.tournament_id))
        except NoReport as error:
            raise CallError(Code.INTERNAL, f"no report could be made: {error}", f"无法生成报告：{error}") from error

    async def GetTournamentOutput(
        self, request: pb.GetTournamentOutputRequest, context: Context
    ) -> pb.GetTournamentOutputResponse:
        """What a process said last."""
        state = await self._owned(request.tournament_id, context)
        outputs = state.outputs.get(request.game, {})
        return pb.GetTournamentOutputResponse(outputs={int(seat): text for seat, text in outputs.items()})

    async def EnterTournament(
        self, request: pb.EnterTournamentRequest, context: Context
    ) -> AsyncIterator[pb.EnterTournamentResponse]:
        """The caller's games as they start."""
        account = (await self._callers.session(context)).account.account_id
        told: set[str] = set()
        states: dict[str, State] = {}
        with self._streaming():
            while True:
                wanted = [request.tournament_id] if request.tournament_id else await self._store.active()
                for tournament in wanted:
                    state = states.setdefault(tournament, State(tournament))
                    for text in await self._store.read(tournament, state.length):
                        state.fold(event_from(text))
                    for place in _places(state, account, told):
                        yield place
                if request.tournament_id and not states[request.tournament_id].open:
                    return
                await asyncio.sleep(LOOK_S)

    # ---- inside ----

    def _streaming(self) -> _Counted:
        if self._open >= STREAMS_MOST:
            raise CallError(Code.RESOURCE_EXHAUSTED, "too many watch tournaments here", "观看锦标赛的连接过多")
        return _Counted(self)

    def count(self, more: int) -> None:
        """Streams that are open."""
        self._open += more

    async def _checked(self, text: str, account: Account, context: Context) -> Spec | tuple[Misfit, ...]:
        from ..tournament.check import check_spec

        if len(text) > SPEC_MOST:
            return (Misfit("", f"{len(text)} letters", f"at most {SPEC_MOST} letters"),)
        try:
            given = json.loads(text, parse_constant=_no_number)
            json.dumps(given, ensure_ascii=False).encode()  # half a surrogate is no letter: no answer could hold it
        except (ValueError, RecursionError):
            return (Misfit("", visible(text[:60]), "JSON"),)
        found = await asyncio.to_thread(check_spec, given, commands=self._operates(account, context))
        if isinstance(found, tuple):
            return found
        wanted = [entrant.account for entrant in found.entrants if entrant.account]
        known = await self._identity.accounts(wanted)
        missing = [one for one in wanted if one not in known]
        return (
            tuple(Misfit("entrants.account", visible(one[:40]), "an account of this server") for one in missing)
            or found
        )

    def _operates(self, account: Account, context: Context) -> bool:
        return here(self._backend.settings, context) or OPERATOR in account.roles

    async def _state(self, tournament: str) -> State:
        texts = await self._store.read(tournament) if is_tournament(tournament) else []
        if not texts:
            raise CallError(Code.NOT_FOUND, "there is no such tournament", "没有这个锦标赛")
        return fold(tournament, texts)

    async def _owned(self, tournament: str, context: Context) -> State:
        account = (await self._callers.session(context)).account
        state = await self._state(tournament)
        if account.account_id != state.by and not self._operates(account, context):
            raise CallError(Code.PERMISSION_DENIED, "only who submitted it can do this", "只有提交者可以这样做")
        return state

    async def _info(self, state: State) -> pb.TournamentInfo:
        assert state.spec is not None
        word = state.cause
        if not word:
            word = "paused" if await self._store.wished(state.tournament) == "pause" else "playing"
        return pb.TournamentInfo(
            tournament_id=state.tournament,
            name=state.spec.name,
            game=state.spec.game,
            format=str(state.spec.format),
            state=word,
            submitted_ms=state.submitted_ms,
            games_done=len(state.results),
            games_planned=await self._games(state),
            entrants=[entrant.name for entrant in state.spec.entrants],
            commitment=state.commitment,
        )

    async def _games(self, state: State) -> int:
        """As the spec alone says; formats that draw their rounds know more only later."""
        assert state.spec is not None
        if state.cause:
            return len(state.results)
        if state.tournament not in self._planned:
            self._planned[state.tournament] = (0, await asyncio.to_thread(planned, state.spec))
        return max(self._planned[state.tournament][1], len(state.results) + len(state.flights))


class _Counted:
    """A stream that is counted while it is open."""

    def __init__(self, service: TournamentService) -> None:
        self._service = service

    def __enter__(self) -> None:
        self._service.count(1)

    def __exit__(self, *_: object) -> None:
        self._service.count(-1)


def _places(state: State, account: str, told: set[str]) -> list[pb.EnterTournamentResponse]:
    """Seats of an account in games that are in play and that it was not told of."""
    found: list[pb.EnterTournamentResponse] = []
    for flight in state.flights.values() if state.spec is not None else ():
        if not flight.match or flight.match in told:
            continue
        told.add(flight.match)
        for seat, entrant in enumerate(flight.game.entrants):
            if state.spec is not None and state.spec.entrants[entrant].account == account:
                place = pb.EnterTournamentResponse(tournament_id=state.tournament, match_id=flight.match, seat=seat)
                found.append(place)
    return found


def problem_to_pb(one: Misfit) -> pb.SpecProblem:
    """As clients see it."""
    where = one.name or "the spec"
    return pb.SpecProblem(
        name=one.name,
        value=one.given,
        allowed=one.allowed,
        text_en=f"{where} cannot be {one.given!r}; allowed: {one.allowed}",
        text_zh=f"{one.name or '锦标赛配置'} 不能为 {one.given!r}；可选：{one.allowed}",
    )


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def add(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]:
    """For `gateway.server.start`: put the service on a gateway."""
    service = TournamentService(parts.backend, parts.identity, parts.callers)
    rpc.add_TournamentServiceServicer_to_server(service, server)
    return pb.DESCRIPTOR.services_by_name["TournamentService"].full_name, None
