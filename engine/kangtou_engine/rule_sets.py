"""Named sets of house rules: so that people who want the same find one another without agreeing on every option.

A set is nothing but values of a game's options. A table with these values plays by the set, however they were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .options import Value


@dataclass(frozen=True, slots=True)
class RuleSet:
    """`options`: those that differ from the defaults. `title`: (English, Chinese)."""

    name: str
    title: tuple[str, str]
    options: Mapping[str, Value] = field(default_factory=dict)


STANDARD = RuleSet("standard", ("as the book says", "按规则书"))
