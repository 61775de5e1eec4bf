"""What can be typed in the line mode, and what it says besides the texts that both front ends use.

A command's text is `word arguments|what it does`; both languages' words are understood in either language.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..desk.words import LANGUAGES
from ..desk.words import WORDS as DESK

COMMANDS: Mapping[str, tuple[str, str]] = {
    "quick": (
        "quick GAME [NAME=VALUE …] [rated] [ask]|queue for a match; ask: let me take it or not",
        "排队 游戏 [名称=值 …] [rated] [ask]|排队匹配；ask：先问我是否接受",
    ),
    "open": (
        "open GAME [NAME=VALUE …] [rated] [private]|open a table and sit down; `help open` has more",
        "开桌 游戏 [名称=值 …] [rated] [private]|开桌入座；“帮助 开桌”有更多",
    ),
    "sit": (
        "sit MATCH [SEAT]|take a seat; at a private table sit code=CODE",
        "入座 对局 [座位]|入座；私人牌桌：入座 code=桌号",
    ),
    "enter": ("enter MATCH|go back to your seat in a running match", "回座 对局|回到进行中对局的座位"),
    "watch": ("watch MATCH|look on", "旁观 对局|旁观"),
    "party": (
        "party new GAME [NAME=VALUE …] [rated], join CODE, queue, leave|queue with a partner; alone: how it stands",
        "组队 new 游戏 [名称=值 …] [rated]、join 队伍号、queue、leave|与搭档一起排队；不写则显示队伍",
    ),
    "practice": (
        "practice GAME [NAME=VALUE …]|against bots on this computer",
        "练习 游戏 [名称=值 …]|在本机与机器人练习",
    ),
    "ready": ("ready [no]|you are ready, or not", "准备 [no]|已准备，或取消"),
    "start": ("start|as the owner: begin", "开始|桌主开局"),
    "fill": ("fill|as the owner: bots take the free seats", "补位|桌主让机器人坐满空位"),
    "seat": ("seat N|take another free seat", "换座 N|换到另一空位"),
    "remove": ("remove NAME|as the owner: send somebody away", "请离 名字|桌主请某人离开"),
    "allow": ("allow ACCOUNT|as the owner: let them come back", "允许 账号|桌主允许其回来"),
    "stand": ("stand|give the seat back", "起身|让出座位"),
    "take": ("take|take the match that was found", "接受|接受已找到的对局"),
    "decline": ("decline|do not take it", "拒绝|不接受"),
    "cancel": ("cancel|leave the queue", "取消|离开排队"),
    "legal": ("legal|what you may do, numbered", "可行|列出可行动作并编号"),
    "hint": ("hint|what a bot would do", "提示|机器人会怎么出"),
    "hand": ("hand|your hand", "手牌|你的手牌"),
    "order": ("order [game|suit|rank]|how the hand is ordered", "理牌 [game|suit|rank]|按打法、花色、点数理牌"),
    "score": ("score|the score sheet", "计分|计分表"),
    "log": ("log|this round so far, as far as the book lets you look back", "经过|本局经过（以规则书允许回看者为限）"),
    "substitute": ("substitute|hand your seat over", "托管|由托管代打"),
    "back": ("back|take your seat back", "收回|收回座位"),
    "penalty": (
        "penalty penalize seat=N, penalty annul|as the scorer: what the book lets you award",
        "判罚 penalize seat=N、判罚 annul|记分员按规则书判罚",
    ),
    "again": ("again|after the match: another one with the same seats", "再来|对局结束后原座再来一局"),
    "leave": (
        "leave [bot]|leave the table, your seat stays yours; bot: a substitute plays on for good",
        "离开 [bot]|离开牌桌，座位仍归你；bot：由托管打完",
    ),
    "say": ("say TEXT|talk; say /hello: a fixed phrase", "说 文字|聊天；说 /hello：固定短语"),
    "chat": ("chat|what was said, numbered", "聊天|最近的聊天，带编号"),
    "mute": ("mute NAME [off]|as owner or scorer: silence somebody", "禁言 名字 [off]|桌主或记分员禁言某人"),
    "report": ("report N [REASON]|tell the operators of message N of chat", "举报 N [理由]|向管理员举报第 N 条聊天"),
    "wait": ("wait|until you are asked, or it is over; for scripts", "等|等到轮到自己或结束；供脚本使用"),
    "list": ("list [GAME]|tables with free seats, and those that can be watched", "列表 [游戏]|有空位或可旁观的牌桌"),
    "table": ("table [MATCH]|the table: cards, or who sits there and by which rules", "牌桌 [对局]|牌面，或座位与规则"),
    "games": ("games [GAME]|the games, or the options of one", "游戏 [游戏]|游戏列表，或某游戏的选项"),
    "profile": ("profile [NAME]|who somebody is, with ratings", "资料 [名字]|某人的资料与等级分"),
    "leaderboard": ("leaderboard GAME [VARIANT] [bots]|the best", "排行 游戏 [玩法] [bots]|排行榜"),
    "records": ("records [GAME]|finished matches", "战绩 [游戏]|已结束的对局"),
    "replay": (
        "replay MATCH [FROM [TO]]|one again: from 2:3 (round 2, trick 3)",
        "回放 对局 [从 [到]]|重看；2:3 为第 2 局第 3 墩",
    ),
    "block": ("block NAME|never be paired with somebody", "屏蔽 名字|不再与某人同桌"),
    "unblock": ("unblock NAME|take that back", "解除 名字|解除屏蔽"),
    "blocks": ("blocks|whom you have blocked", "屏蔽表|已屏蔽的人"),
    "rules": (
        "rules [BOOK|RULE]|a book, a section (HS-4), a rule (HS-4.3); alone: the rule of the last refusal",
        "规则 [书|规则]|规则书、章节（HS-4）、条目（HS-4.3）；不写则为上次拒绝的规则",
    ),
    "lang": ("lang [en|zh]|the language", "语言 [en|zh]|语言"),
    "letters": ("letters|cards as letters, or as glyphs", "字母|牌用字母或花色符号"),
    "help": ("help [COMMAND]|this list, or one of it", "帮助 [命令]|本列表，或其中一项"),
    "quit": ("quit|end", "退出|结束"),
}

WORDS: Mapping[str, tuple[str, str]] = {
    "in.lobby": ("before a match:", "开局前："),
    "in.table": ("at a table that fills:", "等人的牌桌上："),
    "in.queue": ("in the queue:", "排队时："),
    "in.match": ("in a match:", "对局中："),
    "in.company": ("at any table:", "任何牌桌上："),
    "in.any": ("anywhere:", "随时："),
    "help.plays": (
        "play HT DT, pass …|any action as the book writes it\n"
        "HT DT|only the cards, if one action fits them (also h10, ♥10)\n"
        "3|the third of the plays that legal lists",
        "play HT DT、pass …|规则书写法的动作\n"
        "HT DT|只写牌，若只有一种动作相合（也可写 h10、♥10）\n"
        "3|legal 所列的第三个动作",
    ),
    "help.open": (
        "besides the game's options (`games GAME`):\n"
        "  seats=N  rules=NAME              seats; named house rules\n"
        "  turn=S window=S bank=S increment=S   clocks in seconds\n"
        "  start=seated|ready|owner         what the match waits for\n"
        "  rated  private  guests           rated; by code only; no bots unless you fill\n"
        "  watch=none|no_hands|round|open delay=S   what spectators see, so late\n"
        "  fill=S  scorer=ACCOUNT           bots come after S seconds; who keeps the score",
        "除游戏选项（“游戏 游戏名”）外：\n"
        "  seats=N  rules=名称              座位数；房规套餐\n"
        "  turn=秒 window=秒 bank=秒 increment=秒   时钟\n"
        "  start=seated|ready|owner         坐满、全部准备、桌主开局\n"
        "  rated  private  guests           计分；凭桌号入座；不自动补机器人\n"
        "  watch=none|no_hands|round|open delay=秒   旁观者所见及延迟\n"
        "  fill=秒  scorer=账号             多少秒后机器人补位；记分员",
    ),
    "only.table": ("you have no seat at a table that fills", "你不在等人的牌桌上"),
    "only.queue": ("you are not in the queue", "你不在排队"),
    "only.match": ("you are at no table", "你不在牌桌上"),
    "only.company": ("you are at no table", "你不在牌桌上"),
    "busy.match": ("you are at a table; leave it first", "你在牌桌上；请先离开"),
    "busy.table": ("you have a seat at a table; stand gives it back", "你已入座；“起身”让出座位"),
    "busy.queue": ("you are in the queue; cancel takes the ticket back", "你在排队；“取消”退出"),
    "bad_value": ("{name} cannot be {given!r}; allowed: {allowed}", "{name} 不能为 {given!r}；可选：{allowed}"),
    "whole_seconds": ("whole seconds", "整数秒"),
    "which_party": ("say which: party new GAME, party join CODE", "请写明：组队 new 游戏，或 组队 join 队伍号"),
    "which_name": ("say whom", "请写明是谁"),
    "which_seat": ("say which seat, by its number", "请写明座位号"),
    "which_message": ("say which message, by its number in chat", "请写明聊天编号"),
    "sat_down": ("{name} has seat {seat}", "{name} 坐 {seat} 号位"),
    "stood_up": ("seat {seat} is free again", "{seat} 号位空出"),
    "is_ready": ("{name} is ready", "{name} 已准备"),
    "not_ready": ("{name} is not ready", "{name} 取消准备"),
    "owns": ("{name} owns the table now", "{name} 成为桌主"),
    "all_seated.seated": ("all seats are taken; it begins", "已坐满，即将开始"),
    "all_seated.ready": ("all seats are taken; it begins when everybody is ready", "已坐满，全部准备后开始"),
    "all_seated.owner": ("all seats are taken; the owner begins with start", "已坐满，桌主用“开始”开局"),
    "sent_away": ("you have no seat at the table any more", "你已不在该桌"),
    "offered": (
        "a match was found: take or decline, {seconds} s; {accepted} have taken it",
        "已找到对局：“接受”或“拒绝”，{seconds} 秒；已有 {accepted} 人接受",
    ),
    "taking": ("a match was found; {accepted} have taken it", "已找到对局；{accepted} 人已接受"),
    "estimate": ("lately it took {seconds} s", "近来约需 {seconds} 秒"),
    "matched_first": ("too late: the match was found first", "来不及：对局已经找到"),
    "seats_again": ("not everybody wants another match; you keep your seat", "有人不再继续；你保留座位"),
    "substitute_plays": ("a substitute plays for seat {seat}", "{seat} 号位由托管代打"),
    "owner_plays": ("seat {seat} is played by its owner again", "{seat} 号位由本人收回"),
    "away": ("seat {seat} is away", "{seat} 号位离线"),
    "here_again": ("seat {seat} is here again", "{seat} 号位回来了"),
    "left_for_good": ("a substitute plays your seat to the end", "你的座位由托管打完"),
    "nothing_said": ("nothing was said yet", "还没有人说话"),
    "muted": ("{name} may not talk at this table", "{name} 在本桌已被禁言"),
    "unmuted": ("{name} may talk at this table again", "{name} 在本桌可以发言"),
    "reported": ("the operators will see it", "已向管理员报告"),
    "no_message": ("there is no message {number}; chat lists them", "没有第 {number} 条；“聊天”可列出"),
    "awarded": ("done; it is in the log", "已判罚，并记入日志"),
    "no_records": ("no finished match is here yet", "尚无已结束的对局"),
    "no_record": ("there is no finished match {match}", "没有已结束的对局 {match}"),
    "no_place": ("there is no place {text} in it", "其中没有位置 {text}"),
    "stopped": ("no longer", "已停止"),
}


def say(code: str, lang: str, **params: object) -> str:
    """The text of a code, of the line mode or of both front ends. Raises KeyError for one that there is not."""
    pair = WORDS.get(code) or DESK[code]
    return pair[LANGUAGES.index(lang)].format_map(params)
