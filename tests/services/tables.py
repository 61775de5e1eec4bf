"""A table with its log in memory and its clock in hand, for tests without an event loop."""

from __future__ import annotations

import hashlib
from collections.abc import Coroutine, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from kangtou.v1 import play_pb2 as play
from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import Seat
from kangtou_engine.game import TooMany
from kangtou_engine.games import hongshi
from kangtou_engine.match.match import Game
from kangtou_engine.shuffle import entropy_commitment, seed_commitment
from kangtou_services.agreement import Agreement, Member
from kangtou_services.log.base import Entry
from kangtou_services.log.memory import MemoryLog
from kangtou_services.table.commands import Command
from kangtou_services.table.core import Table
from kangtou_services.table.draft import Draft
from kangtou_services.table.load import entries_to_load, load
from tests.games import parrot

T = TypeVar("T")

PARROT, HONGSHI = Game(parrot.GAME), Game(hongshi.GAME)
PLAIN = {"cut": False, "between": False}  # Hongshi without its other phases: reveal and play
CREATED_MS = 1_000_000
TURN_MS, WINDOW_MS, DELAY_MS = 10_000, 20_000, 700


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing but its turn."""
    try:
        while True:
            work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def seed_of(match: str) -> bytes:
    """A seed that follows from the match's id."""
    return hashlib.sha256(match.encode()).digest()


def agree(
    game: Game,
    options: Mapping[str, object] | None = None,
    *,
    match: str = "m1",
    seats: int | None = None,
    people: Sequence[Seat] = (),
    entropies: Mapping[Seat, bytes] | None = None,
    **more: Any,
) -> Agreement:
    """An agreement between bots a0, a1 …; `people` are seats of persons, `entropies` what seats commit to."""
    config = game.config(options or {}, seats)
    committed = {seat: entropy_commitment(entropy) for seat, entropy in (entropies or {}).items()}
    members = tuple(
        Member(f"a{seat}", f"Name {seat}", "human" if seat in people else "bot", committed.get(seat, ""))
        for seat in range(config.seats)
    )
    given = {"created_ms": CREATED_MS, "turn_ms": TURN_MS, "window_ms": WINDOW_MS, **more}
    return Agreement(
        match_id=match,
        game=game.spec.name,
        version=game.spec.version,
        seats=config.seats,
        options=dict(options or {}),
        members=members,
        seed_commitment=seed_commitment(match, seed_of(match)),
        **given,
    )


