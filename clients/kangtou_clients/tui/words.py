"""Texts of the screens by code, in English and Chinese. A test finds what is said without them."""

from __future__ import annotations

from collections.abc import Mapping

from ..desk.words import LANGUAGES
from ..desk.words import WORDS as DESK
from .words_lobby import LOBBY

WORDS: Mapping[str, tuple[str, str]] = {
    **LOBBY,
    "title": ("Kangtou 炕头", "炕头 Kangtou"),
    # the lobby
    "lobby": ("lobby", "大厅"),
    "all_games": ("all games", "全部游戏"),
    "column.game": ("game", "游戏"),
    "column.state": ("state", "状态"),
    "column.seats": ("seats", "座位"),
    "column.options": ("house rules", "房规"),
    "column.match": ("table", "牌桌"),
    "column.when": ("ended", "结束时间"),
    "column.result": ("scores", "得分"),
    "free_of": ("{free} of {seats} free", "{seats} 座空 {free}"),
    "empty_lobby": (
        "No tables now. o opens one, q queues for a match, p plays against bots.",
        "现在没有牌桌。o 开桌，q 排队，p 与机器人练习。",
    ),
    "no_server": ("the server cannot be reached; trying again", "无法连接服务器，正在重试"),
    "keys.lobby": (
        "Enter sit  w watch  o open  q quick  t party  p practice  l ladders  ? help",
        "回车 入座  w 旁观  o 开桌  q 排队  t 组队  p 练习  l 排行  ? 帮助  F2 English",
    ),
    "filter.open": ("tables with free seats", "有空位的牌桌"),
    "filter.all": ("all tables", "所有牌桌"),
    # opening, queue, practice
    "open.open": ("Open a table", "开桌"),
    "open.quick": ("Queue for a match", "排队匹配"),
    "open.practice": ("Practice against bots", "与机器人练习"),
    "field.game": ("game", "游戏"),
    "field.rules": ("house rules", "房规"),
    "field.seats": ("seats", "座位数"),
    "field.turn": ("seconds a move (0: the server's)", "每步秒数（0：服务器默认）"),
    "button.go": ("Go", "确定"),
    "button.back": ("Back", "返回"),
    "yes": ("yes", "是"),
    "bad_number": ("{name} is no number: {text}", "{name} 不是数字：{text}"),
    "waiting.table": ("Waiting for {free} more", "还差 {free} 人"),
    "waiting.queue": ("In the queue, {waiting} waiting", "排队中，共 {waiting} 人"),
    "waiting.matched": ("Matched; the table is set up …", "已配对，正在开桌……"),
    "waiting.starting": ("Starting …", "正在开始……"),
    "waiting.server": ("Setting up a table of your own …", "正在准备练习牌桌……"),
    "waiting.code": ("table {match}", "牌桌 {match}"),
    "waiting.ready": ("All seats are taken; waiting until everybody is ready", "已坐满，等待所有人准备"),
    "waiting.owner": ("All seats are taken; the owner starts", "已坐满，等待桌主开始"),
    "is_ready": ("ready", "已准备"),
    "button.ready": ("Ready", "准备"),
    "button.start": ("Start", "开始"),
    "button.fill": ("Fill with bots", "机器人补位"),
    "button.stand": ("Stand up", "起身"),
    "button.cancel": ("Cancel", "取消"),
    # the table
    "you": ("you", "你"),
    "turn": ("▶ your turn", "▶ 轮到你"),
    "turn.count": ("▶ {count} plays", "▶ {count} 种动作"),
    "others": ("waiting for {seats}", "等待 {seats}"),
    "nobody": ("one moment …", "请稍候……"),
    "spectating": ("looking on", "旁观中"),
    "cards": ("{count} cards", "{count} 张"),
    "card": ("{count} card", "{count} 张"),
    "score": ("{score} pts", "{score} 分"),
    "clock.bank": ("bank {seconds} s", "时库 {seconds} 秒"),
    "mark.substitute": ("substitute", "托管"),
    "mark.away": ("away", "离线"),
    "substituted": ("a substitute plays for you; Enter takes your seat back", "托管中；回车收回座位"),
    "button.hand_over": ("Leave for good: a substitute plays on", "不再回来：由托管代打"),
    "again.waiting": ("waiting whether the others want another match", "等待其他人是否再来一局"),
    "again.nobody": ("not everybody wants another match", "有人不再继续"),
    "talk": ("Talk", "聊天"),
    "talk.line": ("say something; Enter sends, Tab for phrases", "说点什么；回车发送，Tab 选短语"),
    "talk.none": ("nothing was said yet", "还没有人说话"),
    "clock": ("{seconds} s", "{seconds} 秒"),
    "refused.rule": ("{text}   [u] opens {rule}", "{text}   [u] 查看 {rule}"),
    "checking": ("asking the server …", "正在询问服务器……"),
    "legal_yes": ("may be played", "可以"),
    "no_fit": ("{cards}: no action takes just these cards", "{cards}：没有动作恰好用这些牌"),
    "choose_first": ("choose cards, then Enter · p: {default}", "选牌后回车 · p：{default}"),
    "choose_only": ("choose cards, then Enter · n: what is legal", "选牌后回车 · n：可行动作"),
    "choose_bare": ("Tab and Enter · p: {default}", "Tab、回车 · p：{default}"),
    "hint": ("hint: {action}", "提示：{action}"),
    "which": ("What is it to be?", "选择动作"),
    "which.verb": ("{verb}: which?", "{verb}：选哪一个？"),
    "more": ("{verb} …", "{verb}……"),
    "keys.table": (
        "Enter play  p pass  n next  i hint  o order  v score  e log  ? help  F2 中文",
        "回车 出牌  p 不要  n 可行  i 提示  o 理牌  v 计分  e 经过  ? 帮助  F2 English",
    ),
    "keys.watch": (
        "v score  e log  u rules  x letters  Ctrl+L leave  ? help  F2 中文",
        "v 计分  e 经过  u 规则  x 字母  Ctrl+L 离开  ? 帮助  F2 English",
    ),
    "typed": ("an action, or cards: play HT DT", "动作或牌：play HT DT"),
    "order.game": ("order: as players hold it", "理牌：按打法"),
    "order.suit": ("order: by suit", "理牌：按花色"),
    "order.rank": ("order: by rank", "理牌：按点数"),
    "letters.on": ("cards as letters", "牌用字母"),
    "letters.off": ("cards as glyphs", "牌用花色符号"),
    "leave": (
        "Leave the table? Your seat stays yours; the clock runs on.",
        "离开牌桌？座位仍归你，时钟继续走。",
    ),
    "button.leave": ("Leave", "离开"),
    "button.stay": ("Stay", "留下"),
    "over": ("over ({cause}) · Enter: play again · Ctrl+L: back", "对局结束（{cause}）· 回车：再来一局 · Ctrl+L：返回"),
    "left_with_table": ("the table answers for you while there is nothing to decide", "无可选择时由牌桌代答"),
    "lost": ("the match cannot be followed: {text}", "无法继续跟进对局：{text}"),
    "trust": ("WARNING: {text}", "警告：{text}"),
    "moving": ("the table moves; one moment", "牌桌正在转移，请稍候"),
    # sheets
    "sheet": ("Score sheet", "计分表"),
    "log": ("What has happened", "对局经过"),
    "log.empty": ("nothing yet", "尚无记录"),
    "back": ("Esc goes back", "Esc 返回"),
    # the books
    "book": ("Rule book: {book}", "规则书：{book}"),
    "book.find": ("search, or a rule such as HS-4.3", "搜索，或规则号如 HS-4.3"),
    "book.found": ("{number} of {count}", "第 {number} / {count} 处"),
    "book.nothing": ("{text} is not found", "找不到 {text}"),
    "book.common": ("common to all games", "通用规则"),
    "keys.book": (
        "/ search  n next  Enter chapter  b other book  Esc back  F2 中文",
        "/ 搜索  n 下一处  b 换书  Esc 返回  F2 English",
    ),
    "books.missing": ("the rule books are not installed", "未安装规则书"),
    # replay
    "replay": ("Replay", "回放"),
    "replay.path": ("a record's file, or a match of the server", "记录文件，或服务器上的对局号"),
    "replay.none": ("no finished match is here yet", "尚无已结束的对局"),
    "replay.bad": ("{text} cannot be shown: {problem}", "无法显示 {text}：{problem}"),
    "replay.no_file": ("{text}: no such file or match", "{text}：没有该文件或对局"),
    "replay.place": (
        "round {round}, trick {trick} · {position} of {count}",
        "第 {round} 局第 {trick} 墩 · {position}/{count}",
    ),
    "replay.playing": ("playing ×{speed}", "播放 ×{speed}"),
    "replay.stopped": ("stopped", "已暂停"),
    "replay.goto": ("ROUND, ROUND:TRICK or @SEQ", "局、局:墩 或 @序号"),
    "replay.bad_place": ("{text} is no place", "{text} 不是位置"),
    "keys.replay": (
        "← → step  ↑ ↓ trick  Space play  s view  g go to  l legal  ? help  F2 中文",
        "← → 步  ↑ ↓ 墩  空格 播放  s 视角  g 跳转  l 可行  ? 帮助  F2 English",
    ),
    # help
    "help": ("Help", "帮助"),
    "help.text": (
        "Cards\n"
        "  click, or ← → and Space      take a card up, put it down\n"
        "  3–9 t j q k a 2              the next card of that rank\n"
        "  s h c d, then a rank         that very card;  b r: the jokers\n"
        "  Enter                        play them;  Esc: put all down\n"
        "  • above a card               it is part of something legal\n"
        "Actions\n"
        "  Tab, ← →, Enter              the line of actions;  p: the default\n"
        "  n  N                         the next, the previous legal play\n"
        "  i                            a hint: what a bot would do\n"
        "  :                            type an action as the book writes it\n"
        "Looking\n"
        "  o  order of the hand   v  score sheet   e  log   x  suits as letters\n"
        "  u  rule book, at the rule of the last refusal\n"
        "  /  talk    k  penalties, as the scorer    F2  language\n"
        "  Ctrl+L  leave           Ctrl+Q  quit\n"
        "At the table\n"
        "  ▶ to act    ★ the play to beat    your right hand plays after you",
        "牌\n"
        "  点击，或 ← → 加空格          选牌、放回\n"
        "  3–9 t j q k a 2              该点数的下一张\n"
        "  s h c d 再按点数             指定花色（黑红梅方）；b r：小王大王\n"
        "  回车                         出牌；Esc 或退格：全部放回\n"
        "  牌上的 •                     可用于合法动作\n"
        "动作\n"
        "  Tab、← →、回车               动作栏；p：默认动作\n"
        "  n  N                         下一个、上一个合法动作\n"
        "  i                            提示：机器人会怎么出\n"
        "  :                            按规则书写法输入动作\n"
        "查看\n"
        "  o  理牌    v  计分表    e  经过    x  花色用字母\n"
        "  u  规则书（上次被拒的规则）    /  聊天    k  记分员判罚    F2  语言\n"
        "  Ctrl+L  离开    Ctrl+Q  退出\n"
        "牌桌\n"
        "  ▶ 轮到    ★ 要管的牌    你右手边是下家",
    ),
    "legal.many": ("too many to list", "太多，无法列出"),
    "legal.nobody": ("nobody whose hand you see may act here", "此时你所见的手牌无人可行动"),
    "help.replay": (
        "Replay\n"
        "  ← →  a step    ↑ ↓  a trick    PgUp PgDn  a round    Home End\n"
        "  Space  play, stop    + −  speed    g  go to: 2, 2:3, @117, +1:30\n"
        "  s  the next side: open, spectator, each seat\n"
        "  l  what could be done here    v  score sheet    u  rule book",
        "回放\n"
        "  ← →  一步     ↑ ↓  一墩     PgUp PgDn  一局     Home End\n"
        "  空格  播放、暂停     + −  速度     g  跳到：2、2:3、@117、+1:30\n"
        "  s  换视角：公开、旁观、各座位\n"
        "  l  此处可行动作     v  计分表     u  规则书",
    ),
    "help.lobby": (
        "Lobby\n"
        "  ↑ ↓ a table    Enter sit down    w look on    Tab games or tables\n"
        "  o  open a table    q  queue for a match with the house rules chosen\n"
        "  c  sit down by a private table's code    t  queue with a partner\n"
        "  p  practise against bots on this computer    f  all tables\n"
        "  l  ladders and profiles    r  finished matches\n"
        "  u  the rule books    F2  language",
        "大厅\n"
        "  ↑ ↓ 选牌桌    回车 入座    w 旁观    Tab 游戏或牌桌\n"
        "  o  开桌    q  按所选房规排队\n"
        "  c  凭桌号入座私人牌桌    t  与搭档一起排队\n"
        "  p  在本机与机器人练习    f  所有牌桌\n"
        "  l  排行榜与资料    r  回放    u  规则书    F2  语言",
    ),
}


def say(code: str, lang: str, **params: object) -> str:
    """The text of a code, of the screens or of the line mode. Raises KeyError for one that there is not."""
    pair = WORDS.get(code) or DESK[code]
    return pair[LANGUAGES.index(lang)].format_map(params)
