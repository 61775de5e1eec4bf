"""The contract of AccountStore and Marks, and of the Identity on top of them, on all twins."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from kangtou.v1 import game_pb2 as pb
from kangtou_services.accounts import Accounts, AccountSettings, AccountStore, MemoryAccountStore, RedisAccountStore
from kangtou_services.accounts.base import CODES_MOST, TOKENS_MOST
from kangtou_services.identity import OPERATOR, PLAYER, Account, Issued, clean_name, peer_host
from kangtou_services.marks import Marks, MemoryMarks, RedisMarks
from tests.servers import client_of

DAY_MS = 24 * 3_600_000


@dataclass
class Twin:
    """One kind of store, and the client to look into it."""

    store: AccountStore
    marks: Marks
    client: Redis | None = None
    now: int = 1_800_000_000_000

    def identity(self, **settings: int) -> Accounts:
        """As a gateway has it."""
        return Accounts(self.store, self.marks, AccountSettings(**settings), lambda: self.now)


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def twin(request: pytest.FixtureRequest) -> AsyncIterator[Twin]:
    """Each of the twins."""
    if request.param == "memory":
        yield Twin(MemoryAccountStore(), MemoryMarks())
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        yield Twin(RedisAccountStore(client), RedisMarks(client), client)


@pytest.fixture
def peer() -> str:
    """A host that no other test uses."""
    return f"host-{uuid4().hex}"


def new_command() -> str:
    """A command id."""
    return uuid4().hex


def issued(answer: Issued | pb.Refusal) -> Issued:
    """The answer, which must not be a refusal."""
    assert isinstance(answer, Issued), answer
    return answer


def code_of(answer: Issued | pb.Refusal) -> str:
    """The code of a refusal in both languages."""
    assert isinstance(answer, pb.Refusal), answer
    assert answer.text_en
    assert answer.text_zh
    return answer.code


async def test_registered_and_known(twin: Twin, peer: str) -> None:
    identity = twin.identity(token_ms=90 * DAY_MS)
    human = issued(await identity.register("  炕头  Lao Wang ", "human", new_command(), peer))
    assert human.account == Account(human.account.account_id, "炕头 Lao Wang", "human", frozenset({PLAYER}))
    assert human.expires_ms == twin.now + 90 * DAY_MS
    session = await identity.who(human.token)
    assert session is not None
    assert (session.account, session.expires_ms) == (human.account, human.expires_ms)
    bot = issued(await identity.register("b", "bot", new_command(), peer))
    assert bot.account.kind == "bot"
    assert bot.account.account_id != human.account.account_id
    ids = [human.account.account_id, "0" * 16, bot.account.account_id, bot.account.account_id]
    assert await identity.accounts(ids) == {ids[0]: human.account, ids[2]: bot.account}
    assert await identity.accounts([]) == {}


async def test_other_tokens_stand_for_nobody(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    one = issued(await identity.register("a", "bot", new_command(), peer))
    two = issued(await identity.register("b", "bot", new_command(), peer))
    mixed = one.token[:20] + two.token[20:]
    for token in ("", "x" * 200, one.token[:-1], one.token + "A", one.token.upper(), mixed, "kt_\0", one.recovery_code):
        assert await identity.who(token) is None


async def test_tokens_expire(twin: Twin, peer: str) -> None:
    identity = twin.identity(token_ms=5_000)
    one = issued(await identity.register("a", "bot", new_command(), peer))
    twin.now += 4_999
    assert await identity.who(one.token) is not None
    twin.now += 1
    assert await identity.who(one.token) is None
    assert code_of(await identity.renew(one.token)) == "bad_token"


async def test_renewing_leaves_a_minute_to_the_old_token(twin: Twin, peer: str) -> None:
    identity = twin.identity(renew_grace_ms=60_000)
    one = issued(await identity.register("a", "human", new_command(), peer))
    two = issued(await identity.renew(one.token))
    assert two.account == one.account
    assert two.token != one.token
    twin.now += 59_000
    assert await identity.who(one.token) is not None  # the answer may have been lost
    again = issued(await identity.renew(one.token))
    twin.now += 1_000
    assert await identity.who(one.token) is None  # a second renewal does not make it last longer
    assert await identity.who(two.token) is not None
    assert await identity.who(again.token) is not None


async def test_revoked_tokens_end(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    one = issued(await identity.register("a", "human", new_command(), peer))
    two = issued(await identity.renew(one.token))
    for _ in range(2):
        await identity.revoke(two.token)
        assert await identity.who(two.token) is None
    assert await identity.who(one.token) is not None
    await identity.revoke("nonsense")


async def test_a_repeated_registration_is_one_account(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    command = new_command()
    first = issued(await identity.register("Ann", "bot", command, peer))
    second = issued(await identity.register("Ann", "bot", command, peer))
    assert second.account == first.account
    assert second.token != first.token
    for token in (first.token, second.token):
        assert await identity.who(token) is not None
    # Either answer may have been the one that arrived, so both codes work.
    issued(await identity.recover(first.account.account_id, first.recovery_code, new_command(), peer))


async def test_registrations_at_once_are_one_account(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    command = new_command()
    answers = await asyncio.gather(*(identity.register("Ann", "bot", command, peer) for _ in range(20)))
    assert len({issued(answer).account.account_id for answer in answers}) == 1


async def test_a_registration_id_is_for_one_content_and_host(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    command = new_command()
    issued(await identity.register("Ann", "bot", command, peer))
    for name, kind, host in (("Bob", "bot", peer), ("Ann", "human", peer), ("Ann", "bot", f"{peer}x")):
        assert code_of(await identity.register(name, kind, command, host)) == "id_reused"


@pytest.mark.parametrize(
    ("name", "kind", "command", "code"),
    [
        ("", "human", "c" * 16, "bad_name"),
        ("   ", "human", "c" * 16, "bad_name"),
        ("x" * 25, "human", "c" * 16, "bad_name"),
        ("a\nb", "human", "c" * 16, "bad_name"),
        ("a\u202eb", "human", "c" * 16, "bad_name"),
        ("Ann", "dog", "c" * 16, "bad_kind"),
        ("Ann", "", "c" * 16, "bad_kind"),
        ("Ann", "bot", "short", "bad_register_id"),
        ("Ann", "bot", "c" * 65, "bad_register_id"),
        ("Ann", "bot", "c" * 16 + "\n", "bad_register_id"),
    ],
)
async def test_bad_registrations(twin: Twin, peer: str, name: str, kind: str, command: str, code: str) -> None:
    assert code_of(await twin.identity().register(name, kind, command, peer)) == code


async def test_recovery_code_works_once(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    one = issued(await identity.register("a", "human", new_command(), peer))
    account_id = one.account.account_id
    typed = one.recovery_code.lower().replace("-", " ")
    two = issued(await identity.recover(account_id, typed, new_command(), peer))
    assert two.account == one.account
    assert await identity.who(one.token) is None
    assert await identity.who(two.token) is not None
    assert code_of(await identity.recover(account_id, one.recovery_code, new_command(), peer)) == "bad_recovery"
    assert code_of(await identity.recover(account_id, one.recovery_code, "", peer)) == "bad_recovery"
    assert await identity.who(two.token) is not None
    three = issued(await identity.recover(account_id, two.recovery_code, "", peer))
    assert await identity.who(three.token) is not None


async def test_a_repeated_recovery_works_while_its_answer_may_be_lost(twin: Twin, peer: str) -> None:
    identity = twin.identity(repeat_ms=60_000)
    one = issued(await identity.register("a", "human", new_command(), peer))
    command = new_command()
    args = (one.account.account_id, one.recovery_code, command, peer)
    first = issued(await identity.recover(*args))
    second = issued(await identity.recover(*args))
    assert await identity.who(second.token) is not None
    assert code_of(await identity.recover(args[0], first.recovery_code, new_command(), peer)) == "bad_recovery"
    twin.now += 60_000
    assert code_of(await identity.recover(*args)) == "bad_recovery"
    issued(await identity.recover(args[0], second.recovery_code, new_command(), peer))


async def test_of_two_recoveries_at_once_one_wins(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    one = issued(await identity.register("a", "human", new_command(), peer))
    args = (one.account.account_id, one.recovery_code)
    answers = await asyncio.gather(*(identity.recover(*args, new_command(), peer) for _ in range(8)))
    assert sum(isinstance(answer, Issued) for answer in answers) == 1


async def test_recoveries_are_counted_by_host(twin: Twin, peer: str) -> None:
    identity = twin.identity(recoveries=3)
    one = issued(await identity.register("a", "human", new_command(), peer))
    account_id = one.account.account_id
    for _ in range(3):
        assert code_of(await identity.recover(account_id, "AAAAA", new_command(), peer)) == "bad_recovery"
    assert code_of(await identity.recover(account_id, one.recovery_code, new_command(), peer)) == "throttled"
    assert code_of(await identity.recover("0" * 16, "AAAAA", new_command(), peer)) == "throttled"
    assert await identity.who(one.token) is not None
    # Nobody can keep the owner out by guessing.
    issued(await identity.recover(account_id, one.recovery_code, new_command(), f"{peer}2"))


async def test_registrations_are_counted_by_host(twin: Twin, peer: str) -> None:
    identity = twin.identity(registrations=5)
    answers = await asyncio.gather(*(identity.register("a", "bot", new_command(), peer) for _ in range(9)))
    assert sum(isinstance(answer, Issued) for answer in answers) == 5
    assert {answer.code for answer in answers if isinstance(answer, pb.Refusal)} == {"throttled"}
    issued(await identity.register("a", "bot", new_command(), f"{peer}2"))
    for _ in range(6):
        issued(await identity.register("a", "bot", new_command(), "127.0.0.1"))


async def test_roles(twin: Twin, peer: str) -> None:
    identity = twin.identity()
    one = issued(await identity.register("a", "human", new_command(), peer))
    both = frozenset({PLAYER, OPERATOR})
    assert await identity.set_roles(one.account.account_id, both)
    assert not await identity.set_roles("0" * 16, both)
    session = await identity.who(one.token)
    assert session is not None
    assert session.account.roles == both
    assert issued(await identity.renew(one.token)).account.roles == both


async def test_tokens_and_codes_of_an_account_are_bounded(twin: Twin) -> None:
    account = Account(uuid4().hex[:16], "a", "bot")
    for number in range(TOKENS_MOST + 3):
        await twin.store.admit(account, f"t{number}", twin.now + 1_000 + number, f"c{number}", twin.now)
    alive = [await twin.store.session(account.account_id, f"t{number}", twin.now) for number in range(TOKENS_MOST + 3)]
    assert [session is not None for session in alive] == [False] * 3 + [True] * TOKENS_MOST
    oldest = f"c{TOKENS_MOST + 3 - CODES_MOST - 1}"
    assert not await twin.store.recover(account.account_id, oldest, "x", 0, "n", "t", twin.now + 1, twin.now)
    assert await twin.store.recover(account.account_id, f"c{TOKENS_MOST}", "x", 0, "n", "t", twin.now + 1, twin.now)


async def test_no_token_or_code_is_stored(twin: Twin, peer: str) -> None:
    if twin.client is None:
        return  # this is about what can be read in Redis
    identity = twin.identity()
    one = issued(await identity.register("a", "human", new_command(), peer))
    two = issued(await identity.recover(one.account.account_id, one.recovery_code, new_command(), peer))
    three = issued(await identity.renew(two.token))
    stored = ""
    for key in await twin.client.keys("*"):
        kind = await twin.client.type(key)
        if kind == "hash":
            stored += str(await twin.client.hgetall(key))
        elif kind == "zset":
            stored += str(await twin.client.zrange(key, 0, -1))
        elif kind == "string":
            stored += str(await twin.client.get(key))
        stored += str(key)
    for given in (one, two, three):
        assert given.token.split("_", 2)[2] not in stored  # the secret, which may hold `_` itself
        assert given.token not in repr(given)
        assert not given.recovery_code or given.recovery_code not in stored


async def test_claims_and_counts(twin: Twin) -> None:
    one, two = uuid4().hex, uuid4().hex
    claims = await asyncio.gather(*(twin.marks.claim("w", one, "c", str(number), 60_000) for number in range(10)))
    assert len(set(claims)) == 1
    assert await twin.marks.claim("w", two, "c", "mine", 60_000) == "mine"
    assert await twin.marks.claim("v", one, "c", "mine", 60_000) == "mine"
    assert await twin.marks.claim("w", one, "d", "mine", 60_000) == "mine"
    counts = [await twin.marks.count("w", one, 60_000) for _ in range(3)]
    assert [count for count, _ in counts] == [1, 2, 3]
    assert all(0 < left <= 60_000 for _, left in counts)
    assert (await twin.marks.count("w", two, 60_000))[0] == 1
    assert (await twin.marks.count("w", two, 60_000))[0] == 2


async def test_claims_and_counts_are_forgotten(twin: Twin) -> None:
    one = uuid4().hex
    assert await twin.marks.claim("w", one, "c", "first", 40) == "first"
    await twin.marks.count("w", one, 40)
    async with asyncio.timeout(60):
        for pause in itertools.repeat(0.05):
            await asyncio.sleep(pause)
            if await twin.marks.claim("w", one, "c", "second", 40) == "second":
                break
    assert (await twin.marks.count("w", one, 40))[0] == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("红十", "红十"),
        ("  a   b  ", "a b"),
        ("e\u0301", "é"),
        ("x" * 24, "x" * 24),
        ("x" * 25, None),
        ("a\tb", None),
        ("a\u0000", None),
        ("\u200bx", None),
        ("x\u2066y\u2069", None),
        ("x\u200fy", None),
        ("\u3164", None),
        ("a\u00a0b", None),
        ("a\u2028b", None),
        ("\ue000", None),
        ("\u0301a", None),
        ("a" + "\u0335" * 3, None),
        ("\U0001f600", "\U0001f600"),
        (" " * 5000, None),
    ],
)
def test_names(given: str, kept: str | None) -> None:
    assert clean_name(given) == kept


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:127.0.0.1:53412", "127.0.0.1"),
        ("ipv6:%5B::1%5D:53412", "::/64"),
        ("ipv6:[2001:db8:1:2:3::4]:1", "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:10.1.2.3%5D:9", "10.1.2.3"),
        ("unix:", "local"),
        ("", "local"),
    ],
)
def test_hosts(peer: str, host: str) -> None:
    assert peer_host(peer) == host


async def test_deleted(twin: Twin, peer: str) -> None:
    """Tokens, code, name and role are gone at once; the id is never given again; a repeat changes nothing."""
    identity = twin.identity()
    command = new_command()
    before = twin.now
    ann = issued(await identity.register("Ann", "human", command, peer))
    second = issued(await identity.renew(ann.token))
    bob = issued(await identity.register("Bob", "human", new_command(), peer))
    account_id = ann.account.account_id
    await identity.delete(account_id)
    twin.now += 5_000
    await identity.delete(account_id)
    assert await identity.who(ann.token) is None
    assert await identity.who(second.token) is None
    assert await identity.accounts([account_id, bob.account.account_id]) == {bob.account.account_id: bob.account}
    assert code_of(await identity.recover(account_id, ann.recovery_code, new_command(), peer)) == "bad_recovery"
    assert code_of(await identity.register("Ann", "human", command, peer)) == "id_reused"
    assert await identity.set_roles(account_id, frozenset({OPERATOR})) is False
    assert account_id in await identity.deleted(before)
    assert account_id not in await identity.deleted(before + 1)
    assert await identity.who(bob.token) is not None
    if twin.client is not None:
        assert await twin.client.hgetall(f"{{a:{account_id}}}:account") == {"deleted": str(before)}
        assert not await twin.client.exists(f"{{a:{account_id}}}:tokens")
        assert not await twin.client.exists(f"{{a:{account_id}}}:codes")
