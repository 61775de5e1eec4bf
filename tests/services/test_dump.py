"""Dumps of a month and their import: the identity, the same bytes each time, faults at any byte, kills, conflicts."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from kangtou_engine.errors import BadText
from kangtou_engine.notation import CHAIN_START, chain
from kangtou_engine.record import Record, read_record, write_record
from kangtou_engine.record.dump import DumpReader
from kangtou_engine.record.values import Line
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify
from kangtou_services.archive import ArchiveConflict, ArchiveError, Index, Query, RecordStore
from kangtou_services.archive.dump import MANIFEST, BadMonth, Dumped, write_dump
from kangtou_services.archive.importing import BadManifest, Importer, Problem, check_manifest, unpacked
from tests.conftest import Counts
from tests.records.make import play

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "records").glob("*.ktr"))
MONTHS = ("2026-11", "2026-12")


def quiet(done: int, total: int = 0) -> None:
    """Progress that nobody looks at."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of all golden records."""
    folder = tmp_path_factory.mktemp("archive")
    store = RecordStore(str(folder))
    for path in GOLDEN:
        store.put(read_record(path.read_bytes()))
    return folder


def dumped(archive: Path, month: str, out: Path, *, anonymous: bool = False) -> Dumped:
    """A dump and its manifest."""
    with out.open("wb") as file:
        said = write_dump(str(archive), month, file, anonymous=anonymous, digests=True, progress=quiet)
    out.with_name(out.name + MANIFEST).write_text(said.to_json(out.name))
    return said


def imported(files: list[Path], folder: Path, index: Index | None = None, *, rerun: bool = False) -> list[Problem]:
    """Import dumps; what was left out."""
    problems: list[Problem] = []
    importer = Importer(RecordStore(str(folder)), index, problems.append, rerun=rerun)
    try:
        for path in files:
            with path.open("rb") as file:
                importer.dump(file, quiet)
    finally:
        importer.close()
    return problems


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def texts(path: Path) -> list[bytes]:
    """The records of a dump."""
    with path.open("rb") as file:
        return list(DumpReader(unpacked(file)).texts())


