"""Texts for people: refusals, what is legal, names of things. English, Chinese."""

from __future__ import annotations

from ...words import Words

WORDS: Words = {
    # refusals
    "no_cards": ("name the cards to play", "请指明要出的牌"),
    "no_combination": ("{cards} is no combination of this game", "{cards} 不成牌型"),
    "does_not_beat": ("{cards} ({new}) does not beat {old}", "{cards}（{new}）管不上 {old}"),
    "must_lead": ("the leader cannot pass", "首出者不能不出"),
    "lead_must_hold": ("the first lead must contain {card}", "首出的牌里必须有 {card}"),
    "not_announced": (
        "{cards}: six or more of rank {rank} can be played together only if they were announced",
        "{cards}：没有亮相的 {rank}，六张及以上只能拆开出",
    ),
    "wants_rank": ("show takes one rank, as in show rank=7", "亮相须写一个牌点，如 show rank=7"),
    "shown_already": ("you have announced rank {rank} already", "{rank} 已经亮过"),
    "no_big_set": ("you do not hold {least} cards of rank {rank}", "你手里没有 {least} 张 {rank}"),
    "other_variant": (
        "{option} is no option of this variant; it belongs to: {allowed}",
        "此地区没有选项 {option}；有此选项的地区：{allowed}",
    ),
    "no_end": (
        "rounds and target cannot both be 0: the match would have no end; allowed: {allowed}",
        "rounds 与 target 不能同时为 0，否则对局没有终点；可选：{allowed}",
    ),
    # what is legal, when it is too much to list
    "any_lead": ("any combination of your cards", "手中任何一种牌型"),
    "any_lead_with": ("any combination of your cards that contains {card}", "手中任何一种含有 {card} 的牌型"),
    "any_higher": ("pass, or any combination that beats {combo}", "不要，或任何管得上 {combo} 的牌型"),
    "any_show": (
        "pass, or announce any rank of which you hold {least} or more",
        "过，或亮出任何有 {least} 张及以上的牌点",
    ),
    # phases
    "phase.show": ("announcing", "亮相"),
    "phase.play": ("play", "出牌"),
    # kinds
    "kind.single": ("single", "单张"),
    "kind.pair": ("pair", "对子"),
    "kind.triple": ("triple", "三张"),
    "kind.straight": ("straight", "顺子"),
    "kind.pairrun": ("run of pairs", "连对"),
    "kind.triplerun": ("run of triples", "三顺"),
    "kind.quadrun": ("run of fours", "四顺"),
    "kind.triple1": ("triple with one", "三带一"),
    "kind.triple2": ("triple with two", "三带二"),
    "kind.triplerun1": ("run of triples, each with one", "三连带（各带一）"),
    "kind.triplerun2": ("run of triples, each with two", "三连带（各带二）"),
    "kind.fake": ("mixed 5-10-K", "副五十K"),
    "kind.true": ("pure 5-10-K", "正五十K"),
    "kind.bomb": ("bomb", "炸弹"),
    "kind.jokers": ("jokers", "王炸"),
    "kind.flush": ("flush straight", "同花顺"),
    # the table
    "show.head": ("Round {round} · {variant} · {phase}", "第 {round} 局 · {variant} · {phase}"),
    "show.scores": ("scores: {scores}", "总分：{scores}"),
    "show.seat": (
        "seat {seat}{marks}: {count} cards, {points} points captured{more}",
        "{seat} 号位{marks}：{count} 张，得 {points} 分{more}",
    ),
    "show.dealer": ("dealer", "庄"),
    "show.turn": ("to act", "轮到"),
    "show.you": ("you", "你"),
    "show.out": (", out {place}", "，第 {place} 个出完"),
    "show.announced": (", announced {ranks}", "，亮相 {ranks}"),
    "show.passed": (", passes", "，不要"),
    "show.trick": (
        "to beat: {cards} ({name}), seat {seat}; {points} points in the trick",
        "管：{cards}（{name}），{seat} 号位；此轮 {points} 分",
    ),
    "show.laid": ("before: {plays}", "此前：{plays}"),
    "show.lead": ("seat {seat} leads", "{seat} 号位首出"),
    "show.hand": ("hand: {cards}", "手牌：{cards}"),
    "show.hand_of": ("hand of seat {seat}: {cards}", "{seat} 号位手牌：{cards}"),
    "show.last": (
        "round {round}: {ending}; points {points}; gain {gain}; left in hands {left}; out in order {out}",
        "第 {round} 局：{ending}；得分 {points}；计分 {gain}；手中剩分 {left}；出完次序 {out}",
    ),
    "show.places": ("places: {places}", "名次：{places}"),
    "ending.double": ("double catch", "双抓"),
    "ending.single": ("single catch", "单抓"),
    "ending.even": ("even", "保"),
    "ending.last": ("one seat left", "剩一家"),
    "ending.shutout": ("shutout", "双关"),
    "ending.shared": ("shared", "分分"),
    "ending.one": ("one caught", "被抓一人"),
    "ending.two": ("two caught", "被抓二人"),
}
