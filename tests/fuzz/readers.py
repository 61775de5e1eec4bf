"""Whatever reads text or bytes of others: records, dumps, actions, entries of the log, specs, house rules, settings.

Each may raise what its docstring says, and nothing else.
"""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pydantic
import zstandard
from google.protobuf.message import DecodeError

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import game_pb2 as pb
from kangtou.wire import event_from_pb, options_from_pb, value_from_pb
from kangtou_engine.actions import parse_action
from kangtou_engine.boards import read_board
from kangtou_engine.cards import parse_cards
from kangtou_engine.errors import BadOptions, BadText, IllegalAction
from kangtou_engine.notation import CHAIN_START, chain, read_body
from kangtou_engine.record import Record, read_record, write_record
from kangtou_engine.record.dump import DumpReader
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify
from kangtou_services.archive.importing import unpacked
from kangtou_services.gateway.gate import version_of
from kangtou_services.identity import clean_name, peer_host
from kangtou_services.plain_text import clean_line
from kangtou_services.settings import Settings
from kangtou_services.tournament.check import check_spec

from . import corpus
from .messages import made
from .mutate import TEXTS, mutated, mutated_text, noise
from .place import Place
from .watch import Watch

Reader = Callable[["Readers", Random], object]


class Readers:
    """A target."""

    name = "readers"

    def __init__(self, place: Place, watch: Watch) -> None:
        self.place = place
        self._watch = watch
        self.records = [_short(read_record(text)) for text in corpus.records()]
        self.texts = [write_record(one) for one in self.records]
        self.bodies = [entry.text for record in self.records for entry in record.entries]
        self.actions: deque[str] = deque(("play S3 H3", "pass", "bid 3", "give=HJ,H8", "play BJ=D8"), maxlen=512)
        for body in self.bodies:
            self.actions += [line.split(" ", 4)[4] for line in body.split("\n") if line.startswith("> ")]

    async def feed(self, rng: Random) -> None:
        """One text to one reader."""
        name = rng.choices(_NAMES, _WEIGHTS)[0]
        allowed, read = READERS[name]
        try:
            read(self, rng)
        except allowed as error:
            str(error).encode()  # what is shown can be sent
            self._watch.count(self.name, f"{name}: refused")
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            self._watch.bad(f"{name}: {type(error).__name__}: {error}"[:300])
        else:
            self._watch.count(self.name, f"{name}: read")

    async def close(self) -> None:
        """Nothing is kept open."""


def _short(record: Record) -> Record:
    """Its first entries, under hashes of their own."""
    return replace(record, entries=record.entries[:6])


def _rehashed(readers: Readers, rng: Random) -> str:
    """A record whose hashes fit what it says, so that what is behind them is read too."""
    record = rng.choice(readers.records)
    entries, previous = [], CHAIN_START
    for entry in record.entries:
        text = mutated_text(rng, entry.text, readers.bodies) if rng.random() < 0.3 else entry.text
        previous = chain(previous, entry.id, text)
        entries.append(replace(entry, text=text, chain=previous))
    return write_record(replace(record, entries=tuple(entries)))


def _record(readers: Readers, rng: Random) -> None:
    read_record(mutated_text(rng, rng.choice(readers.texts), readers.texts).encode("utf-8", "surrogatepass"))


def _record_bytes(readers: Readers, rng: Random) -> None:
    read_record(mutated(rng, rng.choice(readers.texts).encode(), [one.encode()[:2_000] for one in readers.texts[:2]]))


def _verify(readers: Readers, rng: Random) -> None:
    report = verify(_rehashed(readers, rng).encode(), REGISTRY)
    for finding in report.findings:
        str(finding).encode()


def _body(readers: Readers, rng: Random) -> None:
    read_body(mutated_text(rng, rng.choice(readers.bodies), readers.bodies))


def _action(readers: Readers, rng: Random) -> None:
    text = rng.choice(readers.actions)
    again = parse_action(mutated_text(rng, text, readers.actions) if rng.random() < 0.9 else rng.choice(TEXTS))
    assert parse_action(str(again)) == again


