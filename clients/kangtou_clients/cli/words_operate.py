"""Texts of the commands of those who run a server, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

OPERATE_WORDS: Mapping[str, tuple[str, str]] = {
    # admin
    "admin_rated": ("rated", "计分"),
    "admin_tables": ("{shown} of {live} matches in play", "进行中的对局：显示 {shown}，共 {live}"),
    "admin_actor": ("table actor, {tables} tables", "牌桌进程，{tables} 桌"),
    "admin_gateway": ("gateway", "网关"),
    "admin_draining": ("is drained", "排空中"),
    "admin_stopping": ("is drained and then ends", "排空后结束"),
    "admin_drained": ("{member}: done", "{member}：完成"),
    "admin_drain_waits": ("{member}: not done yet; it goes on", "{member}：尚未完成，继续进行"),
    "admin_moved": ("match {match} is at {actor}", "对局 {match} 已移到 {actor}"),
    "admin_ended": ("match {match_id} is ended: {cause}", "对局 {match_id} 已结束：{cause}"),
    "admin_closed": ("under maintenance since {since} UTC: {message}", "自 {since} UTC 起维护中：{message}"),
    "admin_open": ("open", "正常开放"),
    "admin_more": ("only the first {limit} are shown", "仅显示前 {limit} 个"),
    "admin_confirm": (
        "the account {account} will be deleted for ever; type its id",
        "账号 {account} 将被永久注销；请输入其编号",
    ),
    "admin_appointed": ("{account} is an operator", "{account} 已成为管理员"),
    "admin_not_appointed": ("not done: {reason}", "未完成：{reason}"),
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
