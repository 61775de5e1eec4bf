"""Checks a record from docs/record-format.md alone: plain Python, none of Kangtou's packages.

    python independent_check.py FILE.ktr [RECEIPT]

Prints what is wrong, with its line, or `in order`; exit code 1 if something is.
"""

import hashlib
import re
import sys

SUITS, RANKS = "SHCD", "3456789TJQKA2"
ORDER = [suit + rank for suit in SUITS for rank in RANKS] + ["BJ", "RJ"]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def over(lines: list[str]) -> str:
    """The hash over lines, each with its LF."""
    return sha("".join(line + "\n" for line in lines).encode())


def fields(event: str) -> dict[str, str]:
    """`round_began round=1 …` by name."""
    return dict(word.split("=", 1) for word in event.split(" ")[1:])


class Chance:
    """The section "Chance" of the page."""

    def __init__(self, match: str, seed: bytes, entropies: list[bytes]) -> None:
        data = b"kangtou/chance/1\0" + match.encode() + b"\0" + seed + bytes([len(entropies)])
        for entropy in entropies:
            data += len(entropy).to_bytes(2, "big") + entropy
        self.key = hashlib.sha256(data).digest()

    def block(self, purpose: str, number: int, i: int) -> bytes:
        data = self.key + purpose.encode() + b"\0" + number.to_bytes(8, "big") + i.to_bytes(8, "big")
        return hashlib.sha256(data).digest()

    def shuffled(self, cards: list[str], purpose: str, number: int) -> list[str]:
        cards = sorted(cards, key=ORDER.index)
        words: list[int] = []
        blocks = 0
        for place in range(len(cards) - 1, 0, -1):
            n = place + 1
            while True:
                if not words:
                    block = self.block(purpose, number, blocks)
                    blocks += 1
                    words = [int.from_bytes(block[at : at + 4], "big") for at in range(0, 32, 4)]
                word = words.pop(0)
                if word < 2**32 - 2**32 % n:
                    break
            other = word % n
            cards[place], cards[other] = cards[other], cards[place]
        return cards


def check(text: str, receipt: str = "") -> list[str]:
    """What is wrong, each with its line."""
    lines = text.split("\n")
    wrong: list[str] = []
    if lines.pop() != "":
        return [f"line {len(lines) + 1}: the text breaks off"]
    if not re.fullmatch(r"kangtou-record 1(\.[0-9]+)?", lines[0]):
        return ["line 1: not a record of version 1"]
    head_end = next((at for at, line in enumerate(lines) if line.startswith("header ")), None)
    if head_end is None or len(lines) < head_end + 5:
        return [f"line {len(lines)}: no whole record"]
    if lines[head_end] != "header " + over(lines[:head_end]):
        wrong.append(f"line {head_end + 1}: the header was changed")
    end = len(lines) - 3
    marks = ["! seed ", "! receipt ", "! sha256 "]
    if not all(line.startswith(mark) for line, mark in zip(lines[end:], marks, strict=True)):
        return [*wrong, f"line {end + 1}: seed, receipt and hash must stand here"]
    closing = [line.rsplit(" ", 1)[1] for line in lines[end:]]
    if closing[2] != over(lines[:-1]):
        wrong.append(f"line {len(lines)}: something was changed")
    wrong += chained(lines, head_end + 1, end, closing[1])
    if receipt and receipt != closing[1]:
        wrong.append(f"line {end + 2}: another receipt")
    return wrong + dealt(lines, head_end, end, bytes.fromhex(closing[0]))


