"""Texts of tables before and after their matches, and of people, by code: both front ends use them."""

from __future__ import annotations

from collections.abc import Mapping

TABLES: Mapping[str, tuple[str, str]] = {
    # what one should know before sitting down
    "about.seated": ("begins when all seats are taken", "坐满即开始"),
    "about.ready": ("begins when everybody is ready", "全部准备即开始"),
    "about.owner": ("the owner begins, once the others are ready", "其他人准备后由桌主开始"),
    "about.clock": (
        "{turn} s a move, bank {bank} s, increment {increment} s",
        "每步 {turn} 秒，时库 {bank} 秒，每步加 {increment} 秒",
    ),
    "about.rated": ("rated", "计等级分"),
    "about.unrated": ("not rated", "不计等级分"),
    "about.code": ("private, code {word}", "私人牌桌，桌号 {word}"),
    "about.mine": ("owner: {name}", "桌主：{name}"),
    "about.scorer": ("scorer: {name}", "记分员：{name}"),
    "about.watch.none": ("nobody looks on", "不允许旁观"),
    "about.watch.no_hands": ("spectators see no hands", "旁观者看不到手牌"),
    "about.watch.round": ("spectators see the hands of finished rounds", "旁观者可看已结束各局的手牌"),
    "about.watch.open": ("spectators see all hands while they are played", "旁观者可看所有手牌"),
    "about.late": ("{policy}, {seconds} s late", "{policy}，延迟 {seconds} 秒"),
    "about.bots": ("bots take the free seats in {seconds} s", "{seconds} 秒后由机器人补位"),
    "about.tally": (
        "{name}: {matches} matches, {points} points, places {places}",
        "{name}：{matches} 场，{points} 分，名次 {places}",
    ),
    "no": ("no", "否"),
    # people
    "people.joined": ("here since {day}", "{day} 注册"),
    "people.unrated": ("no rated match yet", "尚无计分对局"),
    "people.results": ("{games} results", "{games} 场"),
    "people.floor": ("at least {floor}", "至少 {floor}"),
    "people.nobody": ("nobody has enough results on this ladder yet", "该榜暂无达到最少场数的玩家"),
    "people.bots": ("bots", "机器人"),
    "people.blocked": ("{name} is blocked", "已屏蔽 {name}"),
    "people.unblocked": ("{name} is not blocked", "已解除屏蔽 {name}"),
    "people.no_blocks": ("you have blocked nobody", "没有屏蔽任何人"),
    # two who queue together
    "party.is": ("party {word} for {game}: {members}", "队伍 {word}（{game}）：{members}"),
    "party.alone": ("tell your partner the code {word}", "把队伍号 {word} 告诉搭档"),
    "party.over": ("the party has ended", "队伍已解散"),
    "party.none": ("you are in no party", "你没有队伍"),
}
