"""Hongshi once more, written from the book as plainly as possible and without looking at the engine.

One mutable object, texts and lists; slow. It is asked what is legal, told what is done, and says who is to act and
how the round ends. Only the tests use it.
"""

from __future__ import annotations

from itertools import combinations

ORDER = "3456789TJQKA2"
REDS = {"HT", "DT"}
TENS = {"ST", "HT", "CT", "DT"}
JOKERS = {"BJ", "RJ"}

# Points of an up seat by places of the up side (0: not out): nobody open, open side, four tens shown. HS-9.4
LONE = {1: (9, 18, 36), 0: (-18, -36, -36)}
PAIR: dict[tuple[int, ...], tuple[int, int, int]] = {
    (1, 2): (2, 4, 0),
    (1, 3): (1, 2, 0),
    (0, 2): (-2, -4, 0),
    (0, 3): (-4, -8, 0),
    (0, 0): (-4, -8, 0),
}


class Referee:
    """One round, from the deal to the points."""

    def __init__(self, hands: list[set[str]], options: dict[str, object]) -> None:
        self.hands = hands
        self.top = str(options.get("top", "jokers"))
        self.may_reveal = bool(options.get("reveal", True))
        self.lightning = bool(options.get("lightning", True))
        self.play_out = bool(options.get("play_out", True))
        self.lightning_factor = int(str(options.get("lightning_factor", 4)))
        self.opening = "H3" if options.get("keep345") else "H6"
        self.up = {seat for seat in range(4) if hands[seat] & REDS}  # HS-4.1
        self.shown: list[set[str]] = [set(), set(), set(), set()]
        self.waiting = {0, 1, 2, 3} if self.may_reveal or self.lightning else set()
        self.out: list[int] = []
        self.beat: tuple[int, set[str], bool] | None = None  # who, cards, as=ten
        self.passed: set[int] = set()
        self.turn = -1
        self.must_open = True
        self.points: list[int] | None = None
        if not self.waiting:
            self.start()

    # ---- asking ----

    def to_act(self) -> list[int]:
        """Who may act; [] when the round has ended."""
        if self.points is not None:
            return []
        return sorted(self.waiting) if self.waiting else [self.turn]

    def legal(self, seat: int) -> set[str]:
        """Everything that this seat may do. HS-14."""
        if seat not in self.to_act():
            return set()
        return self.legal_reveals(seat) if self.waiting else self.legal_plays(seat)

    def legal_reveals(self, seat: int) -> set[str]:
        """HS-4.3, HS-10.1."""
        said = {"pass"}
        if self.may_reveal:
            own = sorted(self.hands[seat] & REDS - self.shown[seat], key=["HT", "DT"].index)
            said |= {f"reveal {card}" for card in own}
            if len(own) == 2:
                said.add("reveal HT DT")
        if self.lightning and self.hands[seat] >= TENS:
            said |= {"show", "lightning"}
        return said

    def legal_plays(self, seat: int) -> set[str]:
        """HS-14.2: every subset of the hand."""
        hand = sorted(self.hands[seat], key=lambda card: ("SHCDBR".index(card[0]), ORDER.find(card[1])))
        said = set() if self.beat is None else {"pass"}
        for size in range(1, 5):
            for part in combinations(hand, size):
                cards = set(part)
                for low in (False, True):
                    if not self.is_combination(cards, low):
                        continue
                    if self.must_open and self.opening not in cards:
                        continue
                    if self.beat is None or self.beats((cards, low), self.beat[1:]):
                        said.add("play " + " ".join(part) + (" as=ten" if low else ""))
        return said

    def is_combination(self, cards: set[str], low: bool) -> bool:
        """HS-5.1, HS-5.5."""
        if low:
            return cards in ({"HT"}, {"DT"}, REDS, TENS)
        if cards & JOKERS:
            return len(cards) == 1 or cards == JOKERS
        return len({card[1] for card in cards}) == 1

    def beats(self, new: tuple[set[str], bool], old: tuple[set[str], bool]) -> bool:
        """HS-5.7."""
        special = [self.special(*new), self.special(*old)]
        if any(special):
            return special[0] > special[1]
        return len(new[0]) == len(old[0]) and self.rank(*new) > self.rank(*old)

    def special(self, cards: set[str], low: bool) -> int:
        """HS-5.4, HS-15.3."""
        if low:
            return 0
        if cards == JOKERS:
            return 2 if self.top == "jokers" else 1
        if cards in (REDS, TENS):
            return 1 if self.top == "jokers" else 2
        return 0

    def rank(self, cards: set[str], low: bool) -> int:
        """HS-5.2, HS-5.3."""
        if len(cards) == 1 and not low:
            (card,) = cards
            high = ["red", "BJ", "RJ"] if self.top == "jokers" else ["BJ", "RJ", "red"]
            if card in REDS or card in JOKERS:
                return 50 + high.index("red" if card in REDS else card)
        return ORDER.index(next(iter(cards))[1])

    # ---- being told ----

    def act(self, seat: int, text: str) -> None:
        """One legal action."""
        verb, *rest = text.split()
        low = "as=ten" in rest
        cards = {word for word in rest if "=" not in word}
        if self.waiting:
            self.answer(seat, verb, cards)
        elif verb == "pass":
            self.passed.add(seat)
            self.go_on(seat)
        else:
            self.hands[seat] -= cards
            self.beat, self.passed, self.must_open = (seat, cards, low), set(), False
            if not self.hands[seat]:
                self.out.append(seat)
            if self.ended():
                self.score()
            else:
                self.go_on(seat)

    def answer(self, seat: int, verb: str, cards: set[str]) -> None:
        """HS-4.4, HS-4.5, HS-10.2, HS-10.4."""
        if verb == "pass":
            self.waiting.remove(seat)
        elif verb == "lightning":
            self.waiting, f = set(), 3 * self.lightning_factor
            self.points = [3 * f if other == seat else -f for other in range(4)]
            return
        else:
            self.shown[seat] |= TENS if verb == "show" else cards
            self.waiting = {0, 1, 2, 3}
        if not self.waiting or self.open():
            self.waiting = set()
            self.start()

    def open(self) -> bool:
        """HS-4.6."""
        return set().union(*self.shown) >= REDS

    def start(self) -> None:
        """HS-6.1."""
        self.turn = next(seat for seat in range(4) if self.opening in self.hands[seat])

    def go_on(self, seat: int) -> None:
        """HS-6.5, HS-6.6, HS-7.2, HS-7.3."""
        assert self.beat is not None
        winner = self.beat[0]
        others = {other for other in range(4) if other not in self.out and other != winner}
        if self.passed < others:
            self.turn = self.next_of(seat)
            return
        self.beat, self.passed = None, set()
        if winner not in self.out:
            self.turn = winner
            return
        partners = [other for other in self.up if other not in self.out] if self.open() and winner in self.up else []
        self.turn = partners[0] if partners else self.next_of(winner)

    def next_of(self, seat: int) -> int:
        """The next seat that is not out."""
        return next(other % 4 for other in range(seat + 1, seat + 5) if other % 4 not in self.out)

    def ended(self) -> bool:
        """HS-7.4, HS-15.7."""
        if len(self.out) == 3:
            return True
        if self.play_out:
            return False
        if len(self.up) == 1:
            return self.up <= set(self.out)
        return len(self.out) == 2 and (set(self.out) == self.up or not self.up & set(self.out))

    def score(self) -> None:
        """HS-9.4, the full table."""
        places = tuple(
            sorted(1 + self.out.index(seat) if seat in self.out else 0 for seat in self.up)
        )  # 0: not out, so behind all who are
        worth = LONE.get(places[0], (0, 0, 0)) if len(self.up) == 1 else PAIR.get(places, (0, 0, 0))
        mine = worth[2 if TENS in self.shown else 1 if self.open() else 0]
        other = -mine if len(self.up) == 2 else -mine // 3
        self.points = [mine if seat in self.up else other for seat in range(4)]
