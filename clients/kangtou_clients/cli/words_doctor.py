"""What `kangtou doctor` says of what it has found, and what to do about it, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

# What is looked at, in the order in which it is shown.
CHECKS: Mapping[str, tuple[str, str]] = {
    "python": ("Python", "Python 版本"),
    "packages": ("packages", "软件包"),
    "files": ("open files", "打开文件数"),
    "settings": ("settings", "设置"),
    "data": ("data folder", "数据目录"),
    "secrets": ("secrets", "密钥"),
    "port": ("port", "端口"),
    "archive": ("archive", "档案"),
    "ray": ("Ray", "Ray 集群"),
    "redis": ("Redis", "Redis 数据库"),
    "clock": ("clock", "时钟"),
    "sandbox": ("sandbox", "沙箱"),
    "server": ("server", "服务器"),
}

DOCTOR_WORDS: Mapping[str, tuple[str, str]] = {
    "doctor_ok": ("nothing is wrong ({count} checks)", "一切正常（{count} 项检查）"),
    "doctor_wrong": ("{count} things are wrong", "发现 {count} 处问题"),
    # fine
    "dr_fine": ("in order", "正常"),
    "dr_found": ("{what}", "{what}"),
    "dr_data_new": ("{path} will be made", "将创建 {path}"),
    "dr_disk_free": ("{path}, {free} MiB free", "{path}，剩余 {free} MiB"),
    "dr_port_ours": ("{where}: a server of this folder listens", "{where}：本目录的服务器正在监听"),
    "dr_port_free": ("{where} is free", "{where} 可用"),
    "dr_archive_works": ("{url}: written, read, deleted", "{url}：可写、可读、可删"),
    "dr_ray_own": ("the server starts its own", "由服务器自行启动"),
    "dr_redis_embedded": ("the embedded one ({path}), which does not run now", "内嵌（{path}），当前未运行"),
    "dr_redis_keeps": ("keeps what is acknowledged", "已确认的数据均会保留"),
    "dr_clock_near": ("{ms} ms from that of Redis", "与 Redis 相差 {ms} 毫秒"),
    "dr_sandbox_works": ("entrants' programs can be shut in", "参赛程序可被隔离"),
    # wrong, and the cure
    "dr_python_old": (
        "Python {have} is too old: install {need} or newer and make the environment again",
        "Python {have} 过旧：请安装 {need} 或更新版本并重建环境",
    ),
    "dr_package_missing": (
        "{package} is not installed: pip install '{package}{need}'",
        "未安装 {package}：pip install '{package}{need}'",
    ),
    "dr_package_other": (
        "{package} {have} is installed, {need} is needed: pip install '{package}{need}'",
        "已安装 {package} {have}，需要 {need}：pip install '{package}{need}'",
    ),
    "dr_lock_differs": (
        "{count} packages are not as requirements.lock pins them: {packages}; "
        "pip install --require-hashes -r requirements.lock",
        "{count} 个软件包与 requirements.lock 不一致：{packages}；pip install --require-hashes -r requirements.lock",
    ),
    "dr_files_low": (
        "only {have} open files are allowed: raise it to {need} (ulimit -n {need}; systemd: LimitNOFILE={need})",
        "仅允许打开 {have} 个文件：请提高到 {need}（ulimit -n {need}；systemd：LimitNOFILE={need}）",
    ),
    "dr_setting_bad": ("{setting}: {problem}; correct or unset it", "{setting}：{problem}；请更正或取消该变量"),
    "dr_data_file": ("{path} is no folder: name another with --data", "{path} 不是目录：请用 --data 指定其他目录"),
    "dr_data_open": (
        "others may look into {path} (mode {mode}), where secrets and live matches are: chmod 700 {path}",
        "他人可访问 {path}（权限 {mode}），其中有密钥和进行中的对局：chmod 700 {path}",
    ),
    "dr_restore_broken_off": (
        "a restore into {path} was broken off: run `kangtou restore` again with the same backup",
        "对 {path} 的恢复中断了：请用同一备份再次运行 kangtou restore",
    ),
    "dr_disk_low": (
        "{free} MiB are free at {path}, {need} are needed: make room; a full disk stops every table",
        "{path} 仅剩 {free} MiB，需要 {need}：请清理空间；磁盘满会使所有牌桌停止",
    ),
    "dr_secret_open": (
        "others may read {path} (mode {mode}): chmod 600 {path}, and make the secret anew if somebody may have",
        "他人可读 {path}（权限 {mode}）：chmod 600 {path}；若可能已泄露请更换",
    ),
    "dr_secret_short": (
        "{path} holds no good secret: delete it while the server is stopped, the next start makes another",
        "{path} 中的密钥无效：停止服务器后删除，下次启动会重新生成",
    ),
    "dr_secret_missing": (
        "{variable} is not set, but links go over TCP: set it to the same secret at all nodes (openssl rand -hex 32)",
        "未设置 {variable}，但内部连接走 TCP：请在所有节点设为同一密钥（openssl rand -hex 32）",
    ),
    "dr_secret_weak": (
        "{variable} has only {length} letters: set one of 64 at all nodes (openssl rand -hex 32)",
        "{variable} 仅 {length} 个字符：请在所有节点换成 64 位（openssl rand -hex 32）",
    ),
    "dr_port_taken": (
        "another program listens on {where}: stop it (ss -ltnp shows which), or use another --port",
        "{where} 已被其他程序占用：请停止它（用 ss -ltnp 查看），或改用其他 --port",
    ),
    "dr_port_forbidden": (
        "{where} may not be used by this user: use a --port from 1024 on",
        "当前用户无权使用 {where}：请使用 1024 及以上的 --port",
    ),
    "dr_host_unknown": (
        "{where} is no address of this machine: give one with --host (127.0.0.1 for this machine alone)",
        "{where} 不是本机地址：请用 --host 指定（仅本机用 127.0.0.1）",
    ),
    "dr_archive_missing": ("{reason}", "档案位置不存在或缺少软件包：{reason}"),
    "dr_archive_away": (
        "the archive at {url} cannot be reached: {reason}; matches end, but their records wait",
        "无法访问档案 {url}：{reason}；对局可结束，但记录会等待",
    ),
    "dr_archive_no_write": (
        "nothing can be written to the archive at {url}: {reason}; give this user the right, or name another --archive",
        "无法写入档案 {url}：{reason}；请授予当前用户写权限，或用 --archive 指定其他位置",
    ),
    "dr_archive_no_read": (
        "what was written to the archive at {url} cannot be read: {reason}; give this user the right to read",
        "无法读取写入档案 {url} 的内容：{reason}；请授予读权限",
    ),
    "dr_archive_no_delete": (
        "nothing can be deleted from the archive at {url}: {reason}; retention needs that right",
        "无法从档案 {url} 删除：{reason}；保存期限功能需要该权限",
    ),
    "dr_ray_away": (
        "Ray's head does not answer at {address} ({reason}): start it, or unset KANGTOU_RAY_ADDRESS",
        "Ray 头节点 {address} 无应答（{reason}）：请启动它，或取消 KANGTOU_RAY_ADDRESS",
    ),
    "dr_redis_none": ("{reason}", "没有可用的 Redis：{reason}"),
    "dr_redis_unreachable": (
        "Redis does not answer at {url} ({reason}): start it, and check KANGTOU_REDIS_URL and the password",
        "Redis {url} 无应答（{reason}）：请启动它，并检查 KANGTOU_REDIS_URL 与密码",
    ),
    "dr_redis_old": (
        "{kind} {have} is too old: {need} or newer is needed (functions)",
        "{kind} {have} 过旧：需要 {need} 或更新版本（需支持函数）",
    ),
    "dr_redis_append_only": (
        "Redis keeps nothing over a restart ({found}): CONFIG SET appendonly yes, and put it into redis.conf",
        "Redis 重启会丢失数据（{found}）：CONFIG SET appendonly yes，并写入 redis.conf",
    ),
    "dr_redis_fsync": (
        "a power cut may cost acknowledged moves ({found}): CONFIG SET appendfsync always, and put it into redis.conf",
        "断电可能丢失已确认的动作（{found}）：CONFIG SET appendfsync always，并写入 redis.conf",
    ),
    "dr_redis_fsync_on_rewrite": (
        "while Redis rewrites its file nothing is safe ({found}): CONFIG SET no-appendfsync-on-rewrite no",
        "Redis 重写文件期间数据不安全（{found}）：CONFIG SET no-appendfsync-on-rewrite no",
    ),
    "dr_redis_eviction": (
        "Redis may throw live matches away to make room ({found}): CONFIG SET maxmemory-policy noeviction",
        "Redis 可能为腾出内存而删除进行中的对局（{found}）：CONFIG SET maxmemory-policy noeviction",
    ),
    "dr_redis_disk": (
        "the last write of Redis to its file failed ({found}): make room on its disk, look at its log",
        "Redis 最近一次写文件失败（{found}）：请清理其磁盘并查看日志",
    ),
    "dr_redis_replica": (
        "this Redis is a replica and takes no writes ({found}): KANGTOU_REDIS_URL must name the primary",
        "该 Redis 是副本，不接受写入（{found}）：KANGTOU_REDIS_URL 应指向主节点",
    ),
    "dr_redis_replicas": (
        "too few replicas ({found}): start {wanted}, or lower KANGTOU_REPLICAS",
        "副本不足（{found}）：请启动 {wanted}，或调低 KANGTOU_REPLICAS",
    ),
    "dr_redis_functions": (
        "Redis takes no functions ({found}): {wanted}",
        "Redis 不接受函数（{found}）：{wanted}",
    ),
    "dr_redis_unreadable": (
        "nobody knows how Redis is set up ({found}): give its user the right to read the settings",
        "无法得知 Redis 的设置（{found}）：请授予用户读取设置的权限",
    ),
    "dr_redis_full": (
        "Redis uses {used} of {most} MiB: raise maxmemory, else writes are refused",
        "Redis 已用 {used} / {most} MiB：请提高 maxmemory，否则写入将被拒绝",
    ),
    "dr_redis_open": (
        "Redis listens on {bind} without a password: set requirepass (or ACLs), or bind 127.0.0.1",
        "Redis 在 {bind} 监听且无密码：请设置 requirepass（或 ACL），或 bind 127.0.0.1",
    ),
    "dr_clock_off": (
        "this machine's clock is {ms} ms from that of Redis: set both by NTP (timedatectl set-ntp true)",
        "本机时钟与 Redis 相差 {ms} 毫秒：请都用 NTP 校时（timedatectl set-ntp true）",
    ),
    "dr_sandbox_none": (
        "entrants' programs cannot be shut in ({reason}): allow user namespaces, or play only programs that you trust",
        "无法隔离参赛程序（{reason}）：请允许用户命名空间，或仅运行可信程序",
    ),
    "dr_server_away": ("no server answers at {address}", "{address} 没有服务器应答"),
    "dr_server_fine": ("{address}: version {version}, ready", "{address}：版本 {version}，就绪"),
    "dr_server_not_ready": (
        "{address}: its log cannot be reached; see Redis above and {path}",
        "{address}：无法访问其日志；见上面的 Redis 与 {path}",
    ),
    "dr_server_other": (
        "the server at {address} has version {version}, this is {mine}: restart it, or install the same here",
        "{address} 的服务器版本为 {version}，本机为 {mine}：请重启服务器，或在此安装相同版本",
    ),
}
