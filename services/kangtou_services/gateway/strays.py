"""Deliveries to subscriptions that have been let go while they were on their way.

A table sends the answer to a command through the subscription of its seat, and an empty reply to the call. Where the
gateway has let the subscription go meanwhile (the client lags behind, or has attached anew), the answer in the delivery
is put into that reply: a command gets its one answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from kangtou.v1 import play_pb2 as play

from .routes import Pending, Subscription


class Strays:
    """Of one link."""

    def __init__(self) -> None:
        self._gone: dict[int, Subscription] = {}  # by number, until the actor has confirmed that it knows

    def let_go(self, sub: Subscription) -> None:
        """From now on nobody takes what comes for it."""
        self._gone[sub.number] = sub

    def confirmed(self, number: int) -> None:
        """Nothing comes for it any more."""
        self._gone.pop(number, None)

    def clear(self) -> None:
        """The link has ended."""
        self._gone.clear()

    def keep_answers(self, number: int, payload: bytes, pendings: Iterable[Pending]) -> None:
        """Keep the answers of a delivery with the calls that wait for them; their replies come behind it."""
        sub = self._gone.get(number)
        if sub is None:
            return
        for update in play.PlayResponse.FromString(payload).updates:
            if update.HasField("answer"):
                pending = next((one for one in pendings if _waits(one, sub, update.answer.command_id)), None)
                if pending is not None:
                    pending.answer = update.answer


def _waits(pending: Pending, sub: Subscription, command_id: str) -> bool:
    """Whether a call is of that command, and its answer was to come that way: another stream may have sent it too."""
    if pending.over or pending.through is not sub or pending.answer is not None:
        return False
    return str(getattr(pending.call, pending.call.WhichOneof("body") or "").command_id) == command_id
