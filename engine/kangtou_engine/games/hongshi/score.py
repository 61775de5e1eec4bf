"""The end of a round: place order, basic points, factor. HS-8, HS-9, HS-10."""

from __future__ import annotations

from ...cards import Seat
from ...events import Event
from ...match.events import Scored
from .combos import FOUR_TENS
from .events import RoundShown
from .options import options_of
from .state import SEATS, Hongshi, Own, is_open

PLAYED, LIGHTNING = "play", "lightning"


def basic_points(order: tuple[Seat, ...], up: tuple[Seat, ...]) -> tuple[int, ...]:
    """By seat. Who is not in `order` is behind all who are. HS-9.1, HS-9.2, HS-15.7."""
    places = {seat: place for place, seat in enumerate(order, 1)}
    if len(up) == 1:
        place = places.get(up[0], SEATS)
        worth = {1: 9, SEATS: -9}.get(place, 0)  # HS-9.2
        return tuple(worth if seat in up else -worth // 3 for seat in range(SEATS))
    first_is_up = order[0] in up
    mate = next(seat for seat in range(SEATS) if seat != order[0] and (seat in up) == first_is_up)
    worth = {2: 2, 3: 1}.get(places.get(mate, SEATS), 0)  # HS-9.1
    return tuple(worth if (seat in up) == first_is_up else -worth for seat in range(SEATS))


def factor(own: Own, base: tuple[int, ...], up: tuple[Seat, ...]) -> int:
    """Of a round that was played. HS-9.3, HS-10.5."""
    if FOUR_TENS in own.sides.revealed:
        return 4  # HS-10.5
    reversal = base[up[0]] < 0
    return (2 if is_open(own) else 1) * (2 if reversal else 1)  # HS-9.3


def place_order(own: Own) -> tuple[Seat, ...]:
    """The seats that are out and, after the third, the last one. HS-7.4, HS-8.2."""
    if len(own.out) < SEATS - 1:
        return own.out
    return (*own.out, *(seat for seat in range(SEATS) if seat not in own.out))


def next_dealer(state: Hongshi, order: tuple[Seat, ...]) -> Seat:
    """HS-3.5, HS-15.9."""
    if options_of(state.config).next_dealer == "rotate" or not order:
        return ((state.sheet.dealer or 0) + 1) % SEATS
    return order[0]


def score(state: Hongshi, how: str) -> tuple[Event, ...]:
    """The round is shown and scored. HS-8.1, HS-13.5."""
    own = state.game
    up = own.sides.up or ()
    if how == LIGHTNING:
        order = own.out  # HS-8.2
        base = basic_points(order, order)
        times = options_of(state.config).lightning_factor  # HS-10.3
    else:
        order = place_order(own)
        base = basic_points(order, up)
        times = factor(own, base, up)
    points = tuple(worth * times for worth in base)
    result = {
        "round": state.sheet.round,
        "dealer": state.sheet.dealer,
        "how": how,
        "order": order,
        "up": up,
        "open": is_open(own),
        "base": base,
        "factor": times,
        "points": points,
    }
    scored = Scored(points=points, next_dealer=next_dealer(state, order), hands=own.hands, result=result)
    return (_shown(own), scored)


def _shown(own: Own) -> RoundShown:
    laid = (*(own.past.laid or ()), *own.trick)
    return RoundShown(
        up=own.sides.up or (),
        dealt=own.past.dealt or (),
        seats=tuple(one.seat for one in laid),
        laid=tuple(one.cards for one in laid),
        as_ten=tuple(place for place, one in enumerate(laid) if one.as_ten),
    )
