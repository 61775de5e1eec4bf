"""`say`, `chat`, `mute`, `report`, `reports`, `penalty`, `watch --rounds` and the terms of `open`, against a server."""

from __future__ import annotations

import asyncio
import json

from kangtou_clients.api import Match, connect
from kangtou_clients.cli.config import Config
from tests.clients.served import Run, Server
from tests.clients.test_cli_server import finish, run, server

__all__ = ["run", "server"]  # fixtures
SEATS = ("amy", "ben", "cid", "dot")


async def begin(address: str, tokens: list[str], match_id: str) -> None:
    """Open the seats' entropies, so that the match begins; until it has begun."""
    for place, token in enumerate(tokens, 1):
        async with connect(address, token) as client, client.play() as session:
            match = await session.attach(match_id)
            assert isinstance(match, Match)
            async with asyncio.timeout(60):
                while place == len(tokens) and not match.seq:
                    await match.news()


def test_a_table_with_spectators_and_a_scorer(run: Run, server: Server) -> None:
    """From opening to its end, by commands."""
    for name in (*SEATS, "gus"):
        run("register", name.title(), "--bot", "--as", name)
    given = ("-o", "rounds=2", "--watch", "open", "--json", "--as", "amy")
    table = json.loads(run("open", "hongshi", *given)[1])
    match = table["match"]
    assert table["watch"] == {"policy": "open", "delay_s": 0}
    assert table["scorer"] == table["owner"]
    assert run("open", "hongshi", "--watch", "some", "--as", "amy")[0] == 2
    code, _, err = run("open", "hongshi", "--watch", "open", "--rated", "--as", "amy")
    assert (code, "cannot be rated" in err) == (5, True)
    assert run("open", "hongshi", "--scorer", "nobody", "--as", "amy")[0] == 5
    shown = run("table", match, "--as", "gus")[1]
    assert "spectators see all hands while they are played" in shown
    assert "scorer: " in shown
    for name in SEATS:
        code, _, err = run("sit", match, "--as", name)
        assert (code, "all hands while they are played" in err) == (0, True)
    address = server.address.result()
    profiles = [Config().profile(address, name) for name in SEATS]
    tokens = [profile.token for profile in profiles if profile]
    server.do(begin(address, tokens, match)).result(30)

    assert run("say", match, "--as", "ben")[0] == 2
    assert run("say", match, "--phrase", "shout", "--as", "ben")[0] == 2
    code, out, err = run("say", match, "good", "evening", "--as", "ben")
    assert (code, err) == (0, "")
    assert "Ben (1): good evening" in out or "good evening" in out
    assert run("say", match, "--phrase", "thanks", "--lang", "zh", "--as", "gus")[1].rstrip().endswith("谢谢")
    said = [json.loads(line) for line in run("chat", match, "--json", "--as", "cid")[1].splitlines()]
    assert [one["text"] or one["phrase"] for one in said] == ["good evening", "thanks"]
    assert run("report", match, said[0]["message"], "--reason", "loud", "--as", "cid")[0] == 0
    assert run("report", match, "1-1", "--as", "cid")[0] == 5
    assert run("reports", "--as", "cid")[0] == 7
    assert run("mute", match, "Ben", "--as", "cid")[0] == 5
    assert run("mute", match, "Ben", "--as", "amy")[0] == 0
    assert run("say", match, "hello", "--as", "ben")[0] == 5
    assert run("mute", match, "Ben", "--off", "--as", "amy")[0] == 0
    assert run("penalty", match, "penalize", "seat=1", "--as", "ben")[0] == 5
    code, _, err = run("penalty", match, "penalize", "seat=1", "--as", "amy")
    assert (code, "HS-11.2" in err) == (5, True)  # not in the cut
    assert run("penalty", match, "((", "--as", "amy")[0] == 5
    code, out, err = run("watch", match, "--rounds", "--once", "--as", "gus")
    assert (code, err) == (0, "")
    assert run("watch", match, "--rounds", "--as", "amy", "--once")[0] == 0
    server.do(finish(address, tokens, match)).result(60)
