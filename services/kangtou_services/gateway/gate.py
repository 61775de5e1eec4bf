"""What a call must pass before it reaches its service: the age of the client, and maintenance.

A refusal is a value where the method's response can hold one (a field `refused`), else the call fails with the
status FAILED_PRECONDITION; its trailing metadata then name the refusal (`kangtou-refusal`).
"""

from __future__ import annotations

from kangtou.v1 import game_pb2 as pb

from ..operate.watch import MaintenanceWatch
from ..refusals import refusal
from ..settings import Settings
from .calls import Context, Gate

CLIENT = "kangtou-client"  # metadata: `kangtou-python/VERSION`; other programs name none, or another
OURS = "kangtou-python/"
_DIGITS = 9  # of one number of a version
# What begins something: closed under maintenance. What is under way goes on, running tournaments too.
CLOSED = frozenset(
    {
        "/kangtou.v1.LobbyService/OpenTable",
        "/kangtou.v1.LobbyService/Sit",
        "/kangtou.v1.LobbyService/QuickMatch",
        "/kangtou.v1.PartyService/CreateParty",
        "/kangtou.v1.TableService/SetReady",
        "/kangtou.v1.TableService/StartTable",
        "/kangtou.v1.TableService/FillSeats",
        "/kangtou.v1.TableService/AgreeRematch",
        "/kangtou.v1.TournamentService/SubmitTournament",
    }
)


def gate_of(settings: Settings, maintenance: MaintenanceWatch) -> Gate:
    """Why a method may not be called now; None if it may."""
    least = version_of(settings.min_client)

    def look(method: str, context: Context) -> pb.Refusal | None:
        if least and (given := _client(context)) and given < least:
            have = ".".join(map(str, given))
            return refusal("client_too_old", have=have, need=settings.min_client)
        state = maintenance.now
        if state is not None and method in CLOSED:
            return refusal("maintenance", message=f" ({state.message})" if state.message else "")
        return None

    return look


def version_of(text: str) -> tuple[int, ...]:
    """`1.20.3` as numbers, as far as it has them; () for nothing."""
    numbers = []
    for part in text.split("."):
        if not (part.isascii() and part.isdigit() and len(part) <= _DIGITS):  # others write it: ², or ever so long
            break
        numbers.append(int(part))
    return tuple(numbers)


def _client(context: Context) -> tuple[int, ...]:
    """The version of our own client; () of a program that does not say so."""
    for name, value in context.invocation_metadata() or ():
        if name == CLIENT and isinstance(value, str) and value.startswith(OURS):
            return version_of(value.removeprefix(OURS))
    return ()
