"""The table: takes commands, decides, drafts the next log entry, and moves on once that is durable.

    submit(command) …        queue what arrived
    draft(now)               what can be decided now, as an entry to append; at most one is out
    commit(draft)            the log has it: the state moves on
    discard(draft)           the log does not have it: its commands wait again

It does no IO and reads no clock, so that a simulator can run it as it is. An entry may hold several accepted
actions. A refusal is never stored. (Design §1, §4)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from kangtou.v1 import play_pb2 as play
from kangtou_engine.actions import Action
from kangtou_engine.boards import match_chance
from kangtou_engine.cards import Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, to_text
from kangtou_engine.match.clocks import LAG, Prompts, ledger_note
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import OVER
from kangtou_engine.notation import BY_STANDING, CHAIN_START, Body, Left, Note, Step, chain, valid_id, write_body
from kangtou_engine.shuffle import ENTROPY_MAX, entropy_commitment

from ..agreement import BOT, Agreement
from ..log.base import Entry
from . import beginning, orders
from .commands import TABLE, Command, accepted, canonical, platform_refusal, refused, refused_by
from .draft import Draft
from .standing import Moments, Standing, kept
from .substitutes import Substitutes, clock_of

MAX_QUEUE = 256  # commands waiting at one table
MAX_STEPS = 512  # accepted actions in one entry
Done = tuple[str, int]  # content, seq


class Table:
    """One match in play. Only its owner calls it, from one thread."""

    def __init__(self, game: Game, agreement: Agreement, seed: bytes, delay_ms: Callable[[], int]) -> None:
        self.game = game
        self.agreement = agreement
        self.config = game.config(agreement.options, agreement.seats)
        self.clock = clock_of(game, agreement, self.config)
        self.substitutes = Substitutes(self.clock, agreement.substitute_ms)
        self.opened_ms = agreement.created_ms  # seats can open their entropies since
        self._seed = seed
        self._moments = Moments(delay_ms)
        self.state: AnyState = game.before(self.config)
        self.prompts = Prompts((None,) * self.config.seats, None, self.clock.ledger(self.config.seats))
        self.entropies: dict[Seat, bytes] = {}
        self.chance = match_chance(agreement.match_id, agreement.board, seed, ())
        self.attended: set[Seat] = set()  # seats whose owners have been here; a board begins when all have, or late
        self.begun = False
        self.cause = ""
        self.receipt = ""
        self.epoch = 0
        self.tail: Entry | None = None
        self.done: dict[tuple[Seat, str], Done] = {}
        self.standing: dict[Seat, Standing] = {}
        self._given_ms = 0
        self._queue: deque[Command] = deque()
        self._out: Draft | None = None
        self.history: list[tuple[int, int, tuple[Event, ...]]] = []  # of the round in play
        self.moves = 0

    def __repr__(self) -> str:
        return f"<Table {self.agreement.match_id} seq={self.seq}>"  # never the state

    def again(self) -> Table:
        """The same match before its first entry."""
        return Table(self.game, self.agreement, self._seed, self._moments.delay_ms)

    @property
    def seq(self) -> int:
        """The sequence number of the last entry, 0 before the first."""
        return self.tail.seq if self.tail else 0

    @property
    def over(self) -> bool:
        """Whether the match has ended, by its rules or otherwise."""
        return bool(self.cause)

    @property
    def busy(self) -> bool:
        """Whether a draft is out."""
        return self._out is not None

    @property
    def waiting(self) -> int:
        """Commands that wait."""
        return len(self._queue)

    # ---- what arrives ----

    def submit(self, command: Command) -> play.Answer | None:
        """Queue a command; an answer at once only if it cannot be queued."""
        if len(self._queue) >= MAX_QUEUE:
            return refused(command.command_id, platform_refusal("too_many_waiting"))
        if command.lag_ms and not command.delegate:
            self.substitutes.lag_ms[command.seat] = command.lag_ms
        self._queue.append(command)
        return None

    def first_answer(self, command: Command) -> play.Answer | None:
        """The answer that a command got before, if it is one that the log holds."""
        done = self.done.get((command.seat, command.command_id))
        if done is None:
            return None
        try:
            content = canonical(self.game, command).content
        except IllegalAction:
            content = ""
        return self._again(command, done, content)

    def pending(self, command: Command) -> bool:
        """Whether a command with its id waits here, or is in the draft that is out."""
        waiting = [*self._queue, *(self._out.commands if self._out else ())]
        return any((one.seat, one.command_id) == (command.seat, command.command_id) for one in waiting)

    def open_entropy(self, seat: Seat, entropy: bytes) -> None:
        """A seat opens what it committed to; what does not fit its commitment counts as missing. Design §3."""
        dealt = self._out is not None and self._out.begin is not None
        if self.begun or dealt or seat in self.entropies or not entropy or len(entropy) > ENTROPY_MAX:
            return
        if entropy_commitment(entropy) == self.agreement.members[seat].commitment:
            self.entropies[seat] = entropy

    def drain(self) -> list[Command]:
        """Take back all commands that wait (the table stops or cannot store)."""
        waiting = list(self._queue)
        self._queue.clear()
        return waiting

    # ---- drafting ----

    def draft(self, now_ms: int) -> tuple[Draft | None, list[tuple[Command, play.Answer]]]:
        """Decide what waits. Returns an entry to append, if there is one, and answers that need no entry."""
        if self._out is not None:
            return None, []
        draft = Draft(now_ms, self.state, self.prompts, dict(self.standing))
        try:
            self._fill(draft)
        except Exception:
            self._requeue(draft)  # the game's fault; whoever drains the table answers them
            raise
        if draft.empty:
            return None, draft.answers
        self._seal(draft)
        return draft, []

    def _fill(self, draft: Draft) -> None:
        if not self.begun and not self.over and beginning.may_begin(self, draft.time_ms):
            beginning.begin(self, draft, self._seed)
            self._asked(draft, ())
        while self._queue and len(draft.items) < MAX_STEPS and not draft.end:
            self._decide(draft, self._queue[0])
            self._queue.popleft()
        if self.over or not (self.begun or draft.begin is not None):
            return
        self._apply_standing(draft)
        self._time_outs(draft)
        self._apply_standing(draft)

    def give_back(self, ms: int) -> None:
        """Time in which no move could be taken: deadlines move, the next entry records it. Design §4."""
        self.prompts = self.prompts.given(ms)
        self.opened_ms += ms
        self._given_ms += ms

    def claim(self, now_ms: int, owner: str) -> Draft:
        """The marker with which an owner takes the table over; nothing else is decided in it."""
        draft = Draft(now_ms, self.state, self.prompts, dict(self.standing), claim=owner)
        self.opened_ms = now_ms
        self.epoch += 1
        self._seal(draft)
        return draft

    def close(self, now_ms: int, cause: str) -> Draft | None:
        """End the match outside the rules (abandoned, operator, forfeit, faulted). None if a draft is out."""
        if self._out is not None or self.over:
            return None
        draft = Draft(now_ms, self.state, self.prompts, dict(self.standing), end=cause)
        self._seal(draft)
        return draft

    def _seal(self, draft: Draft) -> None:
        draft.given_ms = self._given_ms
        seq = self.seq + 1
        rounds = self.tail.rounds if self.tail else ()
        if any(type(event) is RoundBegan for event in draft.events):
            rounds = (seq, *rounds[:1])
            left = sorted(draft.standing.items())  # said again, so that a loader need not read further back
            draft.items += [Left(seat, BY_STANDING, one.action, one.until) for seat, one in left]
        events = tuple(map(to_text, draft.events)) if draft.begin is not None else ()
        body = write_body(
            Body(
                draft.time_ms,
                self._given_ms,
                claim=draft.claim,
                begin=draft.begin,
                events=events,
                items=tuple(draft.items),
                end=draft.end,
            )
        )
        previous = self.tail.chain if self.tail else CHAIN_START
        entry_id = f"{self.epoch}-{seq}"
        draft.entry = Entry(self.epoch, seq, body, chain(previous, entry_id, body), rounds)
        self._out = draft

    def _asked(self, draft: Draft, acted: Sequence[Seat]) -> None:
        draft.prompts = draft.prompts.after(
            self.game,
            draft.state,
            acted,
            seq=self.seq + 1,
            time_ms=draft.time_ms,
            clock=self.clock,
        )
        draft.standing = kept(self.game, draft.state, draft.standing)
        if draft.state.phase == OVER:
            draft.end = "rules"

    def _decide(self, draft: Draft, command: Command) -> None:
        try:
            command = canonical(self.game, command)
        except IllegalAction as error:
            draft.answers.append((command, refused_by(self.game, command.command_id[:64], error)))
            return
        answer = self._answer(draft, command)
        if answer is None:
            draft.commands.append(command)
            answer = accepted(command.command_id, self.seq + 1)
        draft.answers.append((command, answer))

    def _answer(self, draft: Draft, command: Command) -> play.Answer | None:
        """Take a command into the draft (None), or say why not. A repeat gets its first answer."""
        key = (command.seat, command.command_id)
        if not valid_id(command.command_id):
            return refused(command.command_id[:64], platform_refusal("bad_id"))
        first = self.done.get(key) or self._in_draft(draft, command)
        if first is not None:
            return self._again(command, first, command.content)
        if self.over:
            return refused(command.command_id, platform_refusal("match_over"))
        if not self.begun and draft.begin is None:
            return refused(command.command_id, platform_refusal("not_begun"))
        if command.seat == TABLE:
            return orders.award(self, draft, command)
        if command.order:
            return orders.order(self, draft, command)
        ledger = draft.prompts.ledger
        if command.delegate if ledger is None else command.delegate is not bool(ledger.away[command.seat]):
            code = "seat_taken_back" if command.delegate else "seat_delegated"
            return refused(command.command_id, platform_refusal(code))
        if command.standing:
            return orders.leave(self, draft, command)
        asked = draft.prompts.asked[command.seat]
        if asked is not None and asked.number != command.prompt:
            return refused(command.command_id, platform_refusal("stale_prompt"))
        assert command.action is not None
        try:
            lag_ms = self.substitutes.owed(draft.prompts, command, draft.time_ms) if command.lag_ms else 0
            self.take(draft, command.seat, command.command_id, command.prompt, command.action, lag_ms)
        except IllegalAction as error:
            return refused_by(self.game, command.command_id, error)
        return None

    def _again(self, command: Command, first: Done, content: str) -> play.Answer:
        if first[0] != content:
            return refused(command.command_id, platform_refusal("id_reused"))
        return accepted(command.command_id, first[1])

    def _in_draft(self, draft: Draft, command: Command) -> Done | None:
        for earlier in draft.commands:
            if (earlier.seat, earlier.command_id) == (command.seat, command.command_id):
                return (earlier.content, self.seq + 1)
        return None

    def take(
        self, draft: Draft, seat: Seat | None, command_id: str, prompt: int, action: Action, lag_ms: int = 0
    ) -> None:
        """Into a draft: one action of a seat, or of the table (None), if the rules let it be. Raises IllegalAction."""
        events, state = self.game.step(draft.state, seat, action, self.chance)
        step = Step(seat, command_id, prompt, action, tuple(map(to_text, events)))
        if lag_ms:
            draft.items.append(Note(LAG, (("seat", str(seat)), ("ms", str(lag_ms)))))
        draft.items.append(step)
        draft.events += events
        draft.state = state
        if draft.prompts.ledger is not None:
            draft.prompts = draft.prompts.acts(step, draft.time_ms, lag_ms, self.clock)
            if any(type(event) is RoundBegan for event in events) and draft.prompts.ledger is not None:
                draft.items.append(ledger_note(draft.prompts.ledger))  # a loader need not read further back
        self._asked(draft, step.acted)

    def _time_outs(self, draft: Draft) -> None:
        for seat in self.substitutes.due(draft.prompts, draft.time_ms):
            asked = draft.prompts.asked[seat]
            if asked is None or draft.end or self.substitutes.at(draft.prompts, seat, draft.time_ms) > draft.time_ms:
                continue
            self.take(draft, None, "", 0, Action("timeout", keys=(("seat", str(seat)),)))
            draft.late.append(seat)
            orders.timed_out(self, draft, seat)

    # ---- standing answers (design §5, "Windows") ----

    def _apply_standing(self, draft: Draft) -> None:
        while draft.standing and not draft.end and len(draft.items) < MAX_STEPS:
            seat = next((s for s in self.game.to_act(draft.state) if self._applies(draft, s)), None)
            if seat is None:
                return
            asked = draft.prompts.asked[seat]
            assert asked is not None
            self.take(draft, seat, BY_STANDING, asked.number, draft.standing[seat].action)

    def _applies(self, draft: Draft, seat: Seat) -> bool:
        standing, asked = draft.standing.get(seat), draft.prompts.asked[seat]
        if standing is None or asked is None or not standing.fits(self.game, draft.state, seat):
            return False
        if self.agreement.members[seat].kind == BOT or asked.deadline_ms <= draft.time_ms:
            return True
        return self._moments.of(seat, asked.number, draft.time_ms) <= draft.time_ms

    # ---- after the append ----

    def commit(self, draft: Draft) -> None:
        """The log has the draft's entry: adopt it."""
        assert draft.entry is not None
        self._out = None
        for command in draft.commands:
            self.done[command.seat, command.command_id] = (command.content, draft.entry.seq)
        self.adopt(draft.entry, draft.time_ms, draft.state, draft.prompts, tuple(draft.events))
        self.standing = draft.standing
        self._given_ms -= draft.given_ms  # what was given back meanwhile is for the next entry
        self.prompts = self.prompts.given(self._given_ms)
        if draft.begin is not None:
            self.begun = True
        if draft.end is not None:
            self.cause, self.receipt = draft.end, draft.entry.chain
        self.moves += len(draft.items)

    def adopt(self, entry: Entry, time_ms: int, state: AnyState, prompts: Prompts, events: tuple[Event, ...]) -> None:
        """Move on to what an entry says: the same for a commit and for a load."""
        if any(type(event) is RoundBegan for event in events):
            self.history.clear()
            self.done = {key: done for key, done in self.done.items() if done[1] >= entry.rounds[-1]}
        self.history.append((entry.seq, time_ms, events))
        self.tail, self.state, self.prompts = entry, state, prompts
        self.epoch = entry.epoch

    def discard(self, draft: Draft) -> None:
        """The log does not have the draft's entry: what it took waits again, in order."""
        self._out = None
        if draft.claim is not None:
            self.epoch -= 1
        self._requeue(draft)

    def _requeue(self, draft: Draft) -> None:
        self._queue.extendleft(command for command, _ in reversed(draft.answers))

    def wake_at(self) -> int | None:
        """When `draft` should be called again though nothing arrives, in Unix ms."""
        if self.over:
            return None
        if not self.begun:
            return self.opened_ms + self.agreement.open_wait_ms
        asked = self.prompts.asked
        times = self._moments.due({seat: one.number for seat in self.standing if (one := asked[seat]) is not None})
        deadline = self.substitutes.next(self.prompts)
        if deadline is not None:
            times.append(deadline)
        return min(times, default=None)

    def reveal_seed(self) -> bytes:
        """The seed, once the match is over. Raises RuntimeError before: nothing may leave it earlier."""
        if not self.over:
            raise RuntimeError("the match is not over")
        return self._seed
