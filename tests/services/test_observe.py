"""Metrics, traces and logs of a whole server in one process; every name in deploy/ is one that a server exposes."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client.parser import text_string_to_metric_families

from kangtou import tracing
from kangtou.v1 import play_pb2 as play
from kangtou.v1 import vitals_pb2, vitals_pb2_grpc
from kangtou_services import logs
from kangtou_services.observe.expose import OFF, exposed
from kangtou_services.observe.runner import RunnerMeter, of_children
from kangtou_services.observe.tally import Tally, histogram
from kangtou_services.supervisor import Child
from tests.inprocess import Server, until, whole_server
from tests.services.raw import RawStream, action_pb, raw_stream
from tools import gen_dashboards

NAMES = ("ann", "bob", "cat", "dan")
DEPLOY = Path(__file__).parents[2] / "deploy"
SERVING = health_pb2.HealthCheckResponse.SERVING


@asynccontextmanager
async def seated(server: Server, match: str = "m1") -> AsyncIterator[list[RawStream]]:
    """All four seats on streams of their own."""
    await server.make(match)
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(raw_stream(server.address, name)) for name in NAMES]
        for stream in streams:
            await stream.attach(match)
        yield streams


async def play_some(streams: Sequence[RawStream], moves: int, traceparent: str = "", match: str = "m1") -> list[str]:
    """Accepted commands, by whoever is asked; their ids."""
    ids: list[str] = []
    seen = max((one.answer.accepted.seq for stream in streams for one in stream.seen), default=1) - 1
    for _ in range(moves):
        while True:
            prompts = [
                (update.prompt.number, stream, update)
                for stream in streams
                for update in stream.seen
                if update.HasField("prompt") and update.prompt.number > seen
            ]
            if prompts:
                break
            await asyncio.sleep(0.01)
        seen, stream, update = max(prompts, key=lambda one: one[0])
        command = play.Command()
        command.CopyFrom(action_pb(f"play {update.prompt.legal[0].args[0]}"))
        command.match_id, command.command_id, command.prompt = match, f"move-{seen}", seen
        command.traceparent = traceparent
        await stream.send(play.PlayRequest(command=command))
        answer = await stream.answer(command.command_id)
        assert answer.HasField("accepted"), answer
        ids.append(command.command_id)
    return ids


async def body_of(port: int) -> str:
    """What a process exposes."""

    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
            return str(response.read().decode())

    return await asyncio.to_thread(read)


async def scraped(port: int) -> dict[str, Any]:
    """Samples of a process by name and labels, as Prometheus reads them."""
    body = await asyncio.to_thread(
        lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read()
    )
    families = text_string_to_metric_families(body.decode())
    return {
        f"{sample.name}{json.dumps(sample.labels) if sample.labels else ''}": sample.value
        for family in families
        for sample in family.samples
    }


def spans_in(folder: Path) -> list[dict[str, Any]]:
    """All spans of a folder of traces."""
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


@asynccontextmanager
async def exposing(server: Server) -> AsyncIterator[dict[str, int]]:
    """Every kind of process, by name, at its port."""
    settings, host, gateway = server.backend.settings, server.hosts[0].host, server.gateways[0]
    gathers = {
        "actor": [lambda: host.meter.gather(host), server.backend.log_meter.gather],
        "gateway": [gateway.gather, server.backend.log_meter.gather],
        "runner": [RunnerMeter().gather],
        "up": [lambda: of_children([Child("redis", [])])],
    }
    async with AsyncExitStack() as stack:
        ports = {
            kind: await stack.enter_async_context(exposed(settings, kind, kind, *some))
            for kind, some in gathers.items()
        }
        yield ports


async def test_a_move_is_counted_where_it_goes() -> None:
    """Moves, stages, refusals and streams, over HTTP; the address is in a file while the process runs."""
    async with whole_server() as server, seated(server) as streams, exposing(server) as ports:
        await play_some(streams, 3)
        await streams[0].command("m1", "late", 1, "play H3")
        await streams[0].answer("late")
        actor, gateway = await scraped(ports["actor"]), await scraped(ports["gateway"])
        assert actor['kangtou_moves_total{"game": "parrot"}'] >= 3
        assert actor["kangtou_tables"] == 1
        assert actor["kangtou_seats_followed"] == 4
        for stage in ("wait", "decide", "append", "publish"):
            assert actor[f'kangtou_table_stage_seconds_count{{"stage": "{stage}"}}'] >= 3
        assert sum(value for name, value in actor.items() if name.startswith("kangtou_table_refusals_total")) == 1
        assert gateway['kangtou_gateway_stage_seconds_count{"stage": "answer"}'] == 4
        assert gateway['kangtou_gateway_stage_seconds_count{"stage": "link"}'] == 4
        assert gateway["kangtou_streams"] == 4
        assert gateway["kangtou_ready"] == 1
        note = server.backend.settings.run_dir / "metrics" / "actor.json"
        (target,) = json.loads(note.read_text())
        assert target["targets"] == [f"127.0.0.1:{ports['actor']}"]
        assert target["labels"]["role"] == "actor"
    assert not note.exists()
    with pytest.raises(urllib.error.URLError):
        await scraped(ports["actor"])


async def test_no_metrics_where_none_are_wanted() -> None:
    """-1: nothing listens. A fixed port: the next one for the next process."""
    async with whole_server(metrics_port=-1) as server, exposing(server) as ports:
        assert set(ports.values()) == {OFF}
    async with whole_server() as server, exposing(server) as ports:
        taken = ports["actor"]
        fixed = server.backend.settings.model_copy(update={"metrics_port": taken})
        async with exposed(fixed, "gateway", "second") as port:
            assert taken < port < taken + 32


async def test_every_metric_of_the_dashboards_and_rules_exists() -> None:
    """What deploy/ asks for is what a server exposes, label names included."""
    async with whole_server() as server, seated(server) as streams, exposing(server) as ports:
        await play_some(streams, 1)
        gateway = server.gateways[0]
        gateway.parts.queues.looked("p", "parrot", "any", 1)
        gateway.parts.queues.matched("parrot", "any", [5])
        gateway.parts.meter.calls["/kangtou.v1.X/Y", "OK"] += 1
        gateway.readiness.redis = dict.fromkeys(("used_memory", "maxmemory", "aof_current_size"), 1.0)
        bodies = [await body_of(port) for port in ports.values()]
    exists: dict[str, set[str]] = {}
    for family in text_string_to_metric_families("".join(bodies)):
        names = [family.name, f"{family.name}_total"]
        names += [f"{family.name}_{part}" for part in ("bucket", "sum", "count")] if family.type == "histogram" else []
        for name in names:
            exists.setdefault(name, set()).update(*(sample.labels for sample in family.samples))
    asked = [(path.name, path.read_text()) for path in sorted(DEPLOY.glob("grafana/*.json"))]
    expressions = [
        (name, target["expr"])
        for name, text in asked
        for panel in json.loads(text)["panels"]
        for target in panel["targets"]
    ]
    rules = (DEPLOY / "prometheus" / "kangtou.rules.yml").read_text()
    expressions += [("rules", line.partition("expr: ")[2]) for line in rules.splitlines() if "expr: " in line]
    assert len(expressions) > 50
    for where, expression in expressions:
        for name in re.findall(r"\b(?:kangtou|process)_\w+", re.sub(r"\{[^}]*\}|by \([^)]*\)", "", expression)):
            assert name in exists, f"{where}: {name} in {expression}"
        for name, labels in re.findall(r"(kangtou_\w+)\{([^}]*)\}", expression):
            for label in re.findall(r"(\w+)=", labels):
                assert label in exists[name], f"{where}: {label} in {expression}"


def test_dashboards_are_what_their_tool_writes() -> None:
    """Nobody edits the generated files."""
    for name in gen_dashboards.DASHBOARDS:
        assert (DEPLOY / "grafana" / f"{name}.json").read_text() == gen_dashboards.dashboard(name)


def test_a_tally_is_a_histogram() -> None:
    """Cumulative buckets, sum and count as Prometheus has them; quantiles are bounds."""
    tally = Tally((1.0, 2.0, 5.0))
    for value in (0.5, 1.0, 1.5, 4.0, 9.0):
        tally.add(value)
    samples = {
        (sample.name, sample.labels.get("le", "")): sample.value for sample in histogram("x", "", [((), tally)]).samples
    }
    assert [samples["x_bucket", bound] for bound in ("1.0", "2.0", "5.0", "+Inf")] == [2, 3, 4, 5]
    assert (samples["x_count", ""], samples["x_sum", ""]) == (5, 16.0)
    assert (tally.quantile(0.4), tally.quantile(0.5), tally.quantile(0.99), Tally().quantile(0.5)) == (1.0, 2.0, 5.0, 0)


async def test_vitals_of_all_processes() -> None:
    """What `kangtou status` shows, the other gateway's figures from its heartbeat."""
    async with whole_server(hosts=2, gateways=2, heartbeat_ms=100) as server, seated(server) as streams:
        await play_some(streams, 2)
        async with grpc.aio.insecure_channel(server.gateways[1].address) as channel:
            stub = vitals_pb2_grpc.VitalsServiceStub(channel)
            async with asyncio.timeout(60):
                while True:
                    vitals = await stub.GetVitals(vitals_pb2.GetVitalsRequest())
                    by_id = {one.id: one for one in vitals.processes}
                    first = by_id[server.gateways[0].parts.gateway_id]
                    if first.figures.get("streams") == 4:
                        break
                    await asyncio.sleep(0.05)
        assert vitals.ready
        assert {check.name: check.good for check in vitals.checks} == {"log": True, "persistence": True, "actors": True}
        actors = [one for one in vitals.processes if one.kind == "actor"]
        assert (len(actors), len(vitals.processes)) == (2, 4)
        assert sum(one.figures["moves"] for one in actors) >= 2
        assert sum(one.figures["tables"] for one in actors) == vitals.live_matches == 1
        assert first.figures["moves"] == 2


