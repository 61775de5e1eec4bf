"""What is special in a round, told from its events alone: names of things that the golden records must contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kangtou_engine.events import Event
from kangtou_engine.games.duizhu import events as dz
from kangtou_engine.games.erbaiwu import events as eb
from kangtou_engine.games.hongshi import events as hs
from kangtou_engine.games.wushik import events as wk
from kangtou_engine.match.events import RoundBegan, Scored

Events = Sequence[Event]
RED_PAIR = ("HT", "DT")


def duizhu(events: Events) -> set[str]:
    """甩, its forced substitution, 嗡, 扣王, 抢主, 回龙, and the outcomes of rounds: 抠, 直 …"""
    kinds: Mapping[type[Event], str] = {
        dz.ThrowStood: "throw",
        dz.ThrowFailed: "substitution",
        dz.FourPlayed: "four",
        dz.Sunk: "sink",
        dz.Snatched: "snatch",
        dz.Recovered: "recover",
    }
    found = {kinds[type(event)] for event in events if type(event) in kinds}
    return found | {str(event.result["outcome"]) for event in events if isinstance(event, Scored)}


def erbaiwu(events: Events) -> set[str]:
    """碰, 锁, 收 of a locked end with a joker, 弃, 整五 with 抠, a total of exactly 250."""
    found: set[str] = set()
    across: list[set[str]] = []  # the cards laid across ends
    for event in events:
        match event:
            case eb.Ponged():
                found.add("pong")
            case eb.Locked(cards=cards):
                found.add("lock")
                across.append({card[:2] for card in cards})
            case eb.Lifted(card=card, under=under):
                if len(card) > 2 and any(laid <= set(under) for laid in across):
                    found.add("lift")
            case eb.Dumped():
                found.add("dump")
            case RoundBegan():
                across = []
            case Scored(result=result, points=points, hands=hands):
                settled = result["settled"]
                if result["kou"] and [card[1] for card in hands[settled]] == ["5"]:
                    found.add("five_kou")
                sums = zip(points, result["round_scores"], result["extras"], strict=True)
                if any(added != score + extra for added, score, extra in sums):
                    found.add("exact")  # EB-9.9
            case _:
                pass
    return found


def hongshi(events: Events) -> set[str]:
    """亮牌, 车, the red pair over a quad, four tens, lightning."""
    found: set[str] = set()
    left: dict[int, int] = {}
    last: tuple[str, ...] = ()
    for event in events:
        match event:
            case hs.Dealt(hands=hands):
                left = {seat: len(hand) for seat, hand in enumerate(hands)}
            case hs.Revealed(cards=cards):
                found.add("reveal" if len(cards) < 4 else "show")
            case hs.LightningDeclared():
                found.add("lightning")
            case hs.Played(seat=seat, cards=cards, as_ten=as_ten):
                if cards == RED_PAIR and not as_ten and len(last) == 4:
                    found.add("red_pair")
                last = cards
                left[seat] -= len(cards)
            case hs.TrickWon(seat=seat):
                found |= {"cart"} if not left[seat] else set()
                last = ()
            case _:
                pass
    return found


def wushik(events: Events) -> set[str]:
    """A bomb over a bomb, points for a seat that is out, and what a variant has of its own."""
    found: set[str] = set()
    out: set[int] = set()
    last: tuple[str, ...] = ()
    shown: set[tuple[int, str]] = set()
    for event in events:
        match event:
            case RoundBegan():
                out, last, shown = set(), (), set()
            case wk.Shown(seat=seat, rank=rank):
                shown.add((seat, rank))
                found.add("announced")
            case wk.Played(seat=seat, cards=cards, combo=combo):
                found |= _wushik_play(combo, last)
                if combo[0] == "bomb" and (seat, cards[0][1]) in shown and len(cards) >= 6:
                    found.add("announced_bomb")
                last = combo
            case wk.WentOut(seat=seat):
                out.add(seat)
            case wk.TrickWon(seat=seat, points=points):
                found |= {"out_capture"} if seat in out and points else set()
                last = ()
            case Scored(result=result):
                found.add(f"ending_{result['ending']}")
            case _:
                pass
    return found


BOMBS = ("bomb", "fake", "true", "jokers")


def _wushik_play(combo: tuple[str, ...], last: tuple[str, ...]) -> set[str]:
    found = set()
    if last and combo[0] in BOMBS and last[0] in BOMBS:
        found.add("bomb_over_bomb")
        found.add(f"{combo[0]}_over_{last[0]}")
    elif last and combo[0] == "bomb":
        found.add(f"bomb_over_{last[0]}")
    elif combo[0] == "triple" and last and last[0] != "triple":
        found.add("triple_bomb")
    if "flush=yes" in combo:
        found.add("flush")
    if combo[0] in ("fake", "true", "jokers", "quadrun"):
        found.add(combo[0])
    if combo[0] == "jokers":
        found.add("_".join(("jokers", *(part.split("=")[1] for part in combo[1:]))))
    if combo[0] == "bomb":
        found.add(combo[1].replace("n=", "bomb"))
    return found


OF: Mapping[str, Callable[[Events], set[str]]] = {
    "duizhu": duizhu,
    "erbaiwu": erbaiwu,
    "hongshi": hongshi,
    "wushik": wushik,
}
