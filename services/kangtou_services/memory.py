"""The garbage collector of a long-running process."""

from __future__ import annotations

import gc


def settle() -> None:
    """What is loaded by now stays: leave it out of collections, and collect less often.

    A move makes a few hundred short-lived objects and no cycles; the default thresholds would walk through all modules
    again and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