def chained(lines: list[str], start: int, end: int, receipt: str) -> list[str]:
    """The section "The chain"."""
    wrong: list[str] = []
    before, seq, at = "0" * 64, 0, start
    while at < end:
        found = re.fullmatch(r"([0-9]+)-([0-9]+) ([0-9a-f]{64})", lines[at])
        if found is None:
            return [*wrong, f"line {at + 1}: an entry must stand here"]
        after = at + 1
        while after < end and not lines[after][:1].isdigit():
            after += 1
        body = "\n".join(lines[at + 1 : after])
        seq += 1
        if int(found[2]) != seq:
            wrong.append(f"line {at + 1}: seq {seq} must stand here")
        if found[3] != sha(f"{before}\n{found[1]}-{found[2]}\n{body}".encode()):
            wrong.append(f"line {at + 1}: this entry was changed")
        before, at = found[3], after
    if before != receipt:
        wrong.append(f"line {end + 2}: the receipt is not the last hash")
    return wrong


def dealt(lines: list[str], head_end: int, end: int, seed: bytes) -> list[str]:
    """The sections "Commitments" and "Checking a deal"."""
    wrong: list[str] = []
    head = dict(line.split(" ", 1) for line in lines[1:head_end])
    promised = [line.split(" ")[4] for line in lines[:head_end] if line.startswith("seat ")]
    match = head.get("board", head["match"])  # the section "Boards"
    if sha(b"kangtou/seed/1\0" + match.encode() + b"\0" + seed) != head["seed-commitment"]:
        wrong.append(f"line {end + 1}: not the seed that was committed to")
    begin = next((at for at in range(head_end, end) if lines[at].startswith("= begin entropies=")), None)
    if begin is None:
        return wrong
    texts = lines[begin].removeprefix("= begin entropies=").split(",")
    entropies = [b"" if text == "-" else bytes.fromhex(text) for text in texts]
    for seat, (entropy, promise) in enumerate(zip(entropies, promised, strict=True)):
        if entropy and sha(b"kangtou/entropy/1\0" + entropy) != promise:
            wrong.append(f"line {begin + 1}: seat {seat} committed to another entropy")
    chance = Chance(match, seed, [] if "board" in head else entropies)
    numbered = [(at + 1, lines[at]) for at in range(head_end, end)]
    return wrong + shuffled(numbered, chance) + hands(numbered, head["game"])


def shuffled(numbered: list[tuple[int, str]], chance: Chance) -> list[str]:
    """Packs and lots."""
    wrong: list[str] = []
    rounds = [(at, fields(line)) for at, line in numbered if line.startswith("round_began ")]
    for at, event in rounds:
        pile = event["pile"].split(",")
        if chance.shuffled(pile, "pack", int(event["deals"])) != pile:
            wrong.append(f"line {at}: the pack does not follow from the seed")
    lots = [(at, fields(line)["draws"].split(",")) for at, line in numbered if line.startswith("lot_drawn ")]
    for number, (at, draws) in enumerate(lots, 1):
        pack = rounds[0][1]["pile"].split(",")
        if chance.shuffled(pack, "lot", number)[: len(draws)] != draws:
            wrong.append(f"line {at}: the lot does not follow from the seed")
    return wrong


def hands(numbered: list[tuple[int, str]], game: str) -> list[str]:
    """Hongshi: dealt one at a time in turn from `first`, after the cut."""
    wrong: list[str] = []
    if not game.startswith("hongshi@"):
        return wrong
    pile: list[str] = []
    first = 0
    for at, line in numbered:
        if line.startswith("round_began "):
            pile, first = fields(line)["pile"].split(","), int(fields(line)["first"])
        elif line.startswith("pile_cut "):
            n = int(fields(line)["n"])
            pile = pile[n:] + pile[:n]
        elif line.startswith("dealt "):
            said = [hand.split(",") for hand in fields(line)["hands"].split("/")]
            seats = len(said)
            right = [sorted(pile[(seat - first) % seats :: seats], key=ORDER.index) for seat in range(seats)]
            if said != right:
                wrong.append(f"line {at}: the hands do not follow from the pile")
    return wrong


def main() -> int:
    """The command."""
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8", newline="") as file:  # noqa: PTH123
        wrong = check(file.read(), sys.argv[2] if len(sys.argv) == 3 else "")
    print("\n".join(wrong) or "in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
