"""What is shipped: the wheel holds what the commands read besides Python modules."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from kangtou_clients.page.export import SCRIPTS

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_holds_books_and_the_parts_of_the_page(tmp_path: Path) -> None:
    """Built as `pip` would build it."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assets = {f"kangtou_clients/page/assets/{name}" for name in (*SCRIPTS, "page.html", "page.css")}
    books = {f"kangtou_clients/rules/{book.name}" for book in (ROOT / "docs" / "rules").glob("*.md")}
    assert assets <= names
    assert books <= names
