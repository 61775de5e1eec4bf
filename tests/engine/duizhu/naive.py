"""A second, slow Duizhu for comparison: trick winners, throws, what may follow, outcomes and levels.

Written from the book with lists of card names and the book's own tables; shares no code with the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

SIDE_ORDER = "3 4 5 6 7 8 9 T J Q K A".split()
SUITS = "S H C D".split()


def flat(ladder: list[list[str]]) -> list[str]:
    """All cards of a ladder."""
    return [card for rung in ladder for card in rung]


@dataclass(frozen=True)
class Naive:
    """One round's cards: trump suit, rank of the level cards, option suited_high."""

    trump: str
    level: str
    suited: bool

    def trump_ladder(self) -> list[list[str]]:
        """All trumps, low to high; cards on one rung are equal. DZ-4.5, DZ-4.6."""
        rungs = [[self.trump + rank] for rank in SIDE_ORDER if rank != self.level]
        for rank in ("2", self.level):
            if self.suited:
                rungs.append([suit + rank for suit in SUITS if suit != self.trump])
                rungs.append([self.trump + rank])
            else:
                rungs.append([suit + rank for suit in SUITS])
        return [*rungs, ["BJ"], ["RJ"]]

    def side_ladder(self, suit: str) -> list[list[str]]:
        """The side cards of a suit, low to high. DZ-4.4."""
        return [[suit + rank] for rank in SIDE_ORDER if rank != self.level]

    def suits(self) -> list[list[list[str]]]:
        """The ladders of the four suits there are for play. DZ-4.2."""
        return [self.trump_ladder(), *(self.side_ladder(suit) for suit in SUITS if suit != self.trump)]

    def ladder_of(self, card: str) -> list[list[str]]:
        """The suit that a card belongs to."""
        (found,) = [ladder for ladder in self.suits() if any(card in rung for rung in ladder)]
        return found

    def larger(self, one: str, other: str) -> bool:
        """Whether one card is larger than another of its suit. DZ-4.5."""
        ladder = self.ladder_of(other)
        rungs = [[place for place, rung in enumerate(ladder) if card in rung] for card in (one, other)]
        return bool(rungs[0]) and rungs[0] > rungs[1]

    def is_trump(self, card: str) -> bool:
        """DZ-4.2."""
        return card in ("BJ", "RJ") or card[0] == self.trump or card[1] in ("2", self.level)

    def largest(self, cards: list[str]) -> str:
        """A card that no other of the same suit beats."""
        return next(card for card in cards if not any(self.larger(other, card) for other in cards))

    def throw(self, thrown: list[str], others: list[list[str]]) -> list[str]:
        """What a throw leads: all of it, or its smallest card. DZ-7.3."""
        if not any(self.larger(card, mine) for hand in others for card in hand for mine in thrown):
            return thrown
        smallest = [mine for mine in thrown if not any(self.larger(mine, other) for other in thrown)]
        return [min(smallest, key=lambda card: "SHCD".find(card[0]))]

    def four(self, cards: list[str]) -> str | None:
        """The rank if these are four of a kind. DZ-7.1."""
        ranks = {card[1] for card in cards if card not in ("BJ", "RJ")}
        return (
            ranks.pop() if len(cards) == 4 and len(ranks) == 1 and {card[0] for card in cards} == set(SUITS) else None
        )

    def winner(self, plays: list[tuple[int, list[str]]], first_trick: bool) -> int:
        """The seat that wins a trick. DZ-7.4–7.9."""
        lead = plays[0][1]
        if self.four(lead) and not first_trick:
            order = [rank for rank in SIDE_ORDER if rank != self.level] + ["2", self.level]
            fours = [(order.index(rank), seat) for seat, cards in plays if (rank := self.four(cards))]
            return max(fours)[1]
        ruffs = [(seat, cards) for seat, cards in plays if all(map(self.is_trump, cards))]
        if len(lead) == 1:
            in_suit = [(seat, cards) for seat, cards in plays if cards[0] in flat(self.ladder_of(lead[0]))]
            rivals = ruffs or in_suit
        else:
            rivals = [plays[0]] if self.is_trump(lead[0]) or not ruffs else ruffs
        best_seat, best_card = rivals[0][0], self.largest(rivals[0][1])
        for seat, cards in rivals[1:]:
            if self.larger(self.largest(cards), best_card):
                best_seat, best_card = seat, self.largest(cards)
        return best_seat

    def followings(self, hand: list[str], lead: list[str], first_trick: bool) -> set[frozenset[str]]:
        """Every play that may follow: all sets are tried. DZ-7.2, DZ-7.7."""
        called = flat(self.trump_ladder() if self.four(lead) and not first_trick else self.ladder_of(lead[0]))
        most = min(len(lead), sum(card in called for card in hand))
        found = set()
        for cards in combinations(hand, len(lead)):
            enough = sum(card in called for card in cards) == most
            if enough or (self.four(lead) and not first_trick and self.four(list(cards))):
                found.add(frozenset(cards))
        return found

    def leads(self, hand: list[str], first_trick: bool) -> set[frozenset[str]]:
        """Every lead: all sets are tried. DZ-7.1."""
        found = set()
        for size in range(1, len(hand) + 1):
            for cards in combinations(hand, size):
                one_suit = all(card in flat(self.ladder_of(cards[0])) for card in cards)
                if one_suit or (self.four(list(cards)) and not first_trick):
                    found.add(frozenset(cards))
        return found


