"""Texts of refusals, constraints and the display, in English and Chinese."""

from __future__ import annotations

from ...words import Words

_REFUSALS: Words = {
    "start_above_end": (
        "{option} {given} is above end_level; allowed: {allowed}",
        "起始级别 {given} 高于 end_level；可选：{allowed}",
    ),
    "wants_key": ("{key}= with cards is missing", "缺少 {key}= 及其牌"),
    "no_arguments": ("{verb} takes keys only", "{verb} 只带键值"),
    "bad_word": ("{key}= must be one of: {allowed}", "{key}= 须为以下之一：{allowed}"),
    "one_card": ("{verb} takes one card", "{verb} 须带一张牌"),
    "not_level_card": (
        "{cards} is not a level card; the level cards are the {rank}s",
        "{cards} 不是绘牌；本轮绘牌是 {rank}",
    ),
    "level_card_held": (
        "a redeal needs that neither defender holds a {rank}",
        "台下两人都没有 {rank} 才能要求重新抓牌",
    ),
    "no_pick": ("there is nothing to pick now; name a suit", "现在不能选牌，请报花色"),
    "no_name": ("a suit cannot be named now; pick a kitty card", "现在不能报花色，请选底牌"),
    "six_cards": ("six cards are buried, not {count}", "须扣六张牌，不是 {count} 张"),
    "no_announcing": ("this table does not let buried trumps be announced", "本桌不许声明所扣主牌"),
    "announced_not_buried": ("{cards} is announced but not buried", "声明的 {cards} 不在所扣的牌中"),
    "announced_no_trump": ("{cards} is announced but no trump", "声明的 {cards} 不是主牌"),
    "only_jokers": ("only jokers can be announced, not {cards}", "只能声明王牌，不能声明 {cards}"),
    "sink_jokers": ("sink takes one or two jokers", "扣王须为一张或两张王牌"),
    "not_buried": ("{cards} is not among the buried six", "{cards} 不在底牌中"),
    "as_many": ("{took} taken for {gave} given: the numbers must be equal", "取 {took} 张、给 {gave} 张，张数须相同"),
    "not_lowest": ("{cards} is not the lowest of the buried six", "{cards} 不是底牌中最小的"),
    "snatch_none": ("name the trumps to snatch", "请指明要抢的主牌"),
    "not_snatchable": ("{cards} cannot be snatched", "{cards} 不能抢"),
    "annul_phase": ("annul belongs between the kitty and the end of play", "只有开底之后、打完之前才能作废扣王"),
    "annul_gabaguo": ("after 嘎巴锅 there is nothing to annul", "嘎巴锅之后没有可作废的"),
    "annul_twice": ("the round is annulled already", "本轮扣王已作废"),
    "no_cards": ("name the cards to play", "请指明要出的牌"),
    "one_suit": (
        "a lead of several cards must be of one suit, or four of one rank",
        "领出多张须同一花色，或四张同点（嗡）",
    ),
    "no_four_yet": ("four {rank}s cannot be led before a trick is won", "没有赢墩之前不能出四张 {rank} 嗡"),
    "as_many_as_led": ("play as many cards as were led: {count}", "须出与首家相同的张数：{count}"),
    "follow_suit": ("follow suit with {count} of {suit}", "须跟 {count} 张 {suit}"),
    "follow_trumps": ("follow with {count} trumps", "须跟 {count} 张主牌"),
}

_CONSTRAINTS: Words = {
    "bury_any_six": (
        "bury any six of your {held} cards; announce= may name trumps among them",
        "从手中 {held} 张里任扣六张；announce= 可声明其中的主牌",
    ),
    "snatch_some": (
        "pass, or snatch any of {cards} and give as many cards of your hand",
        "不抢，或抢 {cards} 中若干张，给出同样张数的手牌",
    ),
    "lead_any": (
        "lead any of your {held} cards, several of one suit, or four of one rank after a won trick",
        "从手中 {held} 张领出一张、同花色多张，赢墩之后也可四张同点（嗡）",
    ),
    "must_suit": ("play {count} cards, {must} of them of {suit}", "出 {count} 张，其中 {suit} {must} 张"),
    "must_trumps": (
        "play {count} cards, {must} of them trumps; on a 嗡 also a 嗡",
        "出 {count} 张，其中主牌 {must} 张；遇嗡也可对嗡",
    ),
}

