"""Copy the rule books and their public cases from where they are written into docs/rules and tests/cases.

`python tools/copy_rules.py ../shared/rules` copies, and writes tests/docs/rules.sha256, against which a test holds
the copies wherever the originals are not at hand. The only change on the way: paths of the source texts, which are
not part of this repository, become their titles.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUMS = ROOT / "tests/docs/rules.sha256"
NORTHEAST = "【原创】东北扑克牌游戏简介 by 北河 (introduction; 红十, 对主, 二百五)"
CHENGDE = "五十K （河北承德地区发源的扑克游戏）"
SOURCES = {"../seeds/": f"{NORTHEAST} and {CHENGDE}", "../seeds/004_17d54ee4dae0013e.txt": CHENGDE}


def titled(text: str) -> str:
    """A rule book's text with the sources' titles in place of their paths; a path without a title is an error."""
    return re.sub(r"`(\.\./seeds/[^`]*)`", lambda path: SOURCES[path[1]], text)


def copies(origin: Path) -> dict[Path, bytes]:
    """What the copies must hold, by their path in this repository."""
    books = {Path("docs/rules", book.name): titled(book.read_text()).encode() for book in origin.glob("*.md")}
    cases = {Path("tests/cases", file.name): file.read_bytes() for file in origin.glob("cases/*.yaml")}
    return dict(sorted((books | cases).items()))


def main() -> int:
    """Copy everything from the folder named on the command line."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = copies(Path(sys.argv[1]))
    for path, content in found.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_bytes(content)
    SUMS.parent.mkdir(parents=True, exist_ok=True)
    SUMS.write_text("".join(f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in found.items()))
    print(f"{len(found)} files copied")
    return 0


if __name__ == "__main__":
    sys.exit(main())
