"""What goes into a table and what it answers: values that cross processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from kangtou.wire import refusal_to_pb
from kangtou_engine.actions import Action, parse_action
from kangtou_engine.errors import IllegalAction
from kangtou_engine.match.clocks import DELEGATE, RETAKE
from kangtou_engine.match.match import Game

TABLE = -1  # in place of a seat: the table acts, for its scorer

# Refusals of the platform, (English, Chinese). The rules' own are in the catalogues of the games.
PLATFORM = {
    "stale_prompt": ("that answers an older question", "该回答针对的是旧的询问"),
    "id_reused": ("this command id was used for something else", "该命令编号已用于其他内容"),
    "bad_id": ("a command id has 1 to 64 letters, digits or _ . : -", "命令编号须为 1 至 64 个字母、数字或 _ . : -"),
    "not_seated": ("you have no seat at this table", "你在本桌没有座位"),
    "not_begun": ("the match has not begun yet", "对局尚未开始"),
    "match_over": ("the match is over", "对局已结束"),
    "table_faulted": ("this table is stopped by a fault; its log is kept", "本桌因故障停止，记录已保留"),
    "log_unavailable": ("moves cannot be stored now; try again soon", "暂时无法保存动作，请稍后再试"),
    "too_many_waiting": ("too many commands of yours are waiting", "等待处理的命令过多"),
    "bad_until": ("a standing answer cannot end that way here", "此处的预设回答不支持该终止条件"),
    "too_many_standing": ("you have changed your standing answer too often", "预设回答更改过于频繁"),
    "seat_delegated": ("a substitute plays this seat; take it back first", "该座位正由托管代打，请先取回"),
    "seat_taken_back": ("the owner has taken this seat back", "座位主人已取回该座位"),
    "not_delegated": ("no substitute plays this seat", "该座位未处于托管状态"),
    "too_many_handed": ("you have handed your seat over too often", "托管切换过于频繁"),
    "not_scorer": ("only the scorer of this table can do this", "只有本桌的记分员可以这样做"),
    "not_scorers": ("that is not the scorer's to do", "这不是记分员的职权"),
    "unknown_match": ("there is no such match here", "没有这场对局"),
    "quarantined": (
        "this table is quarantined after repeated crashes, or a loss in its log",
        "本桌因多次崩溃或记录丢失已被隔离",
    ),
    "table_unavailable": ("the table cannot be reached now; try again", "暂时无法连接牌桌，请重试"),
    "malformed": ("the message is not understood", "无法理解该消息"),
}


def platform_refusal(code: str) -> pb.Refusal:
    """A refusal that no rule of a book gives."""
    english, chinese = PLATFORM[code]
    return pb.Refusal(code=code, text_en=english, text_zh=chinese)


@dataclass(frozen=True, slots=True)
class Command:
    """A seat's action or standing answer as it arrived, or (seat TABLE) what the scorer has the table do.

    `ref` is for whoever asked; the table only hands it back.

    `standing`: leave `action` (None: nothing, revoke) as the standing answer, ended by the word `until`.
    `order`: hand the seat to a substitute (`asked` or `left`, the cause), or take it back (`retake`).
    `delegate`: it comes from the seat's substitute. `lag_ms` is what the gateway has measured on the caller's stream.
    """

    seat: int
    command_id: str
    prompt: int
    action: Action | None = field(repr=False)  # it names cards
    ref: Any = None
    standing: bool = False
    until: str = ""
    order: str = ""
    delegate: bool = False
    lag_ms: int = 0

    def with_action(self, action: Action) -> Command:
        """The same with another action; `replace` costs three times as much, for every move."""
        return Command(
            self.seat,
            self.command_id,
            self.prompt,
            action,
            self.ref,
            self.standing,
            self.until,
            self.order,
            self.delegate,
            self.lag_ms,
        )

    @property
    def content(self) -> str:
        """What must be equal when an id comes again."""
        if self.order:
            return RETAKE if self.order == RETAKE else f"{DELEGATE} {self.order}"
        if not self.standing:
            return str(self.action)
        return "standing -" if self.action is None else f"standing {self.until} {self.action}"


def well_formed(action: Action) -> Action:
    """An action that came in parts, if its text reads as the same action. Raises IllegalAction."""
    if parse_action(str(action)) != action:
        raise IllegalAction("CM-10.1", "malformed", part=action.verb[:40])
    return action


def canonical(game: Game, command: Command) -> Command:
    """A command with its action in the form in which it is compared and stored. Raises IllegalAction."""
    if command.action is None:
        if command.standing or command.order:
            return command
        raise IllegalAction("CM-10.1", "malformed", part="(empty)")
    return command.with_action(game.spec.canonical(well_formed(command.action)))


def accepted(command_id: str, seq: int) -> play.Answer:
    """It is in the log, in the entry of that sequence number."""
    return play.Answer(command_id=command_id, accepted=play.Accepted(seq=seq))


def refused(command_id: str, refusal: pb.Refusal) -> play.Answer:
    """It has changed nothing."""
    return play.Answer(command_id=command_id, refused=refusal)


def refused_by(game: Game, command_id: str, error: IllegalAction) -> play.Answer:
    """Refused by a rule of the book."""
    return refused(command_id, refusal_to_pb(game, error))
