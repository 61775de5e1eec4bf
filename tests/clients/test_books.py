"""The rule books are found in a checkout and from a wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from kangtou_clients import books

ROOT = Path(__file__).resolve().parents[2]


def test_in_a_checkout() -> None:
    """The ones under docs/rules, not copies that an editable install may have left behind."""
    assert books.folder() == ROOT / "docs/rules"


def test_from_a_wheel(tmp_path: Path) -> None:
    """Packed beside the client, and found there."""
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    place = tmp_path / "site"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(place, [name for name in packed.namelist() if name.startswith("kangtou_clients/")])
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from kangtou_clients import books;"
        "print(books.folder()); print(books.rule(books.book('hongshi'), 'HS-4.3')[:8])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code, str(place)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == [str(place / "kangtou_clients/rules"), "**HS-4.3"]
