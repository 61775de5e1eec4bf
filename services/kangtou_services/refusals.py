"""Refusals of accounts, lobby and matchmaking: values with a code and a text in English and Chinese."""

from __future__ import annotations

from kangtou.v1 import game_pb2 as pb

from .plain_text import visible

_TEXTS = {
    "bad_name": (
        "a name has 1 to 24 visible characters, none of them for control or direction",
        "名字须为 1 至 24 个可见字符，不含控制或方向字符",
    ),
    "bad_kind": ("an account is human or bot", "账号类型须为真人或机器人"),
    "bad_id": ("a command id has 1 to 64 letters, digits or _ . : -", "命令编号须为 1 至 64 个字母、数字或 _ . : -"),
    "bad_register_id": (
        "to register, a command id has 16 to 64 letters, digits or _ . : -, chosen at random",
        "注册时命令编号须为 16 至 64 个随机的字母、数字或 _ . : -",
    ),
    "id_reused": ("this command id was used for something else", "该命令编号已用于其他内容"),
    "throttled": ("too many attempts; try again in {seconds} s", "尝试过于频繁，请 {seconds} 秒后再试"),
    "bad_token": ("this token is not valid here, or has expired", "令牌无效或已过期"),
    "not_confirmed": (
        "to delete an account, its own id must be given as confirmation",
        "注销账号须提供该账号的编号作为确认",
    ),
    "bad_recovery": ("account and recovery code do not fit", "账号与恢复码不符"),
    "bad_clock": (
        "{option} cannot be {given}; allowed: {low} to {high} ms, or 0 for the default",
        "{option} 不能为 {given}；可选：{low} 至 {high} 毫秒，0 为默认",
    ),
    "bad_pool": ("a pool's name has at most 32 letters, digits, _ or -", "匹配池名称最多 32 个字母、数字、_ 或 -"),
    "bad_commitment": (
        "an entropy commitment is a SHA-256 in lower-case hex, or empty",
        "随机承诺须为小写十六进制的 SHA-256，或留空",
    ),
    "already_queued": ("this account waits in this pool already", "该账号已在此匹配池中排队"),
    "already_playing": ("this account still plays a match of this pool", "该账号在此匹配池的对局尚未结束"),
    "too_many_tickets": (
        "this bot has {limit} tickets and seats in this pool",
        "该机器人在此池中已有 {limit} 个排队或座位",
    ),
    "pool_full": ("too many wait in this pool; try again later", "此匹配池排队人数已满，请稍后再试"),
    "not_of_the_house": ("this is not the secret of this server's house bots", "这不是本站机器人的口令"),
    "no_bot_wanted": ("no bot is wanted there", "该座位不需要机器人"),
    "no_bots_here": ("bots of the house do not sit at this table", "本桌不接受补位机器人"),
    "unknown_account": ("there is no such account", "没有该账号"),
    "block_self": ("you cannot block yourself", "不能屏蔽自己"),
    "too_many_blocks": (
        "you have blocked {limit} accounts; unblock one first",
        "你已屏蔽 {limit} 个账号，请先解除一个",
    ),
    "declined_often": (
        "you have declined matches that were found; queue again in {seconds} s",
        "你多次拒绝已找到的对局，请 {seconds} 秒后再排队",
    ),
    "offer_over": ("this match is not offered to you any more", "该对局已不再等待你的确认"),
    "offer_missed": ("you did not take the match that was found", "你未在规定时间内确认对局"),
    "not_welcome": ("the owner of this table does not let you sit here", "桌主不让你在本桌就座"),
    "party_kind": ("in a rated pool, partners are both people or both bots", "计分匹配中，搭档须同为真人或同为机器人"),
    "unknown_party": ("there is no such party", "没有这个队伍"),
    "party_over": ("this party has ended", "该队伍已解散"),
    "party_full": ("this party has two members already", "该队伍已有两人"),
    "not_in_party": ("you are not in this party", "你不在该队伍中"),
    "party_alone": ("nobody has joined your party yet", "还没有人加入你的队伍"),
    "party_elsewhere": ("your party was made for another choice or pool", "你的队伍是为其他游戏选项或匹配池创建的"),
    "party_no_sides": ("this game has no fixed partners", "该游戏没有固定搭档"),
    "unknown_table": ("there is no such table", "没有这张牌桌"),
    "seat_taken": ("seat {seat} is taken", "{seat} 号位已有人"),
    "table_full": ("this table has no free seat", "本桌已满"),
    "already_seated": ("you have a seat at this table already", "你已在本桌就座"),
    "not_seated": ("you have no seat at this table", "你在本桌没有座位"),
    "match_started": ("the match has started", "对局已经开始"),
    "bad_seat": ("{seat} is not a seat of this table", "本桌没有 {seat} 号位"),
    "removed": ("the owner of this table has removed you from it", "桌主已将你请离本桌"),
    "code_needed": ("this table is private: its code is needed", "本桌为私人牌桌，需要桌号"),
    "bad_code": ("no table has this code", "没有这个桌号的牌桌"),
    "kind_not_allowed": ("accounts of your kind cannot sit at this table", "你的账号类型不能在本桌就座"),
    "not_owner": ("only the owner of the table can do this", "只有桌主可以这样做"),
    "seats_free": ("there are free seats", "还有空位"),
    "not_ready": ("somebody is not ready", "有人尚未准备"),
    "not_yourself": ("to leave the table, stand up", "离开牌桌请起身"),
    "nobody_there": ("this account has no seat at the table", "该账号在本桌没有座位"),
    "no_rematch_now": ("no match of this table has ended just now", "本桌没有刚结束的对局"),
    "rematch_late": ("the time for agreeing on another match is over", "约定再来一场的时间已过"),
    "too_many_tables": ("you have {limit} tables open already", "你已开了 {limit} 张牌桌"),
    "rules_and_options": ("named house rules and single options exclude one another", "规则套餐与单项规则不能同时指定"),
    "bad_time": (
        "{option} cannot be {given}; allowed: {low} to {high} s",
        "{option} 不能为 {given}；可选：{low} 至 {high} 秒",
    ),
    "bad_watch": ("there is no such rule for spectators", "没有这种旁观规则"),
    "open_rated": ("a table that shows hands to spectators cannot be rated", "向旁观者公开手牌的牌桌不能计等级分"),
    "unknown_scorer": ("there is no account {account} to keep the score", "没有可任记分员的账号 {account}"),
    "bad_text": (
        "say a line of 1 to {limit} visible characters, or a fixed phrase",
        "请说一行 1 至 {limit} 个可见字符，或一个固定短语",
    ),
    "unknown_phrase": ("there is no such phrase", "没有这个短语"),
    "phrases_only": ("while a round is played only the fixed phrases may be said", "打牌期间只能说固定短语"),
    "no_talk": ("the book forbids you to talk now", "规则规定此时你不得说话"),
    "muted": ("you may not talk at this table", "你在本桌已被禁言"),
    "too_fast": ("you talk too much at once; wait a moment", "发言过于频繁，请稍等"),
    "not_at_table": ("you are not at this table", "你不在本桌"),
    "no_spectators": ("this table has no spectators", "本桌不允许旁观"),
    "not_owner_or_scorer": ("only the owner of the table or its scorer can do this", "只有桌主或记分员可以这样做"),
    "unknown_chat": ("there is no such message", "没有这条消息"),
    "bad_reason": ("a reason has at most {limit} visible characters", "理由最多 {limit} 个可见字符"),
    "maintenance": (
        "the server is under maintenance: nothing new begins, what is under way goes on{message}",
        "服务器维护中：不开新局，进行中的对局继续{message}",
    ),
    "client_too_old": (
        "this client ({have}) is too old for the server: install kangtou {need} or newer (pip install -U kangtou)",
        "客户端版本（{have}）过旧：请安装 kangtou {need} 或更新版本（pip install -U kangtou）",
    ),
    "unknown_member": ("there is no actor or gateway {member}", "没有 {member} 这个牌桌进程或网关"),
    "no_actor": ("there is no other actor that could take it", "没有其他可接收牌桌的进程"),
    "suspect": (
        "an actor died while it was handling this match: it goes only to one without tables",
        "曾有进程在处理该对局时崩溃，只能移到没有牌桌的进程",
    ),
    "bad_cause": ("a cause is a word of small letters, such as operator", "原因须为小写字母的单词，如 operator"),
    "bad_role": ("there is no role {role}; there are: {roles}", "没有角色 {role}；可选：{roles}"),
    "too_many_commands": ("too much sitting down and standing up at this table", "本桌起坐次数过多"),
}


def refusal(code: str, **params: str | int) -> pb.Refusal:
    """A refusal that no rule of a book gives."""
    english, chinese = _TEXTS[code]
    params = {name: visible(value) if isinstance(value, str) else value for name, value in params.items()}
    return pb.Refusal(code=code, text_en=english.format_map(params), text_zh=chinese.format_map(params))
