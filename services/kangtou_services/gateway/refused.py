"""Refusals that a gateway gives by itself, as values."""

from __future__ import annotations

from kangtou.v1 import game_pb2 as pb

from ..table.commands import PLATFORM, platform_refusal

_TEXTS = {
    "not_allowed": ("this account may not follow the match in that way", "该账号不能以这种方式进入本局"),
    "withheld": ("nobody may watch a board that others have yet to play", "本副牌尚有其他桌未打完，不可旁观"),
    "no_spectators": ("this table has no spectators", "本桌不允许旁观"),
    "not_welcome": ("the owner of this table does not let you look on", "桌主不让你旁观本桌"),
    "rate_limited": ("too much at once; wait for answers first", "请求过多，请先等待应答"),
    "full": ("this server has no room for another table", "服务器没有空余牌桌"),
}
# Words of the link that mean the same as a refusal of the table.
_SAME = {"faulted": "table_faulted", "not_here": "table_unavailable", "bad_secret": "table_unavailable"}


def refusal(code: str) -> pb.Refusal:
    """The refusal for a problem of the link or for the gateway's own code."""
    code = _SAME.get(code, code)
    if code in PLATFORM:
        return platform_refusal(code)
    english, chinese = _TEXTS.get(code, ("the table cannot take this", "牌桌无法处理该请求"))
    return pb.Refusal(code=code, text_en=english, text_zh=chinese)
