"""Does this Redis keep what we promise? Asked once, before the first match."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from ..redis_client import load_library
from ..redis_cluster import servers
from .base import LogUnavailable

_log = structlog.get_logger(__name__)

LAG_S = 3  # seconds since a replica last said how far it is; it does so each second
_ASKED = ("appendonly", "appendfsync", "no-appendfsync-on-rewrite", "maxmemory-policy")


class Broken(StrEnum):
    """Which promise."""

    APPEND_ONLY = "append_only"  # nothing outlives the process
    FSYNC = "fsync"  # what was acknowledged may not be on disk
    FSYNC_ON_REWRITE = "fsync_on_rewrite"  # the same, for as long as the file is rewritten
    DISK = "disk"  # the last write to the file failed
    EVICTION = "eviction"  # logs may be thrown away to make room
    REPLICA = "replica"  # it follows another server, which may overwrite it, and takes no writes
    REPLICAS = "replicas"  # fewer replicas than an append waits for
    FUNCTIONS = "functions"  # too old a server, or no right to load them
    UNREADABLE = "unreadable"  # the settings may not be read, so nobody knows


@dataclass(frozen=True, slots=True)
class Finding:
    """One promise that is not kept: what was found, what has to be."""

    broken: Broken
    found: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.broken}: {self.found}; needed: {self.wanted}"


class PromiseBroken(Exception):
    """The server is refused; `findings` say why."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("this Redis cannot keep acknowledged moves: " + " | ".join(map(str, findings)))
        self.findings = findings


async def check(client: Redis, *, everysec: bool = False, replicas: int = 0) -> list[Finding]:
    """What is wrong; [] is good. Loads the functions as far as they are missing. Of a cluster all primaries are asked.

    everysec   accept an fsync a second (a power cut may cost the last second of acknowledged moves)
    replicas   how many each append waits for

    Raises LogUnavailable.
    """
    try:
        found = [await _check(server, everysec, replicas) for server in await servers(client)]
    except (RedisError, OSError) as no:
        raise LogUnavailable(str(no) or type(no).__name__) from no
    return list(dict.fromkeys(finding for findings in found for finding in findings))


async def _check(client: Redis, everysec: bool, replicas: int) -> list[Finding]:
    held, readable = await _settings(client)
    info: dict[str, Any] = await client.info("replication")
    findings = [*_settings_findings(held, everysec), *_replication_findings(info, replicas)]
    if not readable:
        findings.append(Finding(Broken.UNREADABLE, "CONFIG GET is refused", "the right to read the settings"))
    if info.get("role") == "master" and (refusal := await _functions_refusal(client)):
        findings.append(Finding(Broken.FUNCTIONS, refusal, "Redis 7 or Valkey 8, or newer, and FUNCTION LOAD"))
    return findings


async def insist(client: Redis, *, everysec: bool = False, replicas: int = 0, warn_only: bool = False) -> list[Finding]:
    """Check; raise PromiseBroken, or with `warn_only` log each finding and return them. Raises LogUnavailable."""
    findings = await check(client, everysec=everysec, replicas=replicas)
    if findings and not warn_only:
        raise PromiseBroken(findings)
    for finding in findings:
        _log.warning("redis_promise_broken", broken=finding.broken, found=finding.found, wanted=finding.wanted)
    return findings


async def _settings(client: Redis) -> tuple[dict[str, str], bool]:
    """What matters of the settings, and whether they could be read; INFO tells some of them as well."""
    persistence: dict[str, Any] = await client.info("persistence")
    held = {
        "appendonly": "yes" if persistence.get("aof_enabled") else "no",
        "last write": str(persistence.get("aof_last_write_status", "ok")),
    }
    try:
        given = await client.config_get(*_ASKED)
    except (RedisConnectionError, RedisTimeoutError):
        raise
    except ResponseError:
        memory: dict[str, Any] = await client.info("memory")
        return held | {"maxmemory-policy": str(memory.get("maxmemory_policy"))}, False
    return held | {str(name): str(value) for name, value in given.items()}, True


def _settings_findings(held: dict[str, str], everysec: bool) -> list[Finding]:
    good_fsync = ("always", "everysec") if everysec else ("always",)
    rules = [
        (Broken.APPEND_ONLY, "appendonly", ("yes",)),
        (Broken.FSYNC, "appendfsync", good_fsync),
        (Broken.FSYNC_ON_REWRITE, "no-appendfsync-on-rewrite", ("no",)),
        (Broken.EVICTION, "maxmemory-policy", ("noeviction",)),
        (Broken.DISK, "last write", ("ok",)),
    ]
    return [
        Finding(broken, f"{name} {held[name]}", f"{name} {' or '.join(good)}")
        for broken, name, good in rules
        if name in held and held[name] not in good
    ]


def _replication_findings(info: dict[str, Any], replicas: int) -> list[Finding]:
    if info.get("role") != "master":
        of = f"{info.get('master_host')}:{info.get('master_port')}"
        return [Finding(Broken.REPLICA, f"it is a replica of {of}", "the primary")]
    connected = int(info.get("connected_slaves", 0))
    shown = [info.get(f"slave{number}", {}) for number in range(connected)]
    up = sum(one.get("state") == "online" and int(one.get("lag", 0)) <= LAG_S for one in shown)
    if up < replicas:
        found = f"{connected} connected, {up} of them up to date"
        return [Finding(Broken.REPLICAS, found, f"{replicas} with appendonly yes, appendfsync always")]
    return []


async def _functions_refusal(client: Redis) -> str:
    """Why the library cannot be had; "" if it can."""
    try:
        await load_library(client)
    except (RedisConnectionError, RedisTimeoutError):
        raise
    except ResponseError as no:
        return str(no)
    return ""
