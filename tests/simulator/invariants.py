"""What must hold after a run, whatever went wrong in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kangtou_engine.actions import Action
from kangtou_engine.match.clocks import DELEGATE, RETAKE, Asked, Prompts
from kangtou_engine.notation import BY_STANDING, Body, Left, Note, Step, read_body
from kangtou_engine.record import make_record
from kangtou_engine.record.text import write_record
from kangtou_engine.verify import verify
from kangtou_services.agreement import HUMAN
from kangtou_services.archive.archiver import terms_of
from kangtou_services.log.base import Entry
from kangtou_services.table.core import Table
from kangtou_services.table.load import follow

from .world import MATCH, REGISTRY, World

SLACK_MS = 5  # rounding of clocks and timers
SOONEST_MS = 300  # of a person's standing answer
NOTICED_MS = 1_500  # an outage this long cannot go unnoticed


class Checked:
    """The log of a run, folded."""

    def __init__(self, world: World) -> None:
        self.world, self.journal = world, world.journal
        found = world.store.server.find(MATCH)
        self.entries: Sequence[Entry] = tuple(found.entries) if found is not None else ()
        game = REGISTRY.game(world.plan.game)
        self.table = Table(game, world.agreement, world.seed, lambda: 0)
        self.states: list[Any] = [self.table.state]
        self.prompts: list[Prompts] = [self.table.prompts]

    def all(self) -> None:
        """Every invariant."""
        self.world.neighbours.check(self.world.store.server)
        self._writers()
        if not self._folds():
            return
        self._commands()
        self._legal()
        self._views()
        self._standing()
        self._deadlines()
        self._entropies()
        self._endings()

    def _say(self, what: str) -> None:
        self.journal.violation(what)

    def _writers(self) -> None:
        """Dense, in order, one writer for each epoch, and nothing stored has vanished."""
        if [entry.seq for entry in self.entries] != list(range(1, len(self.entries) + 1)):
            self._say(f"sequence numbers {[entry.id for entry in self.entries]}")
        if [stored.entry for stored in self.world.store.stored] != list(self.entries):
            self._say("the log does not hold what was stored, in that order")
        writers: dict[int, str] = {}
        for stored in self.world.store.stored:
            first = writers.setdefault(stored.entry.epoch, stored.writer)
            if first != stored.writer:
                self._say(f"epoch {stored.entry.epoch} was written by {first} and {stored.writer}")

    def _folds(self) -> bool:
        """Chain, order and events, by the code that takes tables over."""
        for entry in self.entries:
            try:
                follow(self.table, entry)
            except Exception as error:  # noqa: BLE001 - whatever it is, the log is no match
                self._say(f"entry {entry.id} cannot be folded: {error!r}")
                return False
            self.states.append(self.table.state)
            self.prompts.append(self.table.prompts)
        return True

    def _commands(self) -> None:
        """Acknowledged: in the log exactly once, where the answer said. Refused: not in it."""
        held: dict[tuple[int, str], list[int]] = {}
        for entry in self.entries:
            for item in read_body(entry.body).items:
                if isinstance(item, Step) and item.seat is not None and item.command not in ("", "*"):
                    held.setdefault((item.seat, item.command), []).append(entry.seq)
                    self._answers_its_prompt(entry, item)
        for key, seq in self.journal.accepted.items():
            if seq and held.get(key, [seq] if self.journal.stored.get(key) == seq else []) != [seq]:
                self._say(f"command {key} was acknowledged in {seq}, the log has it in {held.get(key)}")
        for key, seqs in held.items():
            if len(seqs) > 1:
                self._say(f"command {key} is in entries {seqs}")
            if key in self.journal.refused:
                self._say(f"command {key} was refused {self.journal.refused[key]}, but is in entry {seqs}")

    def _answers_its_prompt(self, entry: Entry, step: Step) -> None:
        """A seat's action names the question that was open, or one that this very entry put."""
        asked = self.prompts[entry.seq - 1].asked[step.seat or 0]
        if asked is not None and step.prompt not in (asked.number, entry.seq):
            self._say(f"entry {entry.seq} takes an answer to prompt {step.prompt}, open was {asked.number}")

    def _legal(self) -> None:
        """The record verifies: hashes, commitments, deals, every action run again by the rules."""
        rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in self.entries]
        record = make_record(terms_of(self.world.agreement), rows, self.world.seed, "simulator")
        report = verify(write_record(record), REGISTRY)
        if not report.ok:
            self._say(f"the record does not verify: {report.findings[0]}")

    def _views(self) -> None:
        """Each client's views are the fold of the log at their sequence numbers."""
        game = self.table.game
        made: dict[tuple[int, int | None], Any] = {}
        for seen in self.journal.seen:
            for seq, view in seen.views:
                if seq >= len(self.states):
                    self._say(f"seat {seen.seat} was shown entry {seq}, the log ends with {len(self.entries)}")
                    continue
                key = seq, seen.seat
                if key not in made:
                    made[key] = game.view(self.states[seq], seen.seat)
                if made[key] != view:
                    self._say(f"the view of seat {seen.seat} at {seq} is not the fold of the log")
                    return

    def _endings(self) -> None:
        """All are told the same end."""
        for account, ending in self.journal.endings:
            if (ending.cause, ending.receipt) != (self.table.cause, self.table.receipt):
                self._say(f"{account} was told the end {ending.cause!r}, it was {self.table.cause!r}")

    # ---- standing answers ----

    def _standing(self) -> None:
        """What the table answers for a seat is what that seat has left; for people, not at once. Design §5."""
        left: dict[int, Action] = {}
        for entry in self.entries:
            body = read_body(entry.body)
            for item in body.items:
                if isinstance(item, Left):
                    left.pop(item.seat, None)
                    if item.action is not None:
                        left[item.seat] = item.action
                elif isinstance(item, Note) and item.word in (DELEGATE, RETAKE):
                    left.pop(int(item.key("seat")), None)
                elif isinstance(item, Step) and item.seat is not None and item.command == BY_STANDING:
                    self.journal.count("standing answer given")
                    if left.get(item.seat) != item.action:
                        self._say(f"entry {entry.seq} answers {item.action} for {item.seat}: {left.get(item.seat)}")
                    self._not_at_once(entry.seq, body, item.seat)

    def _not_at_once(self, seq: int, body: Body, seat: int) -> None:
        asked = self.prompts[seq - 1].given(body.given_ms).asked[seat]
        person = self.world.agreement.members[seat].kind == HUMAN
        plan = self.world.plan
        if asked is None or not person or plan.jumps or plan.log_fails or asked.deadline_ms <= body.time_ms:
            return
        self.journal.count("standing answer of a person timed")
        waited_ms = body.time_ms - read_body(self.entries[asked.number - 1].body).time_ms
        if waited_ms < SOONEST_MS:
            self._say(f"entry {seq} gives the standing answer of a person after {waited_ms} ms")

    # ---- clocks ----

    def _deadlines(self) -> None:
        """The clock plays for nobody before its time, and time in which no move could be taken does not count."""
        for entry in self.entries:
            body = read_body(entry.body)
            first = body.items[0] if body.items else None  # what stands behind it may be about a newer question
            if isinstance(first, Step) and first.action.verb == "timeout":
                seat, before = int(first.action.key("seat") or 0), self.prompts[entry.seq - 1].given(body.given_ms)
                asked = before.asked[seat]
                if asked is not None and not before.away(seat):
                    self._in_time(entry, seat, asked, body.time_ms)

    def _in_time(self, entry: Entry, seat: int, asked: Asked, time_ms: int) -> None:
        if time_ms < asked.deadline_ms:
            self._say(f"entry {entry.seq} timed seat {seat} out {asked.deadline_ms - time_ms} ms early")
        if self.world.plan.jumps:
            return
        put_ms = read_body(self.entries[asked.number - 1].body).time_ms
        took_ms = self.world.store.stored[entry.seq - 1].at_ms - put_ms
        owed_ms = self._time(asked, seat) + self._lost(put_ms, time_ms)
        if took_ms < owed_ms - SLACK_MS:
            self._say(f"entry {entry.seq} timed seat {seat} out after {took_ms} ms; it was owed {owed_ms} ms")

    def _time(self, asked: Asked, seat: int) -> int:
        """What a seat has for a question (ms): a turn's time, or a window's, in which a person may have less."""
        plan, game, state = self.world.plan, self.table.game, self.states[asked.number]
        short = game.spec.window_ms(state.config).get(state.phase, 0)
        several = len(game.to_act(state)) > 1
        if several:
            self.journal.count("timed out in a window")
        if not (several or short) and len(read_body(self.entries[asked.number - 1].body).items) < 2:
            return plan.turn_ms
        mine = short if self.world.agreement.members[seat].kind == HUMAN else 0
        window_ms = plan.window_ms or mine or plan.turn_ms
        return window_ms if several or short else min(plan.turn_ms, window_ms)

    def _entropies(self) -> None:
        """A match begins without what a seat has committed to only when it has waited for it. Design §3."""
        opened_ms = 0
        for entry in self.entries:
            body = read_body(entry.body)
            opened_ms = body.time_ms if body.claim is not None else opened_ms
            if body.begin is not None:
                committed = [bool(member.commitment) for member in self.world.agreement.members]
                missing = any(one and not opened for one, opened in zip(committed, body.begin, strict=True))
                waited_ms = body.time_ms - opened_ms
                if missing and waited_ms < self.world.agreement.open_wait_ms and not self.world.plan.jumps:
                    self._say(f"the match began without an entropy after {waited_ms} ms")

    def _lost(self, since_ms: int, until_ms: int) -> int:
        """How long no move could be taken in that time: the store was away, or the owner was dead."""
        spans = [span for span in self.world.store.outages if span[1] - span[0] >= NOTICED_MS]
        spans += self.world.ownerless
        total, end = 0, since_ms
        for begin, over in sorted(spans):
            begin, over = max(begin, end), min(over, until_ms)
            if over > begin:
                total, end = total + over - begin, over
        return total
