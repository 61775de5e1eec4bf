"""Texts of the commands that study, dump and import records, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

STUDY_WORDS: Mapping[str, tuple[str, str]] = {
    # dump and import
    "step_dump": ("writing records", "写入记录"),
    "step_check": ("checking the dump", "校验导出文件"),
    "step_import": ("importing records", "导入记录"),
    "step_read": ("reading records", "读取记录"),
    "dump_done": ("{path}: {records} records, {bytes} bytes", "{path}：{records} 份记录，{bytes} 字节"),
    "import_done": (
        "{added} added, {there} there already, {conflicts} conflicts, {refused} refused",
        "新增 {added}，已有 {there}，冲突 {conflicts}，拒绝 {refused}",
    ),
    "conflict": (
        "another record of match {match} is there: left out ({text})",
        "已有对局 {match} 的另一份记录，未导入（{text}）",
    ),
    "refused": ("match {match} is not in order: left out ({text})", "对局 {match} 的记录有误，未导入（{text}）"),
    "bad_month": ("{text!r} is no month: write it as 2026-11", "{text!r} 不是月份：应写作 2026-11"),
    "bad_dump": ("{problem}", "{problem}"),
    "archive_error": ("the archive or a file cannot be read or written: {problem}", "档案或文件无法读写：{problem}"),
    "manifest_missing": (
        "there is no manifest {detail} beside the dump (--no-manifest does without)",
        "导出文件旁没有清单 {detail}（--no-manifest 可不用清单）",
    ),
    "manifest_unreadable": ("{detail} is no manifest of a dump", "{detail} 不是导出清单"),
    "manifest_differs": ("the dump is not what its manifest says ({detail})", "导出文件与清单不符（{detail}）"),
    "interrupted": ("interrupted", "已中断"),
    "child_ended": ("the work ended by itself (exit code {number})", "处理进程意外结束（退出码 {number}）"),
    # stats, export, query
    "bad_by": ("{text!r} cannot be counted by; there are: {keys}", "不能按 {text!r} 统计；可选：{keys}"),
    "left_out": ("{where}: left out: {problem}", "{where}：跳过：{problem}"),
    "no_records_read": ("no record was read", "没有读到记录"),
    "records_read": ("{records} records", "{records} 份记录"),
    "more_rows": ("{count} more rows; --limit 0 shows all", "另有 {count} 行；--limit 0 显示全部"),
    "stats_note": (
        "± is half a 95 % interval; won: first place, of matches that the rules ended; hands: rounds",
        "± 为 95% 置信区间的一半；胜：按规则结束的对局中名列第一；手牌按局统计",
    ),
    "needs_extra": (
        "this needs the extra `{extra}`: pip install 'kangtou[{extra}]'",
        "此功能需要附加组件 `{extra}`：pip install 'kangtou[{extra}]'",
    ),
    "names_need_server": ("names are known to the server alone: give no files", "只有服务器知道名字：请勿指定文件"),
    "export_what": ("name the matches to export, or --parquet FOLDER", "请指定要导出的对局，或 --parquet 文件夹"),
    "export_done": ("{path}: {rows} rows", "{path}：{rows} 行"),
    "no_parquet": ("there is no table {table} in {path}", "{path} 中没有表 {table}"),
    "bad_query": ("the query fails: {problem}", "查询失败：{problem}"),
    "no_named": ("there is no query {name!r}; there are: {names}", "没有查询 {name!r}；可选：{names}"),
    "one_query": ("give SQL or --named NAME", "请给出 SQL 或 --named 名称"),
    "col_player": ("player", "玩家"),
    "col_kind": ("kind", "类别"),
    "col_game": ("game", "游戏"),
    "col_variant": ("variant", "玩法"),
    "col_seat": ("seat", "座位"),
    "col_pool": ("pool", "对局池"),
    "col_tournament": ("tournament", "比赛"),
    "col_hand": ("hand", "起手牌"),
    "col_matches": ("matches", "对局"),
    "col_rounds": ("rounds", "局"),
    "col_score": ("score", "平均得分"),
    "col_place": ("place", "平均名次"),
    "col_won": ("won", "胜"),
    "col_win_rate": ("win rate", "胜率"),
    "col_moves": ("moves", "步"),
    "col_think_median_ms": ("think", "思考中位"),
    "col_think_p95_ms": ("p95", "95%"),
    "col_timeouts": ("timeouts", "超时"),
}
