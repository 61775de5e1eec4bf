"""What several readers read at their own pace, each from when it began."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 4_096  # items that wait for a slow reader


class Feed(Generic[T]):
    """Items for its readers. One that has fallen far behind loses what waits, and gets the newest as `gap` makes it."""

    def __init__(self, gap: Callable[[T], T] = lambda item: item) -> None:
        self._gap = gap
        self._readers: list[deque[T]] = []

    def put(self, item: T) -> None:
        """For every reader there is."""
        for reader in self._readers:
            late = len(reader) >= MOST
            if late:
                reader.clear()
            reader.append(self._gap(item) if late else item)

    async def read(self, news: Callable[[], Awaitable[object]], over: Callable[[], bool]) -> AsyncGenerator[T, None]:
        """All from now on, until it is over. `news` waits for a reason to look again."""
        mine: deque[T] = deque()
        self._readers.append(mine)
        try:
            while True:
                while mine:
                    yield mine.popleft()
                if over():
                    return
                await news()
        finally:
            self._readers.remove(mine)
