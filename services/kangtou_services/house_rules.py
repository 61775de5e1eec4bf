"""House rules by name, and all the options that a table plays with, as the engine's registry has them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kangtou.v1 import game_pb2 as pb
from kangtou.wire import option_to_pb, refusal_to_pb
from kangtou_engine.errors import BadOptions
from kangtou_engine.match.match import Game
from kangtou_engine.options import OptionSpec

from .opening import Choice, Games, resolved
from .refusals import refusal

_REMEMBERED = 4_096

Key: TypeAlias = "tuple[str, int, int, str, tuple[str, ...]]"


@dataclass(frozen=True, slots=True)
class Played:
    """One option as a table plays with it."""

    spec: OptionSpec
    value: Any
    is_default: bool


def named(games: Games, choice: pb.GameChoice, rules: str) -> pb.GameChoice | pb.Refusal:
    """A choice with the options of named house rules ("": as it is). Refused: rules_and_options, bad_option."""
    if not rules:
        return choice
    if choice.options:
        return refusal("rules_and_options")
    game: Game | None = None
    try:
        game = games.game(choice.game, choice.version or None)
        chosen = game.spec.rule_set(rules)
    except BadOptions as error:
        return refusal_to_pb(game, error)
    options = {name: option_to_pb(value) for name, value in chosen.options.items()}
    return pb.GameChoice(game=choice.game, version=choice.version, seats=choice.seats, options=options)


class HouseRules:
    """What choices amount to; remembered, since lists of tables ask for the same again and again."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self._names: dict[tuple[str, int], dict[str, str]] = {}
        self._options: dict[Key, tuple[Played, ...]] = {}
        self._values: dict[Key, dict[str, Any]] = {}

    def name_of(self, choice: Choice) -> str:
        """The named house rules that a choice amounts to; "" if none do."""
        key = choice.game, choice.version
        if key not in self._names:
            game = self._games.game(*key)
            sets = reversed(game.spec.rule_sets)
            self._names[key] = {resolved(game.config(dict(one.options), None).options): one.name for one in sets}
        return self._names[key].get(self._resolved(choice), "")

    def options_of(self, choice: Choice) -> tuple[Played, ...]:
        """Every option that the game has at this table, with its value."""
        return self._options[self.known(choice)]

    def values_of(self, choice: Choice) -> Mapping[str, Any]:
        """The same, values by name."""
        return self._values[self.known(choice)]

    def lacking(self, game: str, rules: str, options: Collection[str]) -> tuple[str, str] | None:
        """What a filter asks for that there is not, in English and Chinese: a game, named rules, an option."""
        names = self._games.names()
        if game and game not in names:
            return f"there is no game {game[:40]!r}", f"没有游戏 {game[:40]!r}"
        specs = [self._games.game(name, None).spec for name in ([game] if game else names)]
        sets = sorted({one.name for spec in specs for one in spec.rule_sets})
        if rules and rules not in sets:
            listed = ", ".join(sets)
            english = f"there are no house rules {rules[:40]!r}; there are: {listed}"
            return english, f"没有房规套餐 {rules[:40]!r}；可选：{listed}"
        known = {row.name for spec in specs for row in spec.option_rows}
        for name in sorted(set(options) - known):
            return f"there is no option {name[:40]!r}", f"没有选项 {name[:40]!r}"
        return None

    def known(self, choice: Choice) -> Key:
        """A key that is equal for choices with the same options, which are looked up if they are new."""
        key = choice.game, choice.version, choice.seats, self._resolved(choice), tuple(sorted(choice.options))
        if key not in self._options:
            if len(self._options) >= _REMEMBERED:
                self._options.clear()
                self._values.clear()
            self._options[key] = found = self._looked_up(choice)
            self._values[key] = {one.spec.name: one.value for one in found}
        return key

    def _looked_up(self, choice: Choice) -> tuple[Played, ...]:
        game = self._games.game(choice.game, choice.version)
        values: Mapping[str, Any] = json.loads(self._resolved(choice))
        found: list[Played] = []
        for spec in game.spec.option_rows:
            value = values[spec.name]
            without = {name: given for name, given in choice.options.items() if name != spec.name}
            try:
                game.config({**without, spec.name: value}, choice.seats)
            except BadOptions:
                continue  # this table's variant does not have it
            found.append(Played(spec, value, _default(game, spec, without, choice.seats) == value))
        return tuple(found)

    def _resolved(self, choice: Choice) -> str:
        if choice.resolved:
            return choice.resolved
        game = self._games.game(choice.game, choice.version)
        return resolved(game.config(dict(choice.options), choice.seats).options)


def _default(game: Game, spec: OptionSpec, others: Mapping[str, Any], seats: int) -> Any:
    """What an option is if it is not given beside the others."""
    try:
        options = game.config(dict(others), seats).options
    except BadOptions:  # the others need it to be given
        return spec.default
    return json.loads(resolved(options))[spec.name]