async def test_readiness_is_more_than_being_alive() -> None:
    """Without an actor a gateway is alive and not ready, and says which of its needs is not met."""
    async with whole_server() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # type: ignore[no-untyped-call,arg-type,unused-ignore]

        async def serving(*services: str) -> list[bool]:
            asked = [await stub.Check(health_pb2.HealthCheckRequest(service=service)) for service in services]
            return [answer.status == SERVING for answer in asked]

        names = ("", "kangtou.v1.PlayService", "kangtou.live", "kangtou.log", "kangtou.persistence", "kangtou.actors")
        assert await serving(*names) == [True] * 6
        await server.end_host(0)
        readiness = server.gateways[0].readiness
        await until(lambda: not readiness.ready, 60)
        assert await serving(*names) == [False, False, True, True, True, False]
        assert readiness.why["actors"] == "no table actor is there"


async def test_a_trace_of_one_move_through_all_processes(tmp_path: Path) -> None:
    """One tree from the client's context down to the append; nothing of the game is in it."""
    client = tracing.start("client", f"file:{tmp_path}", 1.0)
    assert client is not None
    async with whole_server() as server, seated(server) as streams:
        gateway = server.gateways[0].parts.meter.tracing = tracing.start("gateway", f"file:{tmp_path}")
        actor = server.hosts[0].host.meter.tracing = tracing.start("actor", f"file:{tmp_path}")
        assert gateway is not None
        assert actor is not None
        span = client.begin("client.move")
        assert span is not None
        await play_some(streams, 1, span.traceparent)
        await play_some(streams, 1)  # not traced: it comes without a context, and the server's own rate is 0
        span.end()
    for one in (client, gateway, actor):
        one.close()
    spans = {one["name"]: one for one in spans_in(tmp_path)}
    assert set(spans) == {
        *("client.move", "gateway.command", "table.command"),
        *("table.wait", "table.decide", "log.append", "table.publish"),
    }
    assert len({one["context"]["trace_id"] for one in spans.values()}) == 1
    above = {"gateway.command": "client.move", "table.command": "gateway.command", "log.append": "table.command"}
    for name, parent in above.items():
        assert spans[name]["parent_id"] == spans[parent]["context"]["span_id"]
        assert spans[parent]["start_time"] <= spans[name]["start_time"] <= spans[name]["end_time"]
    attributes = {name for one in spans.values() for name in one["attributes"]}
    wanted = "match command seq seat game table_us"
    assert attributes == {f"kangtou.{name}" for name in wanted.split()}


