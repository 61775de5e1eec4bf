"""A client that knows nothing but gRPC: reflection, health, lint of the protocol. Issue: main job, 10."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from kangtou_services.gateway.server import start
from kangtou_services.gateway.wiring import wired
from kangtou_services.runtime import in_memory
from kangtou_services.settings import Settings

ROOT = Path(__file__).parents[2]
BUF = str(Path(sys.executable).with_name("buf"))
SERVICES = {"AccountService", "AdminService", "ArchiveService", "LobbyService", "PlayService"}


async def buf(*words: str) -> tuple[int, str]:
    """Run buf; exit code and output."""
    process = await asyncio.create_subprocess_exec(
        BUF, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def test_the_protocol_passes_lint() -> None:
    """STANDARD rules, without exceptions."""
    assert await buf("lint", "proto") == (0, "")


async def test_a_generic_client_lists_and_calls(tmp_path: Path) -> None:
    """`buf curl` through reflection."""
    backend = in_memory(Settings(data=tmp_path, port=0, link_secret="s"))
    identity, extras = wired(backend)
    running = await start(backend, identity, extras)
    plain = ("--protocol", "grpc", "--http2-prior-knowledge")
    base = f"http://{running.address}"
    try:
        code, listed = await buf("curl", *plain, "--list-methods", base)
        assert code == 0, listed
        assert {f"kangtou.v1.{name}" for name in SERVICES} <= {line.rsplit("/", 1)[0] for line in listed.splitlines()}
        data = json.dumps({"name": "Curl", "kind": "ACCOUNT_KIND_BOT", "command_id": "0123456789abcdef"})
        code, said = await buf("curl", *plain, "-d", data, f"{base}/kangtou.v1.AccountService/Register")
        assert code == 0, said
        login = json.loads(said)
        header = ("-H", f"authorization: Bearer {login['token']}")
        code, said = await buf("curl", *plain, *header, "-d", "{}", f"{base}/kangtou.v1.LobbyService/ListGames")
        assert code == 0, said
        games = {game["game"] for game in json.loads(said)["games"]}
        assert games >= {"hongshi", "duizhu", "erbaiwu", "wushik"}
        for service, status in (("kangtou.live", "SERVING"), ("", "NOT_SERVING")):  # there is no table actor
            data = json.dumps({"service": service})
            code, said = await buf("curl", *plain, "-d", data, f"{base}/grpc.health.v1.Health/Check")
            assert (code, json.loads(said)["status"]) == (0, status)
    finally:
        await running.stop()
        await backend.close()
