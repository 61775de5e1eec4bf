"""`kangtou doctor` names what is wrong, and its cure: at least ten planted misconfigurations. Issue 9, line 5."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import pytest
from redis import Redis

from kangtou_clients.cli.words import LANGUAGES, WORDS, say
from kangtou_clients.cli.words_doctor import DOCTOR_WORDS
from kangtou_services.doctor.command import findings
from kangtou_services.doctor.finding import State
from tests.servers import free_port, redis_server

from .server import command


@dataclass
class Place:
    """Where a misconfiguration is planted: a folder, this process's environment, what is to be undone."""

    folder: Path
    stack: ExitStack
    patch: pytest.MonkeyPatch

    @property
    def data(self) -> Path:
        """The data folder, private as `up` makes it."""
        path = self.folder / "d"
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    def set(self, name: str, value: object) -> None:
        """A setting."""
        self.patch.setenv(f"KANGTOU_{name}", str(value))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place in order."""
    for name in [one for one in os.environ if one.startswith("KANGTOU_")]:
        monkeypatch.delenv(name)
    with ExitStack() as stack:
        made = Place(tmp_path, stack, monkeypatch)
        made.set("DATA", made.data)
        made.set("PORT", free_port())
        yield made


def _redis(place: Place, *settings: str) -> str:
    """A Redis that listens on a port, with settings changed after its start."""
    port = free_port()
    server = place.stack.enter_context(redis_server(port=port))
    with Redis.from_url(server.url) as client:
        for name, value in zip(settings[::2], settings[1::2], strict=True):
            client.config_set(name, value)
    place.set("REDIS_URL", f"redis://127.0.0.1:{port}")
    return server.url


def no_redis(place: Place) -> None:
    """Nobody listens there."""
    place.set("REDIS_URL", f"redis://127.0.0.1:{free_port()}")


def no_append_only(place: Place) -> None:
    """It keeps nothing."""
    _redis(place, "appendonly", "no")


def everysec(place: Place) -> None:
    """A second may be lost."""
    _redis(place, "appendfsync", "everysec")


def eviction(place: Place) -> None:
    """Matches may be thrown away."""
    _redis(place, "maxmemory-policy", "allkeys-lru")


def replica(place: Place) -> None:
    """It follows another."""
    url = _redis(place)
    with Redis.from_url(url) as client:
        client.replicaof("127.0.0.1", free_port())


def full_memory(place: Place) -> None:
    """Hardly any is left."""
    url = _redis(place)
    with Redis.from_url(url) as client:
        client.config_set("maxmemory", int(client.info("memory")["used_memory"] * 1.1))


def clock_off(place: Place) -> None:
    """An hour: the server is real, on the way its TIME is changed."""
    _redis(place)
    behind = int(os.environ["KANGTOU_REDIS_URL"].rpartition(":")[2])
    front = place.stack.enter_context(an_hour_later(behind))
    place.set("REDIS_URL", f"redis://127.0.0.1:{front}")


@contextlib.contextmanager
def an_hour_later(behind: int) -> Iterator[int]:
    """A proxy before a Redis that adds an hour to its replies to TIME; gives its port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def carry(near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", behind)) as far, contextlib.suppress(OSError):
            while asked := near.recv(65536):
                far.sendall(asked)
                answer = far.recv(65536)
                if b"\r\nTIME\r\n" in asked:
                    head, seconds, rest = answer[:9], answer[9:19], answer[19:]
                    answer = head + str(int(seconds) + 3600).encode() + rest
                near.sendall(answer)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=carry, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.close()


def archive_in_a_file(place: Place) -> None:
    """No folder can be made there."""
    (place.folder / "file").touch()
    place.set("ARCHIVE_URL", str(place.folder / "file" / "archive"))


def open_secret(place: Place) -> None:
    """Everybody may read it."""
    secret = place.data / "link.secret"
    secret.write_text("0" * 64)
    secret.chmod(0o644)


def open_folder(place: Place) -> None:
    """Everybody may look into it."""
    place.data.chmod(0o755)


def no_secret(place: Place) -> None:
    """Links over TCP without one."""
    place.set("LINK", "tcp")


def port_taken(place: Place) -> None:
    """By somebody else."""
    other = place.stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    place.set("PORT", str(other.getsockname()[1]))


def few_files(place: Place) -> None:
    """256 may be open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    place.stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))


def no_ray(place: Place) -> None:
    """Its head is not there."""
    place.set("RAY_ADDRESS", f"127.0.0.1:{free_port()}")


def old_package(place: Place) -> None:
    """An older redis-py, as far as what is installed says."""
    info = place.folder / "older" / "redis-5.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: redis\nVersion: 5.0.0\n")
    place.patch.syspath_prepend(info.parent)


def bad_setting(place: Place) -> None:
    """No number."""
    place.set("TURN_MS", "soon")


def broken_restore(place: Place) -> None:
    """Its mark lies there."""
    (place.data / "restoring").write_text("0" * 16)


# What is planted, what is found, and a word of the cure.
PLANTED = [
    (no_redis, "redis_unreachable", "KANGTOU_REDIS_URL"),
    (no_append_only, "redis_append_only", "CONFIG SET appendonly yes"),
    (everysec, "redis_fsync", "CONFIG SET appendfsync always"),
    (eviction, "redis_eviction", "CONFIG SET maxmemory-policy noeviction"),
    (replica, "redis_replica", "KANGTOU_REDIS_URL"),
    (full_memory, "redis_full", "maxmemory"),
    (clock_off, "clock_off", "timedatectl"),
    (archive_in_a_file, "archive_no_write", "--archive"),
    (open_secret, "secret_open", "chmod 600"),
    (open_folder, "data_open", "chmod 700"),
    (no_secret, "secret_missing", "openssl rand -hex 32"),
    (port_taken, "port_taken", "ss -ltnp"),
    (few_files, "files_low", "ulimit -n 4096"),
    (no_ray, "ray_away", "KANGTOU_RAY_ADDRESS"),
    (old_package, "package_other", "pip install 'redis"),
    (bad_setting, "setting_bad", "KANGTOU_TURN_MS"),
    (broken_restore, "restore_broken_off", "kangtou restore"),
]


@pytest.mark.parametrize(("plant", "code", "cure"), PLANTED, ids=[one[1] for one in PLANTED])
async def test_what_is_planted_is_named_with_its_cure(
    plant: Callable[[Place], None], code: str, cure: str, place: Place
) -> None:
    """And nothing else is called wrong: the rest of the place is in order."""
    plant(place)
    found = [one async for one in findings()]
    assert [one.code for one in found if one.state is State.WRONG] == [code]
    params = next(one.params for one in found if one.code == code)
    for lang in LANGUAGES:
        assert cure in say(f"dr_{code}", lang, params)


async def test_the_command_says_it(place: Place) -> None:
    """As a process: JSON, a line a check, exit code 1; and once it is in order, in Chinese, 0."""
    everysec(place)
    url, variables = os.environ["KANGTOU_REDIS_URL"], {"KANGTOU_PORT": os.environ["KANGTOU_PORT"]}
    given = ("doctor", "--data", str(place.data), "--redis", url)
    code, out, err = await command(*given, "--json", **variables)
    found = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (1, "")
    assert [one["code"] for one in found if one["state"] == "wrong"] == ["redis_fsync"]
    with Redis.from_url(url) as client:
        client.config_set("appendfsync", "always")
    code, out, err = await command(*given, "--lang", "zh", **variables)
    assert (code, err) == (0, ""), out
    assert "一切正常" in out
    assert not any((place.data / "archive").iterdir())


def test_every_text_is_there_in_both_languages() -> None:
    """And takes the same parameters."""
    for code, texts in DOCTOR_WORDS.items():
        assert len(texts) == len(LANGUAGES)
        assert WORDS[code] == texts
        fields = [{name for _, name, _, _ in Formatter().parse(text) if name} for text in texts]
        assert fields[1] <= fields[0], code