_PHASES: Words = {
    "phase.deal": ("draw", "抓牌"),
    "phase.redeal": ("redeal?", "重新抓牌？"),
    "phase.way": ("choose the way", "选择定主方式"),
    "phase.fix": ("fix the trump suit", "定主"),
    "phase.bury": ("bury", "扣牌"),
    "phase.sink": ("sink a joker?", "扣王？"),
    "phase.snatch": ("snatch?", "抢主？"),
    "phase.play": ("play", "出牌"),
    "phase.recover": ("recover?", "回龙？"),
}

_TERMS: Words = {
    "head": ("Round {round} · {phase} · level {level}", "第 {round} 轮 · {phase} · 打 {level}"),
    "sides": (
        "Levels: side 0 (seats 0, 2) {one}, side 1 (seats 1, 3) {other}",
        "级别：0 方（0、2 号）{one}，1 方（1、3 号）{other}",
    ),
    "pending": ("Pending 回龙: side {side} may return to {level}", "回龙待定：{side} 方可回到 {level}"),
    "trump": ("Trump suit: {suit}", "主花色：{suit}"),
    "trump_unknown": ("Trump suit: not fixed yet", "主花色：未定"),
    "shown": ("shown by seat {seat} with {card}", "{seat} 号亮 {card}"),
    "way": ("way: {way}", "方式：{way}"),
    "way.free": ("free choice", "打自由"),
    "way.ends": ("highest or lowest", "打大小"),
    "way.single": ("by position", "打单张"),
    "tied": ("Tied kitty cards: {cards}", "底牌并列：{cards}"),
    "gabaguo": ("嘎巴锅: no fixed trump in the kitty", "嘎巴锅：底牌无定主"),
    "annulled": ("Buried jokers count for nothing (annulled)", "扣王作废"),
    "drawn": ("Cards drawn: {count} of 48", "已抓 {count}/48 张"),
    "kitty": ("Kitty: {cards}", "底牌：{cards}"),
    "buried": ("Buried: {cards}", "扣底：{cards}"),
    "announced": ("announced: {cards}", "声明：{cards}"),
    "sunk": ("jokers sunk: {cards}", "扣王：{cards}"),
    "snatchable": ("can be snatched: {cards}", "可抢：{cards}"),
    "exchange": ("Seat {seat} took {took} for {gave}", "{seat} 号取 {took}，给 {gave}"),
    "points": ("Defenders' points: {points}", "台下得分：{points}"),
    "tricks": ("tricks played: {count}", "已打 {count} 墩"),
    "seat": ("Seat {seat}", "{seat} 号"),
    "dealer": ("dealer", "庄家"),
    "up": ("up", "台上"),
    "down": ("down", "台下"),
    "card": ("{count} card", "{count} 张"),
    "cards": ("{count} cards", "{count} 张"),
    "leads": ("leads", "首家"),
    "failed": ("threw {cards}, the throw failed", "甩 {cards} 不成"),
    "turn": ("to act", "待行动"),
    "you": ("you", "你"),
    "last": ("Last trick won by seat {seat}", "上一墩 {seat} 号赢"),
    "trick_line": ("Trick {number}: {plays}", "第 {number} 墩：{plays}"),
    "result": (
        "Round {round}: {outcome}, {points} points at level {level}, last trick {last}",
        "第 {round} 轮：{outcome}，打 {level}，得 {points} 分，末墩 {last}",
    ),
    "void": ("Round {round} is void and dealt again", "第 {round} 轮作废，重新抓牌"),
    "outcome.guang": ("打光 (shut out)", "打光"),
    "outcome.made": ("打成 (made)", "打成"),
    "outcome.held": ("held", "守住"),
    "outcome.po": ("破 (broken)", "破"),
    "outcome.dapo": ("大破 (badly broken)", "大破"),
    "outcome.kou": ("抠 (last trick taken with trumps)", "抠"),
    "outcome.zhi": ("直 (a J takes the last trick)", "直"),
    "outcome.xue": ("削 (an A takes the last trick)", "削"),
    "outcome.heihu": ("黑虎掏心 (SA takes the last trick)", "黑虎掏心"),
    "next": ("Next dealer: seat {seat}", "下一庄家：{seat} 号"),
    "won": ("Side {side} has won the match", "{side} 方获胜"),
    "draw": ("The match is drawn", "平局"),
    "suit.S": ("♠ spades", "♠ 黑桃"),
    "suit.H": ("♥ hearts", "♥ 红桃"),
    "suit.C": ("♣ clubs", "♣ 梅花"),
    "suit.D": ("♦ diamonds", "♦ 方片"),
}

WORDS: Words = {**_REFUSALS, **_CONSTRAINTS, **_PHASES, **_TERMS}
