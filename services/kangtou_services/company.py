"""Who may look on at a table, how much they see and how late, and who keeps its score. docs/spectators.md"""

from __future__ import annotations

from dataclasses import dataclass

from kangtou.v1 import watch_pb2 as pb

NONE, NO_HANDS, ROUND, OPEN = "none", "no_hands", "round", "open"
POLICIES = {
    pb.WATCH_POLICY_UNSPECIFIED: NO_HANDS,
    pb.WATCH_POLICY_NONE: NONE,
    pb.WATCH_POLICY_NO_HANDS: NO_HANDS,
    pb.WATCH_POLICY_ROUND: ROUND,
    pb.WATCH_POLICY_OPEN: OPEN,
}
_NUMBERS = {word: number for number, word in POLICIES.items()}  # the last number of a word: not UNSPECIFIED
DELAY_MOST_S = 600
_WARNING = (
    "spectators of this table see all hands while they are played{late}; it is not rated",
    "本桌旁观者可在打牌时看到所有人的手牌{late}；本桌不计等级分",
)
_LATE = (", {seconds} s late", "（延迟 {seconds} 秒）")


@dataclass(frozen=True, slots=True)
class Company:
    """Who is at a table beside the players, as it is fixed when a match is made.

    watch     what spectators see: NONE, NO_HANDS (what the book lets them see), ROUND (finished rounds with all hands
              too), OPEN (all hands as they are played)
    delay_ms  how late all of it comes
    owner     whose table it is, "" of a match of the queue; whom he has blocked cannot look on
    scorer    who may award the book's penalties (HS-11.3), "" nobody
    """

    watch: str = NO_HANDS
    delay_ms: int = 0
    owner: str = ""
    scorer: str = ""


def watching_to_pb(watch: str, delay_ms: int) -> pb.Watching:
    """As clients see it, with the warning for whoever sits down."""
    message = pb.Watching(policy=_NUMBERS[watch], delay_s=delay_ms // 1000)
    if watch == OPEN:
        late = [text.format(seconds=message.delay_s) if message.delay_s else "" for text in _LATE]
        message.warning_en, message.warning_zh = (
            text.format(late=part) for text, part in zip(_WARNING, late, strict=True)
        )
    return message
