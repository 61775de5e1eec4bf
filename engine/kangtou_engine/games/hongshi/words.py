"""Texts for people, in English and Chinese, by code."""

from __future__ import annotations

from ...words import Words

WORDS: Words = {
    # refusals
    "no_reveal": ("this table does not reveal red tens", "本桌不亮牌"),
    "reveal_what": ("reveal a red ten: {cards}", "亮牌须指明红十：{cards}"),
    "no_red_ten": ("only red tens are revealed, not {cards}", "只能亮红十，不能亮 {cards}"),
    "revealed_already": ("{cards} has been revealed already", "{cards} 已经亮过"),
    "no_lightning": ("this table plays without show and lightning", "本桌不设亮四十和闪电胜利"),
    "no_four_tens": ("that takes all four tens: {cards}", "须四个十俱全：{cards}"),
    "leader_passes": ("who leads must play", "领出者不能不要"),
    "no_cards": ("name the cards to play", "请指明要出的牌"),
    "no_combination": (
        "{cards} is no single, pair or string of one rank",
        "{cards} 不是单张、对子或同点的串子",
    ),
    "one_meaning": ("{cards} has one meaning only: leave out as=", "{cards} 只有一种含义，不用 as="),
    "bad_meaning": ("as= is ten or red, not {given}", "as= 只能是 ten 或 red，不能是 {given}"),
    "opening_card": ("the first play of the round holds {card}", "首出必须包含 {card}"),
    "does_not_beat": ("{cards} does not beat {old}", "{cards} 管不上 {old}"),
    "no_penalty_now": ("penalties are taken from the deal until the next round", "现在不能罚分"),
    "penalize_whom": ("say whom: penalize seat=K", "请指明座位：penalize seat=K"),
    # events
    "cart": (
        "车 (cart): nobody beats the last play of a seat that is out; seat {leader} leads",
        "车：{leader} 号位领出",
    ),
    "as_tens": ("plays {cards} as tens", "出 {cards}，作十"),
    "red_pair": ("两张红十: plays the red pair {cards}", "出两张红十 {cards}"),
    "four_tens": ("plays all four tens {cards}", "出四个十 {cards}"),
    # names
    "phase.reveal": ("reveal", "亮牌"),
    "phase.play": ("play", "出牌"),
    "seat": ("seat {seat}", "{seat} 号位"),
    "dealer": ("dealer", "庄家"),
    "up": ("up side", "台上"),
    "out": ("out as number {place}", "第 {place} 个出完"),
    "cards_left": ("{count} cards", "剩 {count} 张"),
    "revealed": ("revealed {cards}", "亮 {cards}"),
    "open": ("open side", "明上"),
    "leads": ("{seat} leads", "{seat} 号位领出"),
    "trick": ("trick", "本轮"),
    "passes": ("pass", "不要"),
    "as_ten": ("as ten", "作十"),
    "hand": ("hand", "手牌"),
    "score": ("score {score}", "积分 {score}"),
    "penalized": ("{count} penalties", "罚 {count} 次"),
    "round": ("round {round} of {rounds}", "第 {round} 局（共 {rounds} 局）"),
    "asked": ("to act: {seats}", "轮到：{seats} 号位"),
    "answered": ("passed", "不亮"),
    "place": ("final place {place}", "最终第 {place} 名"),
    "result": (
        "round {round}: order {order}; up side {up}; points {points} (×{factor})",
        "第 {round} 局：名次 {order}；台上 {up}；得分 {points}（×{factor}）",
    ),
    "result.lightning": (
        "round {round}: lightning by seat {order}; points {points} (×{factor})",
        "第 {round} 局：{order} 号位闪电胜利；得分 {points}（×{factor}）",
    ),
    # hands as dealt, for statistics
    "hand.red_tens": ("red tens", "红十"),
    "hand.jokers": ("jokers", "王"),
    "hand.big": ("cards above A", "大牌"),
    "hand.specials": ("special combinations", "特殊牌型"),
    "hand.fours": ("four of a rank", "四张同点"),
    "hand.opens": ("has the first lead", "首出"),
}
