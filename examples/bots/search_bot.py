"""The search bot with 50 ms a move, as a program of its own."""

from __future__ import annotations

from kangtou_clients.bots import main
from kangtou_clients.bots.search import Budget, Search

if __name__ == "__main__":
    main(lambda: Search(Budget(ms=50)))
