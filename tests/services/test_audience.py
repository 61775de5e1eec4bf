"""What each audience is sent: folds to its view, tells no more, comes in the right pieces. Design §5."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from kangtou.v1 import play_pb2 as play
from kangtou.wire import event_from_pb, value_from_pb
from kangtou_engine.cards import HIDDEN, Cards, Seat
from kangtou_engine.company import covered
from kangtou_engine.events import to_text
from kangtou_engine.match.events import RoundBegan, Scored, Voided
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.plain import view_from_plain
from kangtou_engine.registry import SPECS
from kangtou_services.table import beginning
from kangtou_services.table.audience import Audiences
from tests.conftest import Counts
from tests.engine.tables import tables
from tests.engine.test_registry_leaks import OtherDeal, another
from tests.services.tables import DELAY_MS, HONGSHI, PARROT, PLAIN, Played, agree, seed_of

GAMES = {"parrot": PARROT, **{spec.name: Game(spec) for spec in SPECS}}
CARD = re.compile(rb"(?<![A-Za-z0-9])(?:[SHCD][3-9TJQKA2]|BJ|RJ)(?![A-Za-z0-9])")


class Viewer:
    """A client of one audience: folds whatever it is sent, from whatever beginning."""

    def __init__(self, game: Game, who: Seat | None) -> None:
        self.game = game
        self.who = who
        self.view: AnyState | None = None
        self.seq = 0
        self.prompt: play.Prompt | None = None
        self.ended: play.Ended | None = None
        self.attached: play.Attached | None = None
        self.entries: list[int] = []
        self.views: dict[int, AnyState] = {}
        self.snapshots = 0

    def read(self, payload: bytes) -> None:
        """A payload, or several of them put together."""
        for update in play.PlayResponse.FromString(payload).updates:
            assert update.match_id == "m1"
            assert (update.seat if update.HasField("seat") else None) == self.who
            what = update.WhichOneof("body")
            getattr(self, f"_{what}")(getattr(update, str(what)))

    def _attached(self, attached: play.Attached) -> None:
        self.attached = attached
        options = {name: getattr(one, str(one.WhichOneof("kind"))) for name, one in attached.choice.options.items()}
        config = self.game.config(options, attached.choice.seats)
        if self.view is None:
            self.view = self.game.before(config)

    def _snapshot(self, snapshot: play.Snapshot) -> None:
        assert self.view is not None
        self.snapshots += 1
        self.seq = snapshot.seq
        self.view = view_from_plain(self.game, self.view.config, value_from_pb(snapshot.view))

    def _entry(self, entry: play.Entry) -> None:
        assert self.view is not None
        assert entry.events, "an entry of which nobody is told anything"
        assert entry.seq > self.seq
        self.seq = entry.seq
        self.entries.append(entry.seq)
        events = [event_from_pb(self.game, event) for event in entry.events]
        self.view = self.views[self.seq] = self.game.fold(events, self.view)

    def stood_at(self, seq: int) -> Viewer:
        """This one when it had been told up to that entry."""
        viewer = Viewer(self.game, self.who)
        viewer.seq = max((one for one in self.views if one <= seq), default=0)
        viewer.view = self.views.get(viewer.seq)
        return viewer

    def _prompt(self, prompt: play.Prompt) -> None:
        self.prompt = prompt

    def _ended(self, ended: play.Ended) -> None:
        self.ended = ended


def everybody(played: Played) -> list[Seat | None]:
    """All audiences."""
    return [*range(played.agreement.seats), None]


def sees(viewer: Viewer, played: Played) -> None:
    """What it has folded is what the table would build for it now."""
    table = played.table
    assert viewer.view == table.game.view(table.state, viewer.who)
    if viewer.who is not None and (asked := table.prompts.asked[viewer.who]) is not None and not table.over:
        assert viewer.prompt is not None
        assert viewer.prompt.number == asked.number
        assert viewer.prompt.deadline_ms == asked.deadline_ms


def published(played: Played, audiences: Audiences, who: Seat | None) -> bytes:
    """What the last entry brings to an audience, as a slot puts it together."""
    draft = played.drafts[-1]
    assert draft.entry is not None
    table = played.table
    parts = []
    if draft.events:
        parts.append(audiences.entry(draft.entry.seq, draft.time_ms, tuple(draft.events), [who])[who])
    asked = table.prompts.asked[who] if who is not None else None
    if asked is not None and asked.number == draft.entry.seq:
        prompt = audiences.prompt(who, played.now)
        if prompt is not None:
            parts.append(audiences.message(who, 0x32, prompt))
    if table.over:
        parts.append(audiences.message(who, 0x4A, audiences.ended()))
    return b"".join(parts)


def options_of(name: str, rng: Random) -> tuple[int | None, Mapping[str, object]]:
    """An agreement on a game, one to three rounds."""
    if name == "parrot":
        return rng.choice((2, 3, 4)), {"rounds": 2, "between": rng.random() < 0.5}
    one = rng.choice([table for table in tables() if table.game.spec.name == name])
    return one.seats, {"rounds": rng.randint(1, 2), **one.options}


@pytest.mark.parametrize("name", GAMES)
def test_what_is_sent_folds_to_the_view(name: str, counts: Counts) -> None:
    """Live, joining at any time, resuming behind any entry; over takeovers, time-outs and standing answers."""
    game = GAMES[name]
    for number in range(counts(2, 60)):
        rng = Random(f"{name} {number}")
        seats, options = options_of(name, rng)
        people = [seat for seat in range(2) if rng.random() < 0.5]
        played = Played(game, agree(game, options, seats=seats, people=people))
        viewers = [Viewer(game, who) for who in everybody(played)]
        audiences = Audiences(played.table)
        for viewer in viewers:
            viewer.read(audiences.joining(viewer.who, 0, played.now))
        for _ in range(counts(60, 400)):
            if played.table.over:
                break
            audiences = step(played, rng, audiences, viewers)
            for viewer in viewers:
                sees(viewer, played)
            late(played, rng, audiences, viewers)


def step(played: Played, rng: Random, audiences: Audiences, viewers: Sequence[Viewer]) -> Audiences:
    """Something happens; all viewers are told."""
    done = len(played.drafts)
    what = rng.random()
    if what < 0.05:
        played.take_over()
        audiences = Audiences(played.table)
        for viewer in viewers:  # as after a takeover: behind what they have
            viewer.read(audiences.joining(viewer.who, played.table.seq - 1, played.now))
    elif what < 0.15 and played.table.begun:
        seat = rng.randrange(played.agreement.seats)
        played.leave(seat, rng.choice(("pass", "wait", "ready")))
    elif what < 0.25:
        played.now = max(played.now, played.table.wake_at() or 0)
        played.decide()
    elif played.table.begun:
        played.play_on(rng, 1)
    else:
        played.write()
    if len(played.drafts) > done:
        for viewer in viewers:
            viewer.read(published(played, audiences, viewer.who))
    return audiences


def late(played: Played, rng: Random, audiences: Audiences, viewers: Sequence[Viewer]) -> None:
    """Somebody new sees the same; and somebody who has folded up to some entry gets exactly what is missing."""
    who = rng.choice(everybody(played))
    fresh = Viewer(played.game, who)
    fresh.read(audiences.joining(who, 0, played.now))
    if not played.table.begun:
        return
    sees(fresh, played)
    assert fresh.snapshots == 1
    known = next(viewer for viewer in viewers if viewer.who == who)
    held = [(seq, events) for seq, _, events in played.table.history if events]
    from_seq = rng.choice([played.table.history[0][0] - 1, *(seq for seq, _ in held)])
    resumed = known.stood_at(from_seq)
    resumed.read(audiences.joining(who, from_seq, played.now))
    told = [(seq, event) for seq, events in held for event in events]
    closed = covered(played.game, played.table.config, [event for _, event in told])
    if any(told[place][0] > from_seq for place in closed):  # a look back would show what the book has closed: HS-13.3
        assert (resumed.snapshots, resumed.entries) == (1, [])
    else:
        assert resumed.snapshots == 0
        assert resumed.entries == [seq for seq, _ in held if seq > from_seq]
    assert resumed.prompt == fresh.prompt
    sees(resumed, played)


@pytest.mark.parametrize("from_seq", [0, 1, 10, 20, 10_000])
def test_positions_that_are_no_use_get_a_snapshot(from_seq: int) -> None:
    """Older than the round in play, or of the future (after a log lost its tail)."""
    played = Played.begun(PARROT, {"rounds": 3})
    while played.table.state.sheet.round < 2:
        played.play_on(Random(1), 1)
    audiences = Audiences(played.table)
    for who in everybody(played):
        viewer = Viewer(PARROT, who)
        viewer.read(audiences.joining(who, from_seq, played.now))
        assert (viewer.snapshots, viewer.entries) == (1, [])
        sees(viewer, played)
        viewer = Viewer(PARROT, who)
        viewer.read(audiences.joining(who, played.table.history[0][0] - 1, played.now))
        assert (viewer.snapshots, viewer.entries) == (0, [played.table.seq])
        viewer.read(audiences.joining(who, played.table.seq, played.now))
        assert (viewer.snapshots, len(viewer.entries)) == (0, 1)


def test_before_the_beginning() -> None:
    played = Played(PARROT, agree(PARROT, entropies={0: b"zero"}))
    viewer = Viewer(PARROT, 1)
    viewer.read(Audiences(played.table).joining(1, 0, played.now))
    assert viewer.attached is not None
    assert viewer.attached.entropy_commitments[1:] == ["", "", ""]
    assert (viewer.prompt, viewer.snapshots, viewer.seq) == (None, 0, 0)


def test_the_end_opens_the_shuffle() -> None:
    """And not before: a client checks the deals by itself."""
    played = Played(PARROT, agree(PARROT, {"rounds": 1}, seats=2, entropies={0: b"zero", 1: b"one"}))
    played.table.open_entropy(0, b"zero")
    played.now += played.agreement.open_wait_ms
    played.write()
    audiences = Audiences(played.table)
    seed = seed_of(played.match)
    while not played.table.over:
        played.play_on(Random(1), 1)
        for who in everybody(played):
            sent = audiences.joining(who, 0, played.now) + published(played, audiences, who)
            assert (seed in sent) == played.table.over
    viewer = Viewer(PARROT, None)
    viewer.read(audiences.joining(None, 0, played.now))
    assert viewer.attached is not None
    assert viewer.ended is not None
    assert viewer.attached.over
    assert viewer.ended.seed == seed
    assert list(viewer.ended.entropies) == [b"zero", b""]
    assert viewer.ended.receipt == played.entries[-1].chain
    assert viewer.prompt is None


def test_long_lists_are_too_many() -> None:
    """Whatever the list's size, a prompt holds up to 200 or says what is legal."""
    played = Played.begun(HONGSHI, {**PLAIN, "cut": True})
    prompt = Audiences(played.table).prompt(played.turn(), played.now)
    assert prompt is not None
    assert len(prompt.legal) == 39
    assert not prompt.HasField("too_many")
    assert prompt.default_action.args == ["20"]
    assert prompt.left_ms == 10_000
    late = Audiences(played.table).prompt(played.turn(), played.deadline(played.turn()) + 5)
    assert late is not None
    assert late.left_ms == 1  # 0 would be no limit


