"""At the table: the seats, the own hand, what can be done; or looking on from outside."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Static

from kangtou_engine.actions import Action
from kangtou_engine.cards import Cards, in_order
from kangtou_engine.errors import IllegalAction
from kangtou_engine.words import explain
from kangtou_engine.words import say as engine_say

from ..api import ApiError, Match, Prompt, Refused
from ..desk.choices import Choices, used
from ..desk.room import refusal_text
from ..desk.standing import StandsBy
from ..desk.text import action_text, game_title
from ..desk.typed import wanted
from ..desk.words import verb_text
from .bar import MANY, Bar, Item
from .board import Board
from .choose import Choose
from .follow import Follower
from .hand import Hand
from .look import GOLD, RED, Look
from .sheets import Page, help_page, log_page, score_page

if TYPE_CHECKING:
    from .app import Play

ORDERS = ("game", "suit", "rank")
CHECK_S = 0.2  # a choice that the server is asked about must stand so long
BAD = f"bold {RED}"
RANK_KEYS = {**{str(n): str(n) for n in range(2, 10)}, "0": "T", "t": "T", "j": "J", "q": "Q", "k": "K", "a": "A"}
SUIT_KEYS = {"s": "S", "h": "H", "c": "C", "d": "D"}
JOKER_KEYS = {"b": "BJ", "r": "RJ"}
BY_RANK = "3456789TJQKA2BR"


class Table(Screen[None]):
    """A match that is followed. Closed with None when it is left."""

    DEFAULT_CSS = """
    Table { layout: vertical; }
    Table #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    Table #status { height: 1; }
    Table #says { width: 1fr; padding: 0 1; }
    Table #clock { width: auto; padding: 0 1; text-style: bold; }
    Table #typed { height: 1; border: none; display: none; padding: 0 1; }
    Table #typed.open { display: block; }
    Table #keys { height: 1; color: $text-muted; padding: 0 1; }
    """
    BINDINGS = (
        Binding("enter", "confirm", show=False),
        Binding("space", "toggle", show=False),
        Binding("left", "cursor(-1)", show=False),
        Binding("right", "cursor(1)", show=False),
        Binding("escape,backspace", "clear", show=False),
        Binding("n", "step(1)", show=False),
        Binding("N", "step(-1)", show=False),
        Binding("i", "hint", show=False),
        Binding("p", "default", show=False),
        Binding("o", "order", show=False),
        Binding("x", "app.letters", show=False),
        Binding("v", "score", show=False),
        Binding("e", "log", show=False),
        Binding("u", "book", show=False),
        Binding("colon", "type", show=False),
        Binding("question_mark", "help", show=False),
        Binding("ctrl+l", "leave", show=False),
    )

    def __init__(self, match: Match, stands_by: StandsBy) -> None:
        super().__init__()
        self.match = match
        self.follower: Follower | None = None
        self.prompt: Prompt | None = None
        self.choices: Choices | None = None
        self.hinted: Action | None = None
        self.rule = ""  # of the last refusal
        self._stands_by = stands_by
        self._said: Text | None = None
        self._order = 0
        self._at = -1  # which legal action `n` showed last
        self._suit = ""
        self._asking = 0  # counts the choices that the server was asked about

    @property
    def play(self) -> Play:
        """The program."""
        from .app import Play

        assert isinstance(self.app, Play)
        return self.app

    @property
    def look(self) -> Look:
        """Language, glyphs, and this match's players."""
        names = tuple(player.name for player in self.match.players)
        return Look(self.play.look.lang, self.play.look.letters, names)

    # ---- building ----

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="head", markup=False)
        yield Board(self.match.config.seats, self.match.seat or 0)
        with Horizontal(id="status"):
            yield Static(id="says")
            yield Static(id="clock")
        yield Hand()
        yield Bar()
        yield Input(id="typed", compact=True)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Start to follow."""
        self.follower = Follower(self.match, self.play.pace, self.draw)
        seated = self.match.seat is not None
        self.query_one(Hand).display = seated
        self.query_one(Bar).display = seated
        self.relabel()
        self.follow()
        if seated:
            self.ask()
        self.set_interval(0.5, self._tick)

    def relabel(self) -> None:
        """In the language of now."""
        self._said = None
        self.query_one("#keys", Static).update(
            self.look.say("keys.table" if self.match.seat is not None else "keys.watch")
        )
        self.query_one("#typed", Input).placeholder = self.look.say("typed")
        self.draw()

    # ---- what comes in ----

    @work(group="follow")
    async def follow(self) -> None:
        """What happens, until the end."""
        assert self.follower is not None
        try:
            await self.follower.run()
            ending = await self.match.finished()
        except ApiError as error:
            self._say(self.look.say("lost", text=error), BAD)
            return
        self.prompt = self.choices = None
        if isinstance(ending, Refused):
            self._say(self.look.say("lost", text=refusal_text(ending, self.look.lang)), BAD)
        else:
            self._ended(ending.cause)
        self.draw()

    def _ended(self, cause: str) -> None:
        look = self.look
        self._say(look.say("over", cause=look.render.word(f"cause.{cause}")), GOLD)
        for warning in self.match.warnings:
            self._say(look.say("trust", text=warning.text_zh if look.lang == "zh" else warning.text_en), BAD)

    @work(group="ask")
    async def ask(self) -> None:
        """The questions, each once what led to it is shown."""
        match = self.match
        assert self.follower is not None
        assert match.seat is not None
        try:
            async for prompt in match.prompts():
                await self.follower.reached(prompt.number)
                if match.prompt is not prompt or match.seat not in match.game.to_act(match.view):
                    continue
                if await self._stands_by.asks(match, prompt):
                    self._open(prompt)
                elif self._stands_by.news(match):
                    self._say(self.look.say("left_with_table"))
        except ApiError:
            return  # `follow` says it

    def _open(self, prompt: Prompt) -> None:
        assert self.match.seat is not None
        self.prompt = prompt
        self.choices = Choices(self.match.game, self.match.view, self.match.seat, prompt.legal)
        self.hinted, self._at, self._said = None, -1, None
        self.draw()
        self.query_one(Hand).choose(self.query_one(Hand).taken)  # a choice made beforehand stands
        self._chosen()

    def _close(self) -> None:
        self.prompt = self.choices = None
        self.hinted = None
        self._said = None

    # ---- drawing ----

    def draw(self) -> None:
        """All that depends on the position."""
        follower = self.follower
        if follower is None or not self.is_mounted:
            return
        view, look, game = follower.view, self.look, self.match.game
        title = game_title(game.spec.name, look.lang)
        if not view.sheet.round:
            self.query_one("#head", Static).update(title)
            self.query_one(Board).clear(look.say("nobody"))
            return
        scene = game.scene(view, self.match.seat, look.lang)
        self.query_one("#head", Static).update(look.line(" · ".join((title, *scene.head))))
        self.query_one(Board).show(game, view, self.match.seat, look)
        if self.match.seat is not None:
            hand = self.query_one(Hand)
            hand.hold(self._sorted(scene.places[self.match.seat].hand), look)
            self._light()
            self._bar()
        self._status()

    def _sorted(self, hand: Cards) -> Cards:
        order = ORDERS[self._order]
        if order == "suit":
            return in_order(hand)
        if order == "rank":
            return tuple(sorted(in_order(hand), key=lambda card: BY_RANK.find(card[0] if card[1] == "J" and card[0] in "BR" else card[1])))
        return hand

    def _light(self) -> None:
        hand = self.query_one(Hand)
        hand.light(self.choices.can_add(hand.taken) if self.choices else None)

    def _bar(self, at: int = 0) -> None:
        self.query_one(Bar).show(self._items(), at)

    def _items(self) -> list[Item]:
        """What can be done with the cards taken up; without any, what needs none."""
        choices, look = self.choices, self.look
        if choices is None:
            return []
        words = self.match.game.spec.words
        taken = self.query_one(Hand).taken
        if taken:
            meant = choices.meant(taken)
            return [Item(action_text(action, look.render, words), (action,)) for action in meant]
        by_verb: dict[str, list[Action]] = {}
        bare = choices.bare if choices.too_many is None else _bare_default(self.prompt)
        for action in bare:
            by_verb.setdefault(action.verb, []).append(action)
        items = []
        for verb, actions in by_verb.items():
            if len(actions) > MANY:
                items.append(Item(look.say("more", verb=verb_text(verb, look.lang, words)), actions))
            else:
                items += [Item(action_text(action, look.render, words), (action,)) for action in actions]
        return items

    def _status(self) -> None:
        says = self.query_one("#says", Static)
        if self._said is not None:
            says.update(self._said)
            return
        look, follower = self.look, self.follower
        assert follower is not None
        if self.choices is not None and self.prompt is not None:
            says.update(self._question(self.choices, self.prompt))
        elif self.match.seat is None:
            says.update(look.say("spectating"))
        else:
            acting = self.match.game.to_act(follower.view)
            names = ", ".join(map(look.seat, acting))
            says.update(look.say("others", seats=names) if acting else look.say("nobody"))

    def _question(self, choices: Choices, prompt: Prompt) -> Text:
        look, words = self.look, self.match.game.spec.words
        if choices.too_many is not None:
            told = engine_say(words, choices.too_many.constraint, choices.too_many.params, look.lang)
            return Text(look.say("turn") + ": ", GOLD) + look.line(told)
        text = Text(look.say("turn.count", count=len(choices.ways)) + " · ", GOLD)
        cards = any(way.cards for way in choices.ways)
        if not cards:
            return text + Text(look.say("choose_bare"))
        if used(prompt.default, choices.hand):
            return text + Text(look.say("choose_only"))
        default = action_text(prompt.default, look.render, words)
        return text + look.line(look.say("choose_first", default=default))

    def _say(self, text: str, style: str = "") -> None:
        self._said = self.look.line(text, style)
        self._status()

    def _tick(self) -> None:
        clock = self.query_one("#clock", Static)
        prompt = self.prompt
        if prompt is None or not prompt.deadline_ms or self.choices is None:
            clock.update("")
            return
        left = max(0, round(prompt.deadline_ms / 1000 - time.time()))
        clock.update(Text(self.look.say("clock", seconds=left), BAD if left <= 10 else ""))

    # ---- the hand ----

    def on_hand_changed(self, event: Hand.Changed) -> None:
        """Cards were taken up or put down."""
        self.hinted, self._said = None, None
        self._chosen()

    def _chosen(self) -> None:
        """Something else is chosen: marks, actions, and the server's word where the list is too long."""
        self._light()
        self._bar()
        self._status()
        self._asking += 1
        choices, taken = self.choices, self.query_one(Hand).taken
        if choices is not None and choices.too_many is not None and taken:
            self.check(self._asking, choices.meant(taken))

    @work(group="check", exclusive=True)
    async def check(self, number: int, meant: tuple[Action, ...]) -> None:
        """Ask the server about a choice that stands for a moment."""
        await asyncio.sleep(CHECK_S)
        for action in meant[:1]:
            try:
                refused = await self.play.check(self.match, action)
            except ApiError:
                return  # it is asked again when the action is sent
            if number == self._asking and self.choices is not None:
                shown = action_text(action, self.look.render, self.match.game.spec.words)
                if refused is None:
                    self._say(f"✓ {shown}: {self.look.say('legal_yes')}", GOLD)
                else:
                    self._refuse(refused, keep=True)

    def on_key(self, event: object) -> None:
        """Keys that name cards."""
        key = getattr(event, "key", "")
        if self.match.seat is None or self.query_one("#typed", Input).has_focus:
            return
        hand = self.query_one(Hand)
        if key in SUIT_KEYS:
            self._suit = SUIT_KEYS[key]
        elif key in RANK_KEYS:
            hand.toggle_rank(RANK_KEYS[key], self._suit)
            self._suit = ""
        elif key in JOKER_KEYS:
            hand.toggle_rank(JOKER_KEYS[key])
            self._suit = ""

    def action_cursor(self, step: int) -> None:
        """Along the hand."""
        self.query_one(Hand).move(step)

    def action_toggle(self) -> None:
        """The card under the cursor."""
        hand = self.query_one(Hand)
        if hand.cursor is not None:
            hand.toggle(hand.cursor)

    def action_clear(self) -> None:
        """Put all down."""
        hand = self.query_one(Hand)
        hand.choose(())
        hand.cursor = None
        self.hinted, self._said = None, None
        self.set_focus(None)
        self._chosen()

    def action_order(self) -> None:
        """Another order of the hand."""
        self._order = (self._order + 1) % len(ORDERS)
        self.draw()
        self._say(self.look.say(f"order.{ORDERS[self._order]}"))

    # ---- acting ----

    def action_step(self, step: int) -> None:
        """Show the next legal action."""
        if self.choices is not None and self.choices.ways:
            self._at = (self._at + step) % len(self.choices.ways)
            self._take_up(self.choices.ways[self._at].action)

    def action_hint(self) -> None:
        """What the game's bot would do."""
        if self.choices is not None:
            action = self.choices.hint(random.randrange)
            self._take_up(action)
            self._say(self.look.say("hint", action=action_text(action, self.look.render, self.match.game.spec.words)))

    def _take_up(self, action: Action) -> None:
        """The cards of an action, and the action itself for Enter."""
        assert self.choices is not None
        hand = self.query_one(Hand)
        hand.choose(used(action, hand.cards))
        self._said = None
        self._light()
        items = self._items()
        self._bar(next((place for place, item in enumerate(items) if action in item.actions), 0))
        self.hinted = action
        self._status()

    async def action_default(self) -> None:
        """The default action, if it uses no cards of the hand."""
        if self.prompt is not None and self.choices is not None and not used(self.prompt.default, self.choices.hand):
            self.send(self.prompt, self.prompt.default)

    def action_confirm(self) -> None:
        """Do what is chosen."""
        if self.prompt is None or self.choices is None:
            return
        if self.hinted is not None:
            self.send(self.prompt, self.hinted)
            return
        taken = self.query_one(Hand).taken
        meant = self.choices.meant(taken)
        forced = self.choices.forced()
        if taken and not meant:
            shown = " ".join(map(self.look.render.card, taken))
            self._say(self.look.say("no_fit", cards=shown), BAD)
        elif len(meant) == 1:
            self.send(self.prompt, meant[0])
        elif meant:
            self.pick(self.look.say("which"), meant)
        elif forced is not None:
            self.send(self.prompt, forced)
        elif self.query_one(Bar).items:
            self.query_one(Bar).focus()
            if len(self.query_one(Bar).items) == 1 and not any(way.cards for way in self.choices.ways):
                self.query_one(Bar).action_press()

    def on_bar_chosen(self, event: Bar.Chosen) -> None:
        """An action of the line."""
        if self.prompt is None:
            return
        actions = event.item.actions
        if len(actions) == 1:
            self.send(self.prompt, actions[0])
        else:
            verb = verb_text(actions[0].verb, self.look.lang, self.match.game.spec.words)
            self.pick(self.look.say("which.verb", verb=verb), actions)

    @work(group="pick", exclusive=True)
    async def pick(self, title: str, actions: tuple[Action, ...]) -> None:
        """One of several."""
        prompt = self.prompt
        if prompt is None:
            return
        words, render = self.match.game.spec.words, self.look.render
        lines = [self.look.line(action_text(action, render, words)) for action in actions]
        wished = self.hinted or prompt.default
        start = actions.index(wished) if wished in actions else 0
        place = await self.app.push_screen_wait(Choose(title, lines, start))
        if place is not None:
            self.send(prompt, actions[place])

    @work(group="send")
    async def send(self, prompt: Prompt, action: Action) -> None:
        """Act; a refusal is said with its rule, and the cards stay up."""
        try:
            answer = await self._stands_by.answer(self.match, prompt, action)
        except ApiError as error:
            self._say(self.look.say("lost", text=error), BAD)
            return
        if isinstance(answer, Refused):
            self._refuse(answer)
            return
        if self.prompt is prompt:
            self._close()
        self.query_one(Hand).choose(())
        self.set_focus(None)
        self.draw()

    def _refuse(self, refused: Refused, *, keep: bool = False) -> None:
        self.rule = refused.rule
        text = "✗ " + refusal_text(refused, self.look.lang)
        self._say(self.look.say("refused.rule", text=text, rule=refused.rule) if refused.rule else text, BAD)
        if not keep:
            self.app.bell()

    # ---- typing ----

    def action_type(self) -> None:
        """A line for an action."""
        if self.match.seat is not None:
            typed = self.query_one("#typed", Input)
            typed.add_class("open")
            typed.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """An action as the book writes it, or cards."""
        text = event.value.strip()
        self._close_line()
        if not text or self.prompt is None or self.choices is None:
            return
        try:
            meant = wanted(text, self.choices, self.choices.actions)
        except IllegalAction as error:
            self.rule = error.rule
            text = explain(self.match.game.spec.words, error, self.look.lang)
            self._say(self.look.say("refused.rule", text="✗ " + text, rule=error.rule), BAD)
            return
        if len(meant) == 1:
            self.send(self.prompt, meant[0])
        elif meant:
            self.pick(self.look.say("which"), meant)
        else:
            self._say(self.look.say("no_fit", cards=text), BAD)

    def _close_line(self) -> None:
        typed = self.query_one("#typed", Input)
        typed.value = ""
        typed.remove_class("open")
        self.set_focus(None)

    # ---- other screens ----

    def action_score(self) -> None:
        """The score sheet."""
        if self.follower is not None:
            self.app.push_screen(Page(score_page(self.follower.history, self.follower.view), lambda: self.look))

    def action_log(self) -> None:
        """The log."""
        if self.follower is not None:
            self.app.push_screen(Page(log_page(self.match.game, self.follower.history), lambda: self.look, end=True))

    def action_help(self) -> None:
        """The keys."""
        self.app.push_screen(Page(help_page("help.text"), lambda: self.look))

    def action_book(self) -> None:
        """The rule book, at the rule of the last refusal."""
        self.play.open_book(self.match.game.spec.name, self.rule)

    @work(group="leave", exclusive=True)
    async def action_leave(self) -> None:
        """Back to the lobby; while one plays, only if it is meant."""
        if self.match.seat is not None and not self.match.over:
            look = self.look
            wanted_ = await self.app.push_screen_wait(
                Choose(look.say("leave"), (look.say("button.stay"), look.say("button.leave")))
            )
            if wanted_ != 1:
                return
        self.dismiss(None)


def _bare_default(prompt: Prompt | None) -> tuple[Action, ...]:
    """Where actions are too many to list: the default, if it is a word alone."""
    return (prompt.default,) if prompt is not None and not prompt.default.args and not prompt.default.keys else ()
