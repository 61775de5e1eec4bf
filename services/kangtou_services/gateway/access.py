"""Who may call what: the one table of it. A method without a row cannot be called by anybody.

    ANYBODY    no token is needed
    SEAT       any token, also one that is good for one seat only
    ACCOUNT    the token of an account
    HOUSE      of a house bot
    OPERATOR   of an operator
    HERE       an operator's, or no token from this machine where the gateway listens on loopback alone

What more a call needs (owner or scorer of a table, one's own seat, the submitter of a tournament) depends on what it is
about, and is looked at by its service.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from ..identity import HOUSE, OPERATOR
from .auth import Callers, token_of
from .calls import CallError, Code, Context
from .throttle import Throttle


class Needs(enum.Enum):
    """What a caller must be."""

    ANYBODY = enum.auto()
    SEAT = enum.auto()
    ACCOUNT = enum.auto()
    HOUSE = enum.auto()
    OPERATOR = enum.auto()
    HERE = enum.auto()


_TABLE: Mapping[str, Mapping[Needs, str]] = {
    "AccountService": {
        Needs.ANYBODY: "Register RecoverAccount",
        Needs.ACCOUNT: "WhoAmI RenewToken RevokeToken DeleteAccount",
    },
    "AdminService": {Needs.HERE: "GetStatus"},
    "ArchiveService": {Needs.ACCOUNT: "ListRecords GetRecord"},
    "HouseService": {Needs.ACCOUNT: "JoinHouse", Needs.HOUSE: "Serve SettleOffer"},
    "LobbyService": {
        Needs.ANYBODY: "ListGames",
        Needs.ACCOUNT: "OpenTable ListTables GetTable Sit Stand QuickMatch AnswerMatch CancelTicket",
    },
    "OperateService": {
        Needs.OPERATOR: "ListLiveTables ListMembers Drain MoveMatch EndMatch FindAccounts ChangeAccount Maintenance"
    },
    "PartyService": {Needs.ACCOUNT: "CreateParty JoinParty GetParty LeaveParty"},
    "PeopleService": {Needs.ACCOUNT: "GetProfile Block Unblock ListBlocks"},
    "PlayService": {Needs.SEAT: "Play Act GetView Legal Check HandOver TakeBack"},
    "RatingService": {Needs.ACCOUNT: "ListLadders GetLeaderboard GetRatings"},
    "RefereeService": {Needs.ACCOUNT: "Award"},
    "ReplayService": {Needs.ACCOUNT: "Replay"},
    "SpectateService": {Needs.ACCOUNT: "GetRounds"},
    "TableService": {
        Needs.ACCOUNT: "WatchTables ChangeSeat SetReady StartTable FillSeats RemovePlayer AllowPlayer AgreeRematch"
    },
    "TalkService": {Needs.ACCOUNT: "Say ListChat Mute ReportChat", Needs.OPERATOR: "ListReports"},
    "TournamentService": {
        Needs.ACCOUNT: "CheckSpec SubmitTournament GetTournament ListTournaments WatchTournament CancelTournament "
        "ResumeTournament GetTournamentReport GetTournamentOutput EnterTournament"
    },
    "VitalsService": {Needs.HERE: "GetVitals"},
}

NEEDS: Mapping[str, Needs] = {
    f"/kangtou.v1.{service}/{method}": needs
    for service, rows in _TABLE.items()
    for needs, methods in rows.items()
    for method in methods.split()
}


class Access:
    """Looks at the table before a call reaches its service."""

    def __init__(self, callers: Callers, throttle: Throttle | None = None) -> None:
        self._callers = callers
        self._throttle = throttle

    async def check(self, method: str, context: Context) -> None:
        """Raises CallError for whoever may not call it, StoreUnavailable."""
        needs = NEEDS.get(method)
        if needs is None:
            raise CallError(Code.PERMISSION_DENIED, "nobody may call this", "无人可用此调用")
        if self._throttle is not None:
            self._throttle.address(context)
        if needs in (Needs.ANYBODY, Needs.HERE):
            return  # the service looks from where a call comes
        session = await self._callers.session(context, playing=needs is Needs.SEAT)
        if self._throttle is not None:
            self._throttle.account(session.account.account_id)
        if needs is Needs.OPERATOR and OPERATOR not in session.account.roles:
            raise CallError(Code.PERMISSION_DENIED, "this is for operators", "仅限管理员")
        if needs is Needs.HOUSE and HOUSE not in session.account.roles:
            # it may have joined a moment ago, at another gateway
            session = await self._callers.look(token_of(context), afresh=True) or session
            if HOUSE not in session.account.roles:
                raise CallError(Code.PERMISSION_DENIED, "this is for house bots", "仅限本站机器人")
