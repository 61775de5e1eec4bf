"""Every game and variant under `kill -9` of the table's actor: in every phase, with the same guarantees as elsewhere.

The kinds of a game run side by side, all tests on one server. Bots leave standing answers where their game has them.
A match that is to be hurt in a phase waits in it for a moment, so that the kill falls there; what counts is what the
records say: the phase in which the table was taken over.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pytest

from kangtou_clients.api import Accepted, Match, Prompt, Session
from kangtou_engine.actions import Action, parse_action
from kangtou_engine.notation import Step
from kangtou_engine.record import Record, canonical_text, read_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import Replay
from kangtou_engine.shuffle import entropy_commitment, seed_commitment
from kangtou_services.agreement import BOT, Agreement, Member
from tests.golden.make import RECORDS, entropies_of
from tests.golden.plans import NUMBERS, PLANS
from tests.records.make import seed_of

from .load import Load, Played, Playground, Verdict, judge
from .server import Server, running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]

STANDING = {"duizhu": (Action("wait"), "level_card"), "erbaiwu": (Action("pass"), "can_pong")}
HELD_S = 8.0  # how long a seat waits at most in a phase in which a kill is still to fall
GAMES = ("duizhu", "erbaiwu", "hongshi", "wushik")
OFTEN = {"duizhu": "deal", "erbaiwu": "window", "hongshi": "play", "wushik": "play"}  # for a kill or two
PHASES: Mapping[str, tuple[str, ...]] = {
    "duizhu": ("cut", "deal", "redeal", "way", "fix", "bury", "sink", "snatch", "play", "between"),
    "erbaiwu": ("cut", "first", "turn", "must_draw", "discard", "window", "between"),
    "hongshi": ("cut", "reveal", "play", "between"),
    "wushik": ("cut", "play", "between"),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One game as it is played here, and the phases in which its tables lose their owner."""

    game: str
    seats: int
    options: Mapping[str, object]
    phases: tuple[str, ...]


def _wushik(variant: str, seats: int = 4, *more: str) -> Kind:
    options = {"variant": variant, "rounds": 2, "cut": True, **({"target": 0} if variant == "jiangnan" else {})}
    return Kind("wushik", seats, options, (*PHASES["wushik"], *more))


