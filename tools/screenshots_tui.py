"""Pictures of every screen of the terminal interface, and its text at fixed cards.

    python -m tools.screenshots_tui                  SVG pictures into docs/screenshots/tui-*.svg
    python -m tools.screenshots_tui --text           what stands on the screens, into tests/tui/golden/*.txt
    python -m tools.screenshots_tui --png FOLDER     PNG too, for looking at (needs chromium)

The cards are fixed by a seed, the bots by theirs. The tests compare the texts; renew them with --text and look at
the difference.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tui.scenes import SCENES, Shot, shoot

ROOT = Path(__file__).resolve().parents[1]
PICTURES, TEXTS = ROOT / "docs/screenshots", ROOT / "tests/tui/golden"


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--text", action="store_true", help="write the texts that the tests compare")
    parser.add_argument("--png", metavar="FOLDER", type=Path, help="PNG of each picture into this folder")
    parser.add_argument("--only", metavar="NAME", default="", help="screens whose name begins so")
    given = parser.parse_args()
    asyncio.run(_all(given.text, given.png, given.only))
    return 0


async def _all(text: bool, png: Path | None, only: str) -> None:
    wanted = [scene for scene in SCENES if scene.name.startswith(only)]
    for number, scene in enumerate(wanted, 1):
        with tempfile.TemporaryDirectory(prefix="kt-") as folder:
            _write(await shoot(scene, Path(folder)), text, png)
        sys.stdout.write(f"{number}/{len(wanted)} {scene.name}\n")
        sys.stdout.flush()


def _write(shot: Shot, text: bool, png: Path | None) -> None:
    if text:
        TEXTS.mkdir(exist_ok=True)
        (TEXTS / f"{shot.name}.txt").write_text(shot.text + "\n")
        return
    picture = PICTURES / f"tui-{shot.name}.svg"
    picture.write_text(shot.svg)
    if png is not None:
        png.mkdir(exist_ok=True, parents=True)
        _png(picture, png / f"{shot.name}.png")


def _png(picture: Path, target: Path) -> None:
    """A browser draws it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not installed: apt-get install chromium fonts-noto-cjk")
    options = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars".split()
    size = "--window-size=1000,680"
    command = [chromium, *options, size, f"--screenshot={target}", picture.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
