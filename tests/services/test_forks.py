"""Processes that are started while gRPC is at work."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# A server and a channel that talk, and children meanwhile. gRPC's own handlers of a fork speak of it on stderr.
STARTS = """
import asyncio
import kangtou_{side}
import grpc
import uvloop

async def main():
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{{port}}") as channel:
        await channel.channel_ready()
        for _ in range(30):
            child = await asyncio.create_subprocess_exec("true")
            assert await child.wait() == 0
    await server.stop(0)

uvloop.run(main())
"""


@pytest.mark.parametrize("side", ["services", "clients"])
def test_a_fork_is_none_of_grpcs_business(side: str) -> None:
    """Its handlers can crash the child before it is another program: they are off."""
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    command = [sys.executable, "-c", STARTS.format(side=side)]
    done = subprocess.run(
        command, env={**environment, "GRPC_TRACE": "fork"}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "fork_posix" not in done.stderr