class Played:
    """One match: its table, its log, the time. `claim` is done; what else happens is the test's."""

    def __init__(self, game: Game, agreement: Agreement, log: MemoryLog | None = None) -> None:
        self.game = game
        self.agreement = agreement
        self.log = log or MemoryLog()
        self.now = agreement.created_ms
        self.ids = 0
        self.drafts: list[Draft] = []
        self.table = self.fresh()
        self.claim()

    @classmethod
    def begun(cls, game: Game, options: Mapping[str, object] | None = None, **more: Any) -> Played:
        """A match whose first entry with cards is written."""
        played = cls(game, agree(game, options, **more))
        assert played.write() is not None
        assert played.table.begun
        return played

    # ---- owners ----

    def fresh(self) -> Table:
        """A table that knows nothing yet."""
        return Table(self.game, self.agreement, seed_of(self.agreement.match_id), lambda: DELAY_MS)

    @property
    def match(self) -> str:
        """The match's id."""
        return self.agreement.match_id

    @property
    def entries(self) -> list[Entry]:
        """The log."""
        return run(self.log.read(self.match))

    def claim(self, owner: str = "actor") -> None:
        """The table's marker entry."""
        tail = self.table.tail
        draft = self.table.claim(self.now, owner)
        assert draft.entry is not None
        assert run(self.log.claim(self.match, owner, tail, draft.entry))
        self.table.commit(draft)

    def loaded(self, entries: Sequence[Entry] | None = None) -> Table:
        """What another owner would load."""
        table = self.fresh()
        load(table, run(entries_to_load(self.log, self.match)) if entries is None else entries)
        return table

    def take_over(self, given_ms: int = 0) -> None:
        """Another owner goes on."""
        self.table = self.loaded()
        self.table.give_back(given_ms)
        self.claim(f"actor-{self.table.epoch}")

    # ---- what happens ----

    def write(self) -> Draft | None:
        """Decide what waits and store it; None if there was nothing to store."""
        draft, _ = self.decide()
        return draft

    def decide(self) -> tuple[Draft | None, dict[str, play.Answer]]:
        """The same with all answers by command id (the last of each)."""
        draft, early = self.table.draft(self.now)
        answers = list(early)
        if draft is not None:
            assert draft.entry is not None
            run(self.log.append(self.match, draft.entry))
            self.table.commit(draft)
            self.drafts.append(draft)
            answers += draft.answers
        return draft, {command.command_id: answer for command, answer in answers}

    def write_draft(self, draft: Draft) -> None:
        """Store a draft that the test had made."""
        assert draft.entry is not None
        run(self.log.append(self.match, draft.entry))
        self.table.commit(draft)
        self.drafts.append(draft)

    def command(self, seat: Seat, text: str, command_id: str = "", prompt: int | None = None) -> Command:
        """A command of a seat, by default a new one to the prompt that it has."""
        asked = self.table.prompts.asked[seat]
        self.ids += 1
        number = prompt if prompt is not None else asked.number if asked else 0
        return Command(seat, command_id or f"c{self.ids}", number, parse_action(text))

    def send(self, seat: Seat, text: str, command_id: str = "", prompt: int | None = None) -> play.Answer:
        """One command on its own, and its answer."""
        return self.submit(self.command(seat, text, command_id, prompt))

    def leave(self, seat: Seat, text: str | None, until: str = "", command_id: str = "") -> play.Answer:
        """A standing answer (None: revoke)."""
        self.ids += 1
        action = parse_action(text) if text else None
        return self.submit(Command(seat, command_id or f"s{self.ids}", 0, action, None, True, until))

    def submit(self, command: Command) -> play.Answer:
        """Decide with it."""
        early = self.table.submit(command)
        return early or self.decide()[1][command.command_id]

    def number(self, seat: Seat) -> int:
        """The number of a seat's prompt, 0 if it is not asked."""
        asked = self.table.prompts.asked[seat]
        return asked.number if asked else 0

    def deadline(self, seat: Seat) -> int:
        """When a seat's time runs out."""
        asked = self.table.prompts.asked[seat]
        assert asked is not None
        return asked.deadline_ms

    def legal(self, seat: Seat) -> list[str]:
        """Its legal actions, the default first."""
        legal = self.game.legal(self.table.state, seat, 200)
        default = str(self.game.default(self.table.state, seat))
        return [default, *([] if isinstance(legal, TooMany) else map(str, legal))]

    def turn(self) -> Seat:
        """The seat whose turn it is."""
        return self.game.to_act(self.table.state)[0]

    def play_on(self, rng: Random, entries: int = 1_000_000) -> None:
        """Random legal actions, an entry each, as long as the match lasts."""
        while entries and not self.table.over:
            entries -= 1
            self.now += rng.randrange(1, 900)
            seat = rng.choice(self.game.to_act(self.table.state))
            assert self.send(seat, rng.choice(self.legal(seat))).HasField("accepted")


def code_of(answer: play.Answer) -> str:
    """`accepted`, or the code of the refusal."""
    return "accepted" if answer.HasField("accepted") else answer.refused.code


def same(one: Table, two: Table) -> None:
    """Both have come to the same."""
    assert two.state == one.state
    assert two.prompts == one.prompts
    assert two.done == one.done
    assert two.standing == one.standing
    assert two.tail == one.tail
    assert (two.epoch, two.begun, two.cause, two.receipt) == (one.epoch, one.begun, one.cause, one.receipt)
    assert not one.begun or two.entropies == one.entropies  # before, they are not in the log
    assert two.history == one.history
    pack = one.game.spec.pack(one.config)
    assert two.chance.shuffle(pack, "pack", 7) == one.chance.shuffle(pack, "pack", 7)


def action(text: str) -> Action:
    """Short."""
    return parse_action(text)
