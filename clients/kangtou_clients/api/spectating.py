"""What spectators may see, the rounds that a late one has missed, and the scorer: `Spectating(client)`."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import referee_pb2, referee_pb2_grpc, watch_pb2
from kangtou.v1 import spectate_pb2 as pb
from kangtou.v1 import spectate_pb2_grpc as rpc
from kangtou.wire import action_to_pb
from kangtou_engine.actions import Action, parse_action

from .values import Answer, Refused, answer_from, failed, refused_from

if TYPE_CHECKING:
    from .client import Client

POLICIES = {
    "none": watch_pb2.WATCH_POLICY_NONE,
    "no_hands": watch_pb2.WATCH_POLICY_NO_HANDS,
    "round": watch_pb2.WATCH_POLICY_ROUND,
    "open": watch_pb2.WATCH_POLICY_OPEN,
}
_NAMES = {number: word for word, number in POLICIES.items()}


@dataclass(frozen=True, slots=True)
class Watching:
    """What spectators of a table see (`none`, `no_hands`, `round`, `open`), and how many seconds late.

    warning   set where hands are seen while they are played: (English, Chinese), for whoever sits down
    """

    policy: str = "no_hands"
    delay_s: int = 0
    warning: tuple[str, str] = ("", "")


def watching_from(message: watch_pb2.Watching) -> Watching:
    """From the protocol."""
    policy = _NAMES.get(message.policy, "no_hands")
    return Watching(policy, message.delay_s, (message.warning_en, message.warning_zh))


class Spectating:
    """What a late spectator has missed, and what a scorer may do."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.SpectateServiceStub(client.channel)
        self._referee = referee_pb2_grpc.RefereeServiceStub(client.channel)

    async def rounds(
        self, match_id: str, first: int = 0, last: int = 0
    ) -> AsyncGenerator[pb.GetRoundsResponse | Refused, None]:
        """Finished rounds of a match in play, each with its entries, in order. Raises CallFailed."""
        request = pb.GetRoundsRequest(match_id=match_id, first_round=first, last_round=last)
        call, response = await self._client.retried(partial(self._opened, request))
        try:
            while response is not grpc.aio.EOF:
                if response.HasField("refused"):
                    yield refused_from(response.refused)
                    return
                yield response
                response = await call.read()
        except grpc.aio.AioRpcError as error:
            raise failed(error) from None
        finally:
            call.cancel()

    async def _opened(self, request: pb.GetRoundsRequest) -> tuple[Any, Any]:
        """A stream and its first message. Raises CallFailed."""
        call: Any = self._stub.GetRounds(request, metadata=self._client.metadata())
        try:
            return call, await call.read()
        except grpc.aio.AioRpcError as error:
            raise failed(error) from None
        except BaseException:
            call.cancel()
            raise

    async def award(self, match_id: str, action: Action | str, command_id: str = "") -> Answer:
        """As the scorer: `penalize seat=K` (HS-11.2), `annul` (DZ-5.9). Repeats of an id get the same answer."""
        wanted = parse_action(action) if isinstance(action, str) else action
        wish = referee_pb2.Award(
            match_id=match_id, command_id=command_id or secrets.token_hex(8), action=action_to_pb(wanted)
        )
        response = await self._client.unary(self._referee.Award, referee_pb2.AwardRequest(award=wish))
        return answer_from(response.answer)
