"""What a seat asks of the table besides acting: to leave a standing answer, to hand the seat over, to take it back.

Each becomes a line of the entry that is being drafted; a repeat of its id gets the first answer, from the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kangtou.v1 import play_pb2 as play
from kangtou_engine.cards import Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.match.clocks import DELEGATE, RETAKE
from kangtou_engine.notation import Left, Note

from .commands import Command, accepted, platform_refusal, refused, refused_by
from .draft import Draft
from .standing import Standing, kept

if TYPE_CHECKING:
    from .core import Table

MAX_LEFT = 1_000  # standing answers that a seat may leave in this round and the former: each is an entry of the log
MAX_AWARDED = 200  # penalties in them
MAX_HANDED = 100  # times that it may hand itself over in them


def leave(table: Table, draft: Draft, command: Command) -> play.Answer | None:
    """A standing answer left or revoked: None if it is in the draft, else why not. Design §5, "Windows"."""
    if command.action is not None and command.until and command.until not in table.game.spec.standing_until:
        return refused(command.command_id, platform_refusal("bad_until"))
    if _stored(table, draft, command.seat, "standing") >= MAX_LEFT:
        return refused(command.command_id, platform_refusal("too_many_standing"))
    until = command.until if command.action is not None else ""
    draft.items.append(Left(command.seat, command.command_id, command.action, until))
    draft.standing.pop(command.seat, None)
    if command.action is not None:
        draft.standing[command.seat] = Standing(command.action, command.until)
    draft.standing = kept(table.game, draft.state, draft.standing)
    return None


def order(table: Table, draft: Draft, command: Command) -> play.Answer | None:
    """Hand a seat to a substitute, or take it back. Where it is so already nothing is written, and 0 is its entry."""
    takes = command.order == RETAKE
    if takes is not bool(draft.prompts.away(command.seat)):
        return accepted(command.command_id, 0)
    if not takes and _stored(table, draft, command.seat, DELEGATE) >= MAX_HANDED:
        return refused(command.command_id, platform_refusal("too_many_handed"))
    cause = () if takes else (("cause", command.order),)
    keys = (("seat", str(command.seat)), *cause, ("command", command.command_id))
    note(table, draft, Note(RETAKE if takes else DELEGATE, keys))
    return None


def award(table: Table, draft: Draft, command: Command) -> play.Answer | None:
    """What the scorer has the table do: a verb of the table that the game's book has, and no time-out. HS-11.3."""
    assert command.action is not None
    if command.action.verb == "timeout":
        return refused(command.command_id, platform_refusal("not_scorers"))
    if _stored(table, draft, command.seat, command.action.verb) >= MAX_AWARDED:
        return refused(command.command_id, platform_refusal("too_many_waiting"))
    try:
        table.take(draft, None, command.command_id, 0, command.action)
    except IllegalAction as error:
        return refused_by(table.game, command.command_id, error)
    return None


def timed_out(table: Table, draft: Draft, seat: Seat) -> None:
    """After the clock has played for a seat: too often in a row, and a substitute plays on."""
    ledger, most = draft.prompts.ledger, table.clock.late_most
    if ledger is not None and 0 < most <= ledger.late[seat] and seat in table.clock.people:
        note(table, draft, Note(DELEGATE, (("seat", str(seat)), ("cause", "timeouts"))))


def note(table: Table, draft: Draft, said: Note) -> None:
    """A seat goes to a substitute or back. What whoever played it has left standing ends with that."""
    draft.items.append(said)
    draft.prompts = draft.prompts.noted(said, table.clock)
    seat = int(said.key("seat"))
    draft.standing.pop(seat, None)
    draft.handed.append((seat, said.get("cause")))


def _stored(table: Table, draft: Draft, seat: Seat, word: str) -> int:
    """How many commands of that word a seat has in this round and the former."""
    found = [(who, content) for (who, _), (content, _) in table.done.items()]
    found += [(earlier.seat, earlier.content) for earlier in draft.commands]
    return sum(who == seat and content.startswith(f"{word} ") for who, content in found)
