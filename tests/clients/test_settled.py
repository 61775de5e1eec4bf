"""When another match at a table has begun, for a client that agreed to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import pytest

from kangtou.v1 import lobby_pb2 as pb
from kangtou_clients.api import Refused, Rematch, TableChange, connect
from kangtou_clients.api.tables import Tables

OVER, OPEN, PLAYING = pb.TABLE_STATE_OVER, pb.TABLE_STATE_OPEN, pb.TABLE_STATE_PLAYING
BOTH, ALONE = ("a", "b"), ("a", "")
COURSES = {
    "it plays": [(OVER, BOTH, 9, 0), (OPEN, BOTH, 0, 0), (PLAYING, BOTH, 0, 0)],
    "seen while it is made": [(OPEN, BOTH, 0, 0), (PLAYING, BOTH, 0, 0)],
    "somebody has left": [(OVER, BOTH, 9, 0), (OPEN, ALONE, 0, 0)],
    "somebody else came": [(OVER, BOTH, 9, 0), (OPEN, BOTH, 0, 9)],
    "nobody else wants to": [(OVER, BOTH, 9, 0), (OVER, BOTH, 0, 0)],
}


class Told(Tables):
    """The list of tables is what the test says."""

    course: Sequence[pb.Table] = ()

    async def watch(self, *_: object, **__: object) -> AsyncGenerator[TableChange | Refused, None]:
        for table in self.course:
            yield TableChange("changed", (table,), table.match_id)


@pytest.mark.parametrize("course", COURSES)
async def test_settled(course: str) -> None:
    """The last step of each course is the first in which the matter is settled."""
    async with connect("127.0.0.1:1") as client:
        tables = Told(client)
        tables.course = [
            pb.Table(
                match_id="t",
                state=state,
                seats=[pb.SeatInfo(account_id=one) for one in seats],
                rematch_until_ms=agree,
                ready_until_ms=ready,
            )
            for state, seats, agree, ready in COURSES[course]
        ]
        found = await tables.settled(Rematch(tables.course[0], "m2", 0, b""))
        assert found == tables.course[-1]
