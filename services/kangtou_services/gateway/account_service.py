"""AccountService: registering, who one is, tokens."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import account_pb2 as pb
from kangtou.v1 import account_pb2_grpc as rpc
from kangtou.v1 import game_pb2

from ..accounts import AccountSettings
from ..accounts.deletion import Deletions
from ..agreement import BOT, HUMAN
from ..identity import Account, Identity, peer_host
from ..settings import Settings
from .auth import Callers, token_of
from .calls import CallError, Code, Context

if TYPE_CHECKING:
    from .server import Parts

_DAY_MS = 24 * 3_600_000
_KINDS = {game_pb2.ACCOUNT_KIND_HUMAN: HUMAN, game_pb2.ACCOUNT_KIND_BOT: BOT}
_NUMBERS = {kind: number for number, kind in _KINDS.items()}


def kind_to_pb(kind: str) -> game_pb2.AccountKind.ValueType:
    """A kind of account as clients see it; "" is unspecified."""
    return _NUMBERS.get(kind, game_pb2.ACCOUNT_KIND_UNSPECIFIED)


def kind_from_pb(kind: game_pb2.AccountKind.ValueType) -> str:
    """The same the other way."""
    return _KINDS.get(kind, "")


def account_to_pb(account: Account) -> pb.Account:
    """What is shown of an account."""
    return pb.Account(account_id=account.account_id, name=account.name, kind=kind_to_pb(account.kind))


class AccountService(rpc.AccountServiceServicer):
    """kangtou.v1.AccountService."""

    def __init__(self, identity: Identity, callers: Callers, deletions: Deletions) -> None:
        self._identity = identity
        self._deletions = deletions
        self._callers = callers

    async def Register(self, request: pb.RegisterRequest, context: Context) -> pb.RegisterResponse:
        """A new account; its secrets are in this answer alone."""
        kind = _KINDS.get(request.kind, "")
        peer = peer_host(context.peer())
        issued = await self._identity.register(request.name, kind, request.command_id, peer)
        if isinstance(issued, game_pb2.Refusal):
            return pb.RegisterResponse(refused=issued)
        return pb.RegisterResponse(
            account=account_to_pb(issued.account),
            token=issued.token,
            expires_ms=issued.expires_ms,
            recovery_code=issued.recovery_code,
        )

    async def WhoAmI(self, request: pb.WhoAmIRequest, context: Context) -> pb.WhoAmIResponse:
        """The account of the token."""
        session = await self._callers.session(context)
        return pb.WhoAmIResponse(account=account_to_pb(session.account), expires_ms=session.expires_ms)

    async def RenewToken(self, request: pb.RenewTokenRequest, context: Context) -> pb.RenewTokenResponse:
        """A new token for the one that the call carries."""
        await self._callers.session(context)
        issued = await self._identity.renew(token_of(context))
        if isinstance(issued, game_pb2.Refusal):
            return pb.RenewTokenResponse(refused=issued)
        return pb.RenewTokenResponse(token=issued.token, expires_ms=issued.expires_ms)

    async def RecoverAccount(self, request: pb.RecoverAccountRequest, context: Context) -> pb.RecoverAccountResponse:
        """A new token and code by the code."""
        peer = peer_host(context.peer())
        issued = await self._identity.recover(request.account_id, request.recovery_code, request.command_id, peer)
        if isinstance(issued, game_pb2.Refusal):
            return pb.RecoverAccountResponse(refused=issued)
        return pb.RecoverAccountResponse(
            account=account_to_pb(issued.account),
            token=issued.token,
            expires_ms=issued.expires_ms,
            recovery_code=issued.recovery_code,
        )

    async def RevokeToken(self, request: pb.RevokeTokenRequest, context: Context) -> pb.RevokeTokenResponse:
        """End the token that the call carries. Other gateways may take it for a few seconds more."""
        await self._callers.session(context)
        token = token_of(context)
        await self._identity.revoke(token)
        await self._callers.look(token, afresh=True)  # this gateway forgets it at once
        return pb.RevokeTokenResponse()

    async def DeleteAccount(self, request: pb.DeleteAccountRequest, context: Context) -> pb.DeleteAccountResponse:
        """Delete the caller's account. Other gateways may take its tokens for a few seconds more."""
        session = await self._callers.session(context)
        try:
            refused = await self._deletions.delete(session, request.confirm_account_id)
        except OSError as error:  # the table of names
            raise CallError(
                Code.UNAVAILABLE, "not all of it could be deleted; try again", "注销未完成，请重试"
            ) from error
        await self._callers.look(token_of(context), afresh=True)
        return pb.DeleteAccountResponse(refused=refused)


def account_settings(settings: Settings) -> AccountSettings:
    """From the server's settings."""
    return AccountSettings(token_ms=settings.token_days * _DAY_MS, registrations=settings.registrations)


def add(
    identity: Identity, deletions: Deletions
) -> Callable[[grpc.aio.Server, Parts], tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]]:
    """What adds this service to a gateway."""

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, None]:
        rpc.add_AccountServiceServicer_to_server(AccountService(identity, parts.callers, deletions), server)
        return "kangtou.v1.AccountService", None

    return extra
