"""A whole round of every game and variant, played through the keys at 80×24."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from kangtou_clients.api import Match
from kangtou_clients.tui.app import Play
from kangtou_clients.tui.choose import Choose
from kangtou_clients.tui.hand import Hand
from kangtou_clients.tui.seat import Seat
from kangtou_engine.actions import Action
from kangtou_engine.cards import JOKERS
from kangtou_engine.game import TooMany
from tests.tui.screens import SIZE, bots, house, press, screens, text_of, until

GAMES: list[tuple[str, dict[str, Any], int]] = [
    ("hongshi", {"between": True}, 4),
    ("duizhu", {"windows": "lap"}, 4),
    ("erbaiwu", {}, 4),
    ("erbaiwu", {"cut": False}, 6),
    ("wushik", {"variant": "chengde1", "cut": True}, 4),
    ("wushik", {"variant": "chengde2"}, 4),
    ("wushik", {"variant": "liaoning"}, 3),
    ("wushik", {"variant": "jiangnan", "announce": True}, 4),
    ("wushik", {"variant": "jinzhou"}, 4),
]
KEYS = {**{rank: rank.lower() for rank in "23456789TJQKA"}, "BJ": "b", "RJ": "r"}


async def play_turn(app: Play, pilot: Pilot[None], screen: Seat, number: int) -> Action:
    """One answer by keys: by typing the cards, by the hint, by the next legal play, or by a typed line."""
    turn = screen.turn
    assert turn is not None
    if number % 4 == 0:
        await press(pilot, "n")
        await until(pilot, lambda: screen.hinted)
        assert screen.hinted is not None
        action = screen.hinted
    else:
        await press(pilot, "i")
        await until(pilot, lambda: screen.hinted)
        assert screen.hinted is not None
        action = screen.hinted
    if number % 4 == 2 and len(str(action)) < 60:
        await press(pilot, "escape", "colon")
        screen.query_one("#typed").value = str(action)  # type: ignore[attr-defined]
    elif number % 4 == 3 and (cards := screen.query_one(Hand).taken):
        await press(pilot, "escape")
        for card in cards:
            if card in JOKERS:
                await press(pilot, KEYS[card])
            else:
                await press(pilot, card[0].lower(), KEYS[card[1]])
        await until(pilot, lambda: sorted(screen.query_one(Hand).taken) == sorted(cards))
        if action not in turn.choices.meant(cards) or len(turn.choices.meant(cards)) > 1:
            await press(pilot, "i")
    await press(pilot, "enter")
    await until(pilot, lambda: screen.turn is not turn or isinstance(app.screen, Choose))
    if isinstance(app.screen, Choose):
        await press(pilot, "enter")
    await until(pilot, lambda: screen.turn is not turn)
    return action


@pytest.mark.parametrize(("game", "options", "seats"), GAMES, ids=lambda given: str(given).replace(" ", ""))
async def test_a_round_through_the_keys(game: str, options: dict[str, Any], seats: int, tmp_path: Path) -> None:
    """Every answer is made with keys; what is shown is what the engine says; nothing is wider than the screen."""
    async with house(tmp_path) as home, home.player() as (client, session, me), bots(home, "m1", seats - 1) as ids:
        await home.deal("m1", [me, *ids], game, 11, {"rounds": 1, **options})
        ids.go()
        match = await session.attach("m1")
        assert isinstance(match, Match)
        async with screens(client, session, start=match, lang="zh" if seats % 2 else "en") as (app, pilot):
            await until(pilot, lambda: isinstance(app.screen, Seat))
            screen = app.screen
            assert isinstance(screen, Seat)
            turns = 0
            while not match.over:
                await until(pilot, lambda: screen.turn is not None or match.over)
                if screen.turn is not None:
                    turns += 1
                    lit = screen.turn.choices.too_many
                    assert lit is None or isinstance(lit, TooMany)
                    await play_turn(app, pilot, screen, turns)
            await until(pilot, lambda: screen.follower is not None and screen.follower.seq == match.seq)
            assert screen.view == match.view
            shown = text_of(app)
            assert all(line in shown for line in [str(score) for score in match.view.sheet.scores])
            assert len(shown.split("\n")) == SIZE[1]
            assert turns > 2
