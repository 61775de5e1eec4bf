"""Whether a record is what it says: recomputes hashes, commitments, deals, events and result.

text         every hash, the chain, the order of entries                    record/read.py
commitments  the seed and the opened entropies are those committed to before the first deal
deals        every pack follows from seed and entropies (shuffle.py); needs no game
play         the engine of the record's rules version, run over the actions, causes the very same events
result       scores and places are those of the state at the end
board        the seed of a tournament's board follows from the tournament's, if that is given
receipt      the last hash is the one that a seat was given: catches a record that was rewritten as a whole
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .boards import board_seed, match_chance, match_commitment, read_board
from .errors import BadText, IllegalAction
from .events import Event, from_text, kinds, to_text
from .match.events import RoundBegan
from .match.match import AnyState, Game
from .match.state import OVER
from .notation import Step
from .record import Fault, Moment, Record, RecordFault, examine, moments_of
from .record.text import write_record
from .registry import Registry
from .replay import find_game
from .shuffle import SeededChance, entropy_commitment

MAX_FINDINGS = 50
_ROUND = kinds((RoundBegan,))


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, and the line of the record that shows it (0: none)."""

    line: int
    code: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(slots=True)
class Report:
    """What was looked at and found. `notes` are no faults; `rerun` is whether the engine could be run over it."""

    record: Record | None = None
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    entries: int = 0
    deals: int = 0
    actions: int = 0
    events: int = 0
    rerun: bool = False

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings

    def add(self, line: int, code: str, text: str) -> None:
        """One more finding, up to MAX_FINDINGS."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(line, code, text))


def verify(data: bytes | str, registry: Registry, receipt: str = "", tournament_seed: bytes = b"") -> Report:
    """Verify a record's text. Never raises for what a text can hold.

    receipt          what a seat kept, if there is one
    tournament_seed  32 bytes, once the tournament has published it: the seed of a board must follow from it
    """
    report = Report()
    try:
        record, faults = examine(data)
    except RecordFault as error:
        for fault in error.faults:
            _fault(report, fault)
        return report
    report.record, report.entries = record, len(record.entries)
    for fault in faults:
        _fault(report, fault)
    last = write_record(record).count("\n")
    if receipt and receipt.strip().lower() != record.receipt:
        report.add(last - 1, "receipt", "the record is not the one that this receipt was given for")
    moments = moments_of(record)
    _commitments(report, record, moments, last - 2)
    _board(report, record, tournament_seed, last - 2)
    if record.entropies is not None:
        terms = record.head.terms
        chance = match_chance(terms.match, terms.board, record.seed, record.entropies)
        _deals(report, moments, chance)
        _rerun(report, record, registry, moments, chance)
    report.findings.sort(key=lambda finding: finding.line)
    return report


def _fault(report: Report, fault: Fault) -> None:
    where = "" if fault.first == fault.last else f" (somewhere in lines {fault.first}-{fault.last})"
    report.add(fault.line, fault.code, fault.reason + where)


# ---- commitments ----


def _commitments(report: Report, record: Record, moments: Sequence[Moment], seed_line: int) -> None:
    terms = record.head.terms
    if match_commitment(terms.match, terms.board, record.seed) != terms.seed_commitment:
        report.add(seed_line, "commitment", "the seed is not the one that was committed to")
    line = next((moment.line for moment in moments if moment.begin), 0)
    for seat, (place, entropy) in enumerate(zip(terms.seats, record.entropies or (), strict=False)):
        if entropy and entropy_commitment(entropy) != place.commitment:
            report.add(line, "entropy", f"the entropy of seat {seat} is not the one that it committed to")
        elif place.commitment and not entropy:
            report.notes.append(f"seat {seat} did not open the entropy that it had committed to; it counted as empty")


def _board(report: Report, record: Record, tournament_seed: bytes, seed_line: int) -> None:
    """The packs of a board are the tournament's; without its seed it cannot be told whether they were chosen."""
    board = record.head.terms.board
    if not board:
        return
    try:
        tournament, number = read_board(board)
    except ValueError as error:
        report.add(0, "board", str(error))
        return
    if not tournament_seed:
        report.notes.append(f"played on board {board}: its seed is to be compared with the tournament's")
    elif record.seed != board_seed(tournament, tournament_seed, number):
        report.add(seed_line, "board", f"the seed of board {board} does not follow from the tournament's seed")


# ---- deals ----