@pytest.fixture(scope="module")
def dump(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dump of the month that most golden records ended in."""
    out = tmp_path_factory.mktemp("dump") / "m.zst"
    dumped(archive, MONTHS[0], out)
    return out


def test_record_import_export_is_the_identity(archive: Path, tmp_path: Path) -> None:
    """All golden records, through dumps, into another archive and out again: the same files, the same dumps."""
    dumps = [tmp_path / f"{month}.zst" for month in MONTHS]
    first = [dumped(archive, month, out) for month, out in zip(MONTHS, dumps, strict=True)]
    assert sum(said.records for said in first) == len(GOLDEN)
    assert imported(dumps, tmp_path / "other", rerun=True) == []
    assert contents(tmp_path / "other") == contents(archive)
    found = sorted(text for out in dumps for text in texts(out))
    assert found == sorted(path.read_bytes() for path in GOLDEN)
    again = [dumped(tmp_path / "other", month, tmp_path / "again.zst") for month in MONTHS]
    assert [said.sha256 for said in again] == [said.sha256 for said in first]


def test_other_programs_read_it(dump: Path) -> None:
    """What the page says: plain text in one zstd frame; frames with sizes and hashes; the manifest's numbers."""
    manifest = json.loads(dump.with_name(dump.name + MANIFEST).read_text())
    packed = dump.read_bytes()
    text = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    assert (manifest["bytes"], manifest["sha256"]) == (len(packed), hashlib.sha256(packed).hexdigest())
    assert (manifest["text_bytes"], manifest["text_sha256"]) == (len(text), hashlib.sha256(text).hexdigest())
    head, rest = text.split(b"record ", 1)
    assert head == b"kangtou-dump 1\nmonth 2026-11\naccounts opaque\n"
    rest = b"record " + rest
    count = 0
    while rest.startswith(b"record "):
        line, rest = rest.split(b"\n", 1)
        _, match, size, digest = line.decode().split(" ")
        record, rest = rest[: int(size)], rest[int(size) :]
        assert hashlib.sha256(record).hexdigest() == digest == manifest["digests"][match]
        count += 1
    whole = text[: -len(rest)]
    sealed = f"end records={count} bytes={len(whole)} sha256={hashlib.sha256(whole).hexdigest()}\n"
    assert rest.decode() == sealed
    assert count == manifest["records"] == sum(manifest["games"].values())


def test_a_reader_needs_only_what_has_come(dump: Path) -> None:
    """Records are given out before the stream has ended: from half of it, half of them, then the fault is told."""
    text = zstandard.ZstdDecompressor().decompressobj().decompress(dump.read_bytes())
    reader = DumpReader(io.BytesIO(text[: len(text) // 2]))
    found: list[bytes] = []
    with pytest.raises(BadText, match="breaks off"):
        found.extend(reader.texts())
    assert 0 < len(found) < 7
    assert all(verify(one, REGISTRY).ok for one in found)


def test_anonymous(archive: Path, tmp_path: Path) -> None:
    """No account id is left; only the header differs; records verify, with the very receipts; equal bytes again."""
    out = tmp_path / "anon.zst"
    said = dumped(archive, MONTHS[0], out, anonymous=True)
    assert dumped(archive, MONTHS[0], tmp_path / "twice.zst", anonymous=True).sha256 == said.sha256
    plain = {record.head.terms.match: record for record in map(read_record, (path.read_bytes() for path in GOLDEN))}
    known: dict[str, str] = {}
    for text in texts(out):
        report = verify(text, REGISTRY)
        assert report.ok, report.findings
        assert report.record is not None
        record, original = report.record, plain[report.record.head.terms.match]
        assert record.receipt == original.receipt
        assert record.entries == original.entries
        assert record.head.extra == (("anonymous", "yes"),)
        for place, before in zip(record.head.terms.seats, original.head.terms.seats, strict=True):
            assert before.account.encode() not in text
            assert known.setdefault(before.account, place.account) == place.account
    assert len(set(known.values())) == len(known)
    text = texts(out)[0]
    original_lines = write_record(plain[read_record(text).head.terms.match]).split("\n")
    after = text.decode().replace("anonymous yes\n", "").split("\n")
    changed = [one for one, other in zip(after, original_lines, strict=True) if one != other]
    assert [one.split(" ")[0] for one in changed] == ["seat"] * 4 + ["header", "!"]


def test_pseudonyms_of_two_dumps_differ(tmp_path: Path) -> None:
    """The same accounts in another month have other names, so two dumps cannot be put side by side by them."""
    found: list[set[str]] = []
    for number, match in enumerate(("one", "two")):
        store = tmp_path / match
        RecordStore(str(store)).put(play(REGISTRY.game("hongshi"), 5, {"rounds": 1}, match=match).record)
        out = tmp_path / f"{number}.zst"
        dumped(store, MONTHS[0], out, anonymous=True)
        found.append({place.account for text in texts(out) for place in read_record(text).head.terms.seats})
    assert found[0].isdisjoint(found[1])


def test_a_repeat_changes_nothing_and_the_index_is_filled(archive: Path, dump: Path, tmp_path: Path) -> None:
    """Twice, and once more after the index was lost."""
    for _ in range(2):
        index = Index(tmp_path / "index.sqlite3")
        assert imported([dump], tmp_path / "other", index) == []
        before = contents(tmp_path / "other")
        assert imported([dump], tmp_path / "other", index) == []
        assert contents(tmp_path / "other") == before
        assert index.count() == len(before) == 7
        assert {row.match for row in index.page(Query(), 100)[0]} == {Path(name).name[:15] for name in before}
        index.close()
        (tmp_path / "index.sqlite3").unlink()


def test_conflicts_are_told_and_left(archive: Path, dump: Path, tmp_path: Path) -> None:
    """Another record of a match lies there: it stays, the others come."""
    anonymous = tmp_path / "anon.zst"
    dumped(archive, MONTHS[0], anonymous, anonymous=True)
    other = RecordStore(str(tmp_path / "other"))
    mine = read_record(texts(anonymous)[2])
    path = other.put(mine)
    problems = imported([dump], tmp_path / "other")
    assert [(one.kind, one.match) for one in problems] == [("conflict", mine.head.terms.match)]
    assert other.get(path) == mine
    assert len(contents(tmp_path / "other")) == 7
    with pytest.raises(ArchiveConflict):
        other.put(read_record(texts(dump)[2]))


def test_a_record_rewritten_as_a_whole(dump: Path, tmp_path: Path) -> None:
    """Hashes made anew over a changed move: only the engine tells, with `rerun`."""
    store = tmp_path / "forged"
    record = next(one for one in map(read_record, texts(dump)) if one.head.terms.game == "wushik")
    RecordStore(str(store)).put(_forged(record))
    out = tmp_path / "f.zst"
    dumped(store, MONTHS[0], out)
    assert imported([out], tmp_path / "a") == []
    problems = imported([out], tmp_path / "b", rerun=True)
    assert [one.kind for one in problems] == ["refused"]
    assert not contents(tmp_path / "b")


def _forged(record: Record) -> Record:
    before, lines = CHAIN_START, []
    for entry in record.entries:
        text = entry.text.replace("points=0 leader", "points=5 leader", 1)
        before = chain(before, entry.id, text)
        lines.append(Line(entry.epoch, entry.seq, before, text))
    assert tuple(lines) != record.entries
    return replace(record, entries=tuple(lines))


def damages(packed: bytes, count: int) -> Iterator[bytes]:
    """Every kind of damage at places all over: a byte changed, cut off there, something put in, something behind."""
    chance = random.Random(7)
    places = {0, 4, 5, len(packed) - 5, len(packed) - 1, *(chance.randrange(len(packed)) for _ in range(count))}
    for at in sorted(places):
        yield packed[:at] + bytes([packed[at] ^ (1 << chance.randrange(8))]) + packed[at + 1 :]
        yield packed[:at]
        yield packed[:at] + b"\0" + packed[at:]
    yield packed + packed
    yield packed + b"x"


def test_damage_at_any_byte(dump: Path, tmp_path: Path, counts: Counts) -> None:
    """The manifest tells it before a record is written; without one, whatever is written is a record of the dump."""
    right = set(texts(dump))
    packed = dump.read_bytes()
    bad = tmp_path / "bad.zst"
    shutil.copy(dump.with_name(dump.name + MANIFEST), tmp_path / f"bad.zst{MANIFEST}")
    told = 0
    for data in damages(packed, counts(40, 2000)):
        bad.write_bytes(data)
        with pytest.raises(BadManifest, match="manifest_differs"):
            check_manifest(bad, quiet)
        found: list[bytes] = []
        with bad.open("rb") as file:
            reader = DumpReader(unpacked(file))
            try:
                found.extend(reader.texts())
            except (BadText, zstandard.ZstdError):
                told += 1
        assert right.issuperset(found)
    assert told > counts(40, 2000)


def test_damage_within_the_text(dump: Path, counts: Counts) -> None:
    """In what a stream holds, unpacked, no changed byte goes unnoticed, and records before it are given out."""
    text = zstandard.ZstdDecompressor().decompressobj().decompress(dump.read_bytes())
    chance = random.Random(3)
    for _ in range(counts(60, 3000)):
        at = chance.randrange(len(text))
        changed = text[:at] + bytes([text[at] ^ (1 << chance.randrange(8))]) + text[at + 1 :]
        reader = DumpReader(io.BytesIO(changed))
        with pytest.raises(BadText):
            list(reader.texts())


@pytest.mark.parametrize("month", ["2026-13", "2026-1", "26-11", "2026-11-30", "", "../11"])
def test_bad_months(archive: Path, month: str) -> None:
    """A month is written 2026-11."""
    with pytest.raises(BadMonth):
        write_dump(str(archive), month, io.BytesIO(), anonymous=False, digests=False, progress=quiet)


def test_an_empty_month_and_no_archive(archive: Path, tmp_path: Path) -> None:
    """A month without matches gives a dump without records; no archive is an error."""
    out = tmp_path / "empty.zst"
    assert dumped(archive, "2025-01", out).records == 0
    assert texts(out) == []
    with pytest.raises(ArchiveError, match="no archive"):
        dumped(tmp_path / "nothing", "2025-01", out)


def test_manifests_that_are_none(dump: Path, tmp_path: Path) -> None:
    """Missing, not JSON, of something else."""
    path = tmp_path / "d.zst"
    shutil.copy(dump, path)
    with pytest.raises(BadManifest, match="manifest_missing"):
        check_manifest(path, quiet)
    for text in ("", "{", "[]", '{"format": "other 1"}'):
        path.with_name(path.name + MANIFEST).write_text(text)
        with pytest.raises(BadManifest, match="manifest_unreadable"):
            check_manifest(path, quiet)