async def test_a_context_that_is_none_traces_nothing(tmp_path: Path) -> None:
    """A client's word is not trusted."""
    zero, one, two = "0" * 32, "1" * 32, "2" * 16
    contexts = ("", "00-0-0-01", f"00-{zero}-{two}-01", f"00-{one}-{two}-00", "x" * 200)
    async with whole_server() as server, seated(server) as streams:
        gateway = server.gateways[0].parts.meter.tracing = tracing.start("gateway", f"file:{tmp_path}")
        assert gateway is not None
        for context in contexts:
            await play_some(streams, 1, context)
            assert gateway.begin("x", context) is None
        gateway.close()
    assert spans_in(tmp_path) == []


@pytest.mark.parametrize("to", ["here", "ftp://x", "localhost:4318"])
def test_where_traces_cannot_go(to: str) -> None:
    """Said when the process starts."""
    with pytest.raises(tracing.CannotTrace, match="traces go to"):
        tracing.check(to)


async def test_logs_name_match_entry_and_command_and_no_card(capsys: pytest.CaptureFixture[str]) -> None:
    """At level debug every entry and answer is a line of JSON with the same keys; no card, seed or token is in any."""
    held = structlog.get_config()
    logs.configure("debug", "test")
    try:
        async with whole_server(log_level="debug") as server, seated(server) as streams:
            ids = await play_some(streams, 3)
            cards = {
                card
                for stream in streams
                for update in stream.seen
                if update.HasField("prompt")
                for action in update.prompt.legal
                for card in action.args
            }
            seed = await server.backend.store.seed("m1")
    finally:
        structlog.configure(**held)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    stored = [line for line in lines if line["event"] == "entry_stored"]
    answered = [line for line in lines if line["event"] == "command_answered"]
    assert [line["command"] for line in stored if line["command"]] == ids == [line["command"] for line in answered]
    assert {line["match"] for line in (*stored, *answered)} == {"m1"}
    assert all(isinstance(line["seq"], int) for line in stored)
    assert seed is not None
    assert cards
    for line in lines:
        text = json.dumps({name: value for name, value in line.items() if name not in ("timestamp", "process")})
        assert seed.hex() not in text
        assert "t-ann" not in text
        assert not any(re.search(rf'[" ]{card}[" ]', text) for card in cards), text
