"""A table of a load, from its arrival to its end: seats that think and answer, and spectators."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random

from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play

from ..api import Place
from .figures import Figures
from .plan import Plan
from .players import Player
from .timeline import Timeline

AGAIN = frozenset({"table_unavailable", "log_unavailable", "rate_limited", "too_many_waiting"})  # send it once more
CROSSED = frozenset({"stale_prompt", "not_your_turn"})  # another seat's answer came first
AGAIN_S = 0.25


@dataclass(slots=True)
class Shared:
    """What all tables of a load have in common. `figures` is exchanged for a new one when measuring begins."""

    plan: Plan
    chance: Random
    figures: Figures
    hurry: bool = False  # nobody thinks any more: matches are to end


@dataclass(slots=True)
class _Sent:
    command: play.Command
    due: float


class Table:
    """One match. `arrived` is when its players meant to come (loop time); `ended` fires once."""

    def __init__(self, shared: Shared, game: str, arrived: float) -> None:
        self.shared = shared
        self.game = game
        self.line = Timeline(arrived)
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.seats: list[Seat] = []
        self._left = 0
        self._arrived = arrived

    def start(self, players: list[tuple[Player, Place]], watching: list[Player]) -> None:
        """Attach the seats and the spectators."""
        self._left = len(players)
        match_id = players[0][1].match_id
        for player, place in players:
            seat = Seat(self, player, place)
            self.seats.append(seat)
            player.follow(match_id, seat)
        for player in watching:
            player.follow(match_id, Watcher(self, player, match_id))

    def seated(self) -> None:
        """A seat is attached for the first time."""
        self._left -= 1
        if not self._left:
            now = asyncio.get_running_loop().time()
            self.line.waited(now)
            self.shared.figures.opened.append(now - self._arrived)

    def over(self) -> None:
        """The match has ended."""
        if not self.ended.done():
            self.shared.figures.finished += 1
            self.ended.set_result(None)

    def hurry(self) -> None:
        """Nobody thinks any longer."""
        for seat in self.seats:
            seat.hurry()

    def stop(self) -> None:
        """No seat answers any more."""
        for seat in self.seats:
            seat.stop()


class Watcher:
    """A spectator."""

    def __init__(self, table: Table, player: Player, match_id: str) -> None:
        self._table = table
        self._player = player
        self._match_id = match_id

    def again(self) -> None:
        """See Follower."""
        self._player.send(play.PlayRequest(attach=play.Attach(match_id=self._match_id, spectate=True)))

    def updated(self, update: play.Update) -> None:
        """See Follower."""
        if update.WhichOneof("body") == "entry":
            self._table.shared.figures.delivered += 1


class Seat:
    """A seat and its player."""

    def __init__(self, table: Table, player: Player, place: Place) -> None:
        self._table = table
        self._player = player
        self._place = place
        self._attached = False
        self._sent: dict[str, _Sent] = {}
        self._thinking: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._number = 0
        self._prompt = play.Prompt()

    def again(self) -> None:
        """See Follower."""
        place = self._place
        attach = play.Attach(match_id=place.match_id, seat=place.seat, entropy=place.entropy)
        self._player.send(play.PlayRequest(attach=attach))
        for sent in self._sent.values():  # under the same ids: nothing is played twice
            self._player.send(play.PlayRequest(command=sent.command))

    def hurry(self) -> None:
        """Answer now what is being thought about."""
        if self._thinking is not None:
            self._thinking.cancel()
            now = self._loop.time()
            self._answer(self._prompt, now, now)

    def stop(self) -> None:
        """Answer no more."""
        if self._thinking is not None:
            self._thinking.cancel()
        self._sent.clear()

    def updated(self, update: play.Update) -> None:
        """See Follower."""
        what = update.WhichOneof("body")
        if what == "prompt":
            self._asked(update.prompt)
        elif what == "answer":
            self._answered(update.answer)
        elif what == "ended":
            self.stop()
            self._table.over()
        elif what == "attached" and not self._attached:
            self._attached = True
            self._table.seated()

    def _asked(self, prompt: play.Prompt) -> None:
        shared, now = self._table.shared, self._loop.time()
        think = 0.0 if shared.hurry else shared.plan.think(shared.chance, prompt.left_ms / 1000)
        due = self._table.line.due(self._place.seat, prompt.number, think)
        if due is None:
            return
        if self._thinking is not None:
            self._thinking.cancel()
        self._prompt = prompt
        if due <= now:
            self._answer(prompt, due, now)
        else:
            self._thinking = self._loop.call_at(due, self._answer, prompt, due, due)

    def _answer(self, prompt: play.Prompt, due: float, earliest: float) -> None:
        figures = self._table.shared.figures
        self._thinking = None
        self._number += 1
        command = play.Command(
            match_id=self._place.match_id,
            command_id=f"{self._place.seat}-{self._number}",
            prompt=prompt.number,
            action=self._choice(prompt),
            seat=self._place.seat,
        )
        self._sent[command.command_id] = _Sent(command, due)
        self._table.line.sent(due)
        figures.due += 1
        figures.behind.append(self._loop.time() - earliest)
        self._player.send(play.PlayRequest(command=command))

    def _choice(self, prompt: play.Prompt) -> pb.Action:
        """Any listed action; the default one where there are too many to list."""
        return self._table.shared.chance.choice(prompt.legal) if prompt.legal else prompt.default_action

    def _answered(self, answer: play.Answer) -> None:
        figures = self._table.shared.figures
        if not answer.command_id:  # of the attach
            figures.refused[answer.refused.code] += 1
            return
        sent = self._sent.pop(answer.command_id, None)
        if sent is None:
            return
        if answer.HasField("accepted"):
            figures.waits.append(self._loop.time() - sent.due)
            figures.games[self._table.game] += 1
            return
        code = answer.refused.code
        if code in CROSSED:
            figures.crossed += 1
            return
        figures.refused[code] += 1
        if code in AGAIN:
            self._sent[answer.command_id] = sent
            self._loop.call_later(AGAIN_S, self._once_more, answer.command_id)

    def _once_more(self, command_id: str) -> None:
        if (sent := self._sent.get(command_id)) is not None:
            self._player.send(play.PlayRequest(command=sent.command))
