"""Records for tests of pages: matches of two deals that look the same to one viewer, ended before they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from kangtou_engine.actions import parse_action
from kangtou_engine.cards import Seat
from kangtou_engine.chance import Chance
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, to_text
from kangtou_engine.match.events import Scored, Voided
from kangtou_engine.match.match import Game
from kangtou_engine.notation import CHAIN_START, Body, Left, Step, chain, write_body
from kangtou_engine.record import Place, Record, Terms, make_record
from tests.engine.tables import Table, chance_of
from tests.engine.test_registry_leaks import OtherDeal, Pair, Told, another, tell, unseen

CREATED_MS = 1_796_000_000_000


@dataclass(frozen=True, slots=True)
class Twins:
    """Two records that one viewer cannot tell apart; `deal` is the number of the deal in which they differ."""

    game: Game
    viewer: Seat | None
    records: tuple[Record, Record]
    deal: int


def record_of(game: Game, options: dict[str, object], seats: int, bodies: Sequence[Body], seed: bytes) -> Record:
    """A record of these entries, with everything in its header that may be there."""
    places = tuple(
        Place(f"acc{seat}", "human" if seat % 2 else "bot", seed.hex() if seat else "") for seat in range(seats)
    )
    terms = Terms(
        match="twins0001",
        game=game.spec.name,
        version=game.spec.version,
        options=options,
        seats=places,
        seed_commitment=seed.hex(),
        turn_ms=30_000,
        window_ms=0,
        created_ms=CREATED_MS,
    )
    rows, before = [], CHAIN_START
    for seq, body in enumerate(bodies, 1):
        text = write_body(body)
        before = chain(before, f"1-{seq}", text)
        rows.append((1, seq, before, text))
    return make_record(terms, rows, seed, "0.1.0")


def bodies_of(seats: int, steps: Sequence[tuple[Seat | None, str, tuple[Event, ...]]], entropy: str) -> Iterator[Body]:
    """Entries of a match that is abandoned after these steps; the first step is its beginning."""
    yield Body(CREATED_MS, claim="actor-1")
    for number, (seat, text, events) in enumerate(steps):
        time_ms = CREATED_MS + 700 * number
        lines = tuple(map(to_text, events))
        if number == 0:
            yield Body(time_ms, begin=(entropy,) * seats, events=lines)
        else:
            step = Step(seat, f"c{number}", number + 1, parse_action(text), lines)
            yield Body(time_ms, items=(step,))
    yield Body(CREATED_MS + 700 * len(steps), end="abandoned")


def twins(table: Table, seed: int) -> Twins | None:
    """A random match and its twin; None if this one offers none."""
    rng = Random(f"pages/{table}/{seed}")
    chance = chance_of(seed)
    told = tell(table, rng, chance)
    config = told.state.config
    rounds = told.rounds()
    deal = rng.choice(list(rounds))
    steps = rounds[deal][: rng.randint(1, len(rounds[deal]))]
    viewer: Seat | None = rng.choice((*range(config.seats), None))
    pile = chance.shuffle(table.game.spec.pack(config), "pack", deal)
    hidden = unseen(told, pile, steps, viewer)
    if len(hidden) < 2:
        return None
    other = OtherDeal(chance, deal, another(rng, pile, hidden))
    pair = list(_alike(table, told, (chance, other), deal, viewer, rng))
    options = {name: getattr(config.options, name) for name in ("rounds", *table.options)}
    made = []
    for one in (0, 1):
        told_steps = [(seat, text, events[one]) for seat, text, *events in pair]
        bodies = list(bodies_of(config.seats, told_steps, f"{one + 1}" * 32))
        made.append(record_of(table.game, options, config.seats, bodies, bytes([one + 7]) * 32))
    return Twins(table.game, viewer, (made[0], made[1]), deal)


_Step = tuple[Seat | None, str, tuple[Event, ...], tuple[Event, ...]]


def _alike(
    table: Table, told: Told, chances: tuple[Chance, Chance], deal: int, viewer: Seat | None, rng: Random
) -> Iterator[_Step]:
    """The steps of both matches as long as the viewer cannot tell them apart."""
    game = table.game
    one, two = (game.begin(told.state.config, chance) for chance in chances)
    pair = Pair(table, rng, viewer)
    seat, text = None, ""
    for next_seat, next_text in [*told.script, (None, "")]:
        ended = one[1].sheet.deals > deal or any(
            isinstance(event, (Scored, Voided)) and one[1].sheet.deals >= deal for event in one[0]
        )
        if ended or (one[1].sheet.deals == deal and not pair.alike(one[1], two[1])):
            return
        yield seat, text, one[0], two[0]
        if not next_text:
            return
        seat, text = next_seat, next_text
        one = game.step(one[1], seat, parse_action(text), chances[0])
        try:
            two = game.step(two[1], seat, parse_action(text), chances[1])
        except IllegalAction:
            return


def with_standing_answer(record: Record, game: Game, seat: Seat) -> Record:
    """The same record with a standing answer of one seat left in an entry of its own."""
    bodies = [entry.body for entry in record.entries]
    at = next(
        number for number, body in enumerate(bodies) if any(line.startswith("round_began ") for line in body.events)
    )
    left = Body(bodies[at].time_ms, items=(Left(seat, "s1", parse_action("pass")),))
    later = [replace(body, items=tuple(_later(item) for item in body.items)) for body in bodies[at + 1 :]]
    options = dict(record.head.terms.options)
    return record_of(game, options, len(record.head.terms.seats), [*bodies[: at + 1], left, *later], record.seed)


def _later(item: object) -> Step:
    """The same step, answering the same question: entries behind the new one have moved by one."""
    assert isinstance(item, Step)
    return replace(item, prompt=item.prompt + (item.prompt > 2))


__all__ = ["Twins", "bodies_of", "record_of", "twins", "with_standing_answer"]
