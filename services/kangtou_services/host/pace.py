"""How much may be said at one table."""

from __future__ import annotations

from collections import deque

WINDOW_S, MINE_MOST, TABLE_MOST = 10.0, 5, 30  # messages of one account, and at a table, in so many seconds


class Pace:
    """How much is said at one table. Kept by its host only: a takeover forgives."""

    def __init__(self) -> None:
        self._said: deque[tuple[float, str]] = deque()

    def allows(self, account_id: str, now_s: float) -> bool:
        """Whether one more message of an account is allowed; counts it."""
        said = self._said
        while said and now_s - said[0][0] > WINDOW_S:
            said.popleft()
        if len(said) >= TABLE_MOST or sum(who == account_id for _, who in said) >= MINE_MOST:
            return False
        said.append((now_s, account_id))
        return True
