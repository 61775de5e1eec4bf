"""What one user writes reaches no other's terminal, and no log, as anything but visible letters. Every way is walked.

server   whatever it tells is free of what steers a terminal, whatever stands in any text of any request
client   whatever a server tells, be it anybody's, is made visible before it is shown
logs     a line is a line, in both forms, also those of libraries
records  the reader takes no text that steers

Pages: tests/clients/test_page.py, tests/tournament/test_pages.py.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import io
import json
import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

import kangtou.v1
import kangtou_clients.tui
from kangtou.v1 import play_pb2 as play
from kangtou.v1 import tournament_pb2
from kangtou_clients.api.shown import _stream_shown, shown
from kangtou_clients.cli.common import Common
from kangtou_clients.screen import Screen
from kangtou_clients.visible import coloured, json_line, visible, visible_json
from kangtou_engine.notation import CHAIN_START, chain
from kangtou_engine.record import RecordFault, read_record, write_record
from kangtou_services import logs
from tests.conftest import Counts
from tests.fuzz import corpus
from tests.fuzz.calls import VICTIMS, Context, Status, described
from tests.fuzz.messages import Values, made
from tests.fuzz.place import Place, place
from tests.fuzz.port import Port
from tests.fuzz.watch import Watch

from .harm import anything, harmful, steers, texts_of

# What is given back to whoever sent it alone, for his program: ids as they came.
OWN = ("command_id", "ticket_id", "match_id")
ANY = st.builds(lambda seed: anything(Random(seed)), st.integers(0, 10**9))
TEXTS = st.builds(lambda seed: harmful(Random(seed), 60), st.integers(0, 10**9))


class Harmful(Values):
    """Known ids, so that calls come far, and texts that do harm everywhere else."""

    def text(self, rng: Random, name: str) -> str:
        """See Values."""
        if name == "spec_json":
            return _spec(rng)
        return super().text(rng, name) if rng.random() < 0.5 else harmful(rng)


def _spec(rng: Random) -> str:
    spec: dict[str, Any] = json.loads(corpus.spec(Random(0))) if rng.random() < 0.1 else {}

    def said(right: str) -> str:
        return right if rng.random() < 0.8 else harmful(rng)

    named = [{"name": said("a"), "bot": said("greedy")}, {"name": said("b"), "bot": "greedy"}]
    spec |= {"name": said("Cup"), "game": said("hongshi"), "entrants": named}
    return json.dumps(spec | ({harmful(rng): harmful(rng)} if rng.random() < 0.3 else {}))


def bad_texts(message: Message) -> list[tuple[str, str]]:
    """What steers in a response; texts of JSON are read first."""
    found = []
    for where, text in texts_of(message):
        if where.endswith("_json"):
            found += [(where, one) for one in _strings(json.loads(text)) if steers(one)] if text else []
        elif not where.endswith(OWN) and steers(text):
            found.append((where, text))
    return found


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*map(str, value), *(one for inner in value.values() for one in _strings(inner))]
    if isinstance(value, list):
        return [one for inner in value for one in _strings(inner)]
    return [value] if isinstance(value, str) else []


# ---- the server ----


async def asked(server: Place, path: str, request: Message, caller: Any, found: list[Any]) -> int:
    """Call a method; collect what steers in what it says. How many texts it said."""
    handler, said = server.handlers[path], 0
    context: Any = Context(caller)
    raw = request.SerializeToString()
    try:
        if handler.unary_unary is not None:
            responses = [await handler.unary_unary(raw, context)]
        else:
            stream = handler.unary_stream(raw, context)
            responses = [await anext(stream)]
            await stream.aclose()
    except Status as status:
        found += [(path, status.text)] if steers(status.text) else []
        return 1
    except StopAsyncIteration:
        return 0
    for response in responses:
        server.values.learn(response)
        found += [(path, where, text) for where, text in bad_texts(response)]
        said += sum(1 for _ in texts_of(response))
    return said


@pytest.mark.slow
@pytest.mark.timeout(1_800)
async def test_no_way_through_the_server(counts: Counts) -> None:
    """Every method, with texts that do harm in every text of its request; all that anybody is told then."""
    found: list[Any] = []
    rng, said, calls = Random(5), 0, counts(1_500, 60_000)
    async with place() as server:
        server.values = Harmful(server.values.fixed)
        waits = ("/Play", "/AgreeRematch", "/QuickMatch", "/Serve", "/EnterTournament", "/WatchTournament")
        paths = [path for path in sorted(server.handlers) if not path.endswith(waits)]
        for number in range(calls):
            if number % 200 == 0:
                await server.renew()
            path = rng.choice(paths)
            request: Any = made(rng, described(path).input_type, server.values)
            if path.endswith("/ChangeAccount"):
                request.account_id = rng.choice(VICTIMS)
            if path.endswith("/Register"):
                request.kind, request.command_id = 2, f"register-{number:010}"
            if path.endswith("/SubmitTournament"):
                request.spec_json, request.command_id = _spec(rng), f"t{number}"
            said += await asked(server, path, request, rng.choice(server.callers), found)
        watched = server.values.seen["tournament_id"][-1]  # one was taken in
        request = tournament_pb2.WatchTournamentRequest(tournament_id=watched)
        said += await asked(server, "/kangtou.v1.TournamentService/WatchTournament", request, server.callers[0], found)
    print(f"{calls} calls with harm in every text, {said} texts told, {len(found)} that steer")
    assert found == []
    assert said > calls


# ---- clients ----


def _kinds() -> list[Descriptor]:
    folder = Path(next(iter(kangtou.v1.__path__)))
    files = [importlib.import_module(f"kangtou.v1.{path.stem}").DESCRIPTOR for path in sorted(folder.glob("*_pb2.py"))]
    return [
        method.output_type for file in files for service in file.services_by_name.values() for method in service.methods
    ]


def test_responses_of_a_hostile_server(counts: Counts) -> None:
    """Every response of every method, whatever texts stand in it: none steers once it is shown."""
    values, checked = Harmful({}), 0
    for kind in _kinds():
        for number in range(counts(20, 300)):
            message = shown(made(Random(number), kind, values))
            assert [one for one in texts_of(message) if steers(one[1], lines=True)] == []
            checked += sum(1 for _ in texts_of(message))
    print(f"{len(_kinds())} kinds of responses, {checked} texts")
    assert checked > 1_000


@given(TEXTS, TEXTS)
def test_a_play_stream_of_a_hostile_server(name: str, said: str) -> None:
    """Names, chat, notices, refusals."""
    response = play.PlayResponse()
    response.updates.add().attached.players.add(name=name)
    chat = response.updates.add().chat
    chat.name, chat.text = name, said
    response.updates.add().notice.text_en = said
    response.updates.add().answer.refused.text_zh = said
    assert not any(steers(text, lines=True) for _, text in texts_of(_stream_shown(response)))


@given(ANY | TEXTS)
def test_what_is_visible(text: str) -> None:
    """Nothing that steers is left, nothing is lost, and what was visible is as it was."""
    kept = visible(text)
    assert not steers(kept, lines=True)
    assert visible(kept) == kept
    assert len(kept) >= len(text)
    if not steers(text, lines=True):
        assert kept == text
    assert not steers(coloured(text).replace("\x1b", ""), lines=True)
    assert coloured(f"\x1b[1;31m{kept}\x1b[0m") == f"\x1b[1;31m{kept}\x1b[0m"
    assert json.loads(json_line({"a": text})) == {"a": text}
    assert not steers(json_line([text]))
    assert not any(steers(one, lines=True) for one in _strings(visible_json({text: [text, {"b": text}]})))


@given(TEXTS)
def test_a_table_on_a_screen(text: str) -> None:
    """Text in a cell is text: no markup, no link, no escape, whatever it is."""
    out = io.StringIO()
    screen = Screen(file=out, width=400, force_terminal=True, no_color=True)
    table = Table(box=None, show_header=False)
    table.add_column(no_wrap=True)
    table.add_row(text)
    table.add_row(Text(text))
    screen.print(table)
    shown_text = out.getvalue()
    assert not steers(shown_text, lines=True)
    if text.isprintable() and not text.startswith(" "):
        assert shown_text.count(text.strip()) >= 2


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_lines_of_commands(seed: int, colour: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """What a command says, in lines, remarks and JSON."""
    text, common = harmful(Random(seed), 60), Common(colour=colour)
    common.put(f"name {text}")
    common.put_json({"name": text})
    common.note("tournament_left", command=text)
    said = capsys.readouterr()
    for kept in (said.out, said.err):
        assert not steers(kept.replace("\x1b", ""), lines=True)
        assert colour or "\x1b" not in kept


# ---- logs ----


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_line_of_a_log_is_one_line(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is logged, also by libraries; and nothing that a library was busy with is in it."""
    handlers = list(logging.getLogger().handlers)
    logs.configure("info", "test", form)
    try:
        for seed in range(100):
            text = harmful(Random(seed), 80)
            structlog.get_logger("t").warning("seen", why=text, host=text)
            logging.getLogger("grpc").error("Invalid encoding on %s", text.encode("utf-8", "replace"))
            logging.getLogger("asyncio").error(f"Task {text}")
        logging.getLogger("grpc").error("Invalid encoding on %s", b"Bearer kt_secret")
    finally:
        logging.getLogger().handlers[:] = handlers
        structlog.contextvars.clear_contextvars()
    said = capsys.readouterr().err
    lines = said.removesuffix("\n").split("\n")
    assert len(lines) == 301
    assert not steers(said, lines=True)
    assert not any(line.startswith("level=error") for line in lines)
    assert "kt_secret" not in said


