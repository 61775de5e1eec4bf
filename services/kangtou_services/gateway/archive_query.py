"""The archive's queries and rows, from and to the protocol."""

from __future__ import annotations

from collections.abc import Mapping

from kangtou.v1 import archive_pb2 as pb

from ..archive.rows import BOTS, RATED, UNRATED, Listed
from ..archive.search import Query
from .calls import CallError, Code

KINDS = {BOTS: pb.RECORD_KIND_BOTS, RATED: pb.RECORD_KIND_RATED, UNRATED: pb.RECORD_KIND_UNRATED}
_WORDS = {number: kind for kind, number in KINDS.items()}
_OTHERS_MOST, _OPTIONS_MOST = 7, 16


def query_from(request: pb.ListRecordsRequest) -> Query:
    """What is asked for. Raises CallError (INVALID_ARGUMENT)."""
    options = tuple(sorted(f"{name}={value}" for name, value in request.options.items()))
    if any(set(pair) & set(" \t\n") for pair in options) or len(options) > _OPTIONS_MOST:
        raise _bad("at most 16 options, without blanks", "最多 16 个选项，且不含空格")
    if len(request.other_account_ids) > _OTHERS_MOST or request.place < 0:
        raise _bad("at most 7 further accounts; a place counts from 1", "最多另选 7 个账号；名次从 1 起")
    of_account = request.place or request.HasField("score_least") or request.HasField("score_most")
    if of_account and not request.account_id:
        raise _bad("place and score need an account", "名次和得分须指定账号")
    return Query(
        game=request.game,
        account=request.account_id,
        tournament=request.tournament,
        from_ms=request.from_ms,
        to_ms=request.to_ms,
        others=tuple(dict.fromkeys(request.other_account_ids)),
        won_by=request.won_by,
        lost_by=request.lost_by,
        place=request.place,
        least=request.score_least if request.HasField("score_least") else None,
        most=request.score_most if request.HasField("score_most") else None,
        variant=request.variant,
        options=options,
        cause=request.cause,
        kind=_WORDS.get(request.kind, ""),
        pool=request.pool,
    )


def info_of(row: Listed, names: Mapping[str, str]) -> pb.RecordInfo:
    """What a list says of a record; names by account, as far as they are known."""
    return pb.RecordInfo(
        match_id=row.match,
        game=row.game,
        version=row.version,
        started_ms=row.started_ms,
        ended_ms=row.ended_ms,
        cause=row.cause,
        account_ids=row.accounts,
        names=[names.get(account, "") for account in row.accounts],
        scores=row.scores,
        places=row.places,
        rounds=row.rounds,
        moves=row.moves,
        rated=row.rated,
        pool=row.pool,
        tournament=row.tournament,
        variant=row.variant,
        options=dict(pair.split("=", 1) for pair in row.full.split()),
        kind=KINDS[row.kind],
    )


def _bad(english: str, chinese: str) -> CallError:
    return CallError(Code.INVALID_ARGUMENT, english, chinese)
