"""Tables over many records: rows by game, variant, seat, player, and by what a hand held when it was dealt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kangtou_engine.study import SCORED, Act, Facts, Round

from .tally import Tally

KEYS = ("player", "kind", "game", "variant", "seat", "pool", "tournament", "hand")
DEFAULT = (("game", "variant"), ("game", "variant", "seat"), ("player", "game"), ("game", "variant", "hand"))
HAND = "hand"
By = tuple[str, ...]
Group = tuple[str, ...]


class BadKeys(ValueError):
    """Something that cannot be counted by."""


def keys_of(text: str) -> By:
    """`player,game` as keys. Raises BadKeys."""
    keys = tuple(part.strip() for part in text.split(","))
    for key in keys:
        if key not in KEYS or keys.count(key) > 1:
            raise BadKeys(key)
    return keys


@dataclass(slots=True)
class Stats:
    """Counts records as they come. Memory grows with rows (players, above all), not with records."""

    by: Sequence[By] = DEFAULT
    player: str = ""  # count this account's seats alone
    records: int = 0
    tables: dict[By, dict[Group, Tally]] = field(default_factory=dict)

    def add(self, facts: Facts) -> None:
        """One record."""
        self.records += 1
        terms = facts.head.terms
        by_seat: list[list[Act]] = [[] for _ in terms.seats]
        for act in facts.acts:
            by_seat[act.seat].append(act)
        for seat, place in enumerate(terms.seats):
            if self.player and place.account != self.player:
                continue
            known = {
                "player": place.account,
                "kind": place.kind,
                "game": terms.game,
                "variant": facts.variant,
                "seat": str(seat),
                "pool": terms.pool,
                "tournament": terms.tags.get("tournament", ""),
            }
            for keys in self.by:
                if HAND in keys:
                    self._hands(keys, known, facts.rounds, seat)
                else:
                    self._seat(self._row(keys, known), facts, seat, by_seat[seat])

    def _row(self, keys: By, known: dict[str, str]) -> Tally:
        table = self.tables.setdefault(keys, {})
        group = tuple(known[key] for key in keys)
        found = table.get(group)
        if found is None:
            found = table[group] = Tally()
        return found

    def _seat(self, row: Tally, facts: Facts, seat: int, acts: list[Act]) -> None:
        outcome = facts.head.outcome
        row.match(self.records, outcome.rounds)
        winners = facts.winners
        if winners is not None and outcome.places is not None:  # scores of matches broken off say little
            row.score(outcome.scores[seat])
            row.result(seat in winners, outcome.places[seat])
        for act in acts:
            if act.timed_out:
                row.timeouts += 1
                continue
            row.moves += 1
            if act.think_ms is not None:
                row.think.add(act.think_ms)

    def _hands(self, keys: By, known: dict[str, str], rounds: Sequence[Round], seat: int) -> None:
        for part in rounds:
            if part.end != SCORED or not part.features:
                continue
            for name, value in part.features[seat].items():
                row = self._row(keys, {**known, HAND: f"{name}={value}"})
                row.match(self.records)
                row.rounds += 1
                row.score(part.points[seat])
                row.result(seat in part.winners)

    def rows(self, keys: By) -> Iterator[dict[str, object]]:
        """A table's rows: what one row is of, then what was counted. Hands and games in order, players by matches."""
        table = self.tables.get(keys, {})
        order = sorted(table, key=lambda group: (-table[group].matches if "player" in keys else 0, _order(group)))
        for group in order:
            yield {**dict(zip(keys, group, strict=True)), **table[group].row()}


def _order(group: Group) -> tuple[tuple[str, int], ...]:
    """`points=5` before `points=10`, seat 2 before seat 10."""
    parts = []
    for text in group:
        name, _, number = text.rpartition("=")
        parts.append((name, int(number)) if number.lstrip("-").isdigit() else (text, 0))
    return tuple(parts)
