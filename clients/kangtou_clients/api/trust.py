"""Checks that the server dealt what it had committed to. Design §3, "A shuffle that anyone can check".

Before the first deal the server publishes a hash of its seed; at the end it reveals seed and entropies. All chance of
the match follows from them, so whoever was there recomputes the lot and each deal that it saw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kangtou_engine.boards import match_chance, match_commitment
from kangtou_engine.cards import Cards, Seat
from kangtou_engine.company import open_event
from kangtou_engine.events import Event, to_text
from kangtou_engine.match.events import LotDrawn, PileCut, RoundBegan
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import CUT, Config
from kangtou_engine.shuffle import entropy_commitment

from .values import Ending, TrustWarning

DEAL_MOST = 16  # events after a round's begin that may belong to its deal

_TEXTS = {
    "commitment_changed": ("the server changed its commitment during the match", "服务器在对局中更换了承诺"),
    "seed_not_committed": ("the revealed seed is not the one committed to", "公开的种子与承诺不符"),
    "own_commitment": ("the commitment to this seat's entropy is not the one sent", "本座位的随机承诺与所发送的不符"),
    "own_entropy": ("this seat's entropy did not enter the shuffle", "本座位的随机数未参与洗牌"),
    "entropy_not_committed": ("seat {seat}'s entropy is not the one committed to", "{seat} 号位的随机数与承诺不符"),
    "lot": ("the lot does not follow from the revealed seed", "抽签结果与公开的种子不符"),
    "deal": ("deal {deal} does not follow from the revealed seed", "第 {deal} 次发牌与公开的种子不符"),
    "unverifiable": ("seed or entropies cannot be used", "种子或随机数无法使用"),
}


@dataclass(slots=True)
class Deal:
    """A round's begin as it was seen, the events right after it, and those that took cards from the pile later.

    gap   something was missed: what comes after cannot be compared
    """

    began: RoundBegan
    after: list[Event] = field(default_factory=list)
    drawn: list[Event] = field(default_factory=list)
    gap: bool = False


class Witness:
    """Remembers of one match what can be checked when it ends. `seat` is None for a spectator."""

    def __init__(self, match_id: str, game: Game, config: Config, entropy: bytes) -> None:
        self.match_id = match_id
        self.seat: Seat | None = None
        self.open_hands = False  # a spectator who may see all hands
        self._game = game
        self._config = config
        self._entropy = entropy
        self._seed = ""
        self._board = ""
        self._commitments: tuple[str, ...] = ()
        self._lots: list[Cards] = []
        self._deals: list[Deal] = []

    def attached(self, commitment: str, entropies: tuple[str, ...], board: str = "") -> list[TrustWarning]:
        """What the match is committed to, told at every attach. A change, or another's commitment, is suspicious."""
        found = []
        if self._seed and (commitment, entropies, board) != (self._seed, self._commitments, self._board):
            found.append(self._warn("commitment_changed"))
        if not self._seed:
            self._seed, self._commitments, self._board = commitment, entropies, board
        if self._entropy and self.seat is not None and self._own() not in ("", entropy_commitment(self._entropy)):
            found.append(self._warn("own_commitment"))
        return found

    def _own(self) -> str:
        seat = self.seat
        return self._commitments[seat] if seat is not None and seat < len(self._commitments) else ""

    def saw(self, event: Event) -> None:
        """An event, in order."""
        if isinstance(event, RoundBegan):
            self._deals.append(Deal(event))
            self._lots = list(event.lot)
        elif isinstance(event, LotDrawn):
            self._lots.append(event.draws)
        elif self._deals:
            deal, draws = self._deals[-1], self._game.spec.draws
            if len(deal.after) < DEAL_MOST:
                deal.after.append(event)
            if draws is not None and isinstance(event, draws.kinds) and not deal.gap:
                deal.drawn.append(event)

    def missed(self) -> None:
        """A snapshot took the place of events: what follows belongs to no deal that was seen."""
        if self._deals:
            self._deals[-1].after += [_GAP] * (DEAL_MOST - len(self._deals[-1].after))
            self._deals[-1].gap = True

    def ended(self, ending: Ending) -> list[TrustWarning]:
        """Recompute all that was seen."""
        return list(self._check(ending))

    def _check(self, ending: Ending) -> Iterator[TrustWarning]:
        if self._board and not ending.seed:
            return  # comes with the tournament's report; `kangtou verify` compares then
        try:
            chance = match_chance(self.match_id, self._board, ending.seed, ending.entropies)
        except ValueError:
            yield self._warn("unverifiable")
            return
        if match_commitment(self.match_id, self._board, ending.seed) != self._seed:
            yield self._warn("seed_not_committed")
        yield from self._check_entropies(ending.entropies)
        pack = self._game.spec.pack(self._config)
        for number, draws in enumerate(self._lots, 1):
            if chance.shuffle(pack, "lot", number)[: len(draws)] != draws:
                yield self._warn("lot")
                break
        for deal in self._deals:
            if not self._follows(deal, chance.shuffle(pack, "pack", deal.began.deals)):
                yield self._warn("deal", deal=deal.began.deals)

    def _check_entropies(self, entropies: tuple[bytes, ...]) -> Iterator[TrustWarning]:
        for seat, (entropy, commitment) in enumerate(zip(entropies, self._commitments, strict=False)):
            if entropy and entropy_commitment(entropy) != commitment:
                yield self._warn("entropy_not_committed", seat=seat)
        if self._entropy and self.seat is not None and self._own():
            opened = entropies[self.seat] if self.seat < len(entropies) else b""
            if opened != self._entropy:
                yield self._warn("own_entropy")

    def _follows(self, deal: Deal, pile: Cards) -> bool:
        """Whether the events after a round's begin are those of the deal of this pile, as this seat may see them."""
        game, after = self._game, deal.after
        state = game.begun(game.before(self._config), replace(deal.began, pile=pile))
        if state.phase == CUT:
            if not after or not isinstance(after[0], PileCut):
                return True  # not cut yet, or not seen: nothing was dealt
            state, after = game.evolve(state, after[0]), after[1:]
        for due, got in zip(game.spec.deal(state), after, strict=False):
            if got is _GAP:
                break
            if not self._fits(due, got):
                return False
        if game.spec.draws is None:
            return True
        drawn = tuple(game.spec.draws.due(state, deal.drawn))
        return len(drawn) == len(deal.drawn) and all(map(self._fits, drawn, deal.drawn))

    def _fits(self, due: Event, got: Event) -> bool:
        """Whether what was seen is what happened, as this seat may see it."""
        seen = {to_text(due.seen_by(self.seat))}
        if self.open_hands:
            seen.add(to_text(open_event(due, self._config.seats)))
        return to_text(got) in seen

    def _warn(self, code: str, **params: int) -> TrustWarning:
        english, chinese = _TEXTS[code]
        return TrustWarning(self.match_id, code, english.format_map(params), chinese.format_map(params))


_GAP: Event = Event()