# ---- leaks ----


def texts(payload: bytes) -> str:
    """A payload as text, for an assertion's message."""
    return str(play.PlayResponse.FromString(payload))[:400]


@pytest.mark.parametrize("name", GAMES)
def test_no_payload_holds_a_card_that_its_reader_may_not_know(name: str, counts: Counts) -> None:
    """A whole match, bytes of all kinds. In play only: own cards, those that events showed, those that lists name."""
    game = GAMES[name]
    for number in range(counts(1, 20)):
        rng = Random(f"scan {name} {number}")
        seats, options = options_of(name, rng)
        played = Played.begun(game, options, seats=seats)
        audiences = Audiences(played.table)
        seen: dict[Seat | None, set[bytes]] = {who: set() for who in everybody(played)}
        for _ in range(counts(150, 2_000)):
            for who in everybody(played):
                shown(played, who, seen[who])
                sent = audiences.joining(who, 0, played.now) + published(played, audiences, who)
                extra = set(CARD.findall(sent)) - seen[who]
                assert not extra, f"{who} is sent {extra}: {texts(sent)}"
            if played.table.over:
                break
            played.play_on(rng, 1)


def shown(played: Played, who: Seat | None, seen: set[bytes]) -> None:
    """Add what an audience may know after the last entry: what the engine's own `seen_by` and view name.

    What these may hold is tested with the engine (tests/engine/test_registry_leaks.py); here that nothing is added.
    """
    table = played.table
    if table.over:
        seen.update(CARD.findall(" ".join((*table.game.spec.pack(table.config), "BJ", "RJ")).encode()))
    events = played.drafts[-1].events
    if any(isinstance(event, RoundBegan) for event in events):
        seen.clear()
    for event in events:
        seen.update(CARD.findall(to_text(event.seen_by(who)).encode()))
    view = table.game.view(table.state, who)
    seen.update(CARD.findall(repr(view).encode()))
    if who is not None:
        seen.update(CARD.findall(" ".join(played.legal(who) if who in table.game.to_act(table.state) else ()).encode()))


