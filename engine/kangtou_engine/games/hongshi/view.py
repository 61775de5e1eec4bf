"""What a seat or a spectator may see. HS-13."""

from __future__ import annotations

from ...cards import Cards, Seat, hidden
from .state import PLAY, REVEAL, Hongshi, Own, Past, Sides


def view(state: Hongshi, seat: Seat | None) -> Own:
    """The game's own state as one seat (None: a spectator) may see it, built up field by field. HS-13."""
    own = state.game
    closed = state.phase in (REVEAL, PLAY)
    return Own(
        hands=tuple(
            hand if owner == seat or not closed else _shown(hand, own.sides.revealed[owner])
            for owner, hand in enumerate(own.hands)
        ),
        turn=own.turn,
        trick=own.trick,  # HS-13.1
        out=own.out,
        opening=own.opening,
        answered=own.answered,
        sides=Sides(
            up=None if closed else own.sides.up,  # HS-13.2
            revealed=own.sides.revealed,
            known=own.sides.known,  # HS-13.4
        ),
        past=Past(None, None) if closed else own.past,  # HS-13.3, HS-13.5
        penalties=own.penalties,
    )


def _shown(hand: Cards, revealed: Cards) -> Cards:
    """The revealed tens that are still in hand; of the others only how many. HS-13.2."""
    seen = tuple(card for card in hand if card in revealed)
    return seen + hidden(len(hand) - len(seen))
