"""What must hold in all matches of all games: a match is followed from all sides, and checked at every action."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import HIDDEN, Seat, in_order
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, fields_of, from_fields, from_text, kind_of, to_text
from kangtou_engine.game import TooMany
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import AnyState
from kangtou_engine.plain import view_from_plain, view_to_plain
from kangtou_engine.words import LANGUAGES
from tests.engine.attempts import LIMIT, Players, attempt, garbage, refusal_texts, refused
from tests.engine.tables import Table, chance_of, options_for

LONGEST = 20_000  # actions of a random match of at most three rounds
BEFORE_DEAL = ("lot", "cut", "deal_now")


class Watch:
    """Follows one match from all sides and checks the laws after every action."""

    def __init__(self, table: Table, rng: Random, seed: int) -> None:
        self.game, self.facts, self.rng = table.game, table.facts, rng
        self.config = self.game.config(options_for(table, rng), table.seats)
        self.chance = chance_of(seed)
        self.audiences: tuple[Seat | None, ...] = (*range(self.config.seats), None)
        before = self.game.before(self.config)
        self.from_match = before
        self.from_round = before
        self.seen = dict.fromkeys(self.audiences, before)
        self.pack = in_order(self.game.spec.pack(self.config))
        self.script: list[tuple[Seat | None, str]] = []
        self.texts: list[list[str]] = []
        events, self.state = self.game.begin(self.config, self.chance)
        self.follow(events)

    def act(self, seat: Seat | None, text: str) -> None:
        """One legal action of a bot (or one of the table, which may be refused)."""
        action = parse_action(text)
        assert str(action) == text
        before = repr(self.state) if self.rng.random() < 0.05 else None
        try:
            events, after = self.game.step(self.state, seat, action, self.chance)
        except IllegalAction:
            if seat is not None:
                raise  # a bot's
            return
        assert before is None or repr(self.state) == before
        assert events, text
        self.script.append((seat, text))
        self.state = after
        self.follow(events)

    def follow(self, events: Sequence[Event]) -> None:
        """All folds, views, cards and scores after one step."""
        game, state = self.game, self.state
        self.texts.append([to_text(event) for event in events])
        for event, text in zip(events, self.texts[-1], strict=True):
            again = self.round_trip(event, text)
            self.from_match = game.evolve(self.from_match, again)
            if isinstance(again, RoundBegan):
                self.from_round = game.before(self.config)
            self.from_round = game.evolve(self.from_round, again)
            for audience in self.audiences:
                sight = again.seen_by(audience)
                shown = sight if sight is again else self.round_trip(sight, to_text(sight))
                self.seen[audience] = game.evolve(self.seen[audience], shown)
        assert self.from_match == state, "folding from the match's beginning"
        assert self.from_round == state, "folding from the round's beginning"
        for audience in self.audiences:
            view = game.view(state, audience)
            assert self.seen[audience] == view, f"what {audience} was sent does not fold to its view"
            assert game.to_act(view) == game.to_act(state)
            assert game.asked(view) == game.asked(state)
        if state.phase not in BEFORE_DEAL:
            assert in_order(self.facts.all_cards(state)) == self.pack, "cards"
        assert self.facts.zero_sum(state), state.sheet.scores

    def round_trip(self, event: Event, text: str) -> Event:
        """The event read again from its text, the same as from its fields."""
        assert "\n" not in text
        again = from_text(self.game.events, text)
        assert again == event, text
        if self.rng.random() < 0.1:
            assert from_fields(self.game.events, kind_of(type(event)), fields_of(event)) == event
        return again

    def legality(self) -> None:
        """legal() ≡ accepted, default legal, refusals change nothing; for every seat."""
        game, state = self.game, self.state
        asked = game.to_act(state)
        assert bool(asked) == (state.phase != "over")
        for seat in range(self.config.seats):
            legal = game.legal(state, seat, LIMIT)
            assert game.legal(game.view(state, seat), seat, LIMIT) == legal, "a view's legal actions"
            if seat in asked:
                assert legal
                default = game.default(state, seat)
                assert isinstance(attempt(game, state, seat, str(default)), Action), f"default {default}"
                assert isinstance(legal, TooMany) or default in legal
            else:
                assert legal == ()
            if not isinstance(legal, TooMany):
                self.listed(seat, legal)

    def listed(self, seat: Seat, legal: tuple[Action, ...]) -> None:
        """A list is canonical, without doubles, accepted; nothing else is."""
        game, state = self.game, self.state
        assert len(set(legal)) == len(legal), "an action twice"
        for action in legal:
            assert game.spec.canonical(action) == action == parse_action(str(action))
        few = legal if len(legal) < 8 else self.rng.sample(legal, 8)
        for action in few:
            assert isinstance(attempt(game, state, seat, str(action)), Action), f"{action} is listed but refused"
        tries: Callable[[AnyState, Seat], Iterable[str] | None] = getattr(
            self.facts, "candidates", lambda state, seat: None
        )
        texts = tries(state, seat) if self.rng.random() < (0.2 if legal else 0.02) else None
        if texts is not None:
            found = {taken for text in texts if isinstance(taken := attempt(game, state, seat, text), Action)}
            assert found == set(legal), "brute force"

    def attempts(self, count: int) -> None:
        """Random attempts of random seats: accepted exactly if listed; a refusal changes nothing."""
        game, state = self.game, self.state
        before = repr(state)
        for _ in range(count):
            asked = game.to_act(state)
            may = asked and self.rng.random() < 0.6
            seat = self.rng.choice(asked) if may else self.rng.randrange(self.config.seats)
            text = garbage(self.rng, game, state, seat)
            legal = game.legal(state, seat, LIMIT)
            taken = attempt(game, state, seat, text)
            if isinstance(taken, IllegalAction):
                refusal_texts(game, taken)
                assert refused(game, state, seat, text, self.chance)
            if not isinstance(legal, TooMany):
                assert isinstance(taken, Action) == (taken in legal), f"{text!r}: {taken}, legal: {legal}"
            elif isinstance(taken, Action):
                assert game.spec.canonical(taken) == taken
        assert repr(self.state) == before

    def shown(self) -> None:
        """Every audience can be shown its view, and sent it as plain values."""
        game = self.game
        for audience in self.audiences:
            view = game.view(self.state, audience)
            for lang in LANGUAGES:
                lines = game.spec.show(view, audience, lang)
                assert lines
                assert not any("\n" in line for line in lines)
                self.drawn(view, audience, lang)
            assert view_from_plain(game, self.config, view_to_plain(view)) == view

    def drawn(self, view: AnyState, audience: Seat | None, lang: str) -> None:
        """The scene has a place for every seat, with its hand whole exactly where the view has it."""
        scene = self.game.scene(view, audience, lang)
        assert scene.head
        assert len(scene.places) == self.config.seats
        for place, hand in zip(scene.places, view.game.hands, strict=True):
            assert in_order(place.hand) == (() if HIDDEN in hand else in_order(hand))
            assert HIDDEN not in (*place.laid, *place.shown)

    def replay(self) -> None:
        """The same action texts give the same events."""
        game, chance = self.game, self.chance
        events, state = game.begin(self.config, chance)
        texts = [[to_text(event) for event in events]]
        for seat, text in self.script:
            events, state = game.step(state, seat, parse_action(text), chance)
            texts.append([to_text(event) for event in events])
        assert texts == self.texts
        assert state == self.state


def watch_match(table: Table, seed: int) -> Watch:
    """One random match under watch."""
    rng = Random(f"{table}/{seed}")
    watch = Watch(table, rng, seed)
    players = Players(table, rng, watch.config.seats)
    while watch.state.phase != "over":
        watch.legality()
        if rng.random() < 0.2:
            watch.attempts(5)
        if rng.random() < 0.03:
            watch.shown()
        watch.act(*players.choose(watch.state))
        assert len(watch.script) < LONGEST
    watch.legality()
    watch.attempts(5)
    watch.shown()
    watch.replay()
    return watch