# ---- outcome and levels ----

LEVELS = [str(number) for number in range(-60, 3)] + SIDE_ORDER

# P up to …, then the outcome by who wins the last trick: up side, defenders without, defenders with trumps. DZ-8.3
OUTCOMES = [
    (0, ("guang", "held", "kou")),
    (39, ("made", "held", "kou")),
    (79, ("po", "po", "kou")),
    (200, ("dapo", "dapo", "kou")),
]


def outcome(points: int, column: int, level: str, winning: list[str], weak_last: str) -> str:
    """DZ-8.3 with DZ-9.10–9.12 and DZ-13.11. column: 0 up side, 1 defenders, 2 defenders with trumps only."""
    if column == 2 and len(winning) == 1 and winning[0] not in ("BJ", "RJ"):
        if level == "J" and winning[0][1] == "J":
            return "zhi"
        if level == "A" and winning[0][1] == "A":
            return {"SA": "heihu"}.get(winning[0], "xue")
    found = next(row for most, row in OUTCOMES if points <= most)[column]
    if column == 1 and weak_last == "kou":
        return "kou"
    return "po" if found == "held" and weak_last == "fail" else found


def climb(level: str, steps: int, free: bool, end: str) -> str:
    """One step after the other; `free`: the first may leave a stop. DZ-9.3, DZ-9.4."""
    for number in range(steps):
        stopped = level in ("3", "J", "A", end) and not (free and number == 0)
        if stopped or level == end or level == "A":
            return level
        level = LEVELS[LEVELS.index(level) + 1]
    return level


def levels_after(
    up: str, down: str, what: str, points: int, jokers: list[str], end: str, stack: bool
) -> tuple[str, str]:
    """The up side's and the defenders' level after a round. DZ-9.2."""
    s = 3 * ("RJ" in jokers) + 2 * ("BJ" in jokers)
    sink = {"zhi": "3", "xue": "J", "heihu": "3"}.get(what, up)
    table = {
        "made": (climb(up, s or 1, True, end), down),
        "guang": (climb(up, s + 2, True, end), down),
    }
    fallen = LEVELS[LEVELS.index(sink) - s]
    raised = climb(down, 2 if stack and what == "kou" and points >= 80 else 1, False, end)
    return table.get(what, (fallen, raised if what in ("kou", "dapo") else down))
