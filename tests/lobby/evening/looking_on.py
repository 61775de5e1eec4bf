"""Somebody looks on: sees no hand that is not shown, may do nothing, and in the end has seen what the record shows."""

from __future__ import annotations

from kangtou_clients.api import Ending, Match, Refused

from .ledger import Ledger
from .people import Person


async def looking_on(person: Person, match_id: str, ledger: Ledger) -> None:
    """From wherever the match is to its end."""
    async with person.client.play() as session:
        match = await session.watch(match_id)
        assert isinstance(match, Match), match
        changes = match.changes()
        tried = False
        async for _ in changes:
            if not tried and match.game.to_act(match.view):
                tried = True
                seat = match.game.to_act(match.view)[0]
                no = await match.act(match.game.default(match.view, seat), prompt=match.seq)
                assert isinstance(no, Refused)
                ledger.refusals[no.code] += 1
        ending = await match.finished()
        assert isinstance(ending, Ending), ending
        assert match.warnings == ()
        ledger.told(match_id, person.account_id, ending)
        ledger.seen.setdefault(match_id, []).append(repr(match.view))
