"""What an entrant's process can reach. docs/tournaments.md, "Isolation"."""

from __future__ import annotations

import json
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kangtou_services.settings import Settings
from kangtou_services.tournament.commands import OUTPUT_MOST, Commands, Seat
from kangtou_services.tournament.model import Entrant

LOOK = """
import json, os, pathlib, socket
def can(what):
    try:
        what()
    except OSError:
        return False
    return True
def connect(where):
    kind = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET
    with socket.socket(kind) as probe:
        probe.settimeout(1)
        probe.connect(where)
print(json.dumps({
    "server": os.environ["KANGTOU_SERVER"],
    "gateway": can(lambda: connect(os.environ["KANGTOU_SERVER"].removeprefix("unix:"))),
    "redis": can(lambda: connect(DATA + "/redis.sock")),
    "secret": can(lambda: open(DATA + "/link.secret").read()),
    "loopback": can(lambda: connect(("127.0.0.1", PORT))),
    "home": can(lambda: pathlib.Path.home().joinpath("x").write_text("x")),
    "elsewhere": [one for one in ("/var/tmp", "/", os.path.dirname(os.__file__)) if can(lambda: open(one + "/x", "w"))],
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "undone": can(lambda: os.rmdir(DATA)) or os.system("umount " + DATA + " 2>/dev/null") == 0
        or os.system("mount -o remount,rw / 2>/dev/null") == 0,
    "environment": sorted(name for name in os.environ if "SECRET" in name),
}))
"""


@pytest.fixture
def data() -> Iterator[Path]:
    """A server's folder, with a secret in it."""
    with tempfile.TemporaryDirectory(prefix="kt-") as folder:
        (Path(folder) / "run").mkdir()
        (Path(folder) / "link.secret").write_text("secret")
        yield Path(folder)


def listening(path: Path) -> socket.socket:
    """A unix socket."""
    found = socket.socket(socket.AF_UNIX)
    found.bind(str(path))
    found.listen()
    return found


async def output_of(commands: Commands, command: list[str], memory_mb: int = 512, cpu_s: int = 60) -> str:
    """What a process said."""
    entrant = Entrant("e", command=tuple(command), memory_mb=memory_mb, cpu_s=cpu_s)
    process = await commands.start(entrant, Seat("m", 1, "token"))
    await process.wait()
    await process.end()
    return process.output


async def test_an_isolated_process_reaches_the_gateway_alone(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel allows it; elsewhere the reason is said."""
    monkeypatch.setenv("KANGTOU_LINK_SECRET", "secret")
    with listening(data / "run" / "seats-g.sock"), listening(data / "redis.sock"), socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        commands = Commands(Settings(data=data))
        await commands.probe()
        if not commands.isolated:
            assert commands.why_not
            return
        look = f"DATA, PORT = {str(data)!r}, {other.getsockname()[1]}\n{LOOK}"
        said = json.loads((await output_of(commands, [sys.executable, "-c", look])).split("\n")[0])
    assert said.pop("server").startswith("unix:")
    assert said.pop("processes") <= 2
    assert said == {
        "gateway": True,
        "redis": False,
        "secret": False,
        "loopback": False,
        "home": True,
        "elsewhere": [],
        "undone": False,
        "environment": [],
    }


async def test_no_gateway_no_isolation(data: Path) -> None:
    """The reason is said; the process runs all the same, in a folder of its own with no secrets."""
    commands = Commands(Settings(data=data))
    await commands.probe()
    assert not commands.isolated
    assert "no gateway" in commands.why_not
    look = "import os; print(os.environ['KANGTOU_SEAT'], os.listdir('.'), os.environ['HOME'] == os.getcwd())"
    assert (await output_of(commands, [sys.executable, "-c", look])).startswith("1 [] True\n")


async def test_limits(data: Path) -> None:
    """Memory, processor time and output are bounded."""
    commands = Commands(Settings(data=data))
    hungry = "held = []\nwhile True: held.append(bytearray(b'x' * 8_000_000))"
    assert "MB of memory" in (found := await output_of(commands, [sys.executable, "-c", hungry], memory_mb=64)) or (
        "MemoryError" in found
    )
    busy = await output_of(commands, [sys.executable, "-c", "while True: pass"], cpu_s=1)
    assert "SIGKILL" in busy or "SIGXCPU" in busy
    chatty = await output_of(commands, [sys.executable, "-c", f"print('x' * {3 * OUTPUT_MOST}); print('the end')"])
    assert "the end" in chatty
    assert len(chatty) < OUTPUT_MOST + 100
