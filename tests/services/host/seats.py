"""What the seats of a match say and are told, through the links of a test."""

from __future__ import annotations

from tests.services.hosts import Gate, Node, Sub, World, text_of


def node(made: World) -> Node:
    """Its first host."""
    return made.nodes[0]


async def everybody(gate: Gate, match: str, seats: int = 4) -> list[Sub]:
    """All seats followed through one link."""
    return [await gate.sub(match, seat) for seat in range(seats)]


def asked(subs: list[Sub]) -> int:
    """The seat whose prompt is the newest."""
    return max(range(len(subs)), key=lambda seat: subs[seat].prompt.number if subs[seat].prompt else 0)  # type: ignore[union-attr]


def default(sub: Sub) -> tuple[str, int]:
    """The default action and number of its prompt."""
    assert sub.prompt is not None
    return text_of(sub.prompt.default_action), sub.prompt.number


def kinds(sub: Sub) -> list[str]:
    """The events that it was told."""
    return [event.kind for entry in sub.of("entry") for event in entry.events]


def repeat(subs: list[Sub], seat: int) -> tuple[str, str, int]:
    """The command c0 of the seat before, as it was."""
    prompt = next(prompt for prompt in subs[(seat - 1) % 4].of("prompt"))
    return text_of(prompt.default_action), "c0", prompt.number


def cid(given: tuple[str, int], command_id: str = "c1") -> tuple[str, str, int]:
    """Text, id, number."""
    return given[0], command_id, given[1]
