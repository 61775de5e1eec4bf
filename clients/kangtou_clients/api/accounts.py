"""Accounts: register, who one is, renewing and recovering tokens."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Literal

from kangtou.v1 import account_pb2 as pb
from kangtou.v1 import account_pb2_grpc as rpc
from kangtou.v1 import game_pb2

from .values import Account, Login, Refused, refused_from

if TYPE_CHECKING:
    from .client import Client

KINDS = {"human": game_pb2.ACCOUNT_KIND_HUMAN, "bot": game_pb2.ACCOUNT_KIND_BOT}
NAMES = {number: name for name, number in KINDS.items()}


def account_from(message: pb.Account) -> Account:
    """From the protocol."""
    return Account(message.account_id, message.name, NAMES.get(message.kind, ""))


class Accounts:
    """`client.accounts`. A token that is got here is used by the client from then on."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.AccountServiceStub(client.channel)

    async def register(self, name: str, kind: Literal["human", "bot"], command_id: str = "") -> Login | Refused:
        """A new account. A repeat of the same random id (16 characters or more) gets the same account."""
        request = pb.RegisterRequest(name=name, kind=KINDS[kind], command_id=command_id or secrets.token_hex(16))
        response = await self._client.unary(self._stub.Register, request)
        if response.HasField("refused"):
            return refused_from(response.refused)
        self._client.token = response.token
        account = account_from(response.account)
        return Login(response.token, response.expires_ms, response.recovery_code, account)

    async def who_am_i(self) -> Account:
        """The account of the token. Raises NotAuthenticated."""
        return account_from((await self._client.unary(self._stub.WhoAmI, pb.WhoAmIRequest())).account)

    async def renew(self) -> Login | Refused:
        """A new token in place of this one, which ends a minute later."""
        response = await self._client.unary(self._stub.RenewToken, pb.RenewTokenRequest())
        if response.HasField("refused"):
            return refused_from(response.refused)
        self._client.token = response.token
        return Login(response.token, response.expires_ms)

    async def recover(self, account_id: str, recovery_code: str, command_id: str = "") -> Login | Refused:
        """A new token and a new code by the recovery code; all other tokens end."""
        request = pb.RecoverAccountRequest(
            account_id=account_id, recovery_code=recovery_code, command_id=command_id or secrets.token_hex(16)
        )
        response = await self._client.unary(self._stub.RecoverAccount, request)
        if response.HasField("refused"):
            return refused_from(response.refused)
        self._client.token = response.token
        return Login(response.token, response.expires_ms, response.recovery_code)

    async def delete(self, account_id: str) -> Refused | None:
        """Delete this account for ever; its own id confirms. The token is of no use after it."""
        response = await self._client.unary(
            self._stub.DeleteAccount, pb.DeleteAccountRequest(confirm_account_id=account_id)
        )
        if response.HasField("refused"):
            return refused_from(response.refused)
        self._client.token = ""
        return None
