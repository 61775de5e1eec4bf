"""How the seats of a golden record play: they see all hands and work for what is still wanted.

Only for making records. `Wants.mode` is one of the things that are missing, another with each try.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from kangtou_engine.actions import Action
from kangtou_engine.cards import Card, Seat, in_order
from kangtou_engine.errors import IllegalAction
from kangtou_engine.game import TooMany
from kangtou_engine.games.duizhu.bury import may_announce
from kangtou_engine.games.duizhu.events import ThrowFailed, ThrowStood
from kangtou_engine.games.duizhu.play import by_suit, called, four_is_led, fours_in
from kangtou_engine.games.duizhu.ranking import POINTS, TRUMPS
from kangtou_engine.games.duizhu.state import ALL, is_up, ranking_of
from kangtou_engine.games.duizhu.tricks import best_play
from kangtou_engine.games.erbaiwu.events import Lifted, Locked
from kangtou_engine.games.erbaiwu.pack import hand_value
from kangtou_engine.games.erbaiwu.score import round_scores
from kangtou_engine.match.match import AnyState, Game

PASS = Action("pass")


@dataclass(frozen=True, slots=True)
class Wants:
    """What is missing, and what this try is after."""

    missing: frozenset[str]
    mode: str
    style: float = 0.5


def listed(state: AnyState, seat: Seat, rng: Random, game: Game) -> tuple[Action, ...]:
    """The legal actions; where there are too many, a few by chance."""
    legal = game.legal(state, seat, 400)
    if not isinstance(legal, TooMany):
        return legal
    return tuple(game.spec.random(state, seat, legal, rng.randrange) for _ in range(8))


# ---- 对主 ----


def duizhu(state: AnyState, seat: Seat, wants: Wants, rng: Random, game: Game) -> Action:
    """Bury jokers and announced trumps, snatch them, throw; or lose or win everything, as levels want it."""
    legal = listed(state, seat, rng, game)
    if state.phase == "deal":
        return legal[1 + rng.randrange(len(legal) - 1)] if len(legal) > 1 and not rng.randrange(4) else legal[0]
    if state.phase in ("sink", "snatch"):
        wanted = [action for action in legal if action.verb != "pass"]
        return rng.choice(wanted) if wanted and not _sweeps(state, wants) and rng.randrange(3) else PASS
    if state.phase == "recover":
        return Action("recover")
    if state.phase == "redeal":
        return PASS
    if state.phase == "bury":
        return _bury(state, seat, wants, rng)
    if state.phase == "play":
        return _lead(state, seat, wants, rng, game) if not state.game.trick.plays else _follow(state, seat, wants, rng)
    return rng.choice(legal)


def _sweeps(state: AnyState, wants: Wants) -> bool:
    """Whether this round is to be a 光 (for 回龙)."""
    note = state.game.ladder.pending
    return "recover" in wants.missing and note is not None and is_up(state, note.side)


def _bury(state: AnyState, seat: Seat, wants: Wants, rng: Random) -> Action:
    rules, hand = ranking_of(state), state.game.hands[seat]
    if _sweeps(state, wants):
        cards = in_order(
            sorted(hand, key=lambda card: (rules.suit[card] == TRUMPS, card not in POINTS, rules.worth[card]))[:6]
        )
        return Action("bury", cards)
    trumps = [card for card in hand if rules.suit[card] == TRUMPS and rules.worth[card] < 80]
    given = rng.sample(trumps, min(len(trumps), rng.randrange(3)))
    rest = sorted((card for card in hand if card not in given), key=lambda card: (rules.worth[card], rng.random()))
    cards = in_order([*given, *rest][:6])
    announced = [card for card in may_announce(state, cards) if card in given and not rng.randrange(3)]
    return Action("bury", cards, (("announce", ",".join(in_order(announced))),) if announced else ())


def _lead(state: AnyState, seat: Seat, wants: Wants, rng: Random, game: Game) -> Action:
    rules, hand = ranking_of(state), state.game.hands[seat]
    fours = fours_in(hand) if state.game.tally.tricks else []
    if fours and "four" in wants.missing:
        return Action("play", rng.choice(fours))
    for _ in range(6 if wants.missing & {"throw", "substitution"} and not _sweeps(state, wants) else 0):
        group = sorted(by_suit(hand, rules)[rules.suit[rng.choice(hand)]], key=rules.worth.__getitem__, reverse=True)
        cards = in_order(group[: rng.choice((2, 3))])
        if len(cards) < 2:
            continue
        try:
            caused = game.phases["play"].decide(state, seat, Action("play", cards))
        except IllegalAction:
            continue
        kinds = {ThrowStood: "throw", ThrowFailed: "substitution"}
        if kinds.get(type(caused[0])) in wants.missing and rng.randrange(2):
            return Action("play", cards)
    return Action("play", (_pick(state, seat, hand, wants, rng),))


def _pick(state: AnyState, seat: Seat, cards: tuple[Card, ...] | list[Card], wants: Wants, rng: Random) -> Card:
    """A card to part with: for a 光 the up side the highest, the others nothing that counts."""
    rules = ranking_of(state)
    level = state.game.ladder.level
    if _sweeps(state, wants):
        return _sweep(state, seat, cards, wants, rng)
    aim = "zhi" if "recover" in wants.missing and level in (11, 14) else wants.mode
    if aim == "zhi" and not is_up(state, seat):
        mark = "J" if level == 11 else "A"
        return min(cards, key=lambda card: (card[1:] == mark, rng.random() < 0.7 and -rules.worth[card]))
    if aim in ("zhi", "kou") and is_up(state, seat):
        return max(cards, key=lambda card: (rules.worth[card] >= 70, rng.random()))
    if aim == "kou":
        return min(cards, key=lambda card: (rules.worth[card] >= 70, rng.random()))
    return rng.choice(cards)


def _sweep(state: AnyState, seat: Seat, cards: tuple[Card, ...] | list[Card], wants: Wants, rng: Random) -> Card:
    """The up side wins what counts, and the last trick; the others part with high cards while nothing is to win."""
    rules, plays = ranking_of(state), state.game.trick.plays
    worth = rules.worth
    if not plays:
        if is_up(state, seat) and rng.random() < wants.style:
            return max(cards, key=lambda card: (rules.suit[card] != TRUMPS, worth[card]))
        return (
            max(cards, key=worth.__getitem__)
            if is_up(state, seat)
            else min(cards, key=lambda card: (card in POINTS, -worth[card]))
        )
    tricks = state.game.tally.tricks
    best = best_play(plays, tricks, rules)
    leader_up = is_up(state, (state.game.trick.leader + best) % 4)
    winning = (
        [card for card in cards if best_play((*plays, (card,)), tricks, rules) == len(plays)]
        if len(plays[0]) == 1
        else []
    )
    counts = any(card in POINTS for play in plays for card in play)
    if is_up(state, seat):
        if leader_up and (len(plays) == 3 or rng.random() < wants.style):
            return max(cards, key=lambda card: (card not in winning, card in POINTS, -worth[card]))
        if winning and (counts or len(plays) < 3 or rng.randrange(2)):
            return min(winning, key=worth.__getitem__) if len(plays) == 3 else max(winning, key=worth.__getitem__)
        return min(cards, key=lambda card: (card in POINTS, worth[card]))
    if leader_up and len(plays) == 3:  # points are safe with the up side
        return max(cards, key=lambda card: (card not in winning, card in POINTS, -worth[card]))
    if not counts and winning and len(plays) == 3:
        return max(winning, key=lambda card: (card not in POINTS, worth[card]))
    safe = (
        [card for card in cards if card not in POINTS and card not in winning]
        if counts
        else [card for card in cards if card not in POINTS]
    )
    return min(safe or cards, key=lambda card: worth[card] if rng.random() < wants.style else -worth[card])


def _follow(state: AnyState, seat: Seat, wants: Wants, rng: Random) -> Action:
    rules, hand = ranking_of(state), list(state.game.hands[seat])
    fours = fours_in(state.game.hands[seat])
    if fours and four_is_led(state) and rng.randrange(2):
        return Action("play", rng.choice(fours))
    count, wanted = len(state.game.trick.plays[0]), called(state)
    keep = {card for four in fours for card in four} if "four" in wants.missing else set()
    chosen: list[Card] = []
    while len(chosen) < count:
        fits = [card for card in hand if rules.suit[card] == wanted] or hand
        fits = [card for card in fits if card not in keep] or fits
        card = _pick(state, seat, fits, wants, rng)
        chosen.append(card)
        hand.remove(card)
    return Action("play", in_order(chosen))


# ---- 二百五 ----


def erbaiwu(state: AnyState, seat: Seat, wants: Wants, rng: Random, game: Game) -> Action:
    """Do what is wanted when it is legal; settle only if that is what is wanted, or late."""
    legal = listed(state, seat, rng, game)
    if state.phase not in ("first", "turn", "discard", "window"):
        return rng.choice(legal)
    by_verb: dict[str, list[Action]] = {}
    for action in legal:
        by_verb.setdefault(action.verb, []).append(action)
    if "settle" in by_verb:
        if _five(state, seat) and "five_kou" in wants.missing:
            return by_verb["settle"][0]
        if _exact(state, seat) and "exact" in wants.missing:
            return by_verb["settle"][0]
    keen = {"five_kou": ("extend", "show", "lift", "meld", "lock", "pong")}.get(wants.mode, ())
    order = {
        "pong": ("pong",),
        "lift": ("lift", "lock", "show"),
        "lock": ("lock", "show"),
        "dump": ("dump", "extend", "show"),
    }.get(wants.mode, keen)
    if wants.mode == "five_kou":
        legal = tuple(action for action in legal if not _spends_five(state, seat, action)) or legal
        by_verb = {verb: [action for action in actions if action in legal] for verb, actions in by_verb.items()}
    for verb in order:
        actions = by_verb.get(verb)
        if actions and rng.random() < 0.85:
            jokers = [action for action in actions if "J=" in str(action)]
            if wants.mode in ("lift", "dump") and verb in ("lift", "extend") and jokers:
                return rng.choice(jokers)
            plain = [action for action in actions if "J=" not in str(action)]
            if wants.mode == "lift" and verb == "lift":
                continue  # a group stays for the joker
            return rng.choice(plain or actions)
    rest = [action for action in legal if action.verb != "settle" or not rng.randrange(12)]
    return rng.choice(rest or list(legal))


def _five(state: AnyState, seat: Seat) -> bool:
    """整五 with 抠, if this seat settled now."""
    hand = state.game.hands[seat]
    return len(hand) == 1 and hand[0][1] == "5" and round_scores(state.game, seat, state.config.options)[1]


def _spends_five(state: AnyState, seat: Seat, action: Action) -> bool:
    """The last five of a hand stays in it."""
    fives = [card for card in state.game.hands[seat] if card[1] == "5"]
    return len(fives) == 1 and fives[0] in action.args


def _exact(state: AnyState, seat: Seat) -> bool:
    """Whether a total would be exactly the limit."""
    scores, _ = round_scores(state.game, seat, state.config.options)
    sums = zip(state.sheet.scores, scores, state.game.extras, strict=True)
    return any(total + score + extra == state.config.options.limit for total, score, extra in sums)


# ---- 红十 ----


def hongshi(state: AnyState, seat: Seat, wants: Wants, rng: Random, game: Game) -> Action:
    """Reveal, lead quads, beat them with the red pair, go out with what nobody beats."""
    legal = listed(state, seat, rng, game)
    if state.phase == "reveal":
        for action in legal:
            if action.verb == "lightning" and "lightning" in wants.missing:
                return action
            if action.verb == "show" and "lightning" not in wants.missing and "show" in wants.missing:
                return action
        keep = wants.mode == "red_pair" and rng.randrange(2)
        wanted = [action for action in legal if action.verb == "reveal" and len(action.args) == 1]
        return rng.choice(wanted) if wanted and not keep and rng.randrange(2) else PASS
    if state.phase != "play":
        return rng.choice(legal)
    if wants.mode == "red_pair":
        pair = Action("play", ("HT", "DT"))
        laid = [one for one in state.game.trick if one.cards]
        if laid and len(laid[-1].cards) == 4:
            return pair if pair in legal else PASS
        quads = [action for action in legal if len(action.args) == 4 and action.args[0][1] != "T"]
        if quads and not laid:
            return quads[0]
        legal = tuple(action for action in legal if not {"HT", "DT"} & set(action.args)) or legal
    played = [action for action in legal if action.verb == "play"]
    return rng.choice(played) if played and rng.randrange(3) else rng.choice(legal)


# ---- 五十K ----


def wushik(state: AnyState, seat: Seat, wants: Wants, rng: Random, game: Game) -> Action:
    """Announce, keep bombs for bombs, play what is wanted, else like the bots."""
    if state.phase == "show":
        legal = game.legal(state, seat)
        assert not isinstance(legal, TooMany)
        return legal[-1]
    if state.phase != "play":
        return rng.choice(listed(state, seat, rng, game))
    legal = listed(state, seat, rng, game)
    good = [action for action in legal if action.verb == "play" and _value(state, seat, action, wants, game)]
    if good and rng.random() < 0.8:
        return max(good, key=lambda action: (_value(state, seat, action, wants, game), rng.random()))
    if rng.randrange(3):
        return game.spec.greedy(state, seat, legal, rng.randrange)
    cheap = [action for action in legal if not _is_bomb(state, seat, action, game)]
    return rng.choice(cheap or list(legal))


def _combo(state: AnyState, seat: Seat, action: Action, game: Game) -> tuple[str, ...]:
    combo: tuple[str, ...] = game.phases["play"].decide(state, seat, action)[0].combo  # type: ignore[attr-defined]
    return combo


def _is_bomb(state: AnyState, seat: Seat, action: Action, game: Game) -> bool:
    return action.verb == "play" and _combo(state, seat, action, game)[0] in ("bomb", "jokers", "true")


def _value(state: AnyState, seat: Seat, action: Action, wants: Wants, game: Game) -> int:
    """How much of what is missing a play is."""
    from .specials import _wushik_play

    trick = state.game.trick
    combo = _combo(state, seat, action, game)
    if wants.mode == "out_capture" and len(state.game.hands[seat]) == len(action.args):
        return 5
    found = _wushik_play(combo, trick.combo if trick else ())
    if combo[0] == "bomb" and len(action.args) >= 6:
        found.add("announced_bomb")
    return 3 * (wants.mode in found) + len(found & wants.missing)


__all__ = ["ALL", "Lifted", "Locked", "Wants", "duizhu", "erbaiwu", "hand_value", "hongshi", "wushik"]
