"""Somebody looks on: may do nothing, and has seen in the end what the table's policy shows of the record."""

from __future__ import annotations

from kangtou_clients.api import Ending, Match, Refused

from .ledger import Ledger
from .people import Person


async def looking_on(person: Person, match_id: str, policy: str, ledger: Ledger) -> None:
    """From wherever the match is to its end."""
    async with person.client.play() as session:
        match = await session.watch(match_id)
        if policy == "none":
            assert isinstance(match, Refused), match
            ledger.refusals[match.code] += 1
            return
        assert isinstance(match, Match), match
        tried = False
        async for _ in match.changes():
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
        ledger.seen.setdefault((match_id, policy), []).append(repr(match.view))


async def from_a_seat(person: Person, match_id: str, ledger: Ledger) -> None:
    """Who sits there does not look on beside it, through no gateway."""
    async with person.elsewhere.play() as session:
        no = await session.watch(match_id)
        assert isinstance(no, Refused), no
        ledger.refusals[no.code] += 1
