"""Every method of every service × who calls. The table is gateway/access.py; a method without a row fails here."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor

import kangtou.v1
from kangtou_services.gateway import access, admin
from kangtou_services.gateway.access import NEEDS, Needs
from kangtou_services.identity import BANNED, HOUSE, OPERATOR, PLAYER, SEAT, Account
from tests.services.towns import Town, town_of

METHODS: Mapping[str, MethodDescriptor] = {
    f"/{service.full_name}/{method.name}": method
    for path in sorted(Path(next(iter(kangtou.v1.__path__))).glob("*_pb2.py"))
    for service in importlib.import_module(f"kangtou.v1.{path.stem}").DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
CALLERS: Mapping[str, frozenset[str] | None] = {  # roles; None: no account
    "nobody": None,
    "stranger": None,
    "expired": frozenset({PLAYER, OPERATOR, HOUSE}),
    "revoked": frozenset({PLAYER, OPERATOR, HOUSE}),
    "banned": frozenset({PLAYER, OPERATOR, HOUSE, BANNED}),
    "seat": frozenset({SEAT}),
    "player": frozenset({PLAYER}),
    "house": frozenset({PLAYER, HOUSE}),
    "operator": frozenset({PLAYER, OPERATOR}),
}
NO_TOKEN = {"nobody", "stranger", "expired", "revoked"}
MAY: Mapping[Needs, set[str]] = {
    Needs.ANYBODY: set(CALLERS),
    Needs.SEAT: {"seat", "player", "house", "operator"},
    Needs.ACCOUNT: {"player", "house", "operator"},
    Needs.HOUSE: {"house"},
    Needs.OPERATOR: {"operator"},
    Needs.HERE: set(CALLERS),  # from this machine, as this test comes
}


# Whatever is not for the account of a player or bot, said once more and independently: a change of it is a decision.
EXCEPTIONS: Mapping[str, Needs] = {
    "AccountService/Register": Needs.ANYBODY,
    "AccountService/RecoverAccount": Needs.ANYBODY,
    "LobbyService/ListGames": Needs.ANYBODY,
    "AdminService/GetStatus": Needs.HERE,
    "VitalsService/GetVitals": Needs.HERE,
    "HouseService/Serve": Needs.HOUSE,
    "HouseService/SettleOffer": Needs.HOUSE,
    "TalkService/ListReports": Needs.OPERATOR,
    "OperateService/": Needs.OPERATOR,
    "PlayService/": Needs.SEAT,
}


def test_every_method_has_a_row_and_every_row_a_method() -> None:
    """So that none is open, or closed, because it was forgotten."""
    assert METHODS.keys() == NEEDS.keys()
    assert len(METHODS) >= 70


def test_what_each_method_needs() -> None:
    """An account of one's own, but for the exceptions."""
    for path, needs in NEEDS.items():
        name = path.removeprefix("/kangtou.v1.")
        service = f"{name.partition('/')[0]}/"
        assert needs is EXCEPTIONS.get(name, EXCEPTIONS.get(service, Needs.ACCOUNT)), path


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    """A gateway with all services."""
    async with town_of(gateways=1) as found:
        yield found


async def tokens_of(town: Town, number: int = 0) -> Mapping[str, str]:
    """By caller: accounts of their own, since some methods end them."""
    found = {"nobody": "", "stranger": "0" * 64}
    accounts: Any = town.identity
    for name, roles in CALLERS.items():
        if roles is None:
            continue
        account = Account(f"a{number:03}{name}".ljust(16, "0")[:16], name.title(), "bot", roles)
        issued = await accounts.issue(account, 1 if name == "expired" else 3_600_000)
        found[name] = issued.token
    await accounts.revoke(found["revoked"])
    await asyncio.sleep(0.005)  # until a token has expired
    return found


async def asked(channel: grpc.aio.Channel, path: str, token: str, timeout_s: float = 30.0) -> grpc.StatusCode:
    """The status of an empty call; OK too if it is answered, or has begun to be."""
    method = METHODS[path]
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
    call: Any = getattr(channel, kind)(path)
    given = (b"",) if kind.startswith("unary") else ()
    made = call(*given, metadata=metadata, timeout=timeout_s)
    try:
        if kind == "unary_unary":
            await made
        else:
            await made.read()
    except grpc.aio.AioRpcError as error:
        return error.code()
    finally:
        made.cancel()
    return grpc.StatusCode.OK


async def test_who_may_call_what(town: Town) -> None:
    """Whoever may is let in, whatever the service then says; whoever may not is told so, and why by the status."""
    wrong = []
    paths = sorted(METHODS.keys() - {"/kangtou.v1.PlayService/Play"})  # that says nothing before it is told something
    async with grpc.aio.insecure_channel(town.addresses[0]) as channel:
        for number, path in enumerate(paths):
            for caller, token in (await tokens_of(town, number)).items():
                may = caller in MAY[NEEDS[path]]
                waits = may and METHODS[path].server_streaming  # it may have nothing to tell yet
                status = await asked(channel, path, token, 1.0 if waits else 30.0)
                if may:
                    right = status not in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
                elif caller in NO_TOKEN:
                    right = status is grpc.StatusCode.UNAUTHENTICATED
                else:
                    right = status is grpc.StatusCode.PERMISSION_DENIED
                if not right:
                    wrong.append((path, caller, status.name))
    print(f"{len(METHODS)} methods, {len(CALLERS)} callers, {len(wrong)} let in or kept out by mistake")
    assert wrong == []


async def test_who_may_open_a_stream_of_play(town: Town) -> None:
    """Known by its headers."""
    async with grpc.aio.insecure_channel(town.addresses[0]) as channel:
        for caller, token in (await tokens_of(town)).items():
            metadata = (("authorization", f"Bearer {token}"),) if token else ()
            call: Any = channel.stream_stream("/kangtou.v1.PlayService/Play")(metadata=metadata, timeout=20)
            await call.initial_metadata()
            let_in = not call.done()
            call.cancel()
            assert let_in is (caller in MAY[Needs.SEAT]), caller


async def test_a_method_without_a_row_is_nobodys(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even an operator's."""
    path = "/kangtou.v1.LobbyService/ListTables"
    monkeypatch.setattr(access, "NEEDS", {name: needs for name, needs in NEEDS.items() if name != path})
    async with grpc.aio.insecure_channel(town.addresses[0]) as channel:
        assert await asked(channel, path, (await tokens_of(town))["operator"]) is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize("path", [path for path, needs in NEEDS.items() if needs is Needs.HERE])
async def test_from_elsewhere(town: Town, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is open to whoever is here is for operators only, from elsewhere."""
    monkeypatch.setattr(admin, "is_loopback", lambda host: False)
    async with grpc.aio.insecure_channel(town.addresses[0]) as channel:
        for caller, token in (await tokens_of(town)).items():
            status = await asked(channel, path, token)
            assert (status is grpc.StatusCode.OK) is (caller == "operator"), (caller, status)