def _cards(readers: Readers, rng: Random) -> None:
    parse_cards(mutated_text(rng, "S3 H3 BJ D10 CA", ("RJ H2",)))


def _board(readers: Readers, rng: Random) -> None:
    read_board(mutated_text(rng, "t_k3m9x2q7abcd/17", TEXTS))


def _dump(readers: Readers, rng: Random) -> None:
    text = rng.choice(readers.texts).encode()
    data = text + rng.choice(readers.texts).encode()
    if rng.random() < 0.4:
        data = zstandard.ZstdCompressor(level=1).compress(data)
    for one in DumpReader(unpacked(io.BytesIO(mutated(rng, data, [text[:500]])))).texts():
        with suppress(BadText):
            read_record(one)


def _spec(readers: Readers, rng: Random) -> None:
    """As the gateway reads it; how it answers is looked at by the calls."""
    text = corpus.spec(rng)
    check_spec(json.loads(text if rng.random() < 0.5 else mutated_text(rng, text, TEXTS)))


def _options(readers: Readers, rng: Random) -> None:
    choice: Any = made(rng, pb.GameChoice.DESCRIPTOR, readers.place.values)
    game = REGISTRY.game(rng.choice(REGISTRY.names()))
    given = options_from_pb(choice)
    known = [row.name for row in game.spec.option_rows]
    given |= {rng.choice(known): rng.choice((0, 1, -1, 3, 10**30, True, "", "jokers", "²")) for _ in range(2)}
    game.config(given, choice.seats)


def _event(readers: Readers, rng: Random) -> None:
    raw = made(rng, pb.Event.DESCRIPTOR, readers.place.values).SerializeToString()
    message = pb.Event.FromString(mutated(rng, raw, ()) if rng.random() < 0.5 else raw)
    for field in message.fields:
        value_from_pb(field.value)
    event_from_pb(REGISTRY.game(rng.choice(REGISTRY.names())), message)


def _frames(readers: Readers, rng: Random) -> None:
    rng.choice((lpb.Up, lpb.Down, lpb.Call, lpb.Reply))().ParseFromString(noise(rng))


def _lines(readers: Readers, rng: Random) -> None:
    text = mutated_text(rng, "Ann 安", TEXTS)
    for kept in (clean_line(text, 200, drop=rng.random() < 0.5), clean_name(text)):
        assert kept is None or (kept.isprintable() and "\x1b" not in kept)
    peer_host(mutated_text(rng, "ipv6:%5B2001:db8::1%5D:443", TEXTS))
    version_of(mutated_text(rng, "1.20.3", TEXTS))


def _settings(readers: Readers, rng: Random) -> None:
    fields = list(Settings.model_fields)
    given: dict[str, Any] = {rng.choice(fields): rng.choice((*TEXTS[:16], -1, 10**400, None, "true", 5)) for _ in "ab"}
    Settings(**given)


_Row = tuple[tuple[type[Exception], ...], Reader]
READERS: dict[str, _Row] = {
    "record": ((BadText,), _record),
    "record bytes": ((BadText,), _record_bytes),
    "verify": ((BadText,), _verify),
    "entry": ((BadText,), _body),
    "action": ((IllegalAction,), _action),
    "cards": ((ValueError,), _cards),
    "board": ((ValueError,), _board),
    "dump": ((BadText, zstandard.ZstdError), _dump),
    "spec": ((ValueError, RecursionError), _spec),
    "options": ((BadOptions,), _options),
    "event": ((BadText, DecodeError), _event),
    "frame": ((DecodeError,), _frames),
    "line": ((), _lines),
    "settings": ((pydantic.ValidationError,), _settings),
}
_NAMES = tuple(READERS)
_SLOW = {"record": 1, "record bytes": 1, "verify": 1, "dump": 1, "settings": 1}
_WEIGHTS = tuple(_SLOW.get(name, 12) for name in _NAMES)
