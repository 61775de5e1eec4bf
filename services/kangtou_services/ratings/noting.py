"""Results of matches that have been archived, into the log of results."""

from __future__ import annotations

import structlog

from kangtou_engine.errors import BadOptions
from kangtou_engine.record import Head

from ..opening import Games
from .base import RatingStore
from .values import result_of

_log = structlog.get_logger(__name__)


class Noting:
    """What the archiver calls between writing a record and letting the live log go. A repeat changes nothing."""

    def __init__(self, store: RatingStore, games: Games) -> None:
        self._store = store
        self._games = games

    async def __call__(self, head: Head) -> None:
        """Note the result if the match counts. Raises StoreUnavailable: then it must be called again."""
        try:
            result = result_of(head, self._games)
        except BadOptions as error:
            _log.error("result_not_rated", match=head.terms.match, game=head.terms.game, text=str(error))
            return
        if result is not None:
            position = await self._store.append(result)
            _log.info("result_noted", match=result.match_id, ladder=result.ladder.id, position=position)
