"""`kangtou archive list`: finished matches by who played, what, when and how it ended."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from kangtou.v1 import archive_pb2 as pb

from ..api.archive import Archive, Further
from .common import MOST, Common, of
from .exits import USAGE
from .remote import Remote, run

_RANGE = re.compile(r"(-?[0-9]{1,9})?\.\.(-?[0-9]{1,9})?")


class Kind(StrEnum):
    """For how long a record is kept depends on it."""

    bots = "bots"
    rated = "rated"
    unrated = "unrated"


_KINDS = {
    Kind.bots: pb.RECORD_KIND_BOTS,
    Kind.rated: pb.RECORD_KIND_RATED,
    Kind.unrated: pb.RECORD_KIND_UNRATED,
}
_ACCOUNT = "an account id; me: your own"


def list_records(
    context: typer.Context,
    game: Annotated[str, typer.Option("--game", metavar="GAME")] = "",
    variant: Annotated[str, typer.Option("--variant", metavar="NAME", help="such as chengde2, of wushik")] = "",
    option: Annotated[
        list[str],
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="a house option as it was played, defaults too"),
    ] = [],  # noqa: B006 - the parser makes a new list for each call
    player: Annotated[
        list[str], typer.Option("--player", metavar="ACCOUNT", help=f"{_ACCOUNT}; again: all of them had seats")
    ] = [],  # noqa: B006
    won_by: Annotated[str, typer.Option("--won-by", metavar="ACCOUNT", help="had the first place")] = "",
    lost_by: Annotated[str, typer.Option("--lost-by", metavar="ACCOUNT", help="had another place")] = "",
    place: Annotated[int, typer.Option("--place", metavar="N", min=0, max=99, help="of the first --player")] = 0,
    score: Annotated[str, typer.Option("--score", metavar="LEAST..MOST", help="of the first --player")] = "",
    tournament: Annotated[str, typer.Option("--tournament", metavar="ID")] = "",
    cause: Annotated[str, typer.Option("--cause", metavar="WORD", help="rules, abandoned, operator, forfeit …")] = "",
    kind: Annotated[Kind | None, typer.Option("--kind", help="bots: no person had a seat")] = None,
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="of matchmaking")] = "",
    since: Annotated[
        str, typer.Option("--since", "--from", metavar="DATE", help="ended on or after 2026-01-31 (UTC)")
    ] = "",
    until: Annotated[str, typer.Option("--until", "--to", metavar="DATE", help="ended before it")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="at most so many; 0: all")] = 20,
) -> None:
    """List finished matches, the last to end first. What is asked for must hold all at once.

    \b
    Examples:
      kangtou archive list
      kangtou archive list --game hongshi --player me --limit 5
      kangtou archive list --game wushik --variant chengde2 -o rounds=4 --won-by me
      kangtou archive list --player me --score 10.. --since 2026-01-01 --json
    """
    common = of(context)
    if (place or score) and not player:
        raise common.fail(USAGE, "needs_player")

    async def work(remote: Remote) -> None:
        own = remote.profile.account_id if remote.profile else ""
        accounts = [own if account == "me" else account for account in player]
        further = Further(
            other_account_ids=accounts[1:],
            won_by=own if won_by == "me" else won_by,
            lost_by=own if lost_by == "me" else lost_by,
            place=place,
            variant=variant,
            options=dict(_option(common, text) for text in option),
            cause=cause,
            kind=_KINDS[kind] if kind else pb.RECORD_KIND_UNSPECIFIED,
            pool=pool,
        )
        further["score_least"], further["score_most"] = _scores(common, score)
        found = Archive(remote.client).records(
            game=game,
            account_id=accounts[0] if accounts else "",
            tournament=tournament,
            from_ms=_day(common, since),
            to_ms=_day(common, until),
            **further,
        )
        left = limit
        async for record in found:
            _put(common, record)
            left -= 1
            if left == 0:
                break
        if left == limit:
            common.note("no_records")

    run(common, work)


def _put(common: Common, record: pb.RecordInfo) -> None:
    names = [name or account for name, account in zip(record.names, record.account_ids, strict=False)]
    if common.json:
        common.put_json(
            {
                "match": record.match_id,
                "game": record.game,
                "version": record.version,
                "variant": record.variant,
                "options": dict(sorted(record.options.items())),
                "ended_ms": record.ended_ms,
                "cause": record.cause,
                "players": names,
                "account_ids": list(record.account_ids),
                "scores": list(record.scores),
                "places": list(record.places),
                "rounds": record.rounds,
                "moves": record.moves,
                "rated": record.rated,
                "pool": record.pool,
                "tournament": record.tournament,
            }
        )
        return
    ended = datetime.fromtimestamp(record.ended_ms / 1000, UTC)
    seats = "  ".join(f"{name} {score:+d}" for name, score in zip(names, record.scores, strict=False))
    cause = "" if record.cause == "rules" else f"  ({common.word(f'cause.{record.cause}')})"
    count = common.say("record_counts", rounds=record.rounds, moves=record.moves)
    game = record.variant or record.game
    common.put(f"{record.match_id}  {ended:%Y-%m-%d %H:%M}  {game:<8} {count}  {seats}{cause}")


def _option(common: Common, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value) or " " in text:
        raise common.fail(USAGE, "bad_option", text=text)
    return name, value


def _scores(common: Common, text: str) -> tuple[int | None, int | None]:
    """`LEAST..MOST`, either of which may be left out."""
    if not text:
        return None, None
    found = _RANGE.fullmatch(text)
    if found is None or not any(found.groups()):
        raise common.fail(USAGE, "bad_pair", text=text)
    least, most = (int(part) if part else None for part in found.groups())
    if any(abs(score) > MOST for score in (least or 0, most or 0)):
        raise common.fail(USAGE, "bad_pair", text=text)
    return least, most


def _day(common: Common, text: str) -> int:
    """The first instant of a day, Unix ms; 0 for no day."""
    if not text:
        return 0
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError as error:
        raise common.fail(USAGE, "bad_day", text=text) from error
