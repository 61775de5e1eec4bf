"""`join.json`: what the head of a server with several nodes gives to those that join. Private: it holds all secrets."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from .settings import Settings

NAME = "join.json"
SHARED = ("redis_url", "archive_url", "ray_address", "link_secret", "house_secret", "replicas")


class JoinError(Exception):
    """The file cannot be used; the text says why."""


def write(settings: Settings, path: Path, ray_token: str) -> None:
    """Say how to join; `settings` are those of the head with everything filled in."""
    said: dict[str, Any] = {name: getattr(settings, name) for name in SHARED}
    file = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with os.fdopen(file, "w") as out:
        json.dump({**said, "ray_token": ray_token}, out, indent=1)


def joined(settings: Settings) -> Settings:
    """The settings of a node that joins: what the file says, but for what was set otherwise. Raises JoinError.

    Ray's token goes into the environment. Without a file to join, the settings as they are.
    """
    if not settings.join:
        return _of_several(settings) if settings.head or settings.address else settings
    if settings.head:
        raise JoinError("a node has the head or joins another's, not both")
    try:
        said = json.loads(Path(settings.join).read_text())
        given = {name: said[name] for name in SHARED if not getattr(settings, name)}
        token = str(said["ray_token"])
    except OSError as no:
        raise JoinError(f"{settings.join}: {no.strerror}") from no
    except (ValueError, KeyError, TypeError) as no:
        raise JoinError(f"{settings.join} is not the {NAME} of a head") from no
    os.environ.setdefault("RAY_AUTH_TOKEN", token)
    return _of_several(settings.model_copy(update={**given, "join": ""}))


def _of_several(settings: Settings) -> Settings:
    """A node among others has an address, a name of its own, and links that reach it from outside."""
    if not settings.address:
        raise JoinError("a node among others needs its own address: --address (KANGTOU_ADDRESS)")
    named = settings.node if "node" in settings.model_fields_set else socket.gethostname()
    return settings.model_copy(update={"node": named, "link": "tcp"})
