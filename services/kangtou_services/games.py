"""The registry of this server: the built-in games and those that a setting adds."""

from __future__ import annotations

import importlib
from typing import Any

from kangtou_engine.game import GameSpec
from kangtou_engine.registry import SPECS, Registry


def load_registry(extra: str) -> Registry:
    """`extra` names GameSpecs as `module:ATTRIBUTE`, separated by commas. Raises ImportError, TypeError."""
    specs: list[GameSpec[Any]] = list(SPECS)
    for name in filter(None, (part.strip() for part in extra.split(","))):
        module, _, attribute = name.partition(":")
        spec = getattr(importlib.import_module(module), attribute or "GAME")
        if not isinstance(spec, GameSpec):
            raise TypeError(f"{name} is no GameSpec")
        specs.append(spec)
    return Registry(specs)