def _deals(report: Report, moments: Sequence[Moment], chance: SeededChance) -> None:
    """Every pack, from its own cards: a shuffle starts from canonical order, so the order needs no game."""
    for line, text in _events(moments):
        if not text.startswith("round_began "):
            continue
        try:
            began = from_text(_ROUND, text)
        except BadText as error:
            report.add(line, "event", str(error))
            continue
        assert isinstance(began, RoundBegan)
        report.deals += 1
        pile = began.pile or ()
        try:
            right = chance.shuffle(pile, "pack", began.deals)
        except KeyError:
            report.add(line, "deal", f"round {began.round}: the pack holds what is no card")
            continue
        if right != pile:
            report.add(line, "deal", f"round {began.round}: the pack does not follow from seed and entropies")


def _events(moments: Sequence[Moment]) -> Iterator[tuple[int, str]]:
    for moment in moments:
        for place, event in enumerate(moment.events, 1):
            yield moment.line + place, event


# ---- play ----


def _rerun(report: Report, record: Record, registry: Registry, moments: Sequence[Moment], chance: SeededChance) -> None:
    terms = record.head.terms
    found = find_game(registry, record)
    if found is None or not found[1]:
        report.notes.append(
            f"{terms.game}@{terms.version} with these options is not known here: its actions were not run again; "
            "the record replays from its events"
        )
        return
    report.rerun = True
    rerun = _Rerun(report, found[0], chance)
    try:
        rerun.play(record, moments)
    except BadText as error:
        report.add(rerun.line, "event", f"{error.reason}; the rest was not run again")
        return
    except Exception as error:  # noqa: BLE001 - an edited record may lead the engine anywhere
        report.add(rerun.line, "event", f"the engine fails here ({type(error).__name__}); the rest was not run again")
        return
    rerun.result(record)


class _Rerun:
    """Runs the engine over the actions; after a difference it goes on from the recorded events."""

    def __init__(self, report: Report, game: Game, chance: SeededChance) -> None:
        self.report = report
        self.game = game
        self.chance = chance
        self.line = 0

    def play(self, record: Record, moments: Sequence[Moment]) -> None:
        config = self.game.config(record.head.terms.options, len(record.head.terms.seats))
        self.state = self.game.before(config)
        for moment in moments:
            self.line = moment.line
            if moment.begin:
                self._compare(moment, self.game.begin(config, self.chance))
            elif isinstance(moment.item, Step):
                self.report.actions += 1
                self._step(moment, moment.item)

    def _step(self, moment: Moment, step: Step) -> None:
        try:
            caused = self.game.step(self.state, step.seat, step.action, self.chance)
        except IllegalAction as error:
            who = "the table" if step.seat is None else f"seat {step.seat}"
            self.report.add(moment.line, "action", f"the rules refuse `{step.action}` of {who}: {error}")
            caused = None
        self._compare(moment, caused)

    def _compare(self, moment: Moment, caused: tuple[Sequence[Event], AnyState] | None) -> None:
        self.report.events += len(moment.events)
        said = tuple(map(to_text, caused[0])) if caused else None
        if caused is not None and said == moment.events:
            self.state = caused[1]
            return
        if said is not None:
            self._differs(moment, said)
        for place, text in enumerate(moment.events, 1):
            self.line = moment.line + place
            self.state = self.game.evolve(self.state, from_text(self.game.events, text))

    def _differs(self, moment: Moment, said: tuple[str, ...]) -> None:
        pairs = zip(said, moment.events, strict=False)
        place = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(said), len(moment.events)))
        right = said[place] if place < len(said) else "(nothing)"
        found = moment.events[place] if place < len(moment.events) else "(nothing)"
        line = moment.line + min(place + 1, max(len(moment.events), 1))
        text = f"the engine says `{_short(right)}`, the record `{_short(found)}`"
        self.report.add(line, "event", f"{self.game.spec.id} run again differs: {text}")

    def result(self, record: Record) -> None:
        """Scores and places of the header against the state at the end."""
        outcome, sheet = record.head.outcome, self.state.sheet
        if (outcome.cause == "rules") != (self.state.phase == OVER):
            self.report.add(self.line, "result", f"the match ended by `{outcome.cause}` in phase `{self.state.phase}`")
        if (outcome.scores, outcome.places) != (sheet.scores, sheet.places):
            self.report.add(0, "result", f"scores are {sheet.scores}, places {sheet.places}, says the engine")


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"
