"""The games that there are. A fifth game is one more line here (and its folder, book and cases)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .errors import BadOptions
from .game import GameSpec
from .games import duizhu, erbaiwu, hongshi, wushik
from .match.match import Game

SPECS: tuple[GameSpec[Any], ...] = (duizhu.GAME, erbaiwu.GAME, hongshi.GAME, wushik.GAME)


class Registry:
    """Games by `name` (the newest version) or `name@version`."""

    def __init__(self, specs: Iterable[GameSpec[Any]]) -> None:
        self._games: dict[str, Game] = {}
        for spec in sorted(specs, key=lambda spec: spec.version):
            game = Game(spec)
            self._games[spec.id] = game
            self._games[spec.name] = game

    def names(self) -> tuple[str, ...]:
        """The game families, sorted."""
        return tuple(sorted(name for name in self._games if "@" not in name))

    def game(self, name: str, version: int | None = None) -> Game:
        """The game of that name; the newest version unless one is given. Raises BadOptions."""
        found = self._games.get(name if version is None else f"{name}@{version}")
        if found is None:
            allowed = ", ".join(self.names() if version is None else sorted(self._games))
            given = name if version is None else f"{name}@{version}"
            raise BadOptions("CM-11.1", "bad_option", "game", given[:40], allowed)
        return found


REGISTRY = Registry(SPECS)
