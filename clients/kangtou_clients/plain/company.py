"""The others at the table, in the line mode: talk, substitutes, another match."""

from __future__ import annotations

from ..api import Client, Match, Refused, Session
from ..api.tables import Rematch
from ..api.talk import ChatMessage, Talk
from ..desk.room import refusal_text
from ..desk.words import say


async def talk(client: Client, match: Match, text: str, lang: str) -> str:
    """Say something, `/hello` a fixed phrase. What is wrong with it, "" if nothing is."""
    phrase = text.removeprefix("/") if text.startswith("/") else ""
    said = await Talk(client).say(match.match_id, "" if phrase else text, phrase=phrase)
    return say("refused_plain", lang, text=refusal_text(said, lang)) if isinstance(said, Refused) else ""


def heard(message: ChatMessage, lang: str) -> str:
    """Who said what."""
    return say("said", lang, name=message.name or message.account_id, text=message.shown(lang))


async def substitute(session: Session, match: Match, lang: str, *, wanted: bool) -> str:
    """Hand the seat over, or take it back; how that went."""
    answer = await (session.hand_over(match) if wanted else session.take_back(match))
    if isinstance(answer, Refused):
        return say("refused_plain", lang, text=refusal_text(answer, lang))
    return say("substituted" if wanted else "taken_back", lang)


async def agree(client: Client, match: Match) -> Rematch | Refused:
    """Want another match with the same seats."""
    assert match.seat is not None
    return await client.tables.rematch(match.match_id, match.players[match.seat].account_id)


async def settled(client: Client, agreed: Rematch) -> bool:
    """Whether it comes about, once that is clear."""
    table = await client.tables.settled(agreed)
    return not isinstance(table, Refused) and table.current_match_id == agreed.match_id
