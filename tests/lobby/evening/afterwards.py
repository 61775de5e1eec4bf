"""What must be true when the evening is over. Everything is made anew from the records, which the server gives out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from openskill.models import BradleyTerryFull

from kangtou_clients.api import Ending
from kangtou_clients.api.archive import Archive
from kangtou_clients.api.people import People
from kangtou_engine.company import open_view
from kangtou_engine.notation import Note
from kangtou_engine.record import Record, canonical_text, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import Replay, find_game
from kangtou_engine.verify import verify
from kangtou_services.ratings import RatingStore
from kangtou_services.ratings.rebuild import check

from ...contract.rooms import eventually
from .ledger import Ledger
from .people import HANDS_UP_MOST, Person
from .tables import ANY_STATE

Ladder = tuple[str, str]


async def records(people: Sequence[Person], ledger: Ledger) -> dict[str, Record]:
    """Of every match: verified with every seat's receipt, in canonical form, of who sat there, with what was told."""
    found: dict[str, Record] = {}
    for match_id, seats in ledger.seats.items():
        text = await eventually(lambda m=match_id: Archive(people[0].client).text(m), bool, HANDS_UP_MOST)  # type: ignore[misc]
        assert text is not None
        record = _verified(text, ledger.endings[match_id].values())
        head = record.head
        assert write_record(record).encode() == text
        assert canonical_text(record)
        people_there = {seat: place.account for seat, place in enumerate(head.terms.seats) if place.kind == "human"}
        assert people_there == seats
        assert (len(seats) < len(head.terms.seats)) == (match_id in ledger.filled)
        assert head.terms.rated == (match_id in ledger.rated)
        found[match_id] = record
    return found


def _verified(text: bytes, endings: Iterable[Ending]) -> Record:
    record: Record | None = None
    for ending in endings:
        report = verify(text, REGISTRY, ending.receipt)
        assert report.ok, report.findings
        assert report.rerun
        assert report.deals > 0
        record = report.record
        assert record is not None
        outcome = record.head.outcome
        assert ("rules", outcome.scores, outcome.places) == (ending.cause, ending.scores, ending.places)
    assert record is not None, "nobody was told how it ended"
    return record


def scores(found: Mapping[str, Record], ledger: Ledger) -> None:
    """What each table says of its matches, and what spectators saw last, is what the engine makes of the records."""
    for match_id, record in found.items():
        game = find_game(REGISTRY, record)
        assert game is not None
        replay = Replay(game[0], record)
        last = replay.state(len(replay.moments))
        assert last.sheet.scores == record.head.outcome.scores
        shown = {"no_hands": game[0].view(last, None), "open": open_view(game[0], last)}
        for policy, view in shown.items():
            assert all(one == repr(view) for one in ledger.seen.get((match_id, policy), ()))
    for table in ledger.tables:
        points: Counter[str] = Counter()
        played: Counter[str] = Counter()
        for match in table.matches:
            head = found[match.match_id].head
            assert list(match.account_ids) == [place.account for place in head.terms.seats]
            assert tuple(match.scores) == head.outcome.scores
            assert tuple(match.places) == head.outcome.places
            for account, score in zip(match.account_ids, match.scores, strict=True):
                points[account] += score
                played[account] += 1
        assert {row.account_id: (row.points, row.matches) for row in table.tally} == {
            account: (points[account], played[account]) for account in played
        }


def one_place_each(found: Mapping[str, Record]) -> None:
    """Nobody played two matches at once: by the records, one begins when the other is over."""
    times: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for record in found.values():
        accounts = [place.account for place in record.head.terms.seats]
        assert len(set(accounts)) == len(accounts)
        for account in accounts:
            times[account].append((record.head.terms.created_ms, record.head.outcome.ended_ms))
    for spans in times.values():
        for (_, ended), (began, _) in pairwise(sorted(spans)):
            assert ended <= began


