"""Where tournaments are kept: an event log for each, its seed, its held matches, and which one a runner may write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol


class Overtaken(Exception):
    """Another runner writes this log now, or the log is not as long as was thought. Stop and read it again."""


class TournamentStore(Protocol):
    """All methods raise StoreUnavailable. A method that returns has been made durable.

    fence   the number of the lease under which a runner writes; a log takes no event under a smaller one than it has
            seen
    """

    async def create(self, tournament: str, seed: bytes, first: str) -> bool:
        """A new tournament: its seed and its first event. False, and nothing changes, if it is there already."""
        ...

    async def append(
        self,
        tournament: str,
        fence: int,
        length: int,
        texts: Sequence[str],
        hold: Iterable[str] = (),
        release: Iterable[str] = (),
    ) -> None:
        """Append events if the log has `length` of them. `hold`: matches whose records are withheld from now on,
        `release`: that are no longer. A repeat of the same append is taken as done. Raises Overtaken."""
        ...

    async def read(self, tournament: str, after: int = 0) -> list[str]:
        """Events from number `after` (the first is 0). Empty if there is no such tournament."""
        ...

    async def seed(self, tournament: str) -> bytes | None:
        """For the runner alone."""
        ...

    async def tournaments(self) -> list[str]:
        """All ids, the newest first."""
        ...

    async def active(self) -> list[str]:
        """Those that are not closed."""
        ...

    async def retire(self, tournament: str) -> None:
        """It is closed: active no longer."""
        ...

    async def wish(self, tournament: str, wish: str) -> None:
        """What the runner shall do: "" (play), `pause` or `cancel`."""
        ...

    async def wished(self, tournament: str) -> str:
        """The last wish."""
        ...

    async def withheld(self, match: str) -> bool:
        """Whether a match's record may not be shown yet."""
        ...

    async def lease(self, owner: str, ms: int) -> int:
        """Become the runner, or stay it, for so long: the fencing number; 0 if another one is."""
        ...

    async def leave(self, owner: str) -> None:
        """Be the runner no longer, if one is."""
        ...
