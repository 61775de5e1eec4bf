"""What stands on each screen at fixed cards. Renew with `python -m tools.screenshots_tui --text`, and look at it."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from tests.conftest import Counts
from tests.tui.scenes import SCENES, Scene, shoot
from tests.tui.screens import SIZE

GOLDEN = Path(__file__).parent / "golden"
# One of each kind and game in every run, all of them in acceptance.
ALWAYS = frozenset(
    "hongshi-zh duizhu-bury erbaiwu-en wushik-chengde2 lobby-zh filling-zh open-zh book-en replay-zh".split()
)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_screen(scene: Scene, counts: Counts, tmp_path: Path) -> None:
    """The same text, to the cell."""
    golden = GOLDEN / f"{scene.name}.txt"
    assert golden.exists(), f"{golden.name} is missing: python -m tools.screenshots_tui --text"
    if not counts(int(scene.name in ALWAYS), 1):
        return
    shot = await shoot(scene, tmp_path)
    lines = shot.text.split("\n")
    assert len(lines) == scene.size[1]
    wanted = golden.read_text().removesuffix("\n").split("\n")
    changed = "\n".join(difflib.unified_diff(wanted, lines, "stored", "now", lineterm="", n=1))
    assert not changed, changed


def test_no_stored_text_without_its_screen() -> None:
    """Nothing is left over."""
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {scene.name for scene in SCENES}
    assert {scene.name for scene in SCENES} >= ALWAYS
    assert any(scene.size == SIZE for scene in SCENES)