@pytest.mark.parametrize("name", GAMES)
def test_hidden_counts(name: str) -> None:
    """Of other hands a viewer gets as many hidden cards as there are."""
    game = GAMES[name]
    rng = Random(f"hidden {name}")
    seats, options = options_of(name, rng)
    played = Played.begun(game, options, seats=seats)
    for _ in range(40):
        for who in everybody(played):
            fresh = Viewer(game, who)
            fresh.read(Audiences(played.table).joining(who, 0, played.now))
            assert fresh.view is not None
            sizes = [len(hand) for hand in played.table.state.game.hands]
            assert [len(hand) for hand in fresh.view.game.hands] == sizes
            if who is None and game is PARROT and played.table.state.phase == "play":
                assert all(card == HIDDEN for hand in fresh.view.game.hands for card in hand)
        if played.table.over:
            break
        played.play_on(rng, 1)


class Twins:
    """Two matches, alike for one audience but for what it cannot see."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, rng: Random) -> None:
        self.game = GAMES[name]
        self.rng = rng
        seats, options = options_of(name, rng)
        self.agreement = agree(self.game, options, seats=seats, people=[0])
        self.who: Seat | None = rng.choice([*range(self.agreement.seats), None])
        self.one = Played(self.game, self.agreement)
        self.one.write()
        chance = self.one.table.chance
        pack = self.game.spec.pack(self.one.table.config)
        pile: Cards = chance.shuffle(pack, "pack", 1)
        known = set(self.hand(self.one)) if self.who is not None else set()
        hidden = {card for card in pile if card not in known}
        twin = OtherDeal(chance, 1, another(rng, pile, hidden))
        monkeypatch.setattr(beginning, "match_chance", lambda *_: twin)
        self.two = Played(self.game, self.agreement)
        self.two.write()
        monkeypatch.undo()

    def hand(self, played: Played) -> Cards:
        """What its seat holds."""
        assert self.who is not None
        return tuple(played.table.state.game.hands[self.who])

    def alike(self) -> bool:
        """Whether no difference is public, or in its hand."""
        one, two = self.one.table, self.two.table
        return one.game.view(one.state, self.who) == two.game.view(two.state, self.who)

    def told(self, played: Played) -> list[str]:
        """The events of the last entry as it may know them."""
        return [to_text(event.seen_by(self.who)) for event in played.drafts[-1].events]

    def sent(self, played: Played) -> bytes:
        """All that it is sent after an entry, and what it would be sent if it came anew."""
        audiences = Audiences(played.table)
        return published(played, audiences, self.who) + audiences.joining(self.who, 0, played.now)

    def act(self) -> bool:
        """The same command in both; False if it is not legal in both (a difference that the actor knows)."""
        acting = self.one.game.to_act(self.one.table.state)
        if not acting:
            return False
        seat = self.rng.choice(acting)
        text = self.rng.choice(self.one.legal(seat))
        codes = [played.send(seat, text).WhichOneof("result") for played in (self.one, self.two)]
        assert seat != self.who or codes[0] == codes[1]
        return codes == ["accepted"] * 2

    def refusals(self) -> None:
        """What its seat tries is answered alike."""
        for text in ("play S3", "play RJ", "reveal HT", "pass", "declare S5", "wait", "cut 3"):
            if self.who is not None:
                answers = [played.send(self.who, text, prompt=99) for played in (self.one, self.two)]
                assert answers[0].SerializeToString() == answers[1].SerializeToString()

    def run(self) -> int:
        """As long as both look alike; how many entries."""
        compared = 0
        while self.alike() and not self.one.table.over and self.one.table.state.sheet.deals == 1:
            assert self.sent(self.one) == self.sent(self.two), f"{self.who} is told of hidden cards"
            self.refusals()
            compared += 1
            if self.rng.random() < 0.1:
                self.one.now = self.two.now = max(self.one.now, self.one.table.wake_at() or 0)
                if (self.one.write() is None) != (self.two.write() is None) or self.told(self.one) != self.told(
                    self.two
                ):
                    break  # a default action that shows another card
                continue
            self.one.now = self.two.now = self.one.now + DELAY_MS
            if not self.act():
                break
        return compared


@pytest.mark.parametrize("name", GAMES)
def test_twin_deals_send_equal_bytes(name: str, monkeypatch: pytest.MonkeyPatch, counts: Counts) -> None:
    """Content, order, sizes, numbers: until a difference is public. Design §3."""
    pairs = counts(8, 400)
    compared = sum(Twins(monkeypatch, name, Random(f"twins {name} {number}")).run() for number in range(pairs))
    assert compared >= pairs


def test_twins_would_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other seats do see different bytes at once."""
    differ = 0
    for number in range(10):
        twins = Twins(monkeypatch, "parrot", Random(number))
        seats = [seat for seat in range(twins.agreement.seats) if seat != twins.who]
        for seat in seats:
            one, two = (Audiences(played.table).joining(seat, 0, 0) for played in (twins.one, twins.two))
            differ += one != two
    assert differ > 10


def test_scored_hands_are_public() -> None:
    """So that the scan above means something: at a round's end everybody is sent the hands."""
    played = Played.begun(PARROT, {"rounds": 2}, seats=2)
    played.play_on(Random(1))
    assert any(isinstance(event, (Scored, Voided)) for draft in played.drafts for event in draft.events)
