"""The client library: everything that a program needs to play, watch and queue.

    async with connect("127.0.0.1:7480", token) as client:
        async with client.lobby.quick(Wanted("hongshi")) as queue:
            place = await queue.place()
        async with client.play() as session:
            match = await session.attach(place.match_id, entropy=place.entropy)
            async for prompt in match.prompts():
                await prompt.answer(prompt.default)
            print(match.ending, match.warnings)

Refusals are values (`Refused`); what the network does to a session is repaired by it. A session checks by itself that
the server deals what it has committed to.
"""

from __future__ import annotations

from .client import Client, connect
from .lobby import Place, Queued, QuickMatch, Wanted
from .match import Match
from .seen import Change, Player, Prompt, SeatStatus
from .session import Session
from .spectating import Spectating, Watching
from .tables import Rematch, TableChange, TableFilter, TableTerms
from .talk import ChatMessage, Talk
from .values import (
    Accepted,
    Account,
    Answer,
    ApiError,
    BadAddress,
    CallFailed,
    Ending,
    Gone,
    Login,
    NotAuthenticated,
    Refused,
    TrustWarning,
    Unavailable,
    Untrustworthy,
)

__all__ = [
    "Accepted",
    "Account",
    "Answer",
    "ApiError",
    "BadAddress",
    "CallFailed",
    "Change",
    "ChatMessage",
    "Client",
    "Ending",
    "Gone",
    "Login",
    "Match",
    "NotAuthenticated",
    "Place",
    "Player",
    "Prompt",
    "Queued",
    "QuickMatch",
    "Refused",
    "Rematch",
    "SeatStatus",
    "Session",
    "Spectating",
    "TableChange",
    "TableFilter",
    "TableTerms",
    "Talk",
    "TrustWarning",
    "Unavailable",
    "Untrustworthy",
    "Wanted",
    "Watching",
    "connect",
]
