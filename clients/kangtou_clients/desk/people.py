"""Ratings, profiles and parties as lines."""

from __future__ import annotations

from datetime import UTC, datetime

from kangtou.v1 import archive_pb2, party_pb2, people_pb2, rating_pb2
from kangtou_engine.registry import REGISTRY

from ..api.accounts import NAMES
from ..names import word
from .text import game_name
from .words import say


def rating_text(rating: rating_pb2.Rating) -> str:
    """`1624 ±90`, `1530? ±280`: with ? it is provisional."""
    return f"{rating.rating}{'?' if rating.provisional else ''} ±{rating.deviation}"


def ladder_text(ladder: rating_pb2.Ladder, lang: str) -> str:
    """`红十`, `Wushik (liaoning)`, `Hongshi · bots`."""
    variant = f" ({ladder.variant})" if ladder.variant else ""
    bots = f" · {say('people.bots', lang)}" if NAMES.get(ladder.kind) == "bot" else ""
    return f"{game_name(ladder.game, lang)}{variant}{bots}"


def variants(game: str) -> tuple[str, ...]:
    """Those that have ladders of their own; the first is the default, () if there is but one ladder."""
    if game not in REGISTRY.names():
        return ()
    row = next((row for row in REGISTRY.game(game).spec.option_rows if row.name == "variant"), None)
    if row is None:
        return ()
    names = tuple(map(str, row.words))
    return (str(row.default), *(name for name in names if name != row.default))


def leader_text(row: rating_pb2.LeaderboardRow, lang: str) -> str:
    """A line of a leaderboard."""
    games = say("people.results", lang, games=row.rating.games)
    floor = say("people.floor", lang, floor=row.rating.floor)
    return f"{row.rank:>4}  {floor}  {rating_text(row.rating):<12}  {games}  {row.name or row.account_id}"


def profile_lines(profile: people_pb2.Profile, lang: str) -> list[str]:
    """Who somebody is, and the ratings."""
    who = profile.account
    day = f"{datetime.fromtimestamp(profile.joined_ms / 1000, UTC):%Y-%m-%d}" if profile.joined_ms else ""
    joined = say("people.joined", lang, day=day) if day else ""
    kind = word(NAMES.get(who.kind, ""), lang)
    lines = ["  ".join(filter(None, (who.name, who.account_id, kind, joined)))]
    for rating in profile.ratings:
        games = say("people.results", lang, games=rating.games)
        lines.append(f"  {ladder_text(rating.ladder, lang)}  {rating_text(rating)}  {games}")
    return lines if profile.ratings else [*lines, "  " + say("people.unrated", lang)]


def record_text(record: archive_pb2.RecordInfo, lang: str) -> str:
    """A finished match as a line."""
    ended = datetime.fromtimestamp(record.ended_ms / 1000).astimezone()
    pairs = zip(record.names, record.account_ids, strict=False)
    names = ", ".join(name or account for name, account in pairs)
    scores = " ".join(map(str, record.scores))
    return f"{record.match_id}  {game_name(record.game, lang)}  {ended:%m-%d %H:%M}  {names}  {scores}".rstrip()


def party_lines(party: party_pb2.Party, lang: str) -> list[str]:
    """Who is in it, and what is to be done next."""
    members = ", ".join(member.name or member.account_id for member in party.members)
    lines = [say("party.is", lang, word=party.code, game=game_name(party.choice.game, lang), members=members)]
    if party.over:
        return [*lines, say("party.over", lang)]
    return lines if len(party.members) > 1 else [*lines, say("party.alone", lang, word=party.code)]