KINDS: Mapping[str, Kind] = {
    "duizhu to the end level": Kind(
        "duizhu", 4, {"start_level": "4", "end_level": "4", "rounds": 0}, tuple(set(PHASES["duizhu"]) - {"redeal"})
    ),
    "duizhu at J": Kind("duizhu", 4, {"start_level": "J", "rounds": 4}, ("deal", "redeal", "play", "between")),
    "erbaiwu, 2 seats": Kind("erbaiwu", 2, {"rounds": 2}, PHASES["erbaiwu"]),
    "erbaiwu, 6 seats": Kind("erbaiwu", 6, {"rounds": 2}, PHASES["erbaiwu"]),
    "hongshi": Kind("hongshi", 4, {"rounds": 2}, PHASES["hongshi"]),
    "chengde1": _wushik("chengde1"),
    "chengde2": _wushik("chengde2"),
    "liaoning, 3 seats": _wushik("liaoning", 3),
    "jiangnan": _wushik("jiangnan", 4, "show"),
    "jinzhou": _wushik("jinzhou"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests of this module."""
    with running(tmp_path_factory.mktemp("games") / "d") as started:
        yield started


class Watched(Load):
    """A load whose matches can be looked at while they are played, and that leaves standing answers."""

    def __init__(self, server: Playground, kind: Kind, *, stand_by: bool = True, think: float = 0.004) -> None:
        super().__init__(server, 1, game=kind.game, seats=kind.seats, options=kind.options, think=think)
        self.kind = kind
        self.stand_by = stand_by
        self.open = set(kind.phases)  # the phases in which a kill is still to fall
        self.matches: dict[str, Match] = {}
        self.left: set[tuple[str, int | None, object]] = set()
        self.sessions: dict[int, Session] = {}

    async def _attached(self, session: Session, match: Match) -> None:
        self.sessions[id(match)] = session

    async def _think(self, match: Match) -> None:
        """A bot leaves its answer once for all windows of a deal; in a phase to be hurt it takes its time."""
        self.matches[match.match_id] = match
        await super()._think(match)
        phase, held = match.view.phase, time.monotonic() + HELD_S
        while phase in self.open and match.view.phase == phase and time.monotonic() < held:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if self.stand_by and self.game in STANDING and match.view.phase in ("deal", "first", "turn", "window"):
            turns = 0 if self.game == "duizhu" else match.view.game.turn.number // 20
            deal = (match.match_id, match.seat, (match.view.sheet.deals, turns))
            if deal not in self.left:
                self.left.add(deal)
                action, until = STANDING[self.game]
                await self.sessions[id(match)].stand_by(match, action, until)

    def _choose(self, match: Match, prompt: Prompt) -> str:
        if match.seat not in match.game.to_act(match.view):
            return str(prompt.default)  # it has been answered meanwhile
        if self.game == "duizhu" and match.view.phase == "deal" and self.open & {"way", "fix"}:
            return "wait"  # only if nobody declares another way is chosen
        if self.game == "duizhu" and match.view.phase == "sink" and random.randrange(5):
            return "pass"  # what is sunk lowers levels: the match would be long
        if self.game == "duizhu" and match.view.phase == "play" and match.seat is not None:
            return str(match.game.spec.greedy(match.view, match.seat, prompt.legal, random.randrange))
        return super()._choose(match, prompt)

    def phase(self, match_id: str) -> str:
        """Where a match is, as its seats see it."""
        match = self.matches.get(match_id)
        return match.view.phase if match is not None else ""


class Scripted(Watched):
    """The match of a golden record again, each seat's moves in their order."""

    def __init__(self, server: Server, name: str) -> None:
        self.name = name
        self.record = read_record((RECORDS / f"{name}.ktr").read_text())
        terms = self.record.head.terms
        spec = REGISTRY.game(terms.game).spec
        kind = Kind(terms.game, len(terms.seats), terms.options, tuple(spec.phases))
        super().__init__(server, kind, stand_by=False)
        steps = [item for entry in self.record.entries for item in entry.body.items if isinstance(item, Step)]
        self.moves = [(step.seat, str(step.action)) for step in steps]
        self.at = 0
        self.open &= phases_of(self.record)

    async def _match(self, accounts: list[str], sessions: list[Session]) -> None:
        """With the record's own seed and entropies, so with its packs."""
        self._going = False
        terms, seed = self.record.head.terms, seed_of(NUMBERS[self.name])
        entropies = entropies_of(self.seats)
        commitments = [entropy_commitment(entropy) if entropy else "" for entropy in entropies]
        members = tuple(Member(account, f"bot {seat}", BOT, commitments[seat]) for seat, account in enumerate(accounts))
        now = time.time_ns() // 1_000_000
        agreement = Agreement(
            terms.match,
            terms.game,
            terms.version,
            self.seats,
            terms.options,
            members,
            seed_commitment(terms.match, seed),
            now,
            turn_ms=self.turn_ms,
            window_ms=self.turn_ms,
        )
        await self._stored(terms.match, agreement, seed)
        played = self.played[terms.match] = Played(terms.match)
        self.current.add(terms.match)
        try:
            await asyncio.gather(
                *(self._seat(session, terms.match, entropies[seat], played) for seat, session in enumerate(sessions))
            )
        finally:
            self.current.discard(terms.match)

    async def _seat(self, session: Session, match_id: str, entropy: bytes, played: Played) -> None:
        match = await session.attach(match_id, entropy=entropy)
        assert isinstance(match, Match), match
        await self._attached(session, match)
        while self.at < len(self.moves):
            seat, action = self.moves[self.at]
            prompt = match.prompt
            if seat != match.seat or prompt is None or seat not in match.game.to_act(match.view):
                await asyncio.sleep(0.005)
                continue
            await self._think(match)
            answer = await prompt.answer(parse_action(action))
            if isinstance(answer, Accepted):
                played.acked.append((seat, action, answer.seq))
                self.at += 1
            else:
                assert answer.code in ("stale_prompt", "log_unavailable"), (self.at, seat, action, answer)
        ending = await match.finished()
        played.receipts.append(getattr(ending, "receipt", ""))
        played.warnings += len(match.warnings)


# ---- killing ----


async def hurt(server: Server, loads: Mapping[str, Watched], most: int, until_s: float) -> int:
    """Kill owners as long as there are phases in which none was killed. How often that was."""
    kills, end = 0, time.monotonic() + until_s
    while kills < most and time.monotonic() < end and any(load.open for load in loads.values()):
        await asyncio.sleep(0.02)
        for load in loads.values():
            load._raise()
        due = [
            (load, match)
            for load in loads.values()
            for match in sorted(load.current)
            if load.phase(match) in load.open and not load.matches[match].moving
        ]
        if due:
            kills += await asyncio.to_thread(kill_owner, server, loads, random.choice(due)[1])
    return kills


def kill_owner(server: Server, loads: Mapping[str, Watched], match: str) -> int:
    """SIGKILL to the actor of a match, once there is another that is alive."""
    until = time.monotonic() + 20
    while len(actors := server.actors()) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    owner = server.owner(match)
    if owner not in actors:
        return 0
    hosted = [(load, one) for load in loads.values() for one in sorted(load.current) if server.owner(one) == owner]
    os.kill(actors[owner], signal.SIGKILL)
    for load, one in hosted:
        load.open.discard(load.phase(one))
    return 1


def phases_of(record: Record) -> set[str]:
    """The phases in which a record's match waits for seats."""
    replay = Replay(REGISTRY.game(record.head.terms.game), record)
    return {replay.state(position).phase for position in range(len(replay.moments) + 1)} - {"over", "lot"}


def takeovers(record: Record) -> Counter[str]:
    """The phases in which owners took the table over from another."""
    replay = Replay(REGISTRY.game(record.head.terms.game), record)
    claims = [entry.seq for entry in record.entries if entry.body.claim is not None]
    return Counter(replay.state(replay.find_seq(seq)).phase for seq in claims[1:])


async def verdicts(
    loads: Mapping[str, Watched], capsys: pytest.CaptureFixture[str], kills: int
) -> dict[str, Counter[str]]:
    """Judge all loads, print a line for each; the phases of the takeovers by load."""
    found: dict[str, Counter[str]] = {}
    total = Verdict()
    for name, load in loads.items():
        verdict, records = await judge(load)
        found[name] = Counter()
        for match in load.played:
            found[name] += takeovers(records[match])
        with capsys.disabled():
            said = " ".join(f"{phase}:{count}" for phase, count in sorted(found[name].items()))
            print(f"\n{name}: {verdict.matches} matches, acked={verdict.acked}, takeovers {said or 'none'}", end="")
        assert verdict.good, (name, verdict)
        assert verdict.timeouts == 0, name
        for field in ("matches", "acked", "lost", "doubled", "unverified", "missing", "bad_receipts", "wrongly_ended"):
            setattr(total, field, getattr(total, field) + getattr(verdict, field))
    with capsys.disabled():
        print(f"\nkill -9 of owners x{kills}: {total}")
    return found


async def run(
    server: Server, loads: Mapping[str, Watched], most: int, until_s: float, capsys: pytest.CaptureFixture[str]
) -> dict[str, Counter[str]]:
    """Play them side by side, hurt them, judge them."""
    try:
        await asyncio.gather(*(load.start() for load in loads.values()))
        kills = await hurt(server, loads, most, until_s)
        for load in loads.values():
            load.open.clear()
        await asyncio.gather(*(load.finish() for load in loads.values()))
        return await verdicts(loads, capsys, kills)
    finally:
        for load in loads.values():
            await load.close()


@pytest.mark.parametrize("game", GAMES)
async def test_kills_in_every_phase(
    game: str, server: Server, counts: Callable[[int, int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Bots of all kinds of a game; their tables are taken over in each phase that there is."""
    full = bool(counts(0, 1))
    kinds = {name: kind for name, kind in KINDS.items() if kind.game == game}
    if not full:
        kinds = {name: replace(kind, options={**kind.options, "rounds": 1}) for name, kind in kinds.items()}
    wanted = {name: set(kind.phases) if full else {OFTEN[game]} for name, kind in kinds.items()}
    for _ in range(counts(1, 3)):
        loads = {name: Watched(server, kind) for name, kind in kinds.items()}
        for name, load in loads.items():
            load.open = set(wanted[name])
        found = await run(server, loads, counts(2, 300), counts(15, 400), capsys)
        assert sum(map(Counter.total, found.values())) >= 1
        for name in kinds if full else ():
            assert wanted[name] <= set(found[name]), (name, wanted[name] - set(found[name]))


@pytest.mark.parametrize("game", GAMES)
async def test_golden_matches_through_kills(
    game: str, server: Server, counts: Callable[[int, int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """The golden matches over gRPC, their specials included: what comes out is the golden record, move for move."""
    full = bool(counts(0, 1))
    names = [name for name, plan in PLANS.items() if plan.game == game]
    loads = {name: Scripted(server, name) for name in names if full or name in ("duizhu", "jiangnan", "hongshi")}
    wanted = {name: set(load.open) for name, load in loads.items()}
    for load in loads.values():
        load.open &= load.open if full else {OFTEN[game]}
    found = await run(server, loads, counts(1, 200), counts(15, 600), capsys)
    for name, load in loads.items():
        _, records = await judge(load)
        (record,) = (records[match] for match in load.played)
        assert canonical_text(record) == canonical_text(load.record), name
        assert not full or wanted[name] <= set(found[name]), (name, wanted[name] - set(found[name]))


class Silent(Watched):
    """Bots that declare nothing and pong nothing, so that rounds are comparable."""

    def _choose(self, match: Match, prompt: Prompt) -> str:
        if match.view.phase in ("deal", "window"):
            return str(prompt.default)
        return super()._choose(match, prompt)


async def test_windows_cost_little_with_standing_answers(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Answers and log entries of declaration windows (DZ-3.2) and pong windows (EB-7.1), without and with them."""
    kinds = {
        "duizhu": Kind("duizhu", 4, {"rounds": 4, "cut": False}, ()),
        "erbaiwu": Kind("erbaiwu", 6, {"rounds": 2, "limit": 0, "cut": False}, ()),
    }
    window = {"duizhu": "deal", "erbaiwu": "window"}
    cost: dict[tuple[str, bool], tuple[int, int, int]] = {}
    for stand_by in (False, True):
        loads = {name: Silent(server, kind, stand_by=stand_by) for name, kind in kinds.items()}
        try:
            await asyncio.gather(*(load.start() for load in loads.values()))
            await asyncio.gather(*(load.finish() for load in loads.values()))
            for name, load in loads.items():
                verdict, records = await judge(load)
                assert verdict.good
                cost[name, stand_by] = in_windows(next(records[match] for match in load.played), window[name])
        finally:
            for load in loads.values():
                await load.close()
    with capsys.disabled():
        for (name, stand_by), (windows, answers, entries) in sorted(cost.items()):
            how, rounds = "with standing answers" if stand_by else "in lockstep", kinds[name].options["rounds"]
            print(f"\n{name} {how}, {rounds} rounds: {windows} windows, {answers} answers, {entries} entries", end="")
        print()
    for name in kinds:
        before, after = cost[name, False], cost[name, True]
        assert all(after[place] / after[0] < 0.75 * before[place] / before[0] for place in (1, 2)), (name, cost)


def in_windows(record: Record, phase: str) -> tuple[int, int, int]:
    """Windows of a round, answers that seats sent in them, and the entries that these took."""
    replay = Replay(REGISTRY.game(record.head.terms.game), record)
    answers, entries, asked = 0, set(), set()
    for number, moment in enumerate(replay.moments):
        state = replay.state(number)
        if state.phase == phase:
            asked.add(replay.game.asked(state))
            if isinstance(moment.item, Step) and moment.item.command != "*":
                answers += 1
                entries.add(moment.seq)
    return len(asked), answers, len(entries)
