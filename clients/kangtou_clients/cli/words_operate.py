"""Texts of the commands of those who run a server, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

OPERATE_WORDS: Mapping[str, tuple[str, str]] = {
    # backup and restore
    "step_snapshot": ("taking a snapshot of Redis", "获取 Redis 快照"),
    "step_records": ("copying records", "复制记录"),
    "step_backup_check": ("checking the backup", "校验备份"),
    "step_keys": ("filling Redis", "写入 Redis"),
    "backup_done": (
        "{place}: the server as it was at {at}: {keys} keys ({bytes} bytes), {records} records, {live} matches in play",
        "{place}：服务器在 {at} 的状态：{keys} 个键（{bytes} 字节），{records} 份记录，{live} 场进行中的对局",
    ),
    "restore_done": (
        "restored as of {at}: {keys} keys, {records} records; {live} matches go on when the server starts",
        "已恢复至 {at}：{keys} 个键，{records} 份记录；启动服务器后 {live} 场对局继续",
    ),
    "backup_there": ("{url} holds a backup already: give another place", "{url} 已有备份，请另选位置"),
    "no_backup": ("there is no finished backup at {url}", "{url} 没有完整的备份"),
    "backup_damaged": ("the backup is damaged: {path}; nothing was written", "备份已损坏：{path}；未写入任何内容"),
    "backup_newer": (
        "this backup has format {format}: use the version of kangtou that made it, or a newer one",
        "该备份的格式为 {format}：请使用生成它的或更新的 kangtou 版本",
    ),
    "bad_place": ("{url} cannot be used: {reason}", "{url} 无法使用：{reason}"),
    "redis_away": ("Redis cannot be reached: {reason}", "无法访问 Redis：{reason}"),
    "no_snapshot": ("Redis gives no snapshot: {reason}", "Redis 拒绝提供快照：{reason}"),
    "snapshot_unreadable": (
        "the snapshot cannot be read here: the Redis that it comes from is newer, or it is damaged ({reason})",
        "此处无法读取快照：来源 Redis 版本较新，或快照已损坏（{reason}）",
    ),
    "not_taken": ("Redis did not take a key: {reason}", "Redis 未接受一个键：{reason}"),
    "folder_in_use": ("a server runs on {path}: stop it first", "{path} 上有服务器在运行，请先停止"),
    "not_empty": (
        "not restored: {what} is not empty; a backup goes only into an empty server",
        "未恢复：{what} 非空；备份只能恢复到空服务器",
    ),
}
