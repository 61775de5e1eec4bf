"""Bytes and texts, changed: what a broken, old or hostile program might send in place of what is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

MOST = 96 * 1024  # longer inputs are cut: the gateway's own limit is 64 KiB

VARINTS = (
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\x80\x01",
    b"\xff\xff\xff\xff\x07",  # 2^31 - 1
    b"\x80\x80\x80\x80\xf8\xff\xff\xff\xff\x01",  # -2^31
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",  # 2^63 - 1
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # -1
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",  # none
)
# What has broken readers of text before.
TEXTS = (
    "",
    " ",
    "\0",
    "-",
    "-1",
    "00",
    "²",
    "٣",
    "1e999",
    "NaN",
    "null",
    "{}",
    "[]",
    '"\\ud800"',
    '{"name": "\\udfff"}',
    "[" * 5_000,
    '{"a":' * 3_000,
    "9" * 5_000,
    "1" + "0" * 400,
    "\x1b[2J\x1b]0;owned\x07",
    "a\r\nb\nerror=1",
    "\u202edorw\u202c",
    "\u200b",
    "[bold red]x[/bold]",
    "[/x]",
    "</script><script>alert(1)</script>",
    "%s%n{0}{x}",
    "../../etc/passwd",
    "m\N{COMBINING ACUTE ACCENT}" * 60,
    "\N{PILE OF POO}" * 20,
    "炕头",
    "x" * 65,
    "x" * 5_000,
)

_Change = Callable[[Random, bytearray, Sequence[bytes]], None]


def mutated(rng: Random, raw: bytes, others: Sequence[bytes]) -> bytes:
    """One to five changes of `raw`; pieces may come from `others`."""
    data = bytearray(raw)
    for _ in range(1 + min(4, int(rng.expovariate(0.7)))):
        rng.choice(_CHANGES)(rng, data, others)
        del data[MOST:]
    return bytes(data)


def noise(rng: Random) -> bytes:
    """Bytes at random: mostly few."""
    return rng.randbytes(min(2_000, int(rng.expovariate(1 / 24))))


def mutated_text(rng: Random, text: str, others: Sequence[str]) -> str:
    """The same for text: by letters, words and lines."""
    for _ in range(1 + min(4, int(rng.expovariate(0.7)))):
        at = rng.randrange(len(text) + 1)
        until = min(len(text), at + 1 + int(rng.expovariate(1 / 6)))
        match rng.randrange(7):
            case 0:
                text = text[:at] + rng.choice(TEXTS) + text[until:]
            case 1:
                text = text[:at] + text[until:]
            case 2:
                text = text[:until] + text[at:until] * rng.choice((1, 2, 50)) + text[until:]
            case 3 if others:
                other = rng.choice(others)
                text = text[:at] + other[rng.randrange(len(other) + 1) :]
            case 4:
                lines = text.split("\n")
                rng.shuffle(lines) if rng.random() < 0.1 else lines.insert(
                    rng.randrange(len(lines) + 1), rng.choice(lines)
                )
                text = "\n".join(lines)
            case 5:
                words = text.split(" ")
                words[rng.randrange(len(words))] = rng.choice(words)
                text = " ".join(words)
            case _:
                text = text[:at] + chr(rng.choice((0, 9, 10, 27, 32, 44, 61, 126, 160, 0x2028, 0x1F600))) + text[at:]
        text = text[:MOST]
    return text


# ---- changes of bytes ----


def _place(rng: Random, data: bytearray) -> int:
    return rng.randrange(len(data) + 1)


def _slice(rng: Random, data: bytearray) -> slice:
    at = _place(rng, data)
    return slice(at, at + 1 + int(rng.expovariate(1 / 8)))


def _flip(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _byte(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 8, 10, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _insert(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    at = _place(rng, data)
    data[at:at] = noise(rng)


def _delete(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    del data[_slice(rng, data)]


def _repeat(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    part = _slice(rng, data)
    data[part.stop : part.stop] = data[part] * rng.choice((1, 2, 8, 300))


def _cut(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    del data[_place(rng, data) :]


def _splice(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    if others:
        other = rng.choice(others)
        data[_place(rng, data) :] = other[rng.randrange(len(other) + 1) :]


def _varint(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    at = _place(rng, data)
    data[at : at + 1] = rng.choice(VARINTS)


def _nest(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    """Wrap what there is as the same field again and again: messages may hold one another without end."""
    tag = bytes(((rng.randrange(1, 16) << 3) | 2,))
    inner = bytes(data[:64])
    for _ in range(rng.choice((3, 40, 120))):
        if len(inner) > 8_000:
            break
        size, length = len(inner), bytearray()
        while size > 0x7F:
            length.append(size & 0x7F | 0x80)
            size >>= 7
        length.append(size)
        inner = tag + bytes(length) + inner
    data[:] = inner


def _text(rng: Random, data: bytearray, others: Sequence[bytes]) -> None:
    at = _place(rng, data)
    said = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
    data[at : at + len(said) * rng.randrange(2)] = said


_CHANGES: tuple[_Change, ...] = (
    _flip, _flip, _byte, _byte, _insert, _delete, _repeat, _cut, _splice, _varint, _nest, _text,
)  # fmt: skip
