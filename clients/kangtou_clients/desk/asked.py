"""What somebody wants to play and at what kind of table, as a front end has asked for it."""

from __future__ import annotations

from dataclasses import dataclass

from ..api import TableTerms, Wanted
from ..api.tables import AS_USUAL


@dataclass(frozen=True, slots=True)
class Asked:
    """Of the terms a ticket has only `rated`. `ask`: whether to be asked before a match of the queue is taken."""

    wanted: Wanted
    terms: TableTerms = AS_USUAL
    ask: bool = False
