"""A connection by its address: `host:port`, `tls://host:port`, or a socket, `unix:/path`.

KANGTOU_CA        file with the root certificates to trust instead of the system's, for tls://
KANGTOU_TLS_NAME  name that the server's certificate is for, where that is not the host of the address
"""

from __future__ import annotations

import os
from pathlib import Path

import grpc

from .shown import ShownChannel
from .values import BadAddress

TLS = "tls://"

# A dead connection is noticed within 20 s; the server allows a ping every 5 s.
OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # the one that counts when another ping is under way; default 60 s
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),  # each client has a connection of its own
)


def open_channel(address: str) -> grpc.aio.Channel:
    """Not connected yet. Raises BadAddress."""
    scheme, found, rest = address.partition("://")
    if not found:
        return ShownChannel(grpc.aio.insecure_channel(address, options=OPTIONS))
    if f"{scheme}://" != TLS or not rest:
        raise BadAddress(f"{address}: an address is host:port, or tls://host:port")
    named = os.environ.get("KANGTOU_TLS_NAME", "")
    options = (*OPTIONS, ("grpc.ssl_target_name_override", named)) if named else OPTIONS
    return ShownChannel(grpc.aio.secure_channel(rest, grpc.ssl_channel_credentials(_roots()), options=options))


def _roots() -> bytes | None:
    path = os.environ.get("KANGTOU_CA", "")
    if not path:
        return None
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadAddress(f"KANGTOU_CA: {path}: {error.strerror}") from error
    if b"BEGIN CERTIFICATE" not in data:
        raise BadAddress(f"KANGTOU_CA: {path} holds no certificate")
    return data
