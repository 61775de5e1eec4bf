"""What a seat or a spectator may see, built up field by field. DZ-12."""

from __future__ import annotations

from ...cards import Seat, hidden
from ...match.state import BETWEEN, OVER, SCORED
from .state import Bottom, Own, Table, Tally, is_up

# When the round has ended all hands, tricks and the six are open. CM-5.4, DZ-12.2
_ALL_OPEN = frozenset((SCORED, "recover", BETWEEN, OVER))
_KITTY_OPEN, _SIX_OPEN = frozenset(("bury", "sink", "snatch")), frozenset(("sink", "snatch"))


def view(state: Table, seat: Seat | None) -> Own:
    """The game's own part as `seat` (None: a spectator) may see it. DZ-12.1, DZ-12.2."""
    own, all_open = state.game, state.phase in _ALL_OPEN
    hands = tuple(hand if all_open or owner == seat else hidden(len(hand)) for owner, hand in enumerate(own.hands))
    return Own(
        hands=hands,
        window=own.window,
        drawn=own.drawn,
        trick=own.trick,  # with all cards of a failed throw
        tally=_tally(own.tally, all_open),
        ladder=own.ladder,
        trumps=own.trumps,
        bottom=_bottom(own.bottom, state.phase),
        claimable=own.claimable if seat is not None and not is_up(state, seat) else None,
    )


def _tally(tally: Tally, all_open: bool) -> Tally:
    """Closed tricks only when the round has ended. DZ-12.3."""
    shown = Tally(points=tally.points, cards=tally.cards, tricks=tally.tricks, last_winner=tally.last_winner)
    if not all_open:
        return shown
    return Tally(
        points=tally.points,
        cards=tally.cards,
        tricks=tally.tricks,
        last_winner=tally.last_winner,
        leaders=tally.leaders,
        closed=tally.closed,
    )


def _bottom(bottom: Bottom, phase: str) -> Bottom:
    """The kitty until it is opened: six unknown cards; in `play` nothing. DZ-12.2, DZ-12.3."""
    if phase in _SIX_OPEN:
        return Bottom(
            kitty=bottom.kitty,
            buried=bottom.buried,
            announced=bottom.announced,
            sunk=bottom.sunk,
            snatchable=bottom.snatchable,
            exchanges=bottom.exchanges,
        )
    if phase in _KITTY_OPEN:
        return Bottom(kitty=bottom.kitty)
    if phase in _ALL_OPEN:
        return Bottom(kitty=bottom.kitty, buried=bottom.buried, announced=bottom.announced, sunk=bottom.sunk)
    return Bottom() if phase == "play" else Bottom(kitty=hidden(len(bottom.kitty)))
