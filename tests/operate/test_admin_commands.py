"""`kangtou admin …` as it is typed: every command, for people and for programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from kangtou_clients.cli import main
from kangtou_clients.cli.config import Config, Profile
from kangtou_services.identity import OPERATOR
from tests.inprocess import until
from tests.services.towns import Town, town_of

Run = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
async def town(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Town]:
    """With an operator, as whom the command line acts."""
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path))
    async with town_of(gateways=1) as made:
        ops = await made.client("Ops")
        me = await ops.accounts.who_am_i()
        await made.identity.set_roles(me.account_id, frozenset({"player", OPERATOR}))
        made.forget(me.account_id)
        Config().keep(made.addresses[0], "", Profile(me.account_id, me.name, "bot", ops.token, 0))
        yield made


@pytest.fixture
def run(town: Town, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command: exit code, output, errors."""

    async def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = await asyncio.to_thread(main, [*arguments, "--server", town.addresses[0]])
        out, err = capsys.readouterr()
        return code, out.rstrip("\n"), err

    return command


async def test_accounts(town: Town, run: Run) -> None:
    """Find, give roles, ban, unban, end tokens, delete."""
    ann = await town.client("Ann")
    her = (await ann.accounts.who_am_i()).account_id
    code, out, _ = await run("admin", "accounts", "ann", "--lang", "en")
    assert (code, out.split()[:4]) == (0, [her, "Ann", "bot", "player"])
    for arguments, roles in (
        (("roles", her, "player", "operator"), ["operator", "player"]),
        (("ban", her, "--reason", "a test"), ["banned", "operator", "player"]),
        (("unban", her), ["operator", "player"]),
        (("revoke", her), ["operator", "player"]),
    ):
        code, out, err = await run("admin", *arguments, "--json")
        assert (code, json.loads(out)["roles"]) == (0, roles), err
    code, _, err = await run("admin", "roles", her, "king", "--lang", "en")
    assert (code, err) == (5, "kangtou: there is no role king; there are: player, operator, banned\n")
    code, out, _ = await run("admin", "delete", her, "--yes", "--json")
    assert code == 0
    code, _, err = await run("admin", "unban", her, "--lang", "zh")
    assert (code, err) == (8, "kangtou: 没有该账号\n")


async def test_tables_members_and_maintenance(town: Town, run: Run) -> None:
    """List, what cannot be moved or drained or ended here, and the server closed and opened."""
    code, out, err = await run("admin", "tables", "--lang", "en")
    assert (code, out, err) == (0, "", "kangtou: 0 of 0 matches in play\n")
    code, out, _ = await run("admin", "members", "--json")
    members = [json.loads(line) for line in out.splitlines()]
    assert [(code, one["kind"], one["draining"]) for one in members] == [
        (0, "KIND_ACTOR", False),
        (0, "KIND_GATEWAY", False),
    ]
    code, out, _ = await run("admin", "members", "--lang", "en")
    assert [line.split()[1] for line in out.splitlines()] == [one["id"] for one in members]
    for arguments, wanted, said in (
        (("drain", "nobody"), 5, "there is no actor or gateway nobody"),
        (("drain", members[0]["id"]), 5, "there is no other actor"),
        (("move", "m1"), 8, "there is no such match here"),
        (("end", "m1"), 8, "there is no such match here"),
        (("maintenance", "perhaps"), 2, "on or off"),
    ):
        code, _, err = await run("admin", *arguments, "--lang", "en")
        assert (code, said in err) == (wanted, True), err
    for typed, state in (
        (("maintenance", "on", "--message", "back at four"), (True, "back at four")),
        (("maintenance",), (True, "back at four")),
        (("maintenance", "off"), (False, "")),
    ):
        code, out, _ = await run("admin", *typed, "--json")
        told = json.loads(out)
        assert (code, (told["on"], told["message"])) == (0, state)
    await until(lambda: not town.running[0].parts.maintenance.on(), 60)
    code, out, _ = await run("admin", "maintenance", "--lang", "zh")
    assert (code, out) == (0, "正常开放")


async def test_who_is_no_operator_is_told(town: Town, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 7, and what is missing."""
    ann = await town.client("Ann")
    me = await ann.accounts.who_am_i()
    Config().keep(town.addresses[0], "ann", Profile(me.account_id, me.name, "bot", ann.token, 0))
    code, out, err = await run("admin", "tables", "--as", "ann")
    assert (code, out) == (7, "")
    assert "this is for operators" in err
