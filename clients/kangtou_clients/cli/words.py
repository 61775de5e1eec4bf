"""Texts of the `kangtou` command by code, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

from .words_doctor import DOCTOR_WORDS
from .words_load import LOAD_WORDS
from .words_operate import OPERATE_WORDS
from .words_study import STUDY_WORDS
from .words_tournament import TOURNAMENT_WORDS
from .words_vitals import VITALS_WORDS

LANGUAGES = ("en", "zh")

WORDS: Mapping[str, tuple[str, str]] = {
    **DOCTOR_WORDS,
    **OPERATE_WORDS,
    **LOAD_WORDS,
    **STUDY_WORDS,
    **TOURNAMENT_WORDS,
    **VITALS_WORDS,
    # files and records
    "no_file": ("there is no file {path}", "没有文件 {path}"),
    "no_rule": ("there is no rule {rule} in {book}", "{book} 中没有规则 {rule}"),
    "no_book": ("there is no book {book}; there are: {books}", "没有规则书 {book}；可选：{books}"),
    "books_missing": ("the rule books are not installed", "未安装规则书"),
    "no_game": ("there is no game {game}; there are: {games}", "没有游戏 {game}；可选：{games}"),
    "bad_yaml": ("{path}: not a case file: {problem}", "{path}：不是用例文件：{problem}"),
    "cases_total": ("{passed} passed, {failed} failed", "{passed} passed, {failed} failed"),
    "bad_record": ("{path}: {problem}", "{path}：{problem}"),
    "too_large": ("{path} is no record: it has more than {mb} MiB", "{path} 不是记录：超过 {mb} MiB"),
    "bad_zstd": ("{path} cannot be unpacked", "无法解压 {path}"),
    # verify
    "verify_ok": ("in order", "无误"),
    "verify_counts": (
        "{entries} entries, {deals} deals, {actions} actions, {events} events",
        "{entries} 条记录，{deals} 次发牌，{actions} 个动作，{events} 个事件",
    ),
    "verify_rerun": ("the engine, run again over all actions, gives the same", "引擎重新执行所有动作，结果一致"),
    "verify_receipt": ("the receipt fits", "凭证相符"),
    "verify_keep": ("receipt {receipt}", "凭证 {receipt}"),
    "verify_bad": ("{count} findings", "发现 {count} 处问题"),
    # replay
    "bad_place": (
        "{text!r} is no place: ROUND, ROUND:TRICK, @SEQ, +SECONDS or end",
        "{text!r} 不是位置：应为 局、局:墩、@序号、+秒数 或 end",
    ),
    "bad_table": ("--table is one of {tables}, not {text!r}", "--table 可选 {tables}，不能是 {text!r}"),
    "no_round": ("there is no round {text}: this match has {rounds}", "没有第 {text} 局：本场共 {rounds} 局"),
    "no_trick": ("there is no trick {text}: round {round} has {tricks}", "没有 {text} 墩：第 {round} 局共 {tricks} 墩"),
    "no_seq": ("there is no entry @{text}: the last is @{last}", "没有记录 @{text}：最后一条是 @{last}"),
    "no_time": ("the match was over after {seconds} s, before {text}", "对局历时 {seconds} 秒，早于 {text}"),
    "no_position": ("there is no position {text}: the last is ={last}", "没有位置 {text}：最后是 ={last}"),
    "thought": ("{seat} thought {seconds} s of {limit} s", "{seat} 思考 {seconds} 秒（限时 {limit} 秒）"),
    "thought_late": (
        "{seat} let {seconds} s go by: the time was {limit} s",
        "{seat} 用完 {seconds} 秒：限时 {limit} 秒",
    ),
    "fork_over": ("back in the record", "回到记录"),
    "asked": ("{seat} is asked, with {limit} s", "{seat} 待行动，限时 {limit} 秒"),
    "no_seat": ("there is no seat {seat} in this match", "本局没有 {seat} 号位"),
    "only_one_view": ("choose one of --seat, --spectator and --open", "--seat、--spectator、--open 只能选一"),
    "not_readable": (
        "{game} is not known here: it can only be shown open, as its lines",
        "此处不识别 {game}：只能公开显示其原始记录",
    ),
    "other_version": (
        "{game} is not known here: shown from its events by {other}",
        "此处不识别 {game}：按 {other} 由事件重放",
    ),
    "page_written": (
        "{path}: {view}, {kb} kB in one file; open it in any browser",
        "{path}：{view}，单个文件 {kb} kB；用任意浏览器打开",
    ),
    "page_failed": ("{path} cannot be written: {problem}", "无法写入 {path}：{problem}"),
    "bad_speed": ("a speed is a number greater than 0", "速度须是大于 0 的数"),
    "only_one_way": ("choose one of --html, --step and --fork", "--html、--step、--fork 只能选一个"),
    "step_help": (
        "Enter: on   b: back   g 2:3: go to round 2, trick 3 (or @SEQ, +SECONDS, end)   s 0: seat 0   p: spectator   "
        "o: open   t: table   l: legal plays   c: clocks   f 0: bots go on from here, one for seat 0   q: end",
        "回车：下一步   b：后退   g 2:3：跳到第 2 局第 3 墩（或 @序号、+秒数、end）   s 0：0 号位视角   p：旁观   "
        "o：公开   t：牌桌   l：可行动作   c：时钟   f 0：由机器人从此处接着打（0 号位）   q：结束",
    ),
    "step_what": ("not understood; h for help", "无法理解；h 查看帮助"),
    "step_start": ("this is the beginning", "已在开头"),
    "step_end": ("this is the end", "已到结尾"),
    "legal_none": ("nobody may act here", "此时无人可行动"),
    "legal_many": ("{seat}: too many to list", "{seat}：动作太多，无法列出"),
    # practice
    "practice_begins": (
        "{game}: match {match}, your seat is {seat}; server {address}",
        "{game}：对局 {match}，你坐 {seat} 号位；服务器 {address}",
    ),
    "practice_over": ("scores {scores}", "比分 {scores}"),
    "practice_fails": ("practice cannot begin: {problem}", "无法开始练习：{problem}"),
    # games
    "seats": ("{seats} seats", "{seats} 座"),
    "options": ("option", "选项"),
    "default": ("default", "默认"),
    "allowed": ("allowed", "可选"),
    "rule": ("rule", "规则"),
    # server
    "unreachable": ("the server {server} cannot be reached", "无法连接服务器 {server}"),
    "server_says": ("the server says: {text}", "服务器提示：{text}"),
    "no_match": ("there is no match {match} here", "没有对局 {match}"),
    "no_profile": (
        "no account of that name on {server}; there are: {profiles} (choose with --as)",
        "{server} 上没有该账号；可选：{profiles}（用 --as 选择）",
    ),
    "profile_taken": (
        "you have an account on {server} already ({profiles}); name a further one with --as",
        "你在 {server} 上已有账号（{profiles}）；用 --as 为新账号命名",
    ),
    "recovery": ("recovery code, shown this once: {recovery}", "恢复码（仅显示一次）：{recovery}"),
    "kept": ("the token is kept in {path}", "令牌保存于 {path}"),
    "expires": ("the token is good for {days} days", "令牌还有 {days} 天有效"),
    "bad_option": ("{text!r} is no option: write NAME=VALUE", "{text!r} 不是选项：应写作 名称=值"),
    "bad_day": ("{text!r} is no day: write it as 2026-01-31", "{text!r} 不是日期：应写作 2026-01-31"),
    "not_begun": (
        "this match has not begun: {free} of {seats} seats are free",
        "对局尚未开始：{seats} 个座位中还有 {free} 个空位",
    ),
    "no_json": ("this command is for people and has no --json", "此命令供人使用，没有 --json"),
    "no_screen": (
        "the screen needs the extra `tui`: pip install 'kangtou[tui]', or use --plain",
        "界面需要附加组件 tui：pip install 'kangtou[tui]'，或使用 --plain",
    ),
    "no_terminal": ("the screen needs a terminal; use --plain in pipes", "界面需要终端；管道中请用 --plain"),
    "no_tables": ("no table has free seats", "没有空座的牌桌"),
    "no_records": ("no finished match fits", "没有符合条件的已结束对局"),
    "free": ("free", "空位"),
    "bad_word": ("{option} cannot be {given!r}; allowed: {allowed}", "{option} 不能为 {given!r}；可选：{allowed}"),
    "table_playing": ("playing", "对局中"),
    "table_over": ("over", "已结束"),
    "table_closed": ("closed", "已关闭"),
    "table_code": ("code {word}", "桌号 {word}"),
    "table_clock": (
        "{turn} s a move, bank {bank} s, increment {increment} s",
        "每步 {turn} 秒，时间银行 {bank} 秒，每步加 {increment} 秒",
    ),
    "table_owner": ("owner: {owner}", "桌主：{owner}"),
    "table_start": ("starts when {start}", "开局：{start}"),
    "start_seated": ("all seats are taken", "坐满即开"),
    "start_ready": ("all are ready", "全部准备即开"),
    "start_owner": ("the owner starts, with the others ready", "其他人准备后由桌主开局"),
    "table_ready_until": ("{seconds} s left to get ready", "准备剩余 {seconds} 秒"),
    "table_rematch_until": ("{seconds} s left to agree on another match", "约再来一场剩余 {seconds} 秒"),
    "is_ready": ("ready", "已准备"),
    "wants_rematch": ("again", "再来"),
    "tally": (
        "{name}: {matches} matches, {points} points, places {places}",
        "{name}：{matches} 场，{points} 分，名次 {places}",
    ),
    "warning": ("note: {text}", "注意：{text}"),
    "say_what": ("say a line of text, or a phrase by --phrase", "请给出一行文字，或用 --phrase 选择短语"),
    "muted": ("{account} may not talk at this table", "{account} 在本桌已被禁言"),
    "unmuted": ("{account} may talk at this table again", "{account} 在本桌可以发言"),
    "reported": ("the operators will see it", "已向管理员报告"),
    "a_spectator": ("{name} (looking on)", "{name}（旁观）"),
    "watch_none": ("nobody looks on", "不允许旁观"),
    "watch_no_hands": ("spectators see no hands", "旁观者看不到手牌"),
    "watch_round": ("spectators see the hands of finished rounds", "旁观者可看已结束各局的手牌"),
    "watch_open": ("spectators see all hands while they are played", "旁观者可看所有手牌"),
    "watch_late": ("{policy}, {seconds} s late", "{policy}，延迟 {seconds} 秒"),
    "table_scorer": ("scorer: {scorer}", "记分员：{scorer}"),
    "round_title": ("round {round}", "第 {round} 局"),
    "handed_over": ("a substitute plays your seat; `kangtou take-back` ends it", "已托管；用 `kangtou take-back` 取回"),
    "taken_back": ("you play your seat again", "已取回座位"),
    "ticket_offered": ("a match was found; {accepted} have taken it", "已找到对局；{accepted} 人已确认"),
    "estimate": ("; lately it took {seconds} s", "；近来约需 {seconds} 秒"),
    "ask_take": ("take it? [Y/n] ({seconds} s)", "是否接受？[Y/n]（{seconds} 秒）"),
    "ask_late": ("the time is up", "已超时"),
    "ask_whom": ("--ask needs a terminal to ask at", "--ask 需要在终端中使用"),
    "party_left": ("the party {party} has ended", "队伍 {party} 已解散"),
    "party_over": ("over", "已解散"),
    "ticket_waiting": ("waiting; {waiting} in the queue", "排队中；共 {waiting} 人"),
    "ticket_matched": ("matched", "已配对"),
    "ticket_cancelled": ("cancelled", "已取消"),
    "record_counts": ("{rounds} rounds, {moves} moves", "{rounds} 局 {moves} 步"),
    "no_rows": ("nobody has enough results on this ladder yet", "该榜暂无达到最少场数的玩家"),
    "no_variant": ("{game} has no variant {variant}; there are: {variants}", "{game} 没有 {variant}；可选：{variants}"),
    "no_blocks": ("you have blocked nobody", "没有屏蔽任何人"),
    "blocked": ("{account} is blocked", "已屏蔽 {account}"),
    "unblocked": ("{account} is not blocked", "已解除屏蔽 {account}"),
    "joined": ("here since {day}", "{day} 注册"),
    "results": ("{games} results", "{games} 场"),
    "floor": ("at least {floor}", "至少 {floor}"),
    "placed": ("place {place}", "第 {place} 名"),
    "rated": ("rated", "计分"),
    "confirm_needed": (
        "nobody can be asked here: --yes deletes the account for ever",
        "此处无法询问：用 --yes 确认永久注销账号",
    ),
    "confirm_delete": (
        "the account {name} will be deleted for ever; type its name:",
        "账号 {name} 将被永久注销；请输入其名字：",
    ),
    "not_confirmed": ("not the account's name: nothing was deleted", "名字不符，未注销"),
    "account_deleted": (
        "{name} is deleted; records of its matches stay under {account}",
        "{name} 已注销；其对局记录以编号 {account} 保留",
    ),
    "bad_pair": (
        "{text!r} is no score: write LEAST..MOST, such as 10.. or -5..20",
        "{text!r} 不是得分范围：应写作 下限..上限",
    ),
    "needs_player": ("--place and --score need a --player", "--place 和 --score 须指定 --player"),
    "rebuilt": (
        "{records} records: {added} put in, {gone} taken out",
        "共 {records} 份记录：新增 {added}，移除 {gone}",
    ),
    "damaged": ("{count} files are no records: {paths}", "{count} 个文件不是记录：{paths}"),
    "no_token": (
        "not signed in on {server}: `kangtou register NAME` makes an account",
        "尚未登录 {server}：用 `kangtou register 名字` 注册",
    ),
}


def say(code: str, lang: str, params: Mapping[str, object]) -> str:
    """The text of a code. Raises KeyError for one that there is not."""
    return WORDS[code][LANGUAGES.index(lang)].format_map(params)
