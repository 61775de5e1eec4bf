"""Replaying finished matches: what the command line, the terminal screen and the page are made of.

player   a place in a record: step, seek, play, from any viewer's side
places   places as people write them
clocks   who was asked since when, how long each thought

Rules and views are the engine's (`kangtou_engine.replay`); nothing here needs a server.
"""

from .clocks import Question, Thought, Times
from .places import NoPlace, position_of
from .player import Player, WallClock

__all__ = ["NoPlace", "Player", "Question", "Thought", "Times", "WallClock", "position_of"]
