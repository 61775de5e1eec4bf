"""`kangtou hand-over` and `take-back`: a substitute (托管) plays one's seat, and one plays it again."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from .common import of
from .play import CommandId, MatchId, SeatOption, at_match
from .remote import Remote


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("hand-over")(hand_over)
    app.command("take-back")(take_back)


def hand_over(
    context: typer.Context,
    match: MatchId,
    seat: SeatOption = None,
    leave: Annotated[bool, typer.Option("--leave", help="leave the match: recorded as `left`")] = False,
    command_id: CommandId = "",
) -> None:
    """Let a substitute play your seat; everybody sees that one does. You can take the seat back at any moment.

    \b
    Examples:
      kangtou hand-over mx4k2p7q
      kangtou hand-over mx4k2p7q --leave
      kangtou take-back mx4k2p7q
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        identity = command_id or secrets.token_hex(8)
        answer = await remote.client.hand_over(match, leave=leave, command_id=identity, seat=seat)
        seq = remote.given(answer).seq
        common.put_json({"seq": seq}) if common.json else common.put(common.say("handed_over"))

    at_match(common, match, work)


def take_back(context: typer.Context, match: MatchId, seat: SeatOption = None, command_id: CommandId = "") -> None:
    """Play your seat again, in the middle of a hand too. What the substitute has played stays played.

    \b
    Examples:
      kangtou take-back mx4k2p7q
      kangtou take-back mx4k2p7q && kangtou legal mx4k2p7q
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        answer = await remote.client.take_back(match, command_id=command_id or secrets.token_hex(8), seat=seat)
        seq = remote.given(answer).seq
        common.put_json({"seq": seq}) if common.json else common.put(common.say("taken_back"))

    at_match(common, match, work)
