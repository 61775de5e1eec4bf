"""Playing a seat: the hand, the line of actions, typing, sending."""

from __future__ import annotations

import asyncio
import random
import time
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.events import Key
from textual.widgets import Input, Static

from kangtou_engine.actions import Action
from kangtou_engine.cards import Cards
from kangtou_engine.errors import IllegalAction
from kangtou_engine.scene import Scene
from kangtou_engine.words import explain

from ..api import ApiError, Client, Ending, Match, Prompt, Refused
from ..desk.choices import Choices, used
from ..desk.orders import ORDERS, ordered
from ..desk.standing import StandsBy
from ..desk.typed import wanted
from ..desk.words import verb_text
from .bar import Bar
from .choose import Choose
from .hand import Hand
from .look import GOLD
from .owner import Owner
from .table import BAD
from .turn import Turn

CHECK_S = 0.2  # a choice that the server is asked about must stand so long


class Seat(Owner):
    """A table at which one plays."""

    DEFAULT_CSS = """
    Seat #typed { height: 1; border: none; display: none; padding: 0 1; }
    Seat #typed.open { display: block; }
    """
    KEYS = "keys.table"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "confirm", show=False),
        Binding("space", "take", show=False),
        Binding("left", "cursor(-1)", show=False),
        Binding("right", "cursor(1)", show=False),
        Binding("escape,backspace", "clear", show=False),
        Binding("n", "step(1)", show=False),
        Binding("N", "step(-1)", show=False),
        Binding("i", "hint", show=False),
        Binding("p", "default", show=False),
        Binding("o", "order", show=False),
        Binding("colon", "type", show=False),
    ]

    def __init__(self, match: Match, client: Client, stands_by: StandsBy) -> None:
        super().__init__(match, client, stands_by)
        self.turn: Turn | None = None
        self.hinted: Action | None = None
        self._order = 0
        self._at = -1  # which legal action `n` showed last
        self._asking = 0  # counts the choices that the server was asked about

    def compose_below(self) -> ComposeResult:
        """Hand, actions, a line for typing."""
        yield Hand()
        yield Bar()
        yield Input(id="typed", compact=True)

    def begin(self) -> None:
        """Answer questions too."""
        super().begin()
        self.ask()
        self.set_interval(0.5, self._tick)

    def relabel(self) -> None:
        """In the language of now."""
        self.query_one("#typed", Input).placeholder = self.look.say("typed")
        super().relabel()

    # ---- what comes in ----

    @work(group="ask")
    async def ask(self) -> None:
        """The questions, each once what led to it is shown."""
        match = self.match
        assert self.follower is not None
        assert match.seat is not None
        try:
            async for prompt in match.prompts():
                await self.follower.reached(prompt.number)
                if not prompt.open or match.seat not in match.game.to_act(match.view):
                    continue
                if await self.stands_by.asks(match, prompt):
                    choices = Choices(match.game, match.view, match.seat, prompt.legal)
                    self.turn = Turn(match.game, prompt, choices)
                    self.hinted, self._at, self._said = None, -1, None
                    self.draw()
                    self._chosen()
                elif self.stands_by.news(match):
                    self.say(self.look.say("left_with_table"))
        except (ApiError, NoMatches):
            return  # `follow` says it; or the screen is just being left

    def ended(self, ending: Ending | Refused) -> None:
        """No more questions."""
        self.turn = self.hinted = None
        super().ended(ending)

    # ---- drawing ----

    def draw_below(self, scene: Scene) -> None:
        """The hand and what can be done."""
        assert self.match.seat is not None
        if self.turn is not None and not self.turn.prompt.open:
            self.turn = self.hinted = None  # the clock, or a standing answer, was quicker
        elif self.turn is not None and self.match.prompt is not None:
            self.turn.prompt = self.match.prompt  # put again: with its deadline as it is now
        self.query_one(Hand).hold(self._sorted(scene.places[self.match.seat].hand), self.look)
        self._light()

    def _sorted(self, hand: Cards) -> Cards:
        return ordered(hand, ORDERS[self._order])

    def _light(self, at: int = 0) -> None:
        """Marks on cards, and the line of actions."""
        hand, turn = self.query_one(Hand), self.turn
        hand.light(turn.choices.can_add(hand.taken) if turn else None)
        self.query_one(Bar).show(turn.items(hand.taken, self.look) if turn else (), at)

    def waiting(self) -> Text:
        """The question, if there is one; that a substitute plays."""
        if self.match.delegated and not self.match.over:
            return Text(self.look.say("substituted"), GOLD)
        return self.turn.question(self.look) if self.turn is not None else super().waiting()

    def _tick(self) -> None:
        clock, turn = self.query_one("#clock", Static), self.turn
        if turn is None or not turn.prompt.deadline_ms:
            clock.update("")
            return
        left = max(0, round(turn.prompt.deadline_ms / 1000 - time.time()))
        bank = turn.prompt.bank_ms // 1000
        code = "clock" if left >= bank else "clock.bank"  # the rest of the question's own time, or of the bank
        shown = left - bank if bank and left >= bank else left
        text = self.look.say(code, seconds=shown) + (f" + {bank}" if bank and left >= bank else "")
        clock.update(Text(text, BAD if left <= 10 else ""))

    # ---- the hand ----

    def on_hand_changed(self) -> None:
        """Cards were taken up or put down."""
        self.hinted, self._said = None, None
        self._chosen()

    def _chosen(self) -> None:
        """Something else is chosen: marks, actions, and the server's word where the list is too long."""
        self._light()
        self.status()
        self._asking += 1
        turn, taken = self.turn, self.query_one(Hand).taken
        if turn is not None and turn.choices.too_many is not None and taken:
            self.check(self._asking, turn, turn.choices.meant(taken))

    @work(group="check", exclusive=True)
    async def check(self, number: int, turn: Turn, meant: tuple[Action, ...]) -> None:
        """Ask the server about a choice that stands for a moment."""
        await asyncio.sleep(CHECK_S)
        for action in meant[:1]:
            try:
                refused = await self.client.check(self.match.match_id, action, self.match.seat)
            except ApiError:
                return  # it is asked again when the action is sent
            if number == self._asking and self.turn is turn:
                if refused is None:
                    self.say(f"✓ {turn.text(action, self.look)}: {self.look.say('legal_yes')}", GOLD)
                else:
                    self.refuse(refused)

    def on_key(self, event: Key) -> None:
        """Keys that name cards."""
        if not self.query_one("#typed", Input).has_focus:
            self.query_one(Hand).key(event.key)

    def action_cursor(self, step: int) -> None:
        """Along the hand."""
        self.query_one(Hand).move(step)

    def action_take(self) -> None:
        """The card under the cursor."""
        self.query_one(Hand).toggle_here()

    def action_clear(self) -> None:
        """Put all down; close the line for typing."""
        self._close_line()
        self.query_one(Hand).clear()
        self.hinted, self._said = None, None
        self._chosen()

    def action_order(self) -> None:
        """Another order of the hand."""
        self._order = (self._order + 1) % len(ORDERS)
        self.draw()
        self.say(self.look.say(f"order.{ORDERS[self._order]}"))

    # ---- acting ----

    def action_step(self, step: int) -> None:
        """Show the next legal action."""
        if self.turn is not None and self.turn.choices.ways:
            self._at = (self._at + step) % len(self.turn.choices.ways)
            self._take_up(self.turn, self.turn.choices.ways[self._at].action)

    def action_hint(self) -> None:
        """What the game's bot would do."""
        if self.turn is not None:
            action = self.turn.choices.hint(random.randrange)
            self._take_up(self.turn, action)
            self.say(self.look.say("hint", action=self.turn.text(action, self.look)))

    def _take_up(self, turn: Turn, action: Action) -> None:
        """The cards of an action, and the action itself for Enter."""
        hand = self.query_one(Hand)
        hand.choose(used(action, hand.cards))
        self.hinted, self._said = action, None
        self._asking += 1
        items = turn.items(hand.taken, self.look)
        self._light(next((place for place, item in enumerate(items) if action in item.actions), 0))
        self.say("✓ " + turn.text(action, self.look), GOLD)

    def action_default(self) -> None:
        """The default action, if it uses no cards of the hand."""
        if self.turn is not None and self.turn.default is not None:
            self.send(self.turn, self.turn.default)

    def action_confirm(self) -> None:
        """Do what is chosen."""
        turn, bar = self.turn, self.query_one(Bar)
        if self.match.over:
            self.again()
        elif self.match.delegated:
            self.take_back()
        if turn is None or self.match.over or self.match.delegated:
            return
        taken = self.query_one(Hand).taken
        meant = turn.choices.meant(taken)
        only = self.hinted or (meant[0] if len(meant) == 1 else None) or (None if taken else turn.choices.forced())
        if only is not None:
            self.send(turn, only)
        elif meant:
            self.pick(turn, self.look.say("which"), meant)
        elif taken:
            self.say(self.look.say("no_fit", cards=" ".join(map(self.look.render.card, taken))), BAD)
        elif len(bar.items) == 1 and not turn.needs_cards:
            bar.action_press()
        elif bar.items:
            bar.focus()

    def on_bar_chosen(self, event: Bar.Chosen) -> None:
        """An action of the line."""
        if self.turn is None:
            return
        actions = event.item.actions
        if len(actions) == 1:
            self.send(self.turn, actions[0])
        else:
            verb = verb_text(actions[0].verb, self.look.lang, self.match.game.spec.words)
            self.pick(self.turn, self.look.say("which.verb", verb=verb), actions)

    @work(group="pick", exclusive=True)
    async def pick(self, turn: Turn, title: str, actions: tuple[Action, ...]) -> None:
        """One of several."""
        lines = [self.look.line(turn.text(action, self.look)) for action in actions]
        default = turn.prompt.default
        start = actions.index(default) if default in actions else 0
        place = await self.app.push_screen_wait(Choose(title, lines, start))
        if place is not None:
            self.send(turn, actions[place])

    @work(group="send")
    async def send(self, turn: Turn, action: Action) -> None:
        """Act; a refusal is said with its rule, and the cards stay up."""
        prompt: Prompt = turn.prompt
        try:
            answer = await self.stands_by.answer(self.match, prompt, action)
        except ApiError as error:
            self.say(self.look.say("lost", text=error), BAD)
            return
        if isinstance(answer, Refused):
            self.refuse(answer)
            self.app.bell()
            return
        if self.turn is turn and self.query(Hand):
            self.turn, self.hinted, self._said = None, None, None
            self.query_one(Hand).clear()
            self.set_focus(None)
            self.draw()

    # ---- typing ----

    def action_type(self) -> None:
        """A line for an action."""
        typed = self.query_one("#typed", Input)
        typed.add_class("open")
        typed.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """An action as the book writes it, or cards."""
        text, turn = event.value.strip(), self.turn
        self._close_line()
        if not text or turn is None:
            return
        try:
            meant = wanted(text, turn.choices, turn.choices.actions)
        except IllegalAction as error:
            said = explain(self.match.game.spec.words, error, self.look.lang)
            self.refuse(Refused(error.rule, error.code, said, said))
            return
        if len(meant) == 1:
            self.send(turn, meant[0])
        elif meant:
            self.pick(turn, self.look.say("which"), meant)
        else:
            self.say(self.look.say("no_fit", cards=text), BAD)

    def _close_line(self) -> None:
        typed = self.query_one("#typed", Input)
        typed.value = ""
        typed.remove_class("open")
        self.set_focus(None)
