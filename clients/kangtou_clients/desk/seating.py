"""Where the seats are drawn: one's own at the bottom, the next in the order of play at its right hand."""

from __future__ import annotations

from kangtou_engine.cards import Seat

# By number of seats, the sides of the others in the order of play. `top` may hold several, drawn from left to right.
_SIDES = {
    2: ("top",),
    3: ("right", "left"),
    4: ("right", "top", "left"),
    5: ("right", "top", "top", "left"),
    6: ("right", "top", "top", "top", "left"),
}


def seated(seats: int, own: Seat) -> dict[str, tuple[Seat, ...]]:
    """The seats of each side: `bottom`, `right`, `top` (left to right), `left`."""
    sides = _SIDES.get(seats, ("top",) * (seats - 1))
    found: dict[str, list[Seat]] = {"bottom": [own], "right": [], "top": [], "left": []}
    for step, side in enumerate(sides, 1):
        found[side].insert(0, (own + step) % seats)  # who plays next sits further right
    return {side: tuple(members) for side, members in found.items()}
