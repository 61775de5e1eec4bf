"""The commented transcript of docs/protocol.md, made anew from a real match: `python -m tools.transcript`.

One round of hongshi on a server of its own. Every message of one bot's stream passes the inspector of `kangtou bot
check`, which prints it; long runs are cut, and what is said about a kind of message stands at its first one. `--write`
puts it between the marks in docs/protocol.md.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from google.protobuf import json_format
from google.protobuf.message import Message

from kangtou.v1 import play_pb2 as play
from kangtou_clients.bots.check.trial import bench

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "protocol.md"
BEGIN, END = "<!-- transcript -->\n", "<!-- end of transcript -->\n"
WIDTH, MOVES = 168, 5
NOTES = {
    "attach": "The bot takes its seat. It had committed to no entropy; else `entropy` opens it here, the first time.",
    "attached": "What was agreed, who plays, and what the shuffle is committed to.",
    "snapshot": "The view as it is now; `seq` is the entry that it stands at.",
    "prompt": "A question, with its number, the time left, the default, and all legal actions.",
    "command": "The answer: an id of one's own, and the number of the question.",
    "answer": "It is on disk, in this entry. A refusal would stand here with rule, code and text.",
    "entry": "What changed, as this seat may see it; `??` is a card that it may not.",
    "ended": "The last message: scores and places by seat, the seed, the record's hash as a receipt. Now it may go.",
}


class Scribe:
    """Lines of the transcript."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.told: set[str] = set()
        self.commands = 0
        self.cut = 0

    def hears(self, way: str, message: play.PlayRequest | play.Update) -> None:
        """One message."""
        body = message.WhichOneof("body") or ""
        self.commands += body == "command"
        if self.commands > MOVES and body != "ended":
            self.cut += 1
            return
        if self.cut and body == "ended":
            self.lines += ["", f"    … {self.cut} messages of the same kinds …"]
        if body in NOTES and body not in self.told:
            self.told.add(body)
            self.lines += ["", NOTES[body], ""]
        self.lines.append(f"    {way} {body:9}{_short(getattr(message, body))}")

    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines).strip("\n") + "\n"


def _short(message: Message) -> str:
    text = json_format.MessageToJson(message, preserving_proto_field_name=True, indent=None, ensure_ascii=False)
    return text if len(text) <= WIDTH else text[: WIDTH - 2] + " …"


async def _match() -> str:
    scribe = Scribe()
    async with bench((sys.executable, str(ROOT / "examples" / "bots" / "first_legal_bot.py")), 10_000) as table:
        table.inspector.listener = scribe.hears
        run = await table.play("hongshi", {"rounds": 1, "between": False, "cut": False})
    if run.code != 0 or not run.over:
        raise SystemExit(f"the match was not played: {run.said}")
    return scribe.text()


def written(page: str, text: str) -> str:
    """The page with another transcript. Raises ValueError if it has no place for one."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError("the page has no marks for a transcript")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def main() -> int:
    """Print it, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="into docs/protocol.md")
    given = parser.parse_args()
    text = asyncio.run(_match())
    if given.write:
        PAGE.write_text(written(PAGE.read_text(), text))
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