def substitutes(found: Mapping[str, Record], ledger: Ledger) -> int:
    """Who was substituted, and why: as scripted, and besides that only by the clock, at tables with a brisk one."""
    total = 0
    for match_id, record in found.items():
        accounts = [place.account for place in record.head.terms.seats]
        notes = [item for entry in record.entries for item in entry.body.items if isinstance(item, Note)]
        causes = Counter(
            (match_id, accounts[int(note.key("seat"))], note.key("cause")) for note in notes if note.word == "delegate"
        )
        scripted = Counter({key: number for key, number in ledger.scripted.items() if key[0] == match_id})
        more = causes - scripted
        assert not scripted - causes
        assert all(cause == "timeouts" for _, _, cause in more), more
        assert not more or record.head.terms.turn_ms < 1_000, more
        back = Counter(accounts[int(note.key("seat"))] for note in notes if note.word == "retake")
        stayed = Counter(account for _, account, cause in causes.elements() if cause != "left")
        assert all(back[account] in (number, number - 1) for account, number in stayed.items())
        total += causes.total()
    return total


def partners(found: Mapping[str, Record], ledger: Ledger) -> None:
    """A party sits on one side."""
    assert ledger.partners
    for match_id, pair in ledger.partners:
        record = found[match_id]
        game = find_game(REGISTRY, record)
        assert game is not None
        seats = sorted(seat for seat, place in enumerate(record.head.terms.seats) if place.account in pair)
        config = game[0].config(record.head.terms.options, len(record.head.terms.seats))
        assert tuple(seats) in game[0].spec.sides(config)


async def ratings(
    found: Mapping[str, Record], people: Sequence[Person], ledger: Ledger, store: RatingStore
) -> tuple[int, int]:
    """The log has each rated match once; ratings are those of a sequential rebuild, and of openskill over the records.

    How many matches counted, and how many ratings there are.
    """

    async def counted() -> int:
        return (await store.mark()).at

    await eventually(counted, lambda at: at >= len(ledger.rated), HANDS_UP_MOST)
    rebuilt = await check(store)
    assert rebuilt.difference == ""
    order = [result.match_id for result in await store.read(0, 10_000)]
    assert sorted(order) == sorted(ledger.rated)
    mine = _from_records([found[match_id] for match_id in order])
    total = 0
    for person in people:
        for rating in await People(person.client).ratings():
            mu, sigma, games = mine.pop(((rating.ladder.game, rating.ladder.variant), person.account_id))
            assert (rating.rating, rating.games) == (round(1500 + 40 * (mu - 25)), games)
            assert rating.provisional == (sigma > 4)
            total += 1
    assert mine == {}
    return len(order), total


def _from_records(found: Sequence[Record]) -> dict[tuple[Ladder, str], tuple[float, float, int]]:
    """Mean, deviation and number of matches, by ladder and account: docs/ratings.md."""
    model = BradleyTerryFull()
    known: dict[tuple[Ladder, str], tuple[float, float, int]] = {}
    for record in found:
        terms, places = record.head.terms, record.head.outcome.places
        assert places is not None
        game = find_game(REGISTRY, record)
        assert game is not None
        config = game[0].config(terms.options, len(terms.seats))
        ladder = terms.game, str(getattr(config.options, "variant", ""))
        sides = game[0].spec.sides(config) or tuple((seat,) for seat in range(len(terms.seats)))
        keys = [[(ladder, terms.seats[seat].account) for seat in side] for side in sides]
        before = [[known.get(key, (25.0, 25 / 3, 0)) for key in side] for side in keys]
        teams = [[model.rating(mu=mu, sigma=sigma) for mu, sigma, _ in side] for side in before]
        after = model.rate(teams, ranks=[float(places[side[0]]) for side in sides])
        for side, old, new in zip(keys, before, after, strict=True):
            for key, (_, _, games), rating in zip(side, old, new, strict=True):
                known[key] = rating.mu, rating.sigma, games + 1
    return known


async def nobody_left(people: Sequence[Person], house: int) -> None:
    """No table, no match, no stream but those of the bots of the house, one each."""
    first = people[0]
    assert [one.match_id async for one in first.client.lobby.tables(wanted=ANY_STATE)] == []
    for client in (first.client, first.elsewhere):
        status = await eventually(
            client.status,
            lambda it: it.live_matches == 0 and sum(one.streams for one in it.gateways) <= house,
            HANDS_UP_MOST,
        )
        assert status.quarantined == 0
        assert not any(actor.faulted for actor in status.actors)
