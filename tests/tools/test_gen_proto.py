"""The committed protocol modules are what the .proto files say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def generated(folder: Path) -> dict[str, bytes]:
    """All generated modules and stubs below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("kangtou/**/*_pb2*.py*")}


def test_generated_modules_are_current(tmp_path: Path) -> None:
    """Generating again gives the same files, byte for byte."""
    command = [sys.executable, "tools/gen_proto.py", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    again, committed = generated(tmp_path), generated(ROOT / "proto")
    assert sorted(again) == sorted(committed), "make proto"
    assert [name for name in again if again[name] != committed[name]] == [], "make proto"
