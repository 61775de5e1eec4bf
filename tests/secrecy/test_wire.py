"""The bytes of every client's stream through a gateway: equal for twin deals, and blind to what others try.

Content, order, sizes, sequence numbers, times and deadlines at once, since the clock is in the test's hand. What the
engine and a table's audiences promise is tested with them (test_registry_leaks, test_audience); here, that nothing
between them and the client adds to it. When standing answers are given is in tests/services/test_windows.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import pytest

from kangtou_engine.actions import parse_action
from kangtou_engine.boards import match_chance
from kangtou_engine.cards import Seat
from kangtou_engine.chance import Chance
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import to_text
from kangtou_engine.game import TooMany
from kangtou_engine.match.events import Scored, Voided
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.registry import REGISTRY
from kangtou_services.agreement import Agreement
from tests.conftest import Counts
from tests.engine.test_registry_leaks import OtherDeal, Told, another, unseen
from tests.services.tables import agree, seed_of

from .wire import SPECTATOR, Step, on_the_wire, played, try_everything

pytestmark = pytest.mark.timeout(3_600)

KINDS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "hongshi": ("hongshi", {"cut": True}),
    "duizhu, one window": ("duizhu", {"windows": "end", "cut": False}),
    "duizhu, a window a card": ("duizhu", {"windows": "card", "cut": False}),
    "erbaiwu": ("erbaiwu", {"cut": False}),
    **{name: ("wushik", {"variant": name}) for name in ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")},
}
IN_CI = ("hongshi", "duizhu, one window", "erbaiwu", "jiangnan")


@dataclass
class Round:
    """One round, thought out: who does what until the cards are opened, and what happens."""

    game: Game
    agreement: Agreement
    chance: Chance
    script: list[Step]
    told: Told


def thought_out(name: str, options: Mapping[str, object], rng: Random, match: str) -> Round:
    """Random legal actions until the next one would end the round."""
    game = REGISTRY.game(name)
    agreement = agree(game, {"rounds": 1, **options}, match=match, turn_ms=3_600_000, window_ms=3_600_000)
    chance = match_chance(match, "", seed_of(match), (b"",) * agreement.seats)
    events, state = game.begin(game.config(agreement.options, agreement.seats), chance)
    told, script = Told(state, [events]), list[Step]()
    while True:
        seat = rng.choice(game.to_act(state))
        legal = game.legal(state, seat, 200)
        default = game.default(state, seat)
        action = default if isinstance(legal, TooMany) or not legal else rng.choice(legal)
        if name == "duizhu" and state.phase == "deal":
            action = default  # a declaration shows cards that could stay hidden
        events, state = game.step(state, seat, action, chance)
        if any(isinstance(event, (Scored, Voided)) for event in events):
            return Round(game, agreement, chance, script, told)
        script.append((seat, str(action)))
        told.events.append(events)


def alike(one: Round, twin: Chance, viewer: Seat | None) -> int:
    """How many steps of the script the viewer cannot tell from those with the other deal; -1: both are the same."""
    game = one.game
    config = game.config(one.agreement.options, one.agreement.seats)
    states: list[AnyState] = []
    said = []
    for chance in (one.chance, twin):
        events, state = game.begin(config, chance)
        states.append(state)
        said.append(([to_text(event.seen_by(viewer)) for event in events], game.view(state, viewer)))
    if said[0] != said[1]:
        return -1
    differ = states[0].game != states[1].game
    for number, (seat, text) in enumerate(one.script):
        said = []
        for at, chance in enumerate((one.chance, twin)):
            try:
                events, states[at] = game.step(states[at], seat, parse_action(text), chance)
            except IllegalAction:
                return number if differ else -1
            said.append(([to_text(event.seen_by(viewer)) for event in events], game.view(states[at], viewer)))
        if said[0] != said[1]:
            return number if differ else -1
        differ = differ or states[0].game != states[1].game
    return len(one.script) if differ else -1


def twin_of(one: Round, rng: Random, viewer: Seat | None) -> tuple[Chance, int]:
    """A deal in which cards that the viewer does not see lie elsewhere, and for how many steps it looks the same.

    In the whole round if there are such cards, else in three quarters of it, and so on.
    """
    pile = one.chance.shuffle(one.game.spec.pack(one.told.state.config), "pack", 1)
    best: tuple[Chance, int] = (one.chance, -1)
    for quarters in (4, 3, 2, 1):
        hidden = unseen(one.told, pile, range(len(one.told.events) * quarters // 4), viewer)
        for _ in range(10 if len(hidden) >= 2 else 0):
            twin = OtherDeal(one.chance, 1, another(rng, pile, hidden))
            if twin.pile != pile and (steps := alike(one, twin, viewer)) > best[1]:
                best = (twin, steps)
        if best[1] >= len(one.script) * quarters // 4:
            break
    return best


def kinds(counts: Counts) -> Sequence[str]:
    """Those of this run."""
    return list(KINDS)[: counts(0, 99)] or IN_CI


async def test_twin_deals_are_the_same_bytes_on_the_wire(counts: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    """Through actor, link and gateway, for a seat and for a spectator, as long as no difference is public."""
    steps = whole = told_apart = pairs = 0
    for name in kinds(counts):
        for number in range(counts(2, 20)):
            rng = Random(f"{name} {number}")
            one = thought_out(*KINDS[name], rng, f"w{number}")
            viewer: Seat | None = rng.choice([*range(one.agreement.seats), None])
            twin, length = twin_of(one, rng, viewer)
            if length < 0:
                continue
            script = one.script[:length]
            first, second = [await played(one.agreement, chance, script) for chance in (one.chance, twin)]
            for step, (seen, other) in enumerate(zip(first, second, strict=True)):
                assert seen[viewer] == other[viewer], f"{name} {number}: {viewer} can tell after step {step}"
            pairs += 1
            steps += len(first)
            whole += length == len(one.script)
            told_apart += any(first[-1][who] != second[-1][who] for who in first[0] if who != viewer)
    assert pairs >= len(kinds(counts))
    assert steps > 20 * pairs
    assert told_apart > pairs // 3  # those whose cards changed do see other bytes
    assert whole > 0  # to the last action before the cards are opened
    with capsys.disabled():
        print(
            f"\ntwins on the wire: {pairs} pairs, {steps} steps, {whole} rounds to their end, {told_apart} told apart"
        )


async def test_nobody_is_told_what_others_try(counts: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused attempts, lists of legal actions, checks and looks of the other seats do not change a byte."""
    steps = 0
    for name in kinds(counts):
        for number in range(counts(1, 3)):
            rng = Random(f"tries {name} {number}")
            one = thought_out(*KINDS[name], rng, f"n{number}")
            quiet = rng.randrange(one.agreement.seats)
            script = one.script[: counts(15, 10_000)]
            silent = await played(one.agreement, one.chance, script)
            loud = await played(one.agreement, one.chance, script, partial(try_everything, quiet=quiet))
            for step, (seen, other) in enumerate(zip(silent, loud, strict=True)):
                for who in (quiet, None):
                    assert seen[who] == other[who], f"{name} {number}: {who} is told of it in step {step}"
            noisy = (quiet + 1) % one.agreement.seats
            assert len(loud[-1][noisy]) > len(silent[-1][noisy])
            steps += len(silent)
    with capsys.disabled():
        print(f"\ntries of others: {steps} steps compared for a seat and a spectator")


async def test_a_difference_is_seen() -> None:
    """The same comparison finds one attempt that is told, one millisecond, and one number."""
    one = thought_out(*KINDS["hongshi"], Random(5), "m1")
    script = one.script[:3]
    plain = await played(one.agreement, one.chance, script)
    assert plain == await played(one.agreement, one.chance, script)

    async def late(wire: object, step: int) -> None:
        wire.clock[0] += step == 1  # type: ignore[attr-defined]

    found = await played(one.agreement, one.chance, script, late)
    assert [seen == other for seen, other in zip(plain, found, strict=True)] == [True, True, False, False]
    async with on_the_wire(one.agreement, one.chance) as wire:
        await wire.act(0, "nonsense", "c")
        assert wire.taps[0].raw != plain[0][0]
        assert wire.taps[1].raw == plain[0][1]
        assert SPECTATOR not in {wire.name(seat) for seat in range(4)}
