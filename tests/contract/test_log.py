"""The contract of EventLog: claims, appends, fences."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from kangtou_services.log.base import Entry, EventLog, Fenced, LogError, TailLost

from .conftest import LogTwin


def entry(epoch: int, seq: int, body: str = "", rounds: tuple[int, ...] = ()) -> Entry:
    """An entry whose chain depends on its content."""
    body = body or f"entry {epoch}-{seq}"
    return Entry(epoch, seq, body, hashlib.sha256(f"{epoch}-{seq}\n{body}".encode()).hexdigest()[:16], rounds)


async def begun(log: EventLog, match: str, entries: int = 1) -> Entry:
    """Claim a match in epoch 1 and append; the last of its entries."""
    last = entry(1, 1, "marker")
    assert await log.claim(match, "a", None, last)
    for seq in range(2, entries + 1):
        last = entry(1, seq)
        await log.append(match, last)
    return last


async def seqs(log: EventLog, match: str) -> list[int]:
    """What is stored."""
    return [stored.seq for stored in await log.read(match)]


# ---- Claims ----


async def test_claim_begins_a_log(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    assert await log.tail(match) is None
    assert await log.owner(match) is None
    marker = await begun(log, match)
    assert await log.tail(match) == marker
    assert await log.read(match) == [marker]
    assert await log.owner(match) == "a"


async def test_claim_of_another_tail_changes_nothing(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    last = await begun(log, match, 3)
    forged = Entry(last.epoch, last.seq, last.body, "0" * 16)
    for tail in (None, entry(1, 2), entry(1, 4), forged):
        assert not await log.claim(match, "b", tail, entry(2, 4, "marker"))
    assert await seqs(log, match) == [1, 2, 3]
    assert await log.owner(match) == "a"


async def test_claim_of_a_stream_that_is_gone(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    assert not await log.claim(match, "b", entry(1, 3), entry(2, 4, "marker"))
    assert await log.tail(match) is None
    assert await log.owner(match) is None


async def test_repeated_claim_is_one_claim(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    marker = await begun(log, match)
    assert await log.claim(match, "a", None, marker)
    assert not await log.claim(match, "b", None, marker)
    await log.append(match, entry(1, 2))
    assert not await log.claim(match, "a", None, marker)
    assert await seqs(log, match) == [1, 2]


@pytest.mark.parametrize("fresh", [True, False], ids=["first", "takeover"])
async def test_of_twenty_claims_at_once_one_wins(twin: LogTwin, match: str, fresh: bool) -> None:
    writers = [twin.writer() for _ in range(20)]
    tail = None if fresh else await begun(writers[0], match, 3)
    seq = tail.seq + 1 if tail else 1
    markers = [entry(2, seq, f"claim by {number}") for number in range(20)]
    won = await asyncio.gather(
        *(log.claim(match, f"owner {number}", tail, markers[number]) for number, log in enumerate(writers))
    )
    assert won.count(True) == 1
    winner = won.index(True)
    assert await writers[0].tail(match) == markers[winner]
    assert await writers[0].owner(match) == f"owner {winner}"
    assert await seqs(writers[0], match) == list(range(1, seq + 1))


async def test_an_owner_names_the_next(twin: LogTwin, match: str) -> None:
    """Only the owner, also by a repeat; when it stopped is known until the next one claims."""
    log = twin.writer()
    assert not await log.hand_on(match, "a", "b", 5)
    marker = await begun(log, match)
    assert not await log.hand_on(match, "c", "b", 5)
    assert (await log.owner(match), await log.put_down(match)) == ("a", None)
    assert await log.hand_on(match, "a", "b", 5)
    assert await log.hand_on(match, "a", "b", 6)
    assert (await log.owner(match), await log.put_down(match)) == ("b", 5)
    assert await log.claim(match, "b", marker, entry(2, 2, "marker"))
    assert (await log.owner(match), await log.put_down(match)) == ("b", None)


async def test_owners_of_many(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    names = [f"{match}{number}" for number in range(5)]
    for number, name in enumerate(names):
        assert number == 2 or await log.claim(name, f"owner {number}", None, entry(1, 1, "marker"))
    assert await log.owners(names) == ["owner 0", "owner 1", None, "owner 3", "owner 4"]
    assert await log.owners([]) == []


# ---- Appends and reading ----


async def test_append_in_order(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    last = await begun(log, match, 10)
    assert await log.tail(match) == last
    assert await seqs(log, match) == list(range(1, 11))
    assert await log.read(match, 9) == [entry(1, 9), entry(1, 10)]
    assert await log.read(match, 3, 4) == [entry(1, 3), entry(1, 4)]
    assert await log.read(match, 11) == []
    assert await log.read("no-such-match") == []


async def test_seq_goes_on_across_epochs(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    tail = await begun(log, match, 3)
    for epoch in (2, 5):
        marker = entry(epoch, tail.seq + 1, "marker")
        assert await log.claim(match, f"owner {epoch}", tail, marker)
        tail = entry(epoch, tail.seq + 2)
        await log.append(match, tail)
    assert [stored.id for stored in await log.read(match)] == ["1-1", "1-2", "1-3", "2-4", "2-5", "5-6", "5-7"]
    assert [stored.id for stored in await log.read(match, 3, 6)] == ["1-3", "2-4", "2-5", "5-6"]


@pytest.mark.parametrize("rounds", [(), (7,), (7, 3)])
async def test_content_comes_back_as_it_was(twin: LogTwin, match: str, rounds: tuple[int, ...]) -> None:
    log = twin.writer()
    await begun(log, match)
    text = "2 play HT DT 红十\n  'quoted' \"twice\" \\n {brace} , * \x7f\r end"
    await log.append(match, entry(1, 2, text, rounds))
    assert await log.tail(match) == entry(1, 2, text, rounds)


async def test_long_logs_are_read_in_full(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    await begun(log, match)
    for first in range(2, 1_202, 200):
        await asyncio.gather(*(log.append(match, entry(1, seq)) for seq in range(first, first + 200)))
    assert await seqs(log, match) == list(range(1, 1_202))
    assert [stored.seq for stored in await log.read(match, 350, 900)] == list(range(350, 901))


async def test_many_matches_at_once(twin: LogTwin, match: str) -> None:
    log = twin.writer()

    async def play(name: str) -> None:
        await begun(log, name, 12)

    names = [f"{match}{number}" for number in range(64)]
    await asyncio.gather(*map(play, names))
    for name in names:
        assert await log.read(name) == [entry(1, 1, "marker"), *(entry(1, seq) for seq in range(2, 13))]


async def test_one_match_in_trouble_is_not_anothers(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    good = [f"{match}{number}" for number in range(8)]
    for name in good:
        await begun(log, name)
    await begun(log, match, 3)
    appends = [log.append(name, entry(1, 2)) for name in good]
    appends[3:3] = [log.append(match, entry(1, 2, "other")), log.append("no-such-match", entry(1, 2))]
    results = await asyncio.gather(*appends, return_exceptions=True)
    assert [type(result) for result in results[3:5]] == [Fenced, Fenced]
    assert results[:3] + results[5:] == [None] * 8
    assert [await seqs(log, name) for name in good] == [[1, 2]] * 8


async def test_a_caller_that_goes_away_harms_nobody(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    other = f"{match}x"
    await begun(log, match)
    await begun(log, other)
    for pause in range(4):
        task = asyncio.create_task(_append_next(log, match))
        for _ in range(pause):
            await asyncio.sleep(0)
        task.cancel()
        await _append_next(log, other)
        await asyncio.gather(task, return_exceptions=True)
    assert await seqs(log, other) == [1, 2, 3, 4, 5]
    stored = await seqs(log, match)
    assert stored == list(range(1, len(stored) + 1))


async def _append_next(log: EventLog, match: str) -> None:
    tail = await log.tail(match)
    assert tail is not None
    await log.append(match, entry(1, tail.seq + 1))


# ---- Never doubled, never behind a gap ----


async def test_resend_is_stored_once(twin: LogTwin, match: str) -> None:
    log, same_after_a_restart = twin.writer(), twin.writer()
    last = await begun(log, match, 3)
    await log.append(match, last)
    await asyncio.gather(*(same_after_a_restart.append(match, last) for _ in range(3)))
    await log.append(match, entry(1, 2))
    assert await seqs(log, match) == [1, 2, 3]
    await log.append(match, entry(1, 4))
    assert await seqs(log, match) == [1, 2, 3, 4]


async def test_other_content_under_a_stored_id_is_fenced(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    await begun(log, match, 3)
    for given in (entry(1, 3, "other"), entry(1, 2, "other"), entry(1, 3, rounds=(1,))):
        with pytest.raises(Fenced):
            await log.append(match, given)
    assert await log.read(match, 2) == [entry(1, 2), entry(1, 3)]


async def test_a_gap_is_refused(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    await begun(log, match, 3)
    for writer in (log, twin.writer()):
        for seq in (5, 9):
            with pytest.raises(TailLost):
                await writer.append(match, entry(1, seq))
    await log.append(match, entry(1, 4))
    assert await seqs(log, match) == [1, 2, 3, 4]


async def test_an_epoch_must_be_claimed(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    await begun(log, match, 3)
    with pytest.raises(TailLost):
        await log.append(match, entry(2, 4))
    assert await seqs(log, match) == [1, 2, 3]


# ---- Fences: issue 2, acceptance 6 ----


async def test_of_two_owners_the_older_is_fenced(twin: LogTwin, match: str) -> None:
    older, newer = twin.writer(), twin.writer()
    tail = await begun(older, match, 5)
    assert await newer.claim(match, "b", tail, entry(2, 6, "marker"))
    with pytest.raises(Fenced):
        await older.append(match, entry(1, 6))
    await newer.append(match, entry(2, 7))
    for seq in (6, 7, 8):
        with pytest.raises(Fenced):
            await older.append(match, entry(1, seq))
    assert [stored.id for stored in await newer.read(match, 5)] == ["1-5", "2-6", "2-7"]


async def test_two_owners_that_write_all_the_time(twin: LogTwin, match: str) -> None:
    """Every entry that either was told is stored is there once, in order, and the older writer ends."""
    older, newer = twin.writer(), twin.writer()
    acknowledged = [await begun(older, match)]

    async def write(log: EventLog, epoch: int, seq: int, most: int) -> bool:
        for number in range(seq, seq + most):
            try:
                await log.append(match, entry(epoch, number))
            except Fenced:
                return False
            acknowledged.append(entry(epoch, number))
            if number % 8 == 0:
                await asyncio.sleep(0.001)  # gives a claim a chance
        return True

    writing = asyncio.create_task(write(older, 1, 2, 100_000))
    await asyncio.sleep(0.02)
    marker: Entry | None = None
    while marker is None:
        tail = await newer.tail(match)
        assert tail is not None
        attempt = entry(2, tail.seq + 1, "marker")
        if await newer.claim(match, "b", tail, attempt):
            marker = attempt
    acknowledged.append(marker)
    assert await write(newer, 2, marker.seq + 1, 20)
    assert not await writing
    stored = await newer.read(match)
    assert sorted(acknowledged, key=lambda one: one.seq) == stored
    assert [one.seq for one in stored] == list(range(1, len(stored) + 1))


async def test_what_was_stored_before_a_takeover_is_acknowledged_after_it(twin: LogTwin, match: str) -> None:
    """The answer was lost, the entry was not; the new owner has read it."""
    older, newer = twin.writer(), twin.writer()
    tail = await begun(older, match, 5)
    assert await newer.claim(match, "b", tail, entry(2, 6, "marker"))
    await older.append(match, tail)
    with pytest.raises(Fenced):
        await older.append(match, entry(1, 6))


async def test_no_append_begins_a_stream(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    for given in (entry(1, 1), entry(1, 2)):
        with pytest.raises(Fenced):
            await log.append(match, given)
    assert await log.tail(match) is None


@pytest.mark.parametrize("seen", [True, False], ids=["writer", "zombie"])
async def test_a_writer_whose_stream_expired_is_fenced(twin: LogTwin, match: str, seen: bool) -> None:
    log = twin.writer()
    await twin.store.create(match, "{}", b"seed")
    await begun(log, match, 5)
    await twin.store.retire(match, 0)
    with pytest.raises(Fenced) as caught:
        await (log if seen else twin.writer()).append(match, entry(1, 6))
    assert type(caught.value) is Fenced
    assert await log.tail(match) is None
    assert not await log.claim(match, "b", entry(1, 5), entry(2, 6, "marker"))


async def test_an_owner_whose_log_lost_its_tail_is_stopped(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    await begun(log, match, 5)
    await twin.lose_tail(match, 2)
    while True:  # a broken connection may be found out only by using it
        with pytest.raises(LogError) as caught:
            await log.append(match, entry(1, 6))
        if isinstance(caught.value, Fenced):
            break
    assert type(caught.value) is TailLost
    assert await seqs(log, match) == [1, 2, 3]


async def test_an_owner_whose_log_lost_its_claim_is_stopped(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    tail = await begun(log, match, 3)
    assert await log.claim(match, "b", tail, entry(2, 4, "marker"))
    await twin.lose_tail(match, 1)
    with pytest.raises(LogError):
        await log.append(match, entry(2, 5))
    with pytest.raises(TailLost):
        await log.append(match, entry(2, 5))
    assert await seqs(log, match) == [1, 2, 3]


# ---- Following ----


async def test_what_comes_behind_an_entry(twin: LogTwin, match: str) -> None:
    """From the beginning, behind an entry of any epoch, at most so many, and nothing behind the last."""
    log = twin.writer()
    assert await log.after(match, "", 5) == []
    last = await begun(log, match, 4)
    assert await log.claim(match, "b", last, entry(2, 5, "marker"))
    every = await log.read(match)
    assert await log.after(match, "", 100) == every
    assert await log.after(match, "", 2) == every[:2]
    assert await log.after(match, "1-2", 2) == every[2:4]
    assert await log.after(match, "1-4", 9) == every[4:]
    assert await log.after(match, "2-5", 9) == []
