"""What operators do to accounts: find them, give roles, ban, end tokens, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from kangtou.v1 import operate_pb2 as pb

from ..accounts.deletion import Deletions
from ..identity import BANNED, HOUSE, OPERATOR, PLAYER, SEAT, Account, Identity
from ..refusals import refusal
from .auth import Callers
from .calls import CallError, Code

log = structlog.get_logger(__name__)

GIVEN = (PLAYER, OPERATOR, BANNED)  # roles that an operator gives and takes; the others come of what an account is
_KEPT = frozenset({HOUSE, SEAT})


class Accounts:
    """Of one gateway. `check_tokens` has its open streams looked at again, so that a ban is felt at once."""

    def __init__(
        self,
        identity: Identity,
        deletions: Deletions,
        callers: Callers,
        check_tokens: Callable[[], Awaitable[None]],
    ) -> None:
        self._identity = identity
        self._deletions = deletions
        self._callers = callers
        self._check_tokens = check_tokens

    async def find(self, text: str, role: str, limit: int) -> list[pb.FoundAccount]:
        """By id, or by a part of the name; sorted by name."""
        found = await self._identity.find(text, role, limit)
        return [await self._shown(one) for one in sorted(found, key=lambda one: (one.name, one.account_id))]

    async def change(self, request: pb.ChangeAccountRequest, operator: str) -> pb.ChangeAccountResponse:
        """One change to one account."""
        account = (await self._identity.accounts([request.account_id])).get(request.account_id)
        if account is None:
            return pb.ChangeAccountResponse(refused=refusal("unknown_account"))
        what = request.WhichOneof("change") or ""
        reason = request.ban.reason[:200] if what == "ban" else ""
        match what:
            case "roles":
                wanted = frozenset(request.roles.roles)
                if unknown := sorted(wanted - set(GIVEN)):
                    roles = ", ".join(GIVEN)
                    return pb.ChangeAccountResponse(refused=refusal("bad_role", role=unknown[0], roles=roles))
                await self._roles(account, wanted)
            case "ban":
                await self._roles(account, account.roles | {BANNED})
            case "unban":
                await self._roles(account, account.roles - {BANNED})
            case "revoke_tokens":
                await self._identity.end_tokens(account.account_id)
            case "delete":
                await self._delete(account.account_id)
            case _:
                raise CallError(Code.INVALID_ARGUMENT, "say what is to be changed", "未说明要更改的内容")
        log.info("operator_changed", operator=operator, account=account.account_id, what=what, reason=reason)
        self._callers.forget(account.account_id)
        await self._check_tokens()
        now = (await self._identity.accounts([account.account_id])).get(account.account_id)
        return pb.ChangeAccountResponse(account=await self._shown(now or account))

    async def _roles(self, account: Account, wanted: frozenset[str]) -> None:
        await self._identity.set_roles(account.account_id, wanted | (account.roles & _KEPT))

    async def _delete(self, account_id: str) -> None:
        try:
            await self._deletions.for_operator(account_id)
        except OSError as error:  # the table of names
            raise CallError(
                Code.UNAVAILABLE, "not all of it could be deleted; try again", "注销未完成，请重试"
            ) from error

    async def _shown(self, account: Account) -> pb.FoundAccount:
        joined = await self._identity.joined(account.account_id)
        return pb.FoundAccount(
            account_id=account.account_id,
            name=account.name,
            kind=account.kind,
            roles=sorted(account.roles),
            created_ms=joined,
        )
