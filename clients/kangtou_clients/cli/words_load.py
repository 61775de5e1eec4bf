"""Texts of `kangtou load` and `kangtou health`, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

LOAD_WORDS: Mapping[str, tuple[str, str]] = {
    "load_remote": (
        "{server} is not this machine: a load is put on others' servers only with --yes-remote",
        "{server} 不是本机：对其他服务器施加负载须加 --yes-remote",
    ),
    "load_players": ("players", "玩家"),
    "load_ramp": ("tables arrive", "牌桌到达"),
    "load_measure": ("measuring", "测量"),
    "load_end": ("matches end", "对局收尾"),
    "load_left": (
        "{left} matches did not end in time; the server ends them by its clocks",
        "{left} 场对局未及时结束，由服务器按时限结束",
    ),
    "load_moves": (
        "{tables} tables, {players} players: {rate} moves/s of {due} due, for {seconds} s",
        "{tables} 张牌桌，{players} 名玩家：每秒 {rate} 个动作（应发 {due}），历时 {seconds} 秒",
    ),
    "load_highest": (
        "highest steady load with p99 within {limit} ms: {rate} moves/s at {tables} tables, {players} players",
        "p99 不超过 {limit} 毫秒的最高稳定负载：每秒 {rate} 个动作，{tables} 张牌桌，{players} 名玩家",
    ),
    "load_level": (
        "{tables} tables: {rate} moves/s of {due} due, p50 {p50} ms, p99 {p99} ms: {verdict}",
        "{tables} 张牌桌：每秒 {rate} 个动作（应发 {due}），p50 {p50} 毫秒，p99 {p99} 毫秒：{verdict}",
    ),
    "load_fine": ("in time", "及时"),
    "load_too_slow": ("too slow", "过慢"),
    "load_falls_behind": ("falls behind", "跟不上"),
    "load_refusals": ("refuses", "有拒绝"),
    "load_generator": ("this program is too slow itself", "本程序自身过慢"),
    "load_none": (
        "even {tables} tables are not answered within {p99} ms (p99): begin with fewer",
        "{tables} 张牌桌也未能在 {p99} 毫秒（p99）内应答：请减少起始数量",
    ),
    "load_wait": (
        "from meant to be sent to durable: p50 {p50} ms, p90 {p90} ms, p99 {p99} ms, p99.9 {p999} ms, max {max} ms",
        "从应发到落盘：p50 {p50} 毫秒，p90 {p90} 毫秒，p99 {p99} 毫秒，p99.9 {p999} 毫秒，最长 {max} 毫秒",
    ),
    "load_open": (
        "from a table's arrival until all are seated: p50 {p50} ms, p99 {p99} ms, max {max} ms",
        "从牌桌到达到全部入座：p50 {p50} 毫秒，p99 {p99} 毫秒，最长 {max} 毫秒",
    ),
    "load_behind": (
        "this program itself was behind: p50 {p50} ms, p99 {p99} ms, max {max} ms",
        "本程序自身延迟：p50 {p50} 毫秒，p99 {p99} 毫秒，最长 {max} 毫秒",
    ),
    "load_counts": (
        "{tables_opened} tables opened, {matches_finished} matches finished, {crossed} answers crossed; {games}",
        "开桌 {tables_opened} 张，结束 {matches_finished} 场，交错 {crossed} 次；{games}",
    ),
    "no_service": ("the server has no service {service}", "服务器没有 {service} 服务"),
    "load_trouble": ("refused: {refused}; streams lost: {lost}", "拒绝：{refused}；断开的流：{lost}"),
}
