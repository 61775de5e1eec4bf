"""One connection that carries batches of commands: one batch in flight, nothing ever sent twice."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from hiredis import pack_command
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError, ResponseError

from .base import LogUnavailable

_log = structlog.get_logger(__name__)

Command = tuple[str | bytes | int, ...]


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds until an unreachable server is given up, and until an unanswered batch is."""

    open_s: float = 1.0
    reply_s: float = 2.0


class Line:
    """Opens itself when used, and again after a failure. Not for use by two tasks at a time.

    run_id   of the server that was last connected to; a server that restarted has another one
    opened   how often a connection was made; whoever remembers something about the server forgets it when this rises
    """

    def __init__(self, client: Redis, patience: Patience) -> None:
        """`client` is one of a server, not of a cluster."""
        self._pool = client.connection_pool
        self._patience = patience
        self._connection: AbstractConnection | None = None
        self.run_id = ""
        self.opened = 0

    async def ready(self) -> None:
        """Have a living connection. Raises LogUnavailable within the opening time."""
        connection = self._connection
        if connection is not None and connection.is_connected and not await self._stale(connection):
            return
        await self.close()
        connection = self._pool.make_connection()  # type: ignore[no-untyped-call]
        try:
            async with asyncio.timeout(self._patience.open_s):
                await connection.connect()
                await connection.send_command("INFO", "server")
                info = await connection.read_response(timeout=math.inf)
        except (RedisError, OSError) as no:
            await connection.disconnect(nowait=True)
            raise LogUnavailable(f"cannot connect: {str(no) or type(no).__name__}") from no
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        run_id = _run_id(info)
        if self.run_id and run_id != self.run_id:
            _log.warning("log_server_restarted", run_id=run_id, before=self.run_id)
        self._connection, self.run_id = connection, run_id
        self.opened += 1

    async def send(self, commands: Sequence[Command], more_s: float = 0.0) -> list[Any]:
        """Replies in order, refusals of single commands as ResponseError values. Call `ready` before.

        Raises LogUnavailable if the connection failed or the time ran out (the setting and `more_s` on top of it);
        any of the commands may have been carried out then.
        """
        connection = self._connection
        if connection is None:
            raise LogUnavailable("not connected")
        replies: list[Any] = []
        try:
            async with asyncio.timeout(self._patience.reply_s + more_s):
                packed = b"".join([pack_command(command) for command in commands])  # type: ignore[arg-type]
                await connection.send_packed_command(packed, check_health=False)
                for _ in commands:
                    replies.append(await _reply(connection))
        except (RedisError, OSError) as no:
            await self.close()
            raise LogUnavailable(f"connection failed: {str(no) or type(no).__name__}") from no
        except BaseException:
            await self.close()
            raise
        return replies

    async def close(self) -> None:
        """Let go of the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)

    @staticmethod
    async def _stale(connection: AbstractConnection) -> bool:
        """Whether the server has closed it meanwhile (or has sent what nobody asked for)."""
        try:
            return await connection.can_read()
        except (RedisError, OSError):
            return True


async def _reply(connection: AbstractConnection) -> Any:
    try:
        return await connection.read_response(timeout=math.inf, disconnect_on_error=False)
    except ResponseError as refusal:
        return refusal


def _run_id(info: str | bytes) -> str:
    text = info.decode() if isinstance(info, bytes) else info
    return next((line[7:] for line in text.splitlines() if line.startswith("run_id:")), "")
