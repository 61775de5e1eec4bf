"""Texts of `kangtou play` by code, in English and Chinese: the line mode's and those that both front ends use.

Verbs are the book's; a game may bring its own text of one, `verb.<name>` in its words, and an unknown one is shown as
it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from .words_tables import TABLES

LANGUAGES = ("en", "zh")
Words = Mapping[str, tuple[str, str]]

VERBS: Words = {
    "play": ("play", "出牌"),
    "pass": ("pass", "不要"),
    "cut": ("cut", "上牌"),
    "ready": ("go on", "继续"),
    "vote_end": ("vote to end", "提议结束"),
    "reveal": ("reveal", "亮牌"),
    "show": ("show", "亮出"),
    "lightning": ("lightning", "闪电"),
    "wait": ("wait", "等待"),
    "declare": ("declare", "亮主"),
    "claim_redeal": ("claim a redeal", "要求重抓"),
    "way": ("way", "定主方式"),
    "name": ("name a suit", "报花色"),
    "pick": ("pick", "选底牌"),
    "bury": ("bury", "扣牌"),
    "sink": ("sink", "扣王"),
    "snatch": ("snatch", "抢主"),
    "recover": ("recover", "回龙"),
    "extend": ("attach", "贴"),
    "lock": ("lock", "锁"),
    "meld": ("meld", "串子"),
    "lift": ("lift", "提"),
    "settle": ("settle", "算帐"),
    "draw": ("draw", "抓牌"),
    "discard": ("discard", "打出"),
    "keep": ("keep all", "不打"),
    "dump": ("dump", "弃黑"),
    "pong": ("pong", "岔"),
}

KEYS: Words = {
    "as": ("as", "作"),
    "rank": ("rank", "点"),
    "suit": ("suit", "花色"),
    "kind": ("kind", "方式"),
    "end": ("end", "取"),
    "pos": ("number", "第"),
    "take": ("take", "取"),
    "give": ("give", "给"),
    "announce": ("announce", "声明"),
    "run": ("run", "门"),
}

WORDS: Words = {
    **TABLES,
    "hello": (
        "{name} on {server}. help lists what can be typed, quit ends.",
        "{name}，服务器 {server}。“帮助”查看命令，“退出”结束。",
    ),
    "unknown": ("{text!r} is not understood here; help lists what is", "此处无法理解 {text!r}；help 查看命令"),
    "no_table_here": ("you are at no table", "你不在牌桌上"),
    "at_table": ("you are at a table; leave it first", "你在牌桌上；请先离开"),
    "none": ("none", "无"),
    "table_gone": ("the table is gone", "牌桌已关闭"),
    "no_tables": ("no tables; open GAME opens one", "没有牌桌；open 游戏 可开桌"),
    "free": ("free", "空位"),
    "state.open": ("open", "待开"),
    "state.playing": ("playing", "进行中"),
    "seat": ("seat {seat}", "{seat} 号位"),
    "queued": ("in the queue, {waiting} waiting; Ctrl-C takes the ticket back", "排队中，共 {waiting} 人；Ctrl-C 取消"),
    "matched": ("matched; the table is set up", "已配对，正在开桌"),
    "cancelled": ("taken back", "已取消"),
    "seated": (
        "{match}: you have seat {seat}; {free} seats are free. Ctrl-C gives it back",
        "{match}：你坐 {seat} 号位；还有 {free} 个空位。Ctrl-C 起身",
    ),
    "stood": ("you gave the seat back", "你已起身"),
    "entered": ("match {match}, you have seat {seat}", "对局 {match}，你坐 {seat} 号位"),
    "watching": ("match {match}, looking on", "对局 {match}，旁观"),
    "your_turn": (
        "your turn: {count} plays (legal lists them); default {default}",
        "轮到你：{count} 种动作（legal 列出）；默认 {default}",
    ),
    "your_turn_many": ("your turn: {constraint}; default {default}", "轮到你：{constraint}；默认 {default}"),
    "seconds": ("{seconds} s left", "剩 {seconds} 秒"),
    "your_hand": ("your hand: {cards}", "你的牌：{cards}"),
    "not_asked": ("you are not asked now; {seats} to act", "现在不轮到你；轮到 {seats}"),
    "which": ("that may be several things; give its number:", "有几种可能，请输入编号："),
    "no_fit": ("no action fits {cards} alone; write it with its verb", "只写 {cards} 无法确定动作；请写明动作"),
    "no_number": ("there is no play {number} in the list", "列表中没有第 {number} 项"),
    "done": ("done: {action}", "已执行：{action}"),
    "refused": ("refused: {text}   (rules shows the rule)", "被拒绝：{text}（rules 查看该规则）"),
    "refused_plain": ("refused: {text}", "被拒绝：{text}"),
    "hint": ("hint: {action}", "提示：{action}"),
    "standing": (
        "left with the table while there is nothing to decide: {action}",
        "无可选择时由牌桌代答：{action}",
    ),
    "covered": ("… not to be looked back at ({rule})", "……不得回看（{rule}）"),
    "round": ("round", "局"),
    "total": ("total", "总分"),
    "before": ("before", "此前"),
    "said": ("{name}: {text}", "{name}：{text}"),
    "substituted": ("a substitute plays your seat now; back takes it back", "托管中；back 收回座位"),
    "taken_back": ("you play your seat again", "已收回座位"),
    "again": (
        "waiting whether the others want another match; Ctrl-C: no longer",
        "等待其他人是否再来一局；Ctrl-C 不再等",
    ),
    "not_again": ("there is no other match", "不再继续"),
    "left": ("you left the table; your seat stays yours", "你已离开牌桌；座位仍归你"),
    "no_rule": ("there is no rule {rule}", "没有规则 {rule}"),
    "books": ("books: {books}", "规则书：{books}"),
    "no_books": ("the rule books are not installed", "未安装规则书"),
    "language": ("English", "中文"),
    "over": ("the match is over ({cause})", "对局结束（{cause}）"),
    "receipt": ("receipt {receipt}", "凭证 {receipt}"),
    "lost": ("the match cannot be followed: {text}", "无法继续跟进对局：{text}"),
    "trust": ("WARNING: {text}", "警告：{text}"),
    "moving": ("the table moves to another process; one moment", "牌桌正在转移，请稍候"),
    "no_game": ("there is no game {game}; there are: {games}", "没有游戏 {game}；可选：{games}"),
    "which_game": ("say which game; there are: {games}", "请写明游戏；可选：{games}"),
    "which_match": ("say which match; `list` shows them", "请写明对局；list 可查看"),
    "bad_option": ("{text!r} is no option: write NAME=VALUE", "{text!r} 不是选项：应写作 名称=值"),
    "server_says": ("the server says: {text}", "服务器提示：{text}"),
}


def say(code: str, lang: str, **params: object) -> str:
    """The text of a code. Raises KeyError for one that there is not."""
    return WORDS[code][LANGUAGES.index(lang)].format_map(params)


def verb_text(verb: str, lang: str, own: Words) -> str:
    """A verb as people say it; the game's own word first."""
    pair = own.get(f"verb.{verb}") or VERBS.get(verb)
    return pair[LANGUAGES.index(lang)] if pair else verb


def key_text(key: str, lang: str) -> str:
    """A key of an action."""
    pair = KEYS.get(key)
    return pair[LANGUAGES.index(lang)] if pair else key
