"""`kangtou leaderboard`, `profile`, `history`, `block`, `unblock`, `blocks`: other people, and how good they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import typer

from kangtou.v1 import archive_pb2, rating_pb2
from kangtou_engine.registry import REGISTRY

from ..api.accounts import NAMES
from ..api.archive import Archive
from ..api.people import People
from .common import Common, of
from .exits import USAGE
from .remote import Remote, run

Who: TypeAlias = Annotated[str, typer.Argument(metavar="ACCOUNT", help="an account id, as `whoami` shows it")]
RECENT = 5


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("leaderboard")(leaderboard)
    app.command("profile")(profile)
    app.command("history")(history)
    app.command("block")(block)
    app.command("unblock")(unblock)
    app.command("blocks")(blocks)


def leaderboard(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME", help="`kangtou games` lists them")],
    variant: Annotated[str, typer.Option("--variant", metavar="NAME", help="of games that have variants")] = "",
    bots: Annotated[bool, typer.Option("--bots", help="the ladder of bots, not of people")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="at most so many; 0: all")] = 20,
) -> None:
    """Show the best of one game, by the floor of their rating: three deviations below it.

    A rating with ? is provisional. Who has too few results is not listed; equal floors share a rank.

    \b
    Examples:
      kangtou leaderboard hongshi
      kangtou leaderboard wushik --variant liaoning --bots --limit 50
      kangtou leaderboard duizhu --json
    """
    common = of(context)
    found = _variant(common, game, variant)

    async def work(remote: Remote) -> None:
        left = limit
        async for row in People(remote.client).leaderboard(game, found, "bot" if bots else "human"):
            _put_row(common, row)
            left -= 1
            if left == 0:
                break
        if left == limit:
            common.note("no_rows")

    run(common, work)


def _variant(common: Common, game: str, given: str) -> str:
    """The variant of a ladder: checked where the game is known here, its default if none is given."""
    if game not in REGISTRY.names():
        return given
    row = next((row for row in REGISTRY.game(game).spec.option_rows if row.name == "variant"), None)
    allowed = tuple(map(str, row.words)) if row is not None else ()
    if given and given not in allowed:
        raise common.fail(USAGE, "no_variant", game=game, variant=given, variants=", ".join(allowed) or "-")
    return given or (str(row.default) if row is not None else "")


def profile(
    context: typer.Context,
    account: Annotated[str, typer.Argument(metavar="[ACCOUNT]", help="an account id; default: your own")] = "",
) -> None:
    """Show who somebody is: name, kind, since when, ratings, the last results.

    \b
    Examples:
      kangtou profile
      kangtou profile k3m9x2p7q4w8t6ab --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = remote.given(await People(remote.client).profile(account))
        recent: list[archive_pb2.RecordInfo] = []
        async for record in Archive(remote.client).records(account_id=found.account.account_id):
            recent.append(record)
            if len(recent) == RECENT:
                break
        who, kind = found.account, NAMES.get(found.account.kind, "")
        if common.json:
            given = {"account_id": who.account_id, "name": who.name, "kind": kind, "joined_ms": found.joined_ms}
            common.put_json(
                {
                    **given,
                    "ratings": list(map(_rating_json, found.ratings)),
                    "recent": [_record_json(record, who.account_id) for record in recent],
                }
            )
            return
        joined = common.say("joined", day=_day(found.joined_ms)) if found.joined_ms else ""
        common.put(f"{who.name}  {who.account_id}  ({common.word(kind)})  {joined}".rstrip())
        for rating in found.ratings:
            games = common.say("results", games=rating.games)
            common.put(f"  {_ladder(rating.ladder):<24} {_shown(rating)}  {games}")
        for record in recent:
            _put_record(common, record, who.account_id)

    run(common, work)


def history(
    context: typer.Context,
    account: Annotated[str, typer.Argument(metavar="[ACCOUNT]", help="an account id; default: your own")] = "",
    game: Annotated[str, typer.Option("--game", metavar="GAME", help="of this game only")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="at most so many; 0: all")] = 20,
) -> None:
    """List somebody's finished matches, the last one first: place, score, against whom.

    \b
    Examples:
      kangtou history
      kangtou history k3m9x2p7q4w8t6ab --game hongshi --limit 0 --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        who = account or (remote.profile.account_id if remote.profile else "")
        left = limit
        async for record in Archive(remote.client).records(account_id=who, game=game):
            if common.json:
                common.put_json(_record_json(record, who))
            else:
                _put_record(common, record, who)
            left -= 1
            if left == 0:
                break
        if left == limit:
            common.note("no_records")

    run(common, work)


def block(context: typer.Context, account: Who) -> None:
    """Never be paired with somebody in a queue again, nor have them at a table of yours. They are not told.

    \b
    Examples:
      kangtou block k3m9x2p7q4w8t6ab
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        remote.given(await People(remote.client).block(account))
        _done(common, "blocked", account)

    run(common, work)


