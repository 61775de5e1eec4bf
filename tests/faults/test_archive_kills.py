"""kill -9 of the process that archives, at every step, with the log in Redis: no match is lost, none is there twice."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis as SyncRedis

from kangtou_engine.match.match import Game
from kangtou_engine.registry import Registry
from kangtou_engine.verify import verify
from kangtou_services.archive import Index, Query, RecordStore
from kangtou_services.embedded import EmbeddedServer
from kangtou_services.log.redis import RedisLog, RedisMatchStore
from tests.conftest import Counts
from tests.games.parrot import GAME
from tests.records.make import Played, play
from tests.s3 import S3Server, s3_server
from tests.servers import client_of, redis_server

from .archive_child import KEEP_MS, STEPS

ROOT = Path(__file__).parents[2]
PARROT = Game(GAME)
KILLS = [name for name in STEPS if name != "none"]


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


async def live_match(server: EmbeddedServer, number: int) -> Played:
    """A match that has ended a moment ago: its log is whole, nobody has archived it."""
    played = play(PARROT, number, {"rounds": 1}, takeover_every=9, match=uuid4().hex[:16])
    match = played.agreement.match_id
    async with client_of(server) as client:
        log, store = RedisLog(client), RedisMatchStore(client)
        await store.create(match, played.agreement.to_json(), played.seed)
        await log.claim(match, "actor-1", None, played.entries[0])
        for before, entry in itertools.pairwise(played.entries):
            if "= claim" in entry.body:
                await log.claim(match, "another", before, entry)
            else:
                await log.append(match, entry)
        await log.close()
    return played


def process(redis_url: str, folder: Path, archive: str, step: str, environment: Mapping[str, str]) -> int:
    """The exit code of a process that archives."""
    argv = [sys.executable, "-m", "tests.faults.archive_child", redis_url, str(folder), archive, step]
    env = {**os.environ, **environment}
    return subprocess.run(argv, cwd=ROOT, env=env, timeout=120, check=False).returncode


@pytest.mark.redis
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("kind", ["folder", "s3"])
async def test_killed_at_every_step(
    kind: str, s3: S3Server, tmp_path: Path, counts: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is there until the record is; the next process ends it; one file, one row, the receipt that seats got."""
    environment: Mapping[str, str] = {}
    archive = str(tmp_path / "archive")
    if kind == "s3":
        environment = s3.environment
        archive = s3.make_bucket(f"kt-{uuid4().hex}") + "/records"
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
    kills = KILLS[counts(3, 0) :: counts(5, 1)] * counts(1, 3)
    all_played: list[Played] = []
    with redis_server() as server:
        for number, step in enumerate(kills):
            all_played.append(await live_match(server, number))
            assert process(server.url, tmp_path, archive, step, environment) == -signal.SIGKILL, step
            match = all_played[-1].agreement.match_id
            with SyncRedis.from_url(server.url, decode_responses=True) as client:
                kept = client.pttl(f"{{m:{match}}}:log")
                assert kept == -1, (step, kept)  # whole, and not about to expire
            assert process(server.url, tmp_path, archive, "none", environment) == 0, step
            with SyncRedis.from_url(server.url, decode_responses=True) as client:
                assert 0 < client.pttl(f"{{m:{match}}}:log") <= KEEP_MS
    store, index = RecordStore(archive), Index(tmp_path / "index.db")
    rows = {row.match: row for row in index.page(Query(), 200)[0]}
    assert sorted(rows) == sorted(played.agreement.match_id for played in all_played)
    assert sorted(store.paths()) == sorted(row.path for row in rows.values())
    for played in all_played:
        text = store.text(rows[played.agreement.match_id].path)
        found = verify(text, Registry([GAME]), receipt=played.entries[-1].chain)
        assert found.findings == []
    index.close()
    print(f"{kind}: {len(kills)} kills at {len(set(kills))} steps, {len(rows)} records, lost=0, doubled=0")
