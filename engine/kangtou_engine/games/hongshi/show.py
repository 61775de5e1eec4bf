"""The table in lines of text, from a view, in English or Chinese."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...cards import HIDDEN, ORDER, RANKS, Cards, Seat, show_cards
from ...errors import Param
from ...match.state import BETWEEN, CUT, OVER
from ...words import say
from .combos import RANKINGS, RED_TENS
from .options import options_of
from .score import LIGHTNING
from .state import PLAY, REVEAL, Hongshi, Laid, is_open
from .words import WORDS


def show(view: Hongshi, seat: Seat | None, lang: str) -> tuple[str, ...]:
    """Head, seats in order, the trick, the own hand, the last result. HS-13."""
    return tuple(_Lines(view, seat, lang).all())


def by_rank(top: str, cards: Cards) -> Cards:
    """A hand as people hold it: low to high as singles, a red ten in its high meaning. HS-5.2."""
    ranking = RANKINGS[top]
    place = {"BJ": ranking.jokers[0], "RJ": ranking.jokers[1], **dict.fromkeys(RED_TENS, ranking.red_ten)}
    return tuple(sorted(cards, key=lambda card: (place.get(card, RANKS.find(card[1])), ORDER[card])))


class _Lines:
    def __init__(self, view: Hongshi, seat: Seat | None, lang: str) -> None:
        self.view, self.seat, self.lang = view, seat, lang
        self.top = options_of(view.config).top

    def say(self, code: str, **params: Param) -> str:
        return say(WORDS, code, params, self.lang)

    def all(self) -> Iterator[str]:
        view = self.view
        yield self.head()
        for seat in range(len(view.game.hands)):
            yield self.of_seat(seat)
        if view.phase == PLAY:
            yield f"{self.say('trick')}: {self.trick()}"
        if self.seat is not None and view.phase in (REVEAL, PLAY):
            hand = by_rank(self.top, view.game.hands[self.seat])
            yield f"{self.say('hand')}: {show_cards(hand)}"
        if view.phase in (BETWEEN, OVER) and view.sheet.last_round is not None:
            yield self.result()

    def head(self) -> str:
        view = self.view
        parts = [
            self.say("round", round=view.sheet.round, rounds=options_of(view.config).rounds),
            self.say(f"phase.{view.phase}"),
        ]
        if is_open(view.game):
            parts.append(self.say("open"))
        if asked := self.asked():
            parts.append(self.say("asked", seats=", ".join(map(str, asked))))
        return " · ".join(parts)

    def asked(self) -> list[Seat]:
        view = self.view
        if view.phase == PLAY:
            return [view.game.turn]
        if view.phase == REVEAL:
            return [seat for seat, done in enumerate(view.game.answered) if not done]
        if view.phase == CUT:
            return [(view.sheet.first - 1) % len(view.game.hands)]  # CM-4.1
        return [seat for seat, answer in enumerate(view.sheet.answers) if not answer]

    def of_seat(self, seat: Seat) -> str:
        view, own = self.view, self.view.game
        parts = [self.say("seat", seat=seat), self.say("score", score=view.sheet.scores[seat])]
        if seat == view.sheet.dealer:
            parts.append(self.say("dealer"))
        if view.phase in (REVEAL, PLAY) and seat not in own.out:
            parts.append(self.say("cards_left", count=len(own.hands[seat])))
        if seat in own.sides.known:
            parts.append(self.say("up"))
        if own.sides.revealed[seat]:
            parts.append(self.say("revealed", cards=show_cards(own.sides.revealed[seat])))
        if seat in own.out:
            parts.append(self.say("out", place=own.out.index(seat) + 1))
        if own.penalties[seat]:
            parts.append(self.say("penalized", count=own.penalties[seat]))
        if view.phase == REVEAL and own.answered[seat]:
            parts.append(self.say("answered"))
        if view.sheet.places:
            parts.append(self.say("place", place=view.sheet.places[seat]))
        if view.phase in (BETWEEN, OVER) and own.hands[seat] and HIDDEN not in own.hands[seat]:
            parts.append(show_cards(by_rank(self.top, own.hands[seat])))
        return ("> " if view.phase == PLAY and seat == own.turn else "  ") + " · ".join(parts)

    def trick(self) -> str:
        own = self.view.game
        return " | ".join(map(self.laid, own.trick)) or self.say("leads", seat=own.turn)

    def laid(self, one: Laid) -> str:
        if not one.cards:
            return f"{one.seat} {self.say('passes')}"
        return f"{one.seat} {show_cards(one.cards)}" + (f" ({self.say('as_ten')})" if one.as_ten else "")

    def result(self) -> str:
        return result_line(self.view.sheet.last_round or {}, self.lang)


def result_line(last: Mapping[str, Any], lang: str) -> str:
    """What a round came to. HS-8, HS-9, HS-10."""
    code = "result.lightning" if last["how"] == LIGHTNING else "result"
    listed = {name: ", ".join(map(str, last[name])) for name in ("order", "up", "points")}
    return say(WORDS, code, {"round": last["round"], "factor": last["factor"], **listed}, lang)