def unblock(context: typer.Context, account: Who) -> None:
    """Take a block back.

    \b
    Examples:
      kangtou unblock k3m9x2p7q4w8t6ab
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        await People(remote.client).unblock(account)
        _done(common, "unblocked", account)

    run(common, work)


def blocks(context: typer.Context) -> None:
    """List whom you have blocked.

    \b
    Examples:
      kangtou blocks
      kangtou blocks --json
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        found = await People(remote.client).blocks()
        for one in found:
            if common.json:
                common.put_json({"account_id": one.account_id, "name": one.name, "kind": one.kind})
            else:
                common.put(f"{one.account_id}  {one.name}".rstrip())
        if not found:
            common.note("no_blocks")

    run(common, work)


def _done(common: Common, code: str, account: str) -> None:
    if common.json:
        common.put_json({code: account})
    else:
        common.put(common.say(code, account=account))


def _ladder(ladder: rating_pb2.Ladder) -> str:
    """`wushik/liaoning`, `hongshi (bot)`."""
    kind = " (bot)" if NAMES.get(ladder.kind) == "bot" else ""
    return f"{ladder.game}{'/' if ladder.variant else ''}{ladder.variant}{kind}"


def _shown(rating: rating_pb2.Rating) -> str:
    """`1624 ±90`, `1530? ±280`."""
    return f"{rating.rating}{'?' if rating.provisional else ''} ±{rating.deviation}"


def _rating_json(rating: rating_pb2.Rating) -> dict[str, Any]:
    return {
        "game": rating.ladder.game,
        "variant": rating.ladder.variant,
        "kind": NAMES.get(rating.ladder.kind, ""),
        "rating": rating.rating,
        "deviation": rating.deviation,
        "floor": rating.floor,
        "games": rating.games,
        "provisional": rating.provisional,
        "mu": rating.mu,
        "sigma": rating.sigma,
    }


def _put_row(common: Common, row: rating_pb2.LeaderboardRow) -> None:
    if common.json:
        common.put_json({"rank": row.rank, "account_id": row.account_id, "name": row.name, **_rating_json(row.rating)})
        return
    games = common.say("results", games=row.rating.games)
    floor = common.say("floor", floor=row.rating.floor)
    common.put(f"{row.rank:>4}  {floor}  {_shown(row.rating):<12}  {games}  {row.name or row.account_id}")


def _day(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d}"


def _mine(values: Sequence[int], record: archive_pb2.RecordInfo, who: str) -> list[int]:
    """By the account's seats: a bot may have several."""
    return [values[seat] for seat, one in enumerate(record.account_ids) if one == who and seat < len(values)]


def _record_json(record: archive_pb2.RecordInfo, who: str) -> dict[str, Any]:
    return {
        "match": record.match_id,
        "game": record.game,
        "ended_ms": record.ended_ms,
        "cause": record.cause,
        "rated": record.rated,
        "seats": [seat for seat, one in enumerate(record.account_ids) if one == who],
        "scores": _mine(record.scores, record, who),
        "places": _mine(record.places, record, who),
        "accounts": list(record.account_ids),
        "names": list(record.names),
    }


def _put_record(common: Common, record: archive_pb2.RecordInfo, who: str) -> None:
    places = ",".join(map(str, _mine(record.places, record, who)))
    scores = ",".join(map(str, _mine(record.scores, record, who)))
    how = common.say("placed", place=places) if places else common.word(f"cause.{record.cause}")
    seats = zip(record.account_ids, record.names, strict=False)
    others = ", ".join(name or account for account, name in seats if account != who)
    rated = common.say("rated") if record.rated else ""
    common.put(
        f"{_day(record.ended_ms)}  {record.match_id}  {record.game}  {how}  {scores}  {others}  {rated}".rstrip()
    )
