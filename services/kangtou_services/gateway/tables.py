"""What the rest of a gateway knows of tables. The router is it; tests may have another."""

from __future__ import annotations

from typing import Protocol

from kangtou.internal.v1 import link_pb2 as lpb

from .routes import Done, Pending, Sink, Subscription


class Tables(Protocol):
    """Matches by id, wherever they are hosted."""

    async def open(self, match_id: str, prefer: str | None = None) -> bool:
        """Have a created match hosted, at the least loaded actor (`prefer`: that one), unless it is already.

        False if that cannot be now; then the first attach opens it. Does not raise.
        """
        ...

    async def call(self, call: lpb.Call) -> lpb.Reply:
        """One call about a match and its reply. Raises TableProblem."""
        ...

    def send(self, call: lpb.Call, done: Done, through: Subscription | None = None) -> Pending:
        """The same with a callback, which may get a Problem. `through`: what is to bring the answer to a command."""
        ...

    def follow(self, match_id: str, account_id: str, sink: Sink) -> Subscription:
        """A subscription to set up and then to `subscribe`."""
        ...

    def subscribe(self, sub: Subscription) -> None:
        """Begin, or begin anew from `sub.seq`."""
        ...

    def unsubscribe(self, sub: Subscription) -> None:
        """End it; its sink hears nothing any more."""
        ...
