"""What objects of the services and of the client library say of themselves: in a log or a crash report it can end up.

A match is played in one process; in the middle of it every living object is asked. The engine's own values (hands,
events, states) are their text by design and stand in for nothing else; whatever holds them must not show them.
"""

from __future__ import annotations

import ast
import asyncio
import gc
import re
import secrets
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from kangtou_clients.api import Match, connect
from kangtou_services.embedded import EmbeddedSettings
from kangtou_services.settings import Settings
from kangtou_services.table.commands import Command
from kangtou_services.table.core import Table
from tests.inprocess import whole_server
from tests.services.tables import action

from .known import Finding, Known

OURS = ("kangtou_services.", "kangtou_clients.")
NAMES = ("annalotte", "bobalotte", "catalotte", "danalotte")
SECRET = "the-link-secret-of-this-test"
ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "services" / "kangtou_services", ROOT / "clients" / "kangtou_clients")
NAMED = re.compile(r"(.*_)?(token|secret|password|seed|entropy|entropies|recovery_code)")
NO_SECRETS = {  # everybody may know it by then; a function
    "values.Ending.seed",
    "values.Ending.entropies",
    "room.Room.entropy",
}
GAMES = ("erbaiwu", "wushik")  # the objects of services and clients are the same for all


def said(root: str) -> Iterator[tuple[str, str]]:
    """Type and `repr` of every living object of a package."""
    for one in gc.get_objects():
        kind = type(one)
        if str(kind.__module__).startswith(root) and getattr(kind, "__repr__", None) is not object.__repr__:
            yield f"{kind.__module__}.{kind.__qualname__}", repr(one)


def leaks(known: Known, root: str) -> dict[str, Finding]:
    """The first finding of each type. Cards are the services' secret; a client shows its own."""
    found: dict[str, Finding] = {}
    for where, text in said(root):
        cards = 1 if root == OURS[0] else 0
        for finding in known.found(where, re.sub(r"\s", " ", text), cards=cards):
            found.setdefault(where, finding)
    return found


@pytest.mark.timeout(120)
@pytest.mark.parametrize("game", GAMES)
async def test_no_object_shows_a_secret(game: str) -> None:
    """Tokens, seed, entropies, the link's secret; in the services no card either."""
    known, seed = Known(), secrets.token_bytes(32)
    known.add("seed", seed)
    known.add("token", *(f"t-{name}" for name in NAMES))
    known.add("link secret", SECRET)
    entropies = {number: secrets.token_bytes(24) for number in range(4)}
    known.add("entropy", *entropies.values())
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(whole_server(link_secret=SECRET, house_secret=SECRET))
        await server.make("m1", NAMES, game=game, seed=seed, entropies=entropies, options={"rounds": 1})
        matches = []
        for number, name in enumerate(NAMES):
            client = await stack.enter_async_context(connect(server.address, f"t-{name}"))
            session = await stack.enter_async_context(client.play())
            match = await session.attach("m1", entropy=entropies[number])
            assert isinstance(match, Match)
            matches.append(match)
        moves = 0
        while moves < 12:
            for match in matches:
                if (prompt := match.prompt) is not None:
                    await prompt.answer(prompt.default)
                    moves += 1
            await asyncio.sleep(0.01)
        table = server.hosts[0].host.slots["m1"].table
        assert table.history
        kinds = {where for where, _ in said(OURS[0])}
        assert {f"{Table.__module__}.Table", "kangtou_services.host.slot.Slot"} <= kinds
        assert {**leaks(known, OURS[0]), **leaks(known, OURS[1])} == {}


def test_the_search_finds_what_shows() -> None:
    """A seat's command with its cards, settings, a token: had they shown them."""
    known = Known()
    known.add("token", "t-annalotte")
    assert [one.what for one in known.found("x", "Bearer t-annalotte")] == ["token"]
    assert [one.what for one in known.found("x", f"play {action('play S3')}")] == ["card"]
    assert list(known.found("x", repr(Command(0, "c1", 1, action("play S3 H3"))))) == []


def test_no_class_shows_what_is_named_like_a_secret() -> None:
    """Every dataclass in the sources of services and clients: those that no match leaves lying about too."""
    sources = {file: file.read_text() for folder in SOURCES for file in folder.rglob("*.py")}
    made = {file: source for file, source in sources.items() if "@dataclass" in source}
    assert {one for file, source in made.items() for one in showing(source, file.stem)} - NO_SECRETS == set()
    assert len(made) > 100
    bad = "@dataclass\nclass Login:\n    token: str\n    seed: bytes = field(repr=False)\n"
    assert list(showing(bad, "x")) == ["x.Login.token"]
    assert list(showing(bad.replace("@dataclass", "@dataclass(repr=False)"), "x")) == []


def showing(source: str, name: str) -> Iterator[str]:
    """Fields of a module's dataclasses that their generated `repr` shows and that are named like a secret."""
    for kind in ast.walk(ast.parse(source)):
        if not isinstance(kind, ast.ClassDef) or not any(
            "dataclass" in ast.unparse(one) for one in kind.decorator_list
        ):
            continue
        written = any(isinstance(one, ast.FunctionDef) and one.name == "__repr__" for one in kind.body)
        if written or any("repr=False" in ast.unparse(one) for one in kind.decorator_list):
            continue
        for line in kind.body:
            if not isinstance(line, ast.AnnAssign) or not NAMED.fullmatch(ast.unparse(line.target)):
                continue
            if line.value is None or "repr=False" not in ast.unparse(line.value):
                yield f"{name}.{kind.name}.{ast.unparse(line.target)}"


def test_settings_do_not_show_their_secrets() -> None:
    """Nor the addresses in which there may be a password."""
    given = Settings(
        link_secret=SECRET,
        house_secret=SECRET,
        redis_url=f"redis://:{SECRET}@127.0.0.1:1",
        archive_url=f"s3://{SECRET}",
    )
    shown = [repr(given), str(given), repr(EmbeddedSettings(Path("x"), password=SECRET))]
    assert [text for text in shown if SECRET in text] == []
