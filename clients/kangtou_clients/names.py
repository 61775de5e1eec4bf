"""What people call things: events, accounts, ends of a match, in English and Chinese. One catalogue for all clients.

A game may bring its own text of an event, `event.<kind>` in its words; an event that neither has is shown by its kind
and fields, so a new game needs nothing here. `{fields}` of the event may be named; who did it is put before.
"""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES = ("en", "zh")
Pair = tuple[str, str]

EVENTS: Mapping[str, Pair] = {
    # common to all games
    "lot_drawn": ("the lot: {draws}; highest: {highest}", "抽签：{draws}；最大：{highest}"),
    "pile_cut": ("cuts {n} cards", "上牌 {n} 张"),
    "between_opened": ("the seats are asked whether to go on", "询问是否继续"),
    "answered": ("answers {answer}", "回答 {answer}"),
    "timed_out": ("runs out of time", "超时"),
    "voided": ("the round is void and is dealt again", "本局作废，重新发牌"),
    "played": ("plays {cards}", "出 {cards}"),
    "passed": ("passes", "不要"),
    "trick_won": ("wins the trick", "赢得本墩"),
    "went_out": ("is out, place {place}", "第 {place} 个出完"),
    # Hongshi
    "reveal_passed": ("shows nothing", "不亮"),
    "revealed": ("reveals {cards}", "亮 {cards}"),
    "lightning_declared": ("lightning: shows all four tens", "闪电胜利：亮四个十"),
    "play_began": ("play begins", "开始出牌"),
    "round_shown": ("all cards of the round are shown", "公开本局所有牌"),
    "penalized": ("is fined {points} points for table talk", "因说话罚 {points} 分"),
    # Duizhu
    "waited": ("waits", "等待"),
    "declared": ("declares {card}", "亮主 {card}"),
    "dealer_found": ("becomes dealer", "成为庄家"),
    "phase_opened": ("now: {phase}", "进入 {phase}"),
    "redeal_opened": ("the defenders are asked about a redeal", "询问防守方是否重发"),
    "redeal_claimed": ("claims a redeal", "要求重发"),
    "way_chosen": ("chooses how trumps are fixed: {kind}", "选择定主方式：{kind}"),
    "tied_shown": ("equally high in the kitty: {cards}", "底牌中同大：{cards}"),
    "suit_fixed": ("trumps: {suit}", "主：{suit}"),
    "kitty_opened": ("the kitty is opened: {cards}", "亮底牌：{cards}"),
    "buried": ("buries {cards}", "扣 {cards}"),
    "sunk": ("buries {jokers} for {took}", "埋 {jokers}，取 {took}"),
    "snatched": ("snatches {took} for {gave}", "抢 {took}，换出 {gave}"),
    "annulled": ("the burying of jokers is annulled", "埋王无效"),
    "throw_failed": ("throws {thrown}: beaten, {card} is led", "甩 {thrown} 失败，出 {card}"),
    "table_shown": ("all cards of the round are shown", "公开本局所有牌"),
    "buried_counted": ("points of the buried cards count: {cards}", "扣底计分：{cards}"),
    "levels_set": ("levels: {levels}", "级数：{levels}"),
    "recovered": ("回龙: back to level {level}", "回龙：回到 {level}"),
    # Erbaiwu
    "turn_began": ("is in turn", "轮到"),
    "seven_shown": ("shows {card}", "亮 {card}"),
    "extended": ("extends a run with {card}", "接 {card}"),
    "locked": ("locks the run {run} with {cards}", "用 {cards} 锁 {run}"),
    "melded": ("melds {cards}", "亮一组 {cards}"),
    "lifted": ("lifts a group with {card}", "用 {card} 收走一组"),
    "extra_noted": ("notes {points} more ({reason})", "加记 {points}（{reason}）"),
    "drawn": ("draws {cards}{card}", "抓 {cards}{card}"),
    "discarded": ("discards {card}", "打出 {card}"),
    "kept": ("keeps all", "不打"),
    "dumped": ("dumps {card} and draws {drawn}", "弃 {card}，抓 {drawn}"),
    "ponged": ("takes {discard} with {cards}", "用 {cards} 碰 {discard}"),
    "settled": ("ends the round", "结束本局"),
    "pile_opened": ("the discard pile is turned up: {cards}", "翻开弃牌堆：{cards}"),
    # Wushik
    "shown": ("announces {cards}", "报 {cards}"),
    "show_passed": ("announces nothing more", "不再报"),
    "play_opened": ("play begins", "开始出牌"),
}

WORDS: Mapping[str, Pair] = {
    "seat": ("seat {seat}", "{seat} 号位"),
    "round": ("round {round}", "第 {round} 局"),
    "dealer": ("dealer: {dealer}", "庄家：{dealer}"),
    "scores": ("scores {scores}", "积分 {scores}"),
    "points": ("points {points}", "得分 {points}"),
    "holds": ("holds {cards}", "手牌 {cards}"),
    "stock": ("the stock: {cards}", "牌库：{cards}"),
    "over": ("the match is over: scores {scores}, places {places}", "对局结束：积分 {scores}，名次 {places}"),
    "ended": ("the match has ended {cause}", "对局结束（{cause}）"),
    "left": ("leaves a standing answer: {action}", "预设回答：{action}"),
    "left.until": ("leaves a standing answer until {until}: {action}", "预设回答（至 {until}）：{action}"),
    "delegated.timeouts": ("has been too late too often: a substitute plays", "多次超时，由托管代打"),
    "delegated.left": ("leaves: a substitute plays", "离开，由托管代打"),
    "delegated.asked": ("lets a substitute play", "开启托管"),
    "retaken": ("plays its seat again", "取回座位"),
    "revoked": ("takes its standing answer back", "撤回预设回答"),
    "view.open": ("everything open", "全部公开"),
    "view.spectator": ("as a spectator saw it", "旁观视角"),
    "view.seat": ("as {seat} saw it", "{seat} 视角"),
    "human": ("human", "真人"),
    "bot": ("bot", "机器人"),
    "joker.BJ": ("joker", "小王"),
    "joker.RJ": ("JOKER", "大王"),
    "ready": ("ready", "继续"),
    "vote_end": ("vote_end", "结束"),
    "cause.rules": ("by the rules", "按规则"),
    "cause.abandoned": ("abandoned", "无人在场"),
    "cause.operator": ("by the operator", "管理员终止"),
    "cause.forfeit": ("forfeit", "弃权"),
    "cause.faulted": ("by a fault", "故障"),
}


def word(code: str, lang: str, **params: object) -> str:
    """The text of a code; the code itself where there is none."""
    pair = WORDS.get(code)
    return pair[LANGUAGES.index(lang)].format_map(params) if pair else code.rpartition(".")[2]


def event_text(kind: str, lang: str, own: Mapping[str, Pair]) -> str | None:
    """The template of an event: the game's own, the catalogue's, or None."""
    pair = own.get(f"event.{kind}") or EVENTS.get(kind)
    return pair[LANGUAGES.index(lang)] if pair else None
