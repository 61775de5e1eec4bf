"""Whether format, unit, table, rotation and options of a spec go together: what the schedule needs to hold.

Accounts, commands and limits are the business of who takes the spec in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kangtou_engine.errors import BadOptions

from .model import Format, Spec, Unit
from .sets import FORCED, Sides, config_of, sides_of, table_sizes
from .stats.sequential import METHODS

MOST_ENCOUNTERS = 2_000  # of one round


@dataclass(frozen=True, slots=True)
class Misfit:
    """A field of the spec, its value, and what is allowed."""

    name: str
    given: str
    allowed: str


def misfits(spec: Spec) -> tuple[Misfit, ...]:
    """All that is wrong, () if the schedule can be made."""
    forced = [
        Misfit(f"options.{name}", str(spec.options[name]).lower(), str(value).lower())
        for name, value in FORCED.items()
        if spec.options.get(name, value) != value
    ]
    try:
        config = config_of(spec)
    except BadOptions as bad:
        return (*forced, Misfit(bad.option, bad.given, bad.allowed))
    found = [*forced]
    if spec.unit is Unit.PAIR and sides_of(config) is not Sides.FIXED:
        found.append(Misfit("unit", "pair", "single (this game has no fixed sides)"))
    else:
        sizes = table_sizes(config, spec.unit)
        if spec.table not in sizes:
            found.append(Misfit("table", str(spec.table), ", ".join(map(str, sizes))))
    if spec.table > 2 and spec.format not in (Format.ROUND_ROBIN, Format.LADDER):
        found.append(Misfit("table", str(spec.table), f"2 (in a {spec.format.value})"))
    if len(spec.entrants) < max(2, spec.table):
        found.append(Misfit("entrants", str(len(spec.entrants)), f"{max(2, spec.table)} or more"))
    return (*found, *_numbers(spec))


def _numbers(spec: Spec) -> list[Misfit]:
    found = []
    if spec.rotation not in ("full", "cross"):
        found.append(Misfit("rotation", spec.rotation[:40], "full, cross"))
    if spec.sets < 1:
        found.append(Misfit("sets", str(spec.sets), "1 or more"))
    if spec.rounds < 0:
        found.append(Misfit("rounds", str(spec.rounds), "0 or more"))
    if not 0.5 <= spec.confidence < 1:
        found.append(Misfit("confidence", str(spec.confidence), "0.5 … 0.999"))
    encounters = math.comb(len(spec.entrants), spec.table) if spec.table > 2 else 0
    if spec.format is Format.ROUND_ROBIN and spec.rotation != "cross" and encounters > MOST_ENCOUNTERS:
        found.append(
            Misfit("entrants", str(len(spec.entrants)), f"at most {MOST_ENCOUNTERS} encounters of {spec.table}")
        )
    return found + _stopping(spec)


def _stopping(spec: Spec) -> list[Misfit]:
    test, found = spec.stopping, []
    if test.method not in METHODS:
        return [Misfit("stopping.method", test.method[:40], ", ".join(METHODS))]
    if test.method != "none":
        if not 0 <= test.low < test.high:
            found.append(Misfit("stopping.low", str(test.low), f"0 or more and less than stopping.high ({test.high})"))
        for name, value in (("alpha", test.alpha), ("beta", test.beta)):
            if not 0 < value < 0.5:
                found.append(Misfit(f"stopping.{name}", str(value), "more than 0, less than 0.5"))
        if spec.format is Format.LADDER:
            found.append(Misfit("stopping.method", test.method, "none (in a ladder)"))
    return found
