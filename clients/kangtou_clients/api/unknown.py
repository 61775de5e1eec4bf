"""A match under rules that this client does not have: a server may be newer than its clients."""

from __future__ import annotations

from .values import Refused

UNKNOWN_RULES = "unknown_rules"


def unknown_rules(game: str, version: int) -> Refused:
    """In place of the match; the others of the session go on."""
    return Refused(
        "",
        UNKNOWN_RULES,
        f"this match is played under the rules {game}@{version}, which this client does not have; install a newer one",
        f"本局使用规则版本 {game}@{version}，本客户端没有这一版本，请安装较新的客户端",
    )
