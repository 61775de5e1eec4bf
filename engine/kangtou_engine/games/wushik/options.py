"""House options and which variant has which. WK-14, CM-11."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...errors import BadOptions
from ...game import check_seats
from ...options import OptionSpec, option, option_specs, parse_options
from .variants import ALL, DEFAULT, Variant


@dataclass(frozen=True, slots=True)
class Options:
    """What was agreed. An option that the variant does not have keeps a value that changes nothing."""

    variant: str = option("WK-14.1", DEFAULT.name, words=tuple(ALL))
    rounds: int = option("WK-14.2", 4, low=0, high=1000)
    target: int = option("WK-14.3", 0, low=0, high=10000)
    straight_min: int = option("WK-14.4", 3, words=(3, 4, 5))
    pure_suit_order: bool = option("WK-14.5", True)
    wind: str = option("WK-14.6", "partner", words=("partner", "next"))
    lead_card: bool = option("WK-14.7", False)
    flush_straight: str = option("WK-14.8", "tie", words=("tie", "any"))
    bomb_max: int = option("WK-14.9", 8, low=4, high=8)
    announce: bool = option("WK-14.10", False)
    bare_triple: bool = option("WK-14.11", False)
    caught: str = option("WK-14.12", "each20", words=("each20", "thirtyfifty"))
    cut: bool = option("WK-14.13", False)
    between: bool = option("WK-14.14", True)
    vote_end: bool = option("WK-14.15", False)


SPECS: tuple[OptionSpec, ...] = option_specs(Options)


def specs_of(variant: Variant) -> tuple[OptionSpec, ...]:
    """The options of one variant, with its defaults."""
    own = {"variant": variant.name, **variant.options}
    return tuple(replace(spec, default=own[spec.name]) for spec in SPECS if spec.name in own)


def configure(given: Mapping[str, object], seats: int | None) -> tuple[int, Options]:
    """Seats and options of a table. Raises BadOptions that names what is allowed. CM-11.1, WK-14."""
    chosen = parse_options(Options, {name: given[name] for name in given if name == "variant"})
    variant = ALL[chosen.variant]
    for name, value in given.items():
        owners = [one.name for one in ALL.values() if name in one.options]
        if owners and name not in variant.options:
            raise BadOptions("WK-14", "other_variant", name, str(value)[:60], ", ".join(owners))
    try:
        options = parse_options(Options, {**variant.options, **given})
    except BadOptions as error:
        if error.code != "unknown_option":
            raise
        allowed = ", ".join(spec.name for spec in specs_of(variant))
        raise BadOptions(error.rule, error.code, error.option, error.given, allowed) from None
    if options.rounds == 0 and options.target == 0:  # WK-12.4
        raise BadOptions("WK-12.4", "no_end", "rounds", "0", "rounds 1 … 1000, target 1 … 10000")
    return check_seats(seats, variant.seats, variant.seats[0]), options
