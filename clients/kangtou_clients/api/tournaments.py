"""Tournaments: submit, watch, report; and the games of an entrant."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
from tenacity import wait_random_exponential

from kangtou.v1 import tournament_pb2 as pb
from kangtou.v1 import tournament_pb2_grpc as rpc
from kangtou_engine.cards import Seat

from ..visible import visible_json
from .values import Unavailable, failed

if TYPE_CHECKING:
    from .client import Client

WAITS_MOST = 8


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a spec that cannot be: the field, its value, what is allowed; texts for people."""

    name: str
    value: str
    allowed: str
    text_en: str
    text_zh: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A tournament. `state`: playing, paused, or how it was closed (complete, cancelled, infrastructure)."""

    tournament_id: str
    name: str
    game: str
    format: str
    state: str
    submitted_ms: int
    games_done: int
    games_planned: int
    entrants: tuple[str, ...]
    commitment: str

    @property
    def open(self) -> bool:
        """Whether it is not closed yet."""
        return self.state in ("playing", "paused")


@dataclass(frozen=True, slots=True)
class Standing:
    """An entrant so far: the mean by which it was ahead in a set, and half the interval (0: too few sets)."""

    entrant: str
    sets: int
    mean: float
    half: float
    faults: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How it goes on. `seconds_left` 0: not known."""

    summary: Summary
    standings: tuple[Standing, ...]
    running: int
    moves: int
    moves_per_s: float
    seconds_left: float
    faults: int
    replays: int


@dataclass(frozen=True, slots=True)
class Entered:
    """A game of the caller's: attach to the match at this seat."""

    tournament_id: str
    match_id: str
    seat: Seat


class Tournaments:
    """`Tournaments(client)`. Methods raise CallFailed; NOT_FOUND where there is no such tournament."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.TournamentServiceStub(client.channel)

    async def check(self, spec: Mapping[str, Any]) -> tuple[tuple[Problem, ...], Mapping[str, Any], int]:
        """What is wrong with a spec; it with all defaults, and the number of games, if nothing is."""
        response = await self._client.unary(self._stub.CheckSpec, pb.CheckSpecRequest(spec_json=_text(spec)))
        whole = visible_json(json.loads(response.spec_json)) if response.spec_json else {}
        return _problems(response.problems), whole, response.games

    async def submit(self, spec: Mapping[str, Any], command_id: str = "") -> str | tuple[Problem, ...]:
        """Have it played: its id, or what is wrong with it. A repeat of the same command id is the same tournament."""
        request = pb.SubmitTournamentRequest(spec_json=_text(spec), command_id=command_id or secrets.token_hex(16))
        response = await self._client.unary(self._stub.SubmitTournament, request)
        return response.tournament_id or _problems(response.problems)

    async def get(self, tournament_id: str) -> tuple[Summary, Mapping[str, Any]]:
        """One tournament and its spec."""
        request = pb.GetTournamentRequest(tournament_id=tournament_id)
        response = await self._client.unary(self._stub.GetTournament, request)
        return _summary(response.tournament), visible_json(json.loads(response.spec_json))

    async def list(self) -> tuple[Summary, ...]:
        """The newest first."""
        response = await self._client.unary(self._stub.ListTournaments, pb.ListTournamentsRequest())
        return tuple(map(_summary, response.tournaments))

    async def watch(self, tournament_id: str) -> AsyncGenerator[Progress, None]:
        """Until it is closed; goes on after lost connections."""
        request = pb.WatchTournamentRequest(tournament_id=tournament_id)
        attempt = 0
        while True:
            call = self._stub.WatchTournament(request, metadata=self._client.metadata())
            try:
                async for response in call:
                    attempt = 0
                    yield _progress(response)
                return
            except grpc.aio.AioRpcError as error:
                reason = failed(error)
                attempt += 1
                if not isinstance(reason, Unavailable) or attempt > WAITS_MOST:
                    raise reason from None
            finally:
                call.cancel()
            await self._client.pause(wait_random_exponential(multiplier=0.1, max=2.0), attempt)

    async def cancel(self, tournament_id: str, *, pause: bool = False) -> None:
        """Close it with what was played; or pause it."""
        request = pb.CancelTournamentRequest(tournament_id=tournament_id, pause=pause)
        await self._client.unary(self._stub.CancelTournament, request)

    async def resume(self, tournament_id: str) -> None:
        """Go on after a pause."""
        await self._client.unary(self._stub.ResumeTournament, pb.ResumeTournamentRequest(tournament_id=tournament_id))

    async def report(self, tournament_id: str) -> Mapping[str, Any]:
        """The final report, or that of what has been played so far."""
        request = pb.GetTournamentReportRequest(tournament_id=tournament_id)
        response = await self._client.unary(self._stub.GetTournamentReport, request)
        found: Mapping[str, Any] = visible_json(json.loads(response.report_json))
        return found

    async def output(self, tournament_id: str, game: str) -> Mapping[int, str]:
        """What the processes of entrants that forfeited a game said last, by seat."""
        request = pb.GetTournamentOutputRequest(tournament_id=tournament_id, game=game)
        return dict((await self._client.unary(self._stub.GetTournamentOutput, request)).outputs)

    async def enter(self, tournament_id: str = "") -> AsyncGenerator[Entered, None]:
        """The caller's games as they start; for entrants by account. Goes on after lost connections."""
        told: set[tuple[str, Seat]] = set()  # an entrant may have several seats in a match
        attempt = 0
        request = pb.EnterTournamentRequest(tournament_id=tournament_id)
        while True:
            call = self._stub.EnterTournament(request, metadata=self._client.metadata())
            try:
                async for response in call:
                    attempt = 0
                    if (response.match_id, response.seat) not in told:
                        told.add((response.match_id, response.seat))
                        yield Entered(response.tournament_id, response.match_id, response.seat)
                return
            except grpc.aio.AioRpcError as error:
                reason = failed(error)
                attempt += 1
                if not isinstance(reason, Unavailable) or attempt > WAITS_MOST:
                    raise reason from None
            finally:
                call.cancel()
            await self._client.pause(wait_random_exponential(multiplier=0.1, max=2.0), attempt)


def _text(spec: Mapping[str, Any]) -> str:
    return json.dumps(spec, ensure_ascii=False)


def _problems(messages: Any) -> tuple[Problem, ...]:
    return tuple(Problem(one.name, one.value, one.allowed, one.text_en, one.text_zh) for one in messages)


def _summary(message: pb.TournamentInfo) -> Summary:
    return Summary(
        message.tournament_id,
        message.name,
        message.game,
        message.format,
        message.state,
        message.submitted_ms,
        message.games_done,
        message.games_planned,
        tuple(message.entrants),
        message.commitment,
    )


def _progress(message: pb.WatchTournamentResponse) -> Progress:
    standings = tuple(Standing(one.entrant, one.sets, one.mean, one.half, one.faults) for one in message.standings)
    return Progress(
        _summary(message.tournament),
        standings,
        message.running,
        message.moves,
        message.moves_per_s,
        message.seconds_left,
        message.faults,
        message.replays,
    )
