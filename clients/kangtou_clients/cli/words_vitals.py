"""Texts of `kangtou status`, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

VITALS_WORDS: Mapping[str, tuple[str, str]] = {
    "vitals_ready": ("ready", "就绪"),
    "vitals_not_ready": ("NOT READY", "未就绪"),
    "vitals_live": ("{live} matches, {moves} moves/s", "{live} 场对局，每秒 {moves} 个动作"),
    "vitals_actors": ("Table actors", "牌桌进程"),
    "vitals_gateways": ("Gateways", "网关"),
    "vitals_process": ("process", "进程"),
    "vitals_node": ("node", "节点"),
    "vitals_tables": ("tables", "牌桌"),
    "vitals_watchers": ("watchers", "旁观"),
    "vitals_waiting": ("waiting", "等待"),
    "vitals_append_p50_ms": ("stored ≤ms p50", "写入 ≤毫秒 p50"),
    "vitals_append_p99_ms": ("p99", "p99"),
    "vitals_takeovers": ("takeovers", "接管"),
    "vitals_outage_s": ("s given back", "补时秒"),
    "vitals_faulted": ("faulted", "故障"),
    "vitals_archiving": ("archiving", "归档中"),
    "vitals_streams": ("streams", "连接"),
    "vitals_followed": ("seats", "座位"),
    "vitals_outbox": ("outbox", "待发"),
    "vitals_answer_p50_ms": ("answered ≤ms p50", "应答 ≤毫秒 p50"),
    "vitals_answer_p99_ms": ("p99", "p99"),
    "vitals_queue_waiting": ("queueing", "排队"),
    "vitals_queue_groups": ("groups", "成桌"),
    "vitals_moves": ("moves/s", "动作/秒"),
    "vitals_refusals": ("refused/s", "拒绝/秒"),
    "vitals_no_redis": ("Redis: in memory, nothing is kept", "Redis：仅在内存，不保存"),
    "vitals_kept": ("every move is on disk", "动作已落盘"),
    "vitals_not_kept": ("PERSISTENCE IS BROKEN", "持久化异常"),
    "vitals_redis": (
        "Redis: {aof}; {memory} MiB, file {file} MiB, {operations} operations/s, {clients} clients, "
        "{replicas} replicas, {late} late fsyncs",
        "Redis：{aof}；内存 {memory} MiB，文件 {file} MiB，每秒 {operations} 次操作，{clients} 个客户端，"
        "{replicas} 个副本，{late} 次迟到的 fsync",
    ),
    "vitals_leave": ("Ctrl-C ends; every {every} s", "Ctrl-C 退出；每 {every} 秒刷新"),
}
