"""Secrets in every form in which somebody could write them, and the search for them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kangtou_engine.cards import DECK54

CARD = re.compile(r"(?<![A-Za-z0-9+/=_.-])(?:" + "|".join(DECK54) + r")(?![A-Za-z0-9+/=_.-])|[♠♥♣♦]")
PART = 16  # characters of a form that give it away, from its beginning or its end
AROUND = 60  # characters of an excerpt


def forms(secret: bytes | str) -> set[str]:
    """Hexadecimal, both base64 alphabets, Python's own, a list of numbers; of texts, themselves."""
    raw = secret.encode() if isinstance(secret, str) else secret
    encoded = {raw.hex(), base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()}
    encoded = {form.rstrip("=") for form in encoded} | {raw.hex().upper(), repr(raw)[2:-1], str(list(raw))[1:-1]}
    if isinstance(secret, str):
        encoded.add(secret)
    else:
        encoded.add(raw.decode("utf-8", "replace"))
        encoded.add(raw.decode("latin-1"))
    return encoded


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret where it must not be. `what` is its kind, such as `seed` or `card`."""

    where: str
    what: str
    excerpt: str


@dataclass
class Known:
    """Secrets by kind; parts of a form are looked for too, since texts are shortened."""

    parts: dict[str, str] = field(default_factory=dict)  # text to find -> kind

    def add(self, kind: str, *secrets: bytes | str) -> None:
        """Secrets of one kind. Those of less than eight bytes could be anywhere by chance."""
        for secret in secrets:
            assert len(secret) >= 8, f"{kind} is too short to be looked for"
            for form in forms(secret):
                self.parts[form[:PART]] = self.parts[form[-PART:]] = kind

    def found(self, where: str, text: str, *, cards: int = 1) -> Iterator[Finding]:
        """What is in a text. A line with at least `cards` cards is a finding (0: cards may be there)."""
        for part, kind in self.parts.items():
            at = text.find(part)
            if at >= 0:
                yield Finding(where, kind, text[max(0, at - AROUND) : at + len(part)])
        if cards:
            for line in text.splitlines():
                seen = CARD.findall(line)
                if len(seen) >= cards:
                    yield Finding(where, "card", line[:300])

    def search(self, texts: Mapping[str, str], allowed: Iterable[re.Pattern[str]] = ()) -> list[Finding]:
        """All of what a server has produced; lines that match `allowed` may name what looks like a card."""
        found = [one for where, text in texts.items() for one in self.found(where, text)]
        known = list(allowed)
        return [one for one in found if one.what != "card" or not any(each.search(one.excerpt) for each in known)]
