"""Texts of `kangtou tournament` by code, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

TOURNAMENT_WORDS: Mapping[str, tuple[str, str]] = {
    "bad_spec": ("the spec cannot be played: {count} problems", "配置无法使用：{count} 处问题"),
    "spec_problem": ("{name}: {value!r} cannot be; allowed: {allowed}", "{name}：不能为 {value!r}；可选：{allowed}"),
    "spec_good": ("in order; {games} games", "无误；共 {games} 局"),
    "no_tournament": ("there is no tournament here", "此处没有锦标赛"),
    "tournament_at": (
        "{name}: {done} of {planned} games, {rate} moves/s, {faults} faults, {replays} played again, {left} s left",
        "{name}：{done}/{planned} 局，每秒 {rate} 手，犯规 {faults}，重打 {replays}，剩余 {left} 秒",
    ),
    "tournament_left": ("left as it is; to finish it: {command}", "已保留现状；继续：{command}"),
    "tournament_starts": ("starting a server in {data}", "正在 {data} 启动服务器"),
    "tournament_stopped": ("the server was stopped", "服务器已停止"),
    "report_written": ("the report is in {path}", "报告已写入 {path}"),
    "report_not_closed": ("this tournament is not closed: its seed is not open yet", "该锦标赛尚未结束，种子未公开"),
    "tournament_verified": ("{records} records, {problems} problems", "{records} 份记录，{problems} 处问题"),
    "check_connect": (
        "have the bot of account {account} connect to {address} and wait for its games",
        "请让账号 {account} 的机器人连接 {address} 并等待对局",
    ),
    "col_entrant": ("entrant", "参赛者"),
    "col_sets": ("sets", "组数"),
    "col_mean": ("ahead by, a set", "每组领先"),
    "col_faults": ("faults", "犯规"),
}
