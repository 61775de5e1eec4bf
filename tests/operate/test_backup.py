"""Backup, wipe, restore: the same archive, ratings and accounts, and the matches in play go on. Issue 9, line 6."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from kangtou_clients.api import connect
from kangtou_clients.api.values import Login
from kangtou_engine.verify import verify
from kangtou_services.archive.store import RecordStore
from kangtou_services.backup.place import Place
from kangtou_services.backup.restoring import restore, unfinished
from kangtou_services.backup.snapshot import BackupError
from kangtou_services.backup.taking import back_up
from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
from kangtou_services.settings import Settings
from tests.conftest import Counts
from tests.inprocess import until

from .server import GAMES, Small, asked, command, seats_of, server_on, some_moves, told

SECRET_WORDS = ("link_secret", "house_secret")


async def accounts(server: Small, count: int = 4) -> tuple[list[str], list[str]]:
    """Ids and tokens of new accounts."""
    ids, tokens = [], []
    for number in range(count):
        async with connect(server.address) as client:
            login = await client.accounts.register(f"Player {number}", "bot")
            assert isinstance(login, Login), login
            assert login.account is not None
            ids.append(login.account.account_id)
            tokens.append(client.token)
    return ids, tokens


async def to_the_end(server: Small, match: str, tokens: list[str]) -> None:
    """Play a match by its default actions until it is over and retired."""
    async with seats_of(server, match, tokens) as seats:
        async with asyncio.timeout(60):
            while not all(seat.over for seat in seats):
                await asyncio.sleep(0.005)
                for seat in seats:
                    if seat.prompt is not None:
                        await seat.prompt.answer(seat.prompt.default)
    async with asyncio.timeout(60):
        while match in await server.backend.store.live():  # noqa: ASYNC110 - Redis has no event for it
            await asyncio.sleep(0.02)


def silent(step: str, done: int, total: int) -> None:
    """Nobody is told."""


def now_ms() -> int:
    """Unix time."""
    return time.time_ns() // 1_000_000


def records(data: Path) -> dict[str, str]:
    """Hash of each record by path."""
    store = RecordStore(str(data / "archive"))
    return {path: hashlib.sha256(store.packed(path)).hexdigest() for path in store.paths()}


def keys(data: Path, pattern: str) -> Mapping[bytes, Any]:
    """Some keys of the embedded Redis, as DUMP gives them."""
    with Redis(unix_socket_path=str(data / "redis" / "redis.sock")) as client:
        return {name: client.dump(name) for name in client.scan_iter(pattern)}


async def test_backup_wipe_restore(tmp_path: Path, counts: Counts) -> None:
    """With a match in play: it goes on at the same view, its clock where it stood when the backup was taken."""
    data, place = tmp_path / "d", tmp_path / "b"
    ended = counts(1, 20)
    async with server_on(data) as server:
        ids, tokens = await accounts(server)
        for number in range(ended):
            await server.make(f"done{number}", ids, pool="main", rated=True)
            await to_the_end(server, f"done{number}", tokens)
        await server.make("running", ids)
        async with seats_of(server, "running", tokens) as seats:
            await some_moves(seats, 9)
            await until(lambda: asked(seats), 60)
            asked_before = asked(seats)[0]
            prompt = asked_before.prompt
            assert prompt is not None
            await asyncio.sleep(1.0)  # of the turn
            views, seqs = [one.view for one in seats], [one.seq for one in seats]
            left_then = prompt.deadline_ms - now_ms()
            code, out, err = await command("backup", str(place), "--data", str(data), "--json")
            assert (code, err) == (0, "")
            said = told(out)
            left_after = prompt.deadline_ms - now_ms()
            assert (said["records"], said["live"]) == (ended, 1)
        archived, rated, people = records(data), keys(data, "{ratings}:*"), keys(data, "{a:*")
        assert len(archived) == ended
        assert len(people) >= 8
        with pytest.raises(BackupError, match="backup_there"):
            await asyncio.to_thread(back_up, server.settings, Place(str(place)), silent)
    settings_text = (place / "settings.json").read_text()
    assert not any(word in settings_text for word in SECRET_WORDS)
    assert all(file.stat().st_mode & 0o077 == 0 for file in place.rglob("*") if file.is_file())

    shutil.rmtree(data)
    began = time.monotonic()
    code, out, err = await command("restore", str(place), "--data", str(data), "--json")
    assert (code, err) == (0, "")
    assert told(out)["live"] == 1
    took = time.monotonic() - began
    assert records(data) == archived
    with pytest.raises(BackupError, match="not_empty"):
        await asyncio.to_thread(restore, Settings(data=data), Place(str(place)), silent)

    async with server_on(data) as server:
        assert keys(data, "{ratings}:*") == rated
        assert keys(data, "{a:*") == people
        async with seats_of(server, "running", tokens) as seats:
            assert [one.view for one in seats] == views
            asked_now = next(one for one in seats if one.seat == asked_before.seat).prompt
            assert asked_now is not None
            left_now = asked_now.deadline_ms - now_ms()
            assert left_after - 5_000 < left_now < left_then + 1_000
            assert all(one.seq >= seq for one, seq in zip(seats, seqs, strict=True))
        await to_the_end(server, "running", tokens)
        assert len(records(data)) == ended + 1
        for path in records(data):
            found = verify(RecordStore(str(data / "archive")).text(path), GAMES)
            assert found.ok, found
    print(
        f"backup and restore: {ended} records, {said['keys']} keys, match in play went on, "
        f"turn {left_then / 1000:.1f} s before, {left_now / 1000:.1f} s after; restore took {took:.1f} s"
    )


class Stop(Exception):
    """Broken off."""


def _empty_server_backup(tmp_path: Path) -> tuple[Settings, Path]:
    """A backup of a server with some keys and no match."""
    data = tmp_path / "d"
    server = EmbeddedServer(EmbeddedSettings(data / "redis"))
    server.start()
    try:
        with Redis.from_url(server.url) as client, client.pipeline(transaction=False) as pipe:
            for number in range(500):
                pipe.hset(f"{{a:{number}}}:account", "name", f"n{number}")
            pipe.set("ends", 1, px=3_600_000)
            pipe.execute()
        settings = Settings(data=data)
        back_up(settings, Place(str(tmp_path / "b")), silent)
    finally:
        server.stop()
    return settings, tmp_path / "b"


def test_a_restore_that_is_broken_off_goes_on(tmp_path: Path) -> None:
    """Until it is done no server starts on the folder, and another backup is not put over it."""
    _, place = _empty_server_backup(tmp_path)
    target = Settings(data=tmp_path / "new")

    def stop_half_way(step: str, done: int, total: int) -> None:
        if step == "keys" and done >= total // 2:
            raise Stop

    with pytest.raises(Stop):
        restore(target, Place(str(place)), stop_half_way)
    assert unfinished(target.data)
    done = restore(target, Place(str(place)), silent)
    assert (done.keys, unfinished(target.data)) == (501, False)
    server = EmbeddedServer(EmbeddedSettings(target.data / "redis"))
    server.start()
    try:
        with Redis.from_url(server.url) as client:
            assert client.dbsize() == 501
            assert 0 < client.pttl("ends") <= 3_600_000
    finally:
        server.stop()


def test_what_is_damaged_or_not_finished_is_not_restored(tmp_path: Path) -> None:
    """Nothing is written."""
    _, place = _empty_server_backup(tmp_path)
    target = Settings(data=tmp_path / "new")
    snapshot = place / "redis-0.rdb"
    good = snapshot.read_bytes()
    for bad in (good[:-1], good[:50] + bytes([good[50] ^ 1]) + good[51:]):
        snapshot.write_bytes(bad)
        with pytest.raises(BackupError, match="backup_damaged"):
            restore(target, Place(str(place)), silent)
    snapshot.write_bytes(good)
    (place / "manifest.json").rename(place / "elsewhere")
    with pytest.raises(BackupError, match="no_backup"):
        restore(target, Place(str(place)), silent)
    assert not target.data.exists()