async def test_what_grpc_logs_of_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    """A header that is no text, with a token in it: the library would write all of it."""
    handlers, said = list(logging.getLogger().handlers), ""
    async with place() as server, AsyncExitStack() as stack:
        logs.configure("info", "test")
        try:
            port: Any = Port(server, Watch())
            token = server.callers[0].token.encode()
            for raw in await port.recorded():
                if token in raw:
                    _, writer = await asyncio.open_connection("127.0.0.1", server.gateway.port)
                    stack.callback(writer.close)
                    writer.write(raw.replace(token, token[:-1] + b"\xde"))
                    await writer.drain()
            async with asyncio.timeout(60):
                while "Invalid encoding" not in said:
                    await asyncio.sleep(0.05)
                    said += capsys.readouterr().err
            await port.answers()
        finally:
            logging.getLogger().handlers[:] = handlers
            structlog.contextvars.clear_contextvars()
    said += capsys.readouterr().err
    assert token[:24].decode() not in said


# ---- records ----


@given(st.integers(0, 10**9))
def test_a_record_that_steers_is_none(seed: int) -> None:
    """Even under hashes that fit it: lines of entries and of the header."""
    rng = Random(seed)
    record = _RECORD
    place_at = rng.randrange(len(record.entries))
    entries, previous = [], CHAIN_START
    for number, entry in enumerate(record.entries):
        text = entry.text
        if number == place_at:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice("\x1b\x9b\x07\u202e\u2028\x00") + text[at:]
        previous = chain(previous, entry.id, text)
        entries.append(replace(entry, text=text, chain=previous))
    with pytest.raises(RecordFault):
        read_record(write_record(replace(record, entries=tuple(entries))))


