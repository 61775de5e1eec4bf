"""Talk at a table before its cards are dealt: a line, a phrase, what does not get through, somebody who is muted."""

from __future__ import annotations

from collections.abc import Sequence

from kangtou_clients.api import ChatMessage, Refused, Talk

from .ledger import Ledger
from .people import Person

ESCAPE = "红了\x1b[31m"


async def talking(people: Sequence[Person], watcher: Person, match_id: str, ledger: Ledger) -> None:
    """The first owns the table and mutes the second, who has just said something."""
    owner, loud = Talk(people[0].client), Talk(people[1].elsewhere)
    said = [
        await loud.say(match_id, "晚上好", command_id="once"),
        await loud.say(match_id, "晚上好", command_id="once"),
        await owner.say(match_id, phrase="hurry"),
        await Talk(watcher.client).say(match_id, "看热闹"),
    ]
    messages = [one for one in said if isinstance(one, ChatMessage)]
    assert len(messages) == len(said), said
    no = await loud.say(match_id, ESCAPE)
    assert isinstance(no, Refused) or "\x1b" not in no.text
    assert await owner.mute(match_id, people[1].account_id) is None
    muted = await loud.say(match_id, "谁有红十")
    assert isinstance(muted, Refused), muted
    ledger.refusals[muted.code] += 1
    heard = await Talk(people[-1].elsewhere).list(match_id)
    assert isinstance(heard, tuple), heard
    assert [one.text or one.phrase for one in heard][:3] == ["晚上好", "hurry", "看热闹"]
    assert [one.account_id for one in heard][:2] == [people[1].account_id, people[0].account_id]
    ledger.said += len(heard)
