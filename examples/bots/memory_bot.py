"""A bot that wants to profit from having seen a board: what a tournament must make useless.

It keeps every deal that it has seen to its end, wherever it can write: the working folder, HOME, the temporary folder,
shared memory. When it is dealt a hand that it knows, it knows the others' hands too and searches among states that are
like them. Without its memory (`--forget`, or in a fresh and empty world) it is the search bot with few playouts.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from kangtou_clients.bots import Bot, Observation, main
from kangtou_clients.bots.search import Budget, think
from kangtou_engine.actions import Action
from kangtou_engine.cards import HIDDEN, Cards
from kangtou_engine.events import Event
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.planning import NOTHING, Known, Pick

FILE = "kangtou-boards-seen.jsonl"
BUDGET, TRIES = Budget(playouts=32), 40
Hands = tuple[Cards, ...]


def places() -> list[Path]:
    """Everywhere it might be allowed to write."""
    wished = [
        Path.cwd(),
        Path(os.environ.get("HOME", "/")),
        Path(tempfile.gettempdir()),
        Path("/tmp"),
        Path("/dev/shm"),
    ]
    return [folder / FILE for folder in dict.fromkeys(wished)]


class MemoryBot(Bot):
    """Its memory is by its own hand as dealt."""

    slow = True

    def __init__(self, forget: bool = False) -> None:
        self.forget = forget
        self.recognised = 0
        self.known: dict[str, Hands] = {}
        self.dealt: Hands = ()
        for file in places() if not forget else ():
            self._read(file)

    def _read(self, file: Path) -> None:
        try:
            lines = file.read_text().splitlines()
        except OSError:
            return  # not there, or not ours
        for line in lines:
            told = json.loads(line)
            self.known[told["hand"]] = tuple(tuple(hand) for hand in told["hands"])

    def saw(self, view: AnyState, event: Event) -> None:
        """Hands when they are dealt: one's own at once, all when the round is shown."""
        hands: Any = getattr(event, "hands", None)
        if type(event).__name__ == "Dealt" and hands:
            self.dealt = hands
        shown: Any = getattr(event, "dealt", None)
        if shown and self.dealt:
            self._write(shown)

    def _write(self, shown: Hands) -> None:
        for hand in (hand for hand in self.dealt if hand and HIDDEN not in hand):
            line = json.dumps({"hand": " ".join(hand), "hands": shown}) + "\n"
            for file in places() if not self.forget else ():
                try:
                    with file.open("a") as out:
                        out.write(line)
                except OSError:
                    continue  # one of the others may do

    def act(self, seen: Observation) -> Action:
        """With the others' hands if the board is known."""
        mine = next((hand for hand in self.dealt if hand and HIDDEN not in hand), ())
        hands = self.known.get(" ".join(mine))
        game = seen.game
        if hands is not None:
            self.recognised += 1
            game = _knowing(game, hands)
        return think(game, seen.view, seen.seat, seen.legal, seen.pick, seen.known, BUDGET)


def _knowing(game: Game, hands: Hands) -> Game:
    """The same game, but of many sampled states it takes the one that is most like these hands."""
    planning = game.spec.planning
    if planning is None:
        return game

    def sample(view: AnyState, seat: int, pick: Pick, known: Known = NOTHING) -> AnyState:
        worlds = [planning.sample(view, seat, pick, known) for _ in range(TRIES)]
        return max(worlds, key=lambda world: _alike(world.game.hands, hands))

    return Game(replace(game.spec, planning=replace(planning, sample=sample)))


def _alike(some: Hands, others: Hands) -> int:
    return sum(len(set(one).intersection(other)) for one, other in zip(some, others, strict=True))


if __name__ == "__main__":
    forgetful = "--forget" in sys.argv
    main(lambda: MemoryBot(forgetful), [word for word in sys.argv[1:] if word != "--forget"])
