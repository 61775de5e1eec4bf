"""What the library gives back and what it raises.

    ApiError
    ├── CallFailed           a call ended with a status: `status` is gRPC's name of it, `text` for people
    │   ├── NotAuthenticated the token is missing, not valid, or has expired
    │   └── Unavailable      the server, its log or a table cannot be reached now: repeat the call
    ├── BadAddress           no address of a server, or its root certificates cannot be read
    ├── Gone                 the session is closed, or its match went to another session
    └── Untrustworthy        raised on request only: what the server dealt is not what it had committed to

A refusal by rules or platform is no exception: it is a `Refused` in the place of what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import grpc

from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play

from ..visible import visible


class ApiError(Exception):
    """The root of what this library raises on purpose."""


class CallFailed(ApiError):
    """A call ended with a status other than OK. `refusal` is a code where there is one: `client_too_old` …"""

    def __init__(self, status: str, text: str, refusal: str = "") -> None:
        super().__init__(f"{status}: {text}" if text else status)
        self.status = status
        self.text = text
        self.refusal = refusal


class NotAuthenticated(CallFailed):
    """The token is missing, not valid, or has expired."""


class Unavailable(CallFailed):
    """The server, its log or a table cannot be reached now. Repeating a call by its command id is safe."""


class BadAddress(ApiError):
    """No address of a server, or the root certificates that it needs cannot be read. The text says which."""


class Gone(ApiError):
    """The session is closed, or another session of this account took the seat."""


def failed(error: grpc.aio.AioRpcError) -> CallFailed:
    """The library's exception for gRPC's."""
    code, text = error.code(), error.details() or ""
    if text.startswith("Stream removed"):  # with one status or another
        code = grpc.StatusCode.UNAVAILABLE  # the connection was lost under the call
    kind = {
        grpc.StatusCode.UNAUTHENTICATED: NotAuthenticated,
        grpc.StatusCode.UNAVAILABLE: Unavailable,
    }.get(code, CallFailed)
    told = {str(name): str(value) for name, value in error.trailing_metadata() or ()}
    return kind(code.name, visible(text), told.get("kangtou-refusal", ""))


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody. `kind` is `human` or `bot`."""

    account_id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Login:
    """A token, shown once, and until when it is good (Unix ms). Keep token and recovery code private."""

    token: str
    expires_ms: int
    recovery_code: str = ""
    account: Account | None = None

    def __repr__(self) -> str:
        return f"Login(expires_ms={self.expires_ms}, …)"


@dataclass(frozen=True, slots=True)
class Accepted:
    """An action is in the log, in the entry `seq`."""

    seq: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Something is refused and has changed nothing. `rule` is the book's, "" where the platform refuses."""

    rule: str
    code: str
    text_en: str
    text_zh: str

    def __str__(self) -> str:
        return f"{self.rule or self.code}: {self.text_en}"


Answer: TypeAlias = Accepted | Refused


@dataclass(frozen=True, slots=True)
class Ending:
    """How a match ended. `cause` is `rules` or a word for an end outside them; `receipt` is the record's last hash."""

    cause: str
    scores: tuple[int, ...]
    places: tuple[int, ...]
    receipt: str
    seed: bytes
    entropies: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class TrustWarning:
    """Something about a match's chance is not as it was committed to. `code` is a stable word."""

    match_id: str
    code: str
    text_en: str
    text_zh: str

    def __str__(self) -> str:
        return f"{self.match_id}: {self.text_en}"


class Untrustworthy(ApiError):
    """Raised by `Match.check_trust` when there are warnings."""

    def __init__(self, warnings: tuple[TrustWarning, ...]) -> None:
        super().__init__("; ".join(map(str, warnings)))
        self.warnings = warnings


def refused_from(message: pb.Refusal) -> Refused:
    """From the protocol."""
    return Refused(message.rule, message.code, message.text_en, message.text_zh)


def answer_from(message: play.Answer) -> Answer:
    """From the protocol."""
    if message.HasField("accepted"):
        return Accepted(message.accepted.seq)
    return refused_from(message.refused)


def ending_from(message: play.Ended) -> Ending:
    """From the protocol."""
    return Ending(
        message.cause,
        tuple(message.scores),
        tuple(message.places),
        message.receipt,
        message.seed,
        tuple(message.entropies),
    )