_RECORD = read_record((Path(__file__).parents[1] / "golden/records/hongshi.ktr").read_bytes())
_RECORD = replace(_RECORD, entries=(*_RECORD.entries[:4], _RECORD.entries[-1]))


# ---- screens ----


def _own(node: ast.expr) -> bool:
    """A text that is ours, or one in which nobody looks for markup."""
    made_of = node.func if isinstance(node, ast.Call) else None
    name = made_of.id if isinstance(made_of, ast.Name) else made_of.attr if isinstance(made_of, ast.Attribute) else ""
    return name in ("Text", "say", "Option") or isinstance(node, ast.Starred)


def _looks_for_markup(call: ast.Call) -> bool:
    kind = (
        call.func.id
        if isinstance(call.func, ast.Name)
        else call.func.attr
        if isinstance(call.func, ast.Attribute)
        else ""
    )
    if kind not in ("Static", "Label", "OptionList", "notify") or any(one.arg == "markup" for one in call.keywords):
        return False
    named = any(one.arg in ("id", "classes") for one in call.keywords)  # it is filled later
    return kind == "notify" or named or not all(map(_own, call.args))


def test_no_screen_takes_a_text_of_others_for_markup() -> None:
    """In Textual a plain text is markup unless it is said that it is not: a name `[/x]` would end the program."""
    folder = Path(kangtou_clients.tui.__file__).parent
    calls = [
        (path.name, node.lineno, _looks_for_markup(node))
        for path in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]
    assert len(calls) > 1_000
    assert [(name, line) for name, line, bad in calls if bad] == []
