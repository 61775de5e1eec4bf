"""Positions of case files. DZ-15."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...cards import JOKERS, SUITS, Card, Cards, Seat, in_order, is_card, parse_cards
from ...errors import BadText
from ...game import CaseKeys
from ...match.state import BETWEEN, OVER
from .levels import level_of, level_text
from .options import SEATS
from .ranking import TRUMPS, points_of
from .redeal import claimable, defenders
from .score import winning_side
from .state import (
    ALL,
    DRAWN,
    HAND,
    Bottom,
    Ladder,
    Note,
    Own,
    Table,
    Tally,
    Trick,
    Trumps,
    rank_now,
    ranking_of,
)
from .suit import WAYS

PHASES = frozenset(("deal", "redeal", "way", "fix", "bury", "sink", "snatch", "play", BETWEEN))
Start = Mapping[str, Any]


# ---- reading a position ----


def position(state: Table, start: Start) -> Table:
    """The state that `start` describes. Raises BadText for what does not fit."""
    try:
        return _position(state, start)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise BadText(f"start: {error}") from error


def _position(state: Table, start: Start) -> Table:
    phase = start.get("phase", "deal" if start.get("deal") else "play")
    if phase not in PHASES:
        raise ValueError(f"no position can have phase {phase!r}")
    if phase != "deal" and state.sheet.dealer is None:
        state = state.with_sheet(replace(state.sheet, dealer=0))
    if phase == BETWEEN:
        state = _between(state, start)
    if phase == "fix" and start.get("way") not in WAYS:
        raise ValueError("way: must be given in fix")
    hands = tuple(parse_cards(hand) for hand in start.get("hands", ("",) * SEATS))
    if len(hands) != SEATS:
        raise ValueError("hands: there are four seats")
    own = replace(state.game, ladder=_ladder(state, start), trumps=_trumps(start, phase), drawn=DRAWN)
    if phase == "deal":
        return _deal(state.with_game(own, phase), hands, start)
    state = state.with_game(replace(own, hands=tuple(map(in_order, hands))), phase)
    state = state.with_game(replace(state.game, bottom=_bottom(state, start)))
    if phase == "play":
        return _play(state, start)
    may = claimable(state) if phase == "redeal" else None
    return state.with_game(state.game.with_window(_window(state, start), may))


def _between(state: Table, start: Start) -> Table:
    """The next dealer, and who is ready already. CM-6.1."""
    sheet, answered = state.sheet, start.get("answered") or ()
    answers = tuple("ready" if seat in answered else "" for seat in ALL)
    dealer = sheet.dealer if sheet.next_dealer is None else sheet.next_dealer
    return state.with_sheet(replace(sheet, answers=answers, next_dealer=dealer))


def _seat(value: object) -> Seat:
    if type(value) is not int or value not in ALL:
        raise ValueError(f"{value!r} is not a seat")
    return value


def _ladder(state: Table, start: Start) -> Ladder:
    given = start.get("levels")
    levels = state.game.ladder.levels if given is None else tuple(level_of(str(level)) for level in given)
    dealer, options = state.sheet.dealer, state.config.options
    level = options.start if dealer is None else levels[dealer % 2]
    return Ladder(levels, level, _pending(start))


def _pending(start: Start) -> Note | None:
    note = start.get("pending")
    return None if note is None else Note(int(note["side"]), level_of(str(note["level"])))


def _trumps(start: Start, phase: str) -> Trumps:
    suit, shown = start.get("trump"), str(start.get("shown") or "").split()
    if suit is not None and suit not in tuple(SUITS):
        raise ValueError(f"trump: {suit!r} is not a suit")
    if suit is None and phase in ("bury", "sink", "snatch", "play"):
        raise ValueError("trump: is missing")
    return Trumps(
        suit=suit,
        shown_by=_seat(int(shown[0])) if shown else None,
        shown=parse_cards(shown[1])[0] if shown else None,
        way=start.get("way"),
        tied=in_order(_cards(start, "tied")),
        gabaguo=bool(start.get("gabaguo", False)) if phase in ("bury", "sink", "snatch", "play") else None,
        annulled=bool(start.get("annulled", False)),
    )


def _cards(start: Start, key: str) -> Cards:
    return parse_cards(start.get(key) or "")


def _bottom(state: Table, start: Start) -> Bottom:
    buried, announced = in_order(_cards(start, "buried")), in_order(_cards(start, "announced"))
    trumps = state.game.trumps
    counted = () if trumps.gabaguo or trumps.annulled else tuple(card for card in buried if card in JOKERS)
    open_cards: Cards = ()
    if state.phase in ("sink", "snatch"):
        among = ranking_of(state).of_suit(buried, TRUMPS)
        open_cards = tuple(card for card in among if card not in announced)
    return Bottom(
        kitty=_cards(start, "kitty"),
        buried=buried,
        announced=announced,
        sunk=in_order(_cards(start, "sunk")) if "sunk" in start else counted,
        snatchable=in_order(_cards(start, "snatchable")) if "snatchable" in start else open_cards,
    )


def _window(state: Table, start: Start) -> tuple[Seat, ...]:
    """Who is asked and has not answered. DZ-2.2."""
    dealer = state.sheet.dealer or 0
    asked = {
        "redeal": defenders(dealer),
        "way": ((dealer + 1) % SEATS,),
        "fix": (dealer,),
        "bury": (dealer,),
        "sink": ((dealer + 2) % SEATS,),
        BETWEEN: (),
    }.get(state.phase, ALL)
    answered = start.get("answered") or ()
    return tuple(seat for seat in asked if seat not in answered)


def _deal(state: Table, hands: tuple[Cards, ...], start: Start) -> Table:
    """Hands in draw order as a pile, drawn so far. DZ-3.1, DZ-3.2."""
    if any(len(hand) != HAND for hand in hands):
        raise ValueError(f"deal: each hand has {HAND} cards in draw order")
    first = state.sheet.first
    pile = tuple(hands[(first + n) % SEATS][n // SEATS] for n in range(DRAWN)) + _cards(start, "kitty")
    beat = {"card": 1, "lap": SEATS, "end": DRAWN}[state.config.options.windows]
    drawn = int(start.get("drawn", beat))
    if not 0 < drawn <= DRAWN:
        raise ValueError(f"drawn: {drawn} is not 1 … {DRAWN}")
    dealt = tuple(in_order(pile[(seat - first) % SEATS : drawn : SEATS]) for seat in ALL)
    bottom = Bottom(pile[DRAWN:] if drawn == DRAWN else ())
    own = replace(state.game, hands=dealt, drawn=drawn, bottom=bottom, window=_window(state, start))
    return state.with_sheet(replace(state.sheet, pile=pile)).with_game(own)


def _play(state: Table, start: Start) -> Table:
    own = state.game
    plays = [str(play).split() for play in start.get("trick") or ()]
    seats = [_seat(int(play[0])) for play in plays]
    cards = tuple(in_order(parse_cards(" ".join(play[1:]))) for play in plays)
    to_act = start.get("to_act", state.sheet.dealer)
    leader = seats[0] if seats else _seat(to_act)
    if seats != [(leader + place) % SEATS for place in range(len(seats))]:
        raise ValueError("trick: the plays are not in turn")
    if not cards and not any(own.hands):
        raise ValueError("hands: nobody holds a card")
    trick = Trick(leader, cards)
    return state.with_game(replace(own, trick=trick, tally=_tally(own, trick, start)))


def _tally(own: Own, trick: Trick, start: Start) -> Tally:
    sizes = [len(hand) for hand in own.hands]
    for place, play in enumerate(trick.plays):
        sizes[(trick.leader + place) % SEATS] += len(play)
    tricks = int(start.get("tricks", 0 if all(size == HAND for size in sizes) else 1))
    counted = _cards(start, "point_cards")
    winner = start.get("last_winner", trick.leader if tricks else None)
    return Tally(int(start.get("points", points_of(counted))), counted, tricks, winner)


def carry(start: Start) -> Mapping[str, Any]:
    """What carries over into a round that begins in a case. CM-5.5."""
    note = _pending(start)
    kept: dict[str, Any] = {"pending": None if note is None else (note.side, note.level)}
    if "levels" in start:
        levels = tuple(level_of(str(level)) for level in start["levels"])
        dealer = start.get("dealer", None if start.get("round", 1) == 1 else 0)
        kept["levels"] = levels
        if dealer is not None:
            kept["level"] = levels[dealer % 2]
    return kept


# ---- reading what is there now ----


def _level_texts(state: Table) -> tuple[str, ...]:
    return tuple(map(level_text, state.game.ladder.levels))


def _shown(state: Table) -> str | None:
    trumps = state.game.trumps
    return None if trumps.shown is None else f"{trumps.shown_by} {trumps.shown}"


def _noted(state: Table) -> Mapping[str, Any] | None:
    note = state.game.ladder.pending
    return None if note is None else {"side": note.side, "level": level_text(note.level)}


def _trick(state: Table) -> tuple[str, ...]:
    trick = state.game.trick
    return tuple(f"{(trick.leader + place) % SEATS} {' '.join(play)}" for place, play in enumerate(trick.plays))


def _failed(state: Table) -> Mapping[str, Any] | None:
    trick = state.game.trick
    if not trick.thrown:
        return None
    return {"seat": trick.leader, "cards": trick.thrown, "played": trick.plays[0]}


def _winner(state: Table) -> object:
    if state.phase != OVER:
        return None
    side = winning_side(state)
    return "draw" if side is None else side


def _same_tricks(wanted: Any, seen: Any) -> bool:
    """`["0 HK HA"]`, cards of a play in any order."""
    return [_play_text(play) for play in wanted] == [_play_text(play) for play in seen]


def _play_text(text: object) -> object:
    """A text `SEAT CARDS` with its cards in canonical order; others as they are."""
    if not isinstance(text, str):
        return text
    seat, *cards = text.split(" ")
    return (seat, in_order(cards)) if all(map(is_card, cards)) else text


def _same_round(wanted: Any, seen: Any) -> bool:
    if not isinstance(wanted, Mapping) or not isinstance(seen, Mapping):
        return wanted is seen
    return all(key in seen and _same_result(value, seen[key]) for key, value in wanted.items())


def _same_result(wanted: Any, seen: Any) -> bool:
    if isinstance(seen, tuple):  # sunk
        return in_order(parse_cards(wanted)) == in_order(seen)
    if wanted is None or seen is None:
        return wanted is seen
    return _play_text(str(wanted)) == _play_text(str(seen))


def _snatchable(state: Table) -> tuple[Card, ...]:
    return state.game.bottom.snatchable if state.phase == "snatch" else ()


CASES: CaseKeys[Own] = CaseKeys(
    position=position,
    observe={
        "first": lambda state: state.sheet.first,
        "levels": _level_texts,
        "drawn": lambda state: state.game.drawn,
        "trump": lambda state: state.game.trumps.suit,
        "shown": _shown,
        "points": lambda state: state.game.tally.points,
        "point_cards": lambda state: state.game.tally.cards,
        "tricks": lambda state: state.game.tally.tricks,
        "last_winner": lambda state: state.game.tally.last_winner,
        "buried": lambda state: state.game.bottom.buried,
        "announced": lambda state: state.game.bottom.announced,
        "sunk": lambda state: state.game.bottom.sunk,
        "annulled": lambda state: state.game.trumps.annulled,
        "pending": _noted,
        "side_up": lambda state: None if state.sheet.dealer is None else state.sheet.dealer % 2,
        "level_rank": rank_now,
        "way": lambda state: state.game.trumps.way,
        "tied": lambda state: state.game.trumps.tied,
        "kitty": lambda state: None if state.game.trumps.gabaguo is None else state.game.bottom.kitty,
        "gabaguo": lambda state: state.game.trumps.gabaguo,
        "snatchable": _snatchable,
        "trick": _trick,
        "failed_throw": _failed,
        "winner": _winner,
    },
    same={"trick": _same_tricks, "last_round": _same_round},
    carry=carry,
    keys=frozenset(
        "deal drawn first levels pending kitty trump shown way tied answered buried announced gabaguo sunk snatchable "
        "annulled trick tricks points point_cards last_winner".split()
    ),
)
