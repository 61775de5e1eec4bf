"""A match that goes on from a place in a record, with others at the seats.

The fork is the same match as far as all chance goes: same id, seed, commitments and opened entropies, so later packs
are those of the record and whoever checks the shuffle finds it in order. Its log begins with the record's entries up to
the place, the entry there cut behind the moment if it must be; then a claim gives the clocks the time that has passed
since. Other accounts sit there, rated it is not, and it lives on a server of its own: a record of the same id may lie
where the first one came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kangtou_engine.match.clocks import DELEGATE, RETAKE
from kangtou_engine.match.state import OVER
from kangtou_engine.notation import CHAIN_START, Body, Item, Left, Note, chain, read_body, write_body
from kangtou_engine.record import Record
from kangtou_engine.registry import Registry
from kangtou_engine.replay import Replay, find_game

from .agreement import Agreement, Member
from .log.base import Entry, EventLog, MatchStore

OWNER = "fork"  # of the log until a table host takes it over: no actor has that id
_ROUND = "round_began "


class CannotFork(Exception):
    """There is nothing to go on with. `code`: not_here (rules version), not_begun, over."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Fork:
    """What a server needs to go on: the agreement, the seed, the log so far."""

    agreement: Agreement
    seed: bytes = field(repr=False)
    entries: tuple[Entry, ...]


def fork(
    registry: Registry, record: Record, position: int, members: Sequence[Member], now_ms: int, turn_ms: int
) -> Fork:
    """From a position of a record (how many moments have happened; the deal before it at least). Raises CannotFork.

    `members` sit there now, by seat; their commitments are those of the record whatever they say. All clocks are
    `turn_ms`, without banks.
    """
    found = find_game(registry, record)
    if found is None or not found[1]:
        raise CannotFork("not_here", "the rules version of this record is not here: nothing can be played by it")
    replay = Replay(found[0], record)
    if not any(moment.begin for moment in replay.moments):
        raise CannotFork("not_begun", "this match ended before it began")
    begun = next(moment.number for moment in replay.moments if moment.begin) + 1
    place = min(max(position, begun), sum(not moment.cause for moment in replay.moments))
    if replay.state(place).phase == OVER:
        raise CannotFork("over", "the match is over at this place")
    entries = _until(record, replay, place)
    return Fork(_agreement(record, members, turn_ms), record.seed, (*entries, *_handover(entries, now_ms)))


def _agreement(record: Record, members: Sequence[Member], turn_ms: int) -> Agreement:
    terms = record.head.terms
    seats = zip(members, terms.seats, strict=True)
    return Agreement(
        match_id=terms.match,
        game=terms.game,
        version=terms.version,
        seats=len(terms.seats),
        options=dict(terms.options),
        members=tuple(replace(member, commitment=place.commitment) for member, place in seats),
        seed_commitment=terms.seed_commitment,
        created_ms=terms.created_ms,
        turn_ms=turn_ms,
        window_ms=turn_ms,
        board=terms.board,
        tags={**terms.tags, "fork": "yes"},
        late_most=0,
    )


def _until(record: Record, replay: Replay, place: int) -> tuple[Entry, ...]:
    """The record's entries up to a place; none of them ends the match."""
    last = replay.moments[place - 1]
    within = sum(moment.seq == last.seq for moment in replay.moments[:place])
    found: list[Entry] = []
    before = CHAIN_START
    rounds: tuple[int, ...] = ()
    for line in record.entries:
        text = line.text if line.seq < last.seq else write_body(_cut(read_body(line.text), within))
        if f"\n{_ROUND}" in text:
            rounds = (line.seq, *rounds[:1])
        before = chain(before, line.id, text)
        found.append(Entry(line.epoch, line.seq, text, before, rounds))
        if line.seq == last.seq:
            break
    return tuple(found)


def _cut(body: Body, moments: int) -> Body:
    """The first moments of an entry: its beginning, then its items."""
    items = moments - (body.begin is not None)
    return replace(body, items=body.items[:items], end=None)


def _handover(entries: Sequence[Entry], now_ms: int) -> list[Entry]:
    """The fork begins: time is given back; no standing answer of those who sat there goes on, and no substitute."""
    last = entries[-1]
    given_ms = max(0, now_ms - read_body(last.body).time_ms)
    claim = _next(last, last.epoch + 1, Body(now_ms, given_ms, claim=OWNER))
    ended = _ended(entries)
    return [claim, _next(claim, claim.epoch, Body(now_ms, items=ended))] if ended else [claim]


def _next(last: Entry, epoch: int, body: Body) -> Entry:
    text, seq = write_body(body), last.seq + 1
    return Entry(epoch, seq, text, chain(last.chain, f"{epoch}-{seq}", text), last.rounds)


def _ended(entries: Sequence[Entry]) -> tuple[Item, ...]:
    """What takes back standing answers and substitutes that there are."""
    left: dict[int, bool] = {}
    away: dict[int, bool] = {}
    for item in (item for entry in entries for item in read_body(entry.body).items):
        if isinstance(item, Left):
            left[item.seat] = item.action is not None
        elif isinstance(item, Note) and item.word in (DELEGATE, RETAKE):
            away[int(item.key("seat"))] = item.word == DELEGATE
    revoked = [Left(seat, f"fork-{seat}", None) for seat, stands in sorted(left.items()) if stands]
    taken = [Note(RETAKE, (("seat", str(seat)),)) for seat, gone in sorted(away.items()) if gone]
    return (*revoked, *taken)


async def store(made: Fork, log: EventLog, matches: MatchStore) -> None:
    """Make it a live match of this server. Raises LogUnavailable."""
    match = made.agreement.match_id
    await matches.create(match, made.agreement.to_json(), made.seed)
    tail: Entry | None = None
    for entry in made.entries:
        if tail is None or entry.epoch > tail.epoch:
            await log.claim(match, OWNER, tail, entry)
        else:
            await log.append(match, entry)
        tail = entry
